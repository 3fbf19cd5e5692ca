// What a model is told about processes that its command hides: stages of pipelines that failed, and
// programs that died of a signal. Nothing more than that, and nothing twice.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Native, steady } from '../dialects/cuff_shell/helper.ts';
import { World } from '../recorder/helper.ts';
import { lacking } from '../requirements.ts';
import { TRACED, untraceable } from './helper.ts';

const noTracing = lacking(untraceable, 'runs cannot be traced here');

/** The lines behind the first one, which says how it ended. */
async function told(native: Native, command: string, args = {}): Promise<readonly string[]> {
  const { trailer } = await native.run(command, args);
  return trailer.slice(1).map((line) => steady(line));
}

describe.skipIf(noTracing)('a traced command of the native dialect', () => {
  it('names stages that failed although the status is 0', async () => {
    const native = await Native.open(TRACED);
    expect(await native.run('false | true')).toMatchObject({
      success: true,
      trailer: [
        expect.stringMatching(/^exit 0, /),
        'the last pipeline: stage 1 of 2 (false) exited 1',
      ],
    });
    expect(await told(native, 'cat missing 2>/dev/null | wc -l')).toEqual([
      'the last pipeline: stage 1 of 2 (cat missing 2>/dev/null) exited 1',
    ]);
    expect(await told(native, 'cat missing 2>/dev/null | wc -l; echo done')).toEqual([
      'a pipeline: stage 1 of 2 (cat missing 2>/dev/null) exited 1',
    ]);
    expect(await told(native, '{ false; } | (false) | true')).toEqual([
      'the last pipeline: stage 1 of 3 exited 1',
      'the last pipeline: stage 2 of 3 exited 1',
    ]);
  });

  it('names what died of a signal inside, however deep', async () => {
    const native = await Native.open(TRACED);
    expect(await told(native, "sh -c 'kill -9 $$' | cat")).toEqual([
      "the last pipeline: stage 1 of 2 (sh -c 'kill -9 $$') died of SIGKILL",
    ]);
    const deep = `bash -c "bash -c 'kill -SEGV \\$\\$; true'; true"; true`;
    expect(await told(native, deep)).toEqual([
      "inside: pid 1 bash -c 'kill -SEGV $$; true' died of SIGSEGV",
    ]);
  });

  it('tells what a program used that used much, for that may be why', async () => {
    const native = await Native.open(TRACED);
    const text = `${process.execPath} -e 'Buffer.alloc(3e8, 1); process.exit(3)' | cat`;
    const [line] = await told(native, text);
    expect(line).toMatch(/^the last pipeline: stage 1 of 2 .* exited 3 \((.*, )?\d{3} MiB\)$/);
  });

  it('says nothing about answers, closed readers, and what the command knows itself', async () => {
    const native = await Native.open(TRACED);
    for (const command of [
      'grep nothing /dev/null | cat',
      'yes | head -1',
      'if /bin/false; then :; fi',
      '/bin/false || true',
      'diff /dev/null /etc/passwd | head -1',
      'true | /bin/false || true',
    ]) {
      expect([command, await told(native, command)]).toEqual([command, []]);
    }
    const { trailer } = await native.run('true | (exit 4)');
    expect(trailer).toHaveLength(1);
    expect(trailer[0]).toMatch(/^exit 4, /);
    expect((await native.run('sh -c "kill -9 \\$\\$; :"; exit $?')).trailer).toEqual([
      expect.stringMatching(/^exit 137 \(128\+SIGKILL\), /),
    ]);
  });

  it('has few words about many things', async () => {
    const native = await Native.open(TRACED);
    const long = 'x'.repeat(300);
    const stages = Array.from({ length: 30 }, () => `false ${long}`).join(' | ');
    const killed = `sh -c 'kill -9 $$; : ${long}'`;
    const { trailer } = await native.run(`${killed}; ${killed}\n${stages}`);
    expect(trailer).toHaveLength(5);
    expect(trailer.join('').length).toBeLessThan(500);
  });

  it('says at most three things, and how many more there are', async () => {
    const native = await Native.open(TRACED);
    const killed = "sh -c 'kill -9 $$; :'";
    expect(await told(native, `${`${killed}; `.repeat(5)}true`)).toEqual([
      ...Array.from({ length: 3 }, () => `inside: pid 1 ${killed} died of SIGKILL`),
      'and 2 more inside',
    ]);
  });

  it('says nothing of what was ended with its run', async () => {
    const native = await Native.open(TRACED);
    const { trailer } = await native.run('sleep 100 | sleep 100', { kill_after_ms: 300 });
    expect(trailer.map((line) => line.replace(/, \d.*/, ''))).toEqual([
      'died of SIGTERM, killed by kill_after_ms 300',
    ]);
  });

  it('is not watched in the way of those that are not traced', async () => {
    const native = await Native.open(TRACED);
    await native.run('false | true; declare -p BASH_ENV');
    expect(existsSync(join(native.world.stateRoot, 'stages'))).toBe(false);
    const plain = await Native.open({ recording: { trace: 'off' } });
    expect(await told(plain, 'false | true')).toEqual([
      'the last pipeline: stage 1 of 2 (false) exited 1',
    ]);
    expect(existsSync(join(plain.world.stateRoot, 'stages'))).toBe(true);
  });

  it('keeps its streams apart, or together, or on a terminal, as it is asked for', async () => {
    const native = await Native.open(TRACED);
    const command = 'echo out; sleep 0.01; echo err >&2; sleep 0.01; echo dev';
    expect((await native.run(command)).body).toBe('out\ndev\n[stderr]\nerr\n');
    expect((await native.run(command, { combined: true })).body).toBe('out\nerr\ndev\n');
    expect((await native.run(command, { tty: true })).body).toBe('out\nerr\ndev\n');
    const modes = native.world.shell.list().map(({ meta }) => [meta?.transport, meta?.trace]);
    expect(modes).toEqual([
      ['pty', { enabled: true, mode: 'pty' }],
      ['merged', { enabled: true, mode: 'socket' }],
      ['socket', { enabled: true, mode: 'socket' }],
    ]);
  });

  it('is on pipes where its text opens its output by name, or nobody asked', async () => {
    const named = await Native.open(TRACED);
    await named.run('echo dev >/dev/stdout');
    await named.run('echo dev >/dev/stdout', { combined: true });
    const auto = await Native.open({ recording: { trace: 'auto' } });
    await auto.run('echo plain');
    await auto.run('echo plain', { combined: true });
    const modes = [named, auto].map(({ world }) =>
      world.shell.list().map(({ meta }) => [meta?.transport, meta?.trace]),
    );
    const pipes = ['merged', 'pipe'].map((transport) => [
      transport,
      { enabled: true, mode: 'pipe' },
    ]);
    expect(modes).toEqual([pipes, pipes]);
  });

  it('is told by bash what a trace is not sure about', async () => {
    const native = await Native.open(TRACED);
    expect(await told(native, 'set -u; false | true')).toEqual([
      'the last pipeline: stage 1 of 2 exited 1',
    ]);
  });
});

describe('a command that cannot be traced', () => {
  const world = (): World => new World({ env: { ...process.env, CUFF_SHIM: 'off' } });

  it('says so where somebody relies on it, and bash is asked instead', async () => {
    const native = await Native.open(TRACED, world());
    expect(await told(native, 'false | true')).toEqual([
      'the last pipeline: stage 1 of 2 (false) exited 1',
      'not traced: CUFF_SHIM=off',
    ]);
    const [capture] = native.world.shell.list();
    expect(capture?.meta).toMatchObject({
      transport: 'pipe',
      trace: { enabled: false, reason: 'CUFF_SHIM=off' },
    });
  });

  it('says nothing where it is only tried', async () => {
    const native = await Native.open({ recording: { trace: 'auto' } }, world());
    expect(await told(native, 'true')).toEqual([]);
    const [capture] = native.world.shell.list();
    expect(capture?.meta?.trace).toEqual({ enabled: false, reason: 'CUFF_SHIM=off' });
  });

  it('is not said to be untraced where nobody asked', async () => {
    const native = await Native.open({ recording: { trace: 'off' } });
    await native.run('true');
    expect(native.world.shell.list()[0]?.meta?.trace).toBe(undefined);
  });
});
