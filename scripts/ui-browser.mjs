// A `cuff ui` and a browser on it, for the tests of the page and for its screenshots.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { findProgram } from './tools.mjs';

const CUFF = join(dirname(fileURLToPath(import.meta.url)), '../dist/cuff.cjs');

const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Chromium of this machine; every launch has a directory of its own. */
export function browserPath() {
  return findProgram('chromium');
}

export function launch() {
  return chromium.launch({ executablePath: browserPath(), args: QUIET, headless: true });
}

/**
 * A server on a store, its address, and the end of it. `terminal`: at one of its own, as a person
 * starts it; without one no question is answered from the page.
 */
export async function startUi({ project: cwd, env }, flags = [], { terminal = false } = {}) {
  const args = [CUFF, 'ui', '--no-open', ...flags];
  const command = `exec ${[process.execPath, ...args].map((word) => `'${word}'`).join(' ')}`;
  const [program, words] = terminal
    ? ['script', ['-qfec', command, '/dev/null']]
    : [process.execPath, args];
  const child = spawn(program, words, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const errors = [];
  child.stderr.on('data', (data) => errors.push(data));
  const ended = new Promise((done) => child.once('exit', done));
  const { value } = await lines.next();
  const url = /http:\/\/127\.0\.0\.1:\d+\/#code=\S+/.exec(value ?? '')?.[0];
  if (url === undefined) throw new Error(`cuff ui: ${value ?? Buffer.concat(errors)}`);
  return {
    url,
    origin: new URL(url).origin,
    pid: child.pid,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await ended;
    },
  };
}

/** Everything a browser complains about while a page is used: it has to stay empty. */
export async function watched(page) {
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // A server that is gone, or says no, is told by the page itself.
    const network = /Failed to load resource|WebSocket connection|ERR_CONNECTION/;
    if (message.type() !== 'error' || network.test(message.text())) return;
    complaints.push(`console: ${message.text()}`);
  });
  await page.exposeFunction('cuffComplains', (words) => complaints.push(words));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      window.cuffComplains(
        `policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`,
      );
    });
  });
  return complaints;
}
