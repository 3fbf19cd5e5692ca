// What runs now, in a browser: eight tabs that follow it, a reader who scrolls, a server that ends
// and another that takes its place.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { CUFF, cuff, type Store } from '../../scripts/ui-store.mjs';
import { lacking } from '../requirements.ts';
import { at, emptyDesk, goTo, noBrowser } from './browser.ts';

describe.skipIf(lacking(noBrowser, 'there is no chromium here'))('a live run', () => {
  const { desk, store } = emptyDesk();
  const runs: ChildProcess[] = [];

  afterEach(async () => {
    for (const run of runs.splice(0)) {
      run.stdin?.end();
      if (run.exitCode === null && run.signalCode === null) await once(run, 'exit');
    }
  });

  /** It prints what it is given, and ends with its input. */
  const echo = async (id: string): Promise<(text: string) => void> => {
    const run = echoing(store, id);
    runs.push(run);
    if (run.stdin === null || run.stdout === null) throw new Error('no pipes');
    const { stdin } = run;
    stdin.write('ready\n');
    await once(run.stdout, 'data');
    return (text) => void stdin.write(text);
  };

  it('is followed by eight tabs at once', async () => {
    const say = await echo('eight');
    const { page, context } = await desk.visit();
    const pages = [page];
    while (pages.length < 8) pages.push(await desk.open(context, desk.ui.origin));
    for (const one of pages) await goTo(one, '#/r/eight?view=log');
    for (const one of pages) await one.getByText('ready', { exact: true }).waitFor();
    say('the second line\n');
    for (const one of pages) await one.getByText('the second line', { exact: true }).waitFor();
  });

  it('says how many lines are new to a reader who scrolled, and follows again', async () => {
    const say = await echo('scrolled');
    say(numbers(1, 300));
    const { page } = await desk.visit();
    await goTo(page, '#/r/scrolled?view=log');
    await page.getByText('number 300', { exact: true }).waitFor();
    await page.keyboard.press('Home');
    await page.getByText('number 1', { exact: true }).waitFor();
    say(numbers(301, 307));
    await page.getByRole('button', { name: '7 new lines' }).click();
    await page.getByText('number 307', { exact: true }).waitFor();
    expect(await page.locator('.log-text').evaluateAll(texts)).not.toContain('number 1');
    await page.keyboard.press('f');
    say(numbers(308, 400));
    await page.getByText('number 400', { exact: true }).waitFor();
  });

  it('is a tile on the wall, which stays when it ends', async () => {
    const say = await echo('tile');
    const { page } = await desk.visit();
    await goTo(page, '#/live');
    const tile = page.getByRole('region', { name: 'Run tile' });
    await tile.getByText('ready', { exact: true }).waitFor();
    say('\x1b[32mgreen\x1b[0m\n');
    await tile.locator('.fg2').getByText('green').waitFor();
    runs.at(-1)?.stdin?.end();
    await tile.getByText('ended', { exact: true }).waitFor();
  });

  it('is ended by a person, after a question', async () => {
    await echo('ended');
    const { page } = await desk.visit();
    await goTo(page, '#/r/ended?view=log');
    page.once('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'End it' }).click();
    await page.locator('.page-head .mark-failed').waitFor();
    expect(cuff(store, ['ls', '--json']).stdout).toContain('"signaled"');
  });

  it('goes on in the same tab when the server was killed and there is another', async () => {
    const say = await echo('lost');
    const { page, context } = await desk.visit();
    await goTo(page, '#/r/lost?view=log');
    await page.getByText('ready', { exact: true }).waitFor();
    await desk.ui.stop('SIGKILL');
    await page.getByText('The server of this page is gone.').waitFor();
    say('while it was away\n');
    const { url, origin } = await desk.restart(store);
    expect(new URL(url).origin).toBe(origin);
    const second = await desk.open(context, url);
    await second.getByText('while it was away', { exact: true }).waitFor();
    expect(new URL(second.url()).hash).toBe('#/r/lost?view=log');
    await page.getByText('while it was away', { exact: true }).waitFor();
    expect(await page.locator('.lost').count()).toBe(0);
  });
});

describe.skipIf(lacking(noBrowser, 'there is no chromium here'))('a page that only reads', () => {
  const { desk, store } = emptyDesk(['--read-only']);

  it('offers nothing that changes anything', async () => {
    cuff(store, ['run', '--journal', '--', 'true']);
    const { page } = await desk.visit();
    await page.getByText('read only', { exact: true }).waitFor();
    await page.waitForSelector('.grid-row .mark');
    expect(await page.getByRole('button', { name: /^Pin/ }).count()).toBe(0);
  });
});

describe.skipIf(lacking(noBrowser, 'there is no chromium here'))('without a mouse', () => {
  const { desk, store } = emptyDesk();

  it('one goes from the sessions to a line of output and back', async () => {
    for (const command of ['echo one', 'echo two; exit 3', 'echo three']) {
      const args = ['run', '--journal', '--agent', 'claude', '--session', 's', '--', 'bash', '-c'];
      cuff(store, [...args, command]);
    }
    const { page } = await desk.visit();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await page.waitForSelector('.grid-row .mark');
    await press('j', 'Enter');
    await at(page, /^#\/s\//);
    await page.waitForSelector('.block');
    await page.waitForSelector('#cmd-3');
    await press('e');
    await at(page, /cmd=2$/);
    await page.waitForSelector('.block-failed.current');
    await press('Enter');
    await at(page, /^#\/r\//);
    await page.getByText('two', { exact: true }).waitFor();
    await press('Escape');
    await at(page, /cmd=2$/);
    await press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('next failure').waitFor();
    await press('Escape');
    for (const [key, hash] of GO) {
      await press('g', key);
      await at(page, hash);
    }
    await press('g', 's');
    await at(page, /^#\/$/);
    await page.waitForSelector('.grid-row .mark');
    await press('Tab');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe(
      'solid',
    );
  });
});

const GO = [
  ['l', /^#\/live$/],
  ['a', /^#\/activity$/],
  ['p', /^#\/policy$/],
  ['v', /^#\/verify$/],
  ['h', /^#\/health$/],
] as const;

function echoing({ project: cwd, env }: Store, id: string): ChildProcess {
  const args = [CUFF, 'run', '--session-id', id, '--', 'cat'];
  return spawn(process.execPath, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
}

function numbers(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, i) => `number ${from + i}\n`).join('');
}

function texts(all: readonly { textContent: string | null }[]): (string | null)[] {
  return all.map((one) => one.textContent);
}
