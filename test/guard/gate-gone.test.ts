// With nobody to answer at the gate a command goes on, without waiting for long; or where that is
// strict, nothing begins. The server is a process of its own here, so that it can be stopped.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { expectNoWait } from '../pace.ts';
import { lacking } from '../requirements.ts';
import { untraceable } from '../tracing/helper.ts';
import { gateWith, judged, place, root } from './gate-helper.ts';

const noTrace = lacking(untraceable, 'runs cannot be traced here');
const NOBODY = 'cuff: policy: not started: nobody answered whether it may (gate: strict)\n';

const servers: ChildProcess[] = [];
let turn = 0;

/** A server whose answer to everybody is this piece of JavaScript. */
async function serverThat(answer: string): Promise<{ path: string; child: ChildProcess }> {
  const path = join(root, `s${turn++}.sock`);
  const script = `require('net').createServer((s) => {
    s.on('error', () => {});
    ${answer}
  }).listen(${JSON.stringify(path)}, () => console.log('ready'))`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  servers.push(child);
  await once(child.stdout, 'data');
  return { path, child };
}

const ALLOWS = `s.once('data', () => s.end('A'));`;

afterEach(() => {
  for (const child of servers.splice(0)) child.kill('SIGKILL');
});

/** No longer by this much than with a server that answers. */
async function expectSoon(msMax: number, run: () => Promise<unknown>): Promise<void> {
  const { path } = await serverThat(ALLOWS);
  const answered = async () =>
    expect(await judged(TEXT, { gate: { path, strict: false } })).toMatchObject(WENT_ON);
  await expectNoWait(msMax, answered, run);
}

const TEXT = '/bin/echo one; /bin/echo two; rmdir v';
const WENT_ON = { code: 0, output: 'one\ntwo\n' };
const STOPPED = { code: 126, output: NOBODY };

describe.skipIf(noTrace)('a gate', () => {
  test.each([
    ['that was never there', () => Promise.resolve(join(root, 'none.sock'))],
    ['that is closed', closedGate],
    ['whose server was killed', killedServer],
    ['that hangs up', async () => (await serverThat('s.destroy();')).path],
    ['that says what nobody understands', garbage],
    ['that says nothing and ends', async () => (await serverThat('s.end();')).path],
    ['whose path is a file', () => Promise.resolve(import.meta.filename)],
  ])('%s stops nobody, or in strict everybody; at once', async (_, make) => {
    const path = await make();
    for (const strict of [false, true]) {
      await expectSoon(1_500, async () => {
        const ran = await judged(TEXT, { gate: { path, strict } });
        expect(ran).toMatchObject(strict ? STOPPED : WENT_ON);
        expect(existsSync(join(ran.cwd, 'v'))).toBe(strict);
      });
    }
  });

  async function closedGate(): Promise<string> {
    const gate = await gateWith(() => ({ allow: false, message: 'all' }));
    await gate.close();
    return gate.path;
  }

  async function killedServer(): Promise<string> {
    const { path, child } = await serverThat(ALLOWS);
    child.kill('SIGKILL');
    await once(child, 'exit');
    return path;
  }

  async function garbage(): Promise<string> {
    return (await serverThat(`s.once('data', () => s.end('\\0\\xffA' + 'D'.repeat(900)));`)).path;
  }

  test('whose server is stopped holds up the first for two seconds, others hardly', async () => {
    const { path, child } = await serverThat(ALLOWS);
    child.kill('SIGSTOP');
    // Four programs: 2 s, and three times a tenth.
    await expectSoon(4_000, async () => {
      const ran = await judged(TEXT, { gate: { path, strict: false } });
      expect(ran).toMatchObject(WENT_ON);
      expect(ran.ms).toBeGreaterThan(1_900);
    });
    child.kill('SIGCONT');
    expect(await judged(TEXT, { gate: { path, strict: false } })).toMatchObject(WENT_ON);
  });

  test('whose server is stopped, in strict: nothing begins', async () => {
    const { path, child } = await serverThat(ALLOWS);
    child.kill('SIGSTOP');
    await expectSoon(4_000, async () => {
      expect(await judged(TEXT, { gate: { path, strict: true } })).toMatchObject(STOPPED);
    });
  });

  test('whose server dies during a run lets the rest of it go on, or stops it', async () => {
    for (const strict of [false, true]) {
      const { path, child } = await serverThat(ALLOWS);
      const text = `/bin/echo one; kill -9 ${child.pid}; while kill -0 ${child.pid} 2>&-; do :; done
        /bin/echo two; echo $?`;
      void once(child, 'exit');
      const { output } = await judged(text, { gate: { path, strict }, cwd: place() });
      expect(output).toBe(strict ? `one\n${NOBODY}126\n` : 'one\ntwo\n0\n');
    }
  });

  test('that is silent about a program without a loader: the same', async () => {
    const path = join(root, 'none.sock');
    const [open, strict] = [
      await judged('exec /sbin/ldconfig -p > /dev/null', { gate: { path, strict: false } }),
      await judged('exec /sbin/ldconfig -p > /dev/null', { gate: { path, strict: true } }),
    ];
    expect([open.code, strict.code]).toEqual([0, 126]);
  });

  test('cannot be strict where nobody could ask', async () => {
    const gate = { path: join(root, 'none.sock'), strict: true };
    const { createShell } = await import('../../src/shell/shell.ts');
    const shell = createShell({
      stateRoot: join(root, 'other'),
      cwd: root,
      env: { ...process.env, CUFF_SHIM: 'off' },
    });
    expect(() => shell.start('echo x', { gate })).toThrow('cannot be judged here: CUFF_SHIM=off');
    const open = shell.start('exit 3', { gate: { ...gate, strict: false } });
    expect((await open.done).outcome).toEqual({ kind: 'exited', code: 3 });
    shell.close();
  });
});
