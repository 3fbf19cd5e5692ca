// Windows: the same promises through ConPTY, by way of node-pty. Written against its interface; on
// any other system these say that they did not run. The fallback to a pipe is tested everywhere.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createShell } from '../../src/shell/shell.ts';
import { lacking } from '../requirements.ts';

const noConpty = lacking(process.platform !== 'win32', 'ConPTY exists only on Windows');

function temporary(): string {
  const dir = mkdtempSync(join(tmpdir(), 'cuff-conpty-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

describe.skipIf(noConpty)('ConPTY', () => {
  const node = (program: string) =>
    ({ kind: 'argv', argv: [process.execPath, '-e', program] }) as const;

  test('output is complete at the end of a short command', async () => {
    const shell = createShell({ stateRoot: temporary() });
    const run = shell.start(node('process.stdout.write("x".repeat(20000))'), { transport: 'pty' });
    await run.done;
    const { text } = shell.view(run.id, { kind: 'raw' });
    expect(text.match(/x/g)?.length).toBe(20_000);
  });

  test('a resize reaches the command', async () => {
    const shell = createShell({ stateRoot: temporary() });
    const program = 'process.stdout.on("resize", () => { console.log(process.stdout.columns); })';
    const run = shell.start(node(`${program}; console.log("ready"); setInterval(() => {}, 100)`), {
      transport: 'pty',
    });
    await shell.waitOutput(run.id, 0, 10_000);
    run.resize(123, 40);
    let text = '';
    while (!text.includes('123')) {
      await shell.waitOutput(run.id, text.length, 10_000);
      text = shell.view(run.id, { kind: 'raw' }).text;
    }
    await run.kill();
  });
});

test('where there is no pty to be had, the run goes on over a pipe', () => {
  // A copy of the package without its optional dependency, and no native runner.
  const home = temporary();
  const here = join(import.meta.dirname, '../..');
  // Other tests run examples there, which come and go.
  const filter = (path: string): boolean => !path.includes('.example-');
  cpSync(join(here, 'dist'), join(home, 'dist'), { recursive: true, filter });
  mkdirSync(join(home, 'native'));
  const state = join(home, 'state');
  const program = 'process.stdout.write(String(Boolean(process.stdout.isTTY)))';
  const args = [join(home, 'dist/cuff.cjs'), 'run', '--tty', '--', process.execPath, '-e', program];
  const env = { ...process.env, CUFF_RUNNER: 'off', CUFF_STATE_ROOT: state };
  expect(execFileSync(process.execPath, args, { env, encoding: 'utf8' })).toBe('false');
  const [id = ''] = readdirSync(join(state, 'sessions'));
  const meta = JSON.parse(readFileSync(join(state, 'sessions', id, 'meta.json'), 'utf8'));
  expect(meta).toMatchObject({ transport_mode: 'pipe', transport: 'pipe', tty_attached: false });
});
