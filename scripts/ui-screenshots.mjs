// Pictures of every page, light and dark, into docs/ui: node scripts/ui-screenshots.mjs [FOLDER]
// Needs chromium and pngquant. They are made again when a page looks different, by a person who
// looks at them; nothing compares them.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { say } from './tools.mjs';
import { launch, startUi, watched } from './ui-browser.mjs';
import { CUFF, fillStore } from './ui-store.mjs';

const OUT = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '../docs/ui');
const SIZE = { width: 1100, height: 680 };

/** What is there on each page once it is whole. */
const pages = ({ runs, session }) => [
  ['sessions', '#/', '.grid-row .mark'],
  ['session', `#/s/${session}?cmd=2`, '.block .output'],
  ['log', `#/r/${runs.log}?view=log&line=2000`, '[data-line="2000"] .log-text:not(:empty)'],
  ['player', `#/r/${runs.terminal}?view=player&t=60000`, '.xterm-rows'],
  ['processes', `#/r/${runs.traced}?view=processes&process=3`, '.chosen'],
  ['facts', `#/r/${runs.colours}?view=facts`, '.facts'],
  ['proof', `#/r/${runs.colours}?view=proof`, '[aria-label="Proof"]'],
  ['search', '#/search?q=voucher', '.hit'],
  ['live', '#/live', '.tile-text .output'],
  ['activity', '#/activity', '.plot canvas'],
  ['policy', '#/policy', '.question'],
  ['verify', '#/verify', '.sentence'],
  ['health', '#/health', '.panel .facts'],
];

const root = mkdtempSync(join(tmpdir(), 'cuff-ui-'));
const store = await fillStore(root);
const live = liveRun(store);
const server = await startUi(store);
const browser = await launch();
try {
  mkdirSync(OUT, { recursive: true });
  await shoot();
} finally {
  await browser.close();
  await server.stop();
  live.stdin.end();
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}

/** It prints a line for each that it reads, and ends with its input. */
function liveRun({ project: cwd, env }) {
  const script = 'for i in 1 2 3; do echo "deploying to node $i"; done; cat';
  const args = [CUFF, 'run', '--', 'bash', '-c', script];
  return spawn(process.execPath, args, { cwd, env, stdio: ['pipe', 'ignore', 'ignore'] });
}

async function shoot() {
  const context = await browser.newContext({ viewport: SIZE, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const complaints = await watched(page);
  await page.goto(server.url);
  await page.waitForSelector('.grid-row .mark');
  for (const [name, hash, ready] of pages(store)) {
    await page.evaluate((link) => (location.hash = link), hash);
    await page.waitForSelector(ready);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done())));
      save(`${name}-${colorScheme}.png`, await page.screenshot());
    }
  }
  for (const one of complaints) say(one);
  if (complaints.length > 0) process.exitCode = 1;
}

function save(name, png) {
  const made = spawnSync('pngquant', ['--quality', '30-70', '--speed', '1', '64', '-'], {
    input: png,
  });
  if (made.error !== undefined) throw new Error('Install pngquant: the pictures have to be small.');
  writeFileSync(join(OUT, name), made.status === 0 ? made.stdout : png);
}
