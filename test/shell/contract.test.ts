// The contract of both backends, first part: how commands start and end, what they get as input,
// environment and directory. The other parts are its neighbours in this folder.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Outcome } from '../../src/types.ts';
import { lacking } from '../requirements.ts';
import { argv, bytesOf, describeBackends, lacks, textOf, world } from './backends.ts';

const exited = (code: number): Outcome => ({ kind: 'exited', code });
const noGit = lacking(!has('git'), 'git is not installed');

describeBackends('how a command ends', (backend) => {
  it('exit codes are passed on', async () => {
    const { start } = world(backend);
    for (const code of [0, 1, 2, 7, 64, 100, 126, 127, 128, 130, 137, 254, 255]) {
      const { outcome, endedBy } = await start(`exit ${code}`).done;
      expect({ outcome, endedBy }).toEqual({ outcome: exited(code), endedBy: 'itself' });
    }
  });

  it('signals are passed on by name', async () => {
    const { start } = world(backend);
    const names = ['HUP', 'INT', 'ABRT', 'KILL', 'USR1', 'SEGV', 'PIPE', 'ALRM', 'TERM'];
    const runs = names.map((name) => start(`ulimit -c 0; kill -${name} $$; sleep 100`));
    const outcomes = await Promise.all(runs.map(async (run) => (await run.done).outcome));
    expect(outcomes).toEqual(names.map((name) => ({ kind: 'signaled', signal: `SIG${name}` })));
  });

  it('a real-time signal is told', async () => {
    const { outcome } = await world(backend).start('kill -40 $$').done;
    if (lacks(backend, 'real-time signals are told')) expect(outcome).toEqual(exited(0));
    else expect(outcome).toEqual({ kind: 'signaled', signal: expect.stringMatching(/^SIG/) });
  });

  it('a command that cannot be started failed, and did not exit with 127', async () => {
    const home = world(backend);
    const plain = join(home.dir, 'plain');
    writeFileSync(plain, '#!/bin/sh\n');
    chmodSync(plain, 0o644);
    for (const [program, error, words] of [
      ['no-such-program', 'ENOENT', 'No such file or directory'],
      [plain, 'EACCES', 'Permission denied'],
      [home.dir, 'EACCES', 'Permission denied'],
      ['/no/such/program', 'ENOENT', 'No such file or directory'],
      [`${plain}/x`, 'ENOTDIR', 'Not a directory'],
    ] as const) {
      const run = home.start(argv(program, 'x'));
      const outcome = { kind: 'failed', error, message: `${program}: ${words}` };
      expect(await run.started).toBeUndefined();
      expect(await run.done).toEqual({ at: expect.any(Number), outcome, endedBy: 'itself' });
      await run.closed;
      const capture = home.shell.open(run.id);
      expect(capture).toMatchObject({ state: 'failed', final: { outcome, outputClosed: true } });
      expect(capture.meta?.command).toEqual({ kind: 'argv', argv: [program, 'x'] });
    }
  });

  it('a shell that finds no program says 127, or 126, by itself', async () => {
    const home = world(backend);
    const run = home.start('no-such-program; echo $?; /; echo $?');
    expect((await run.done).outcome).toEqual(exited(0));
    expect(textOf(home, run.id, 'stdout')).toBe('127\n126\n');
  });

  it('a crash leaves the next command unharmed', async () => {
    const home = world(backend);
    await home.start('echo half; kill -SEGV $$').done;
    const run = home.start('echo whole');
    expect((await run.done).outcome).toEqual(exited(0));
    expect(textOf(home, run.id)).toBe('whole\n');
  });
});

describeBackends('what a command gets', (backend) => {
  it('a fresh bash every time', async () => {
    const home = world(backend);
    await home.start('cd /; X=1; export X; f() { :; }; alias a=b').done;
    const run = home.start('pwd; echo "[$X]"; type f; alias a');
    await run.done;
    expect(textOf(home, run.id, 'stdout')).toBe(`${home.dir}\n[]\n`);
  });

  it('bash -c in the directory of the shell, wherever we are by then', async () => {
    const home = world(backend);
    const before = process.cwd();
    try {
      process.chdir('/');
      const run = home.start('pwd; tr "\\0" " " < /proc/$$/cmdline 2> /dev/null || echo "bash -c"');
      await run.done;
      const [cwd, command] = textOf(home, run.id).split('\n');
      expect(cwd).toBe(home.dir);
      expect(command).toMatch(/^bash .*-c/);
      expect(home.shell.open(run.id).meta?.argv.slice(0, 4)).toEqual([
        'bash',
        '--noprofile',
        '--norc',
        '-c',
      ]);
    } finally {
      process.chdir(before);
    }
  });

  it('a directory that is there, checked before every run', async () => {
    const home = world(backend);
    const cwd = join(home.dir, 'sub');
    const words = 'Working directory';
    mkdirSync(cwd);
    const run = home.start('pwd', { cwd });
    await run.done;
    expect(textOf(home, run.id)).toBe(`${cwd}\n`);
    rmdirSync(cwd);
    expect(() => home.start('pwd', { cwd })).toThrow(
      expect.objectContaining({ code: 'cwd_missing', message: `${words} does not exist: ${cwd}` }),
    );
    writeFileSync(cwd, '');
    expect(() => home.start('pwd', { cwd })).toThrow(
      expect.objectContaining({
        code: 'cwd_not_directory',
        message: `${words} is not a directory: ${cwd}`,
      }),
    );
    expect(home.shell.list()).toHaveLength(1);
  });

  it('an input that is at its end', async () => {
    const home = world(backend);
    const run = home.start('cat; read x || echo end; readlink /proc/self/fd/0 || echo /dev/null');
    expect((await run.done).outcome).toEqual(exited(0));
    expect(textOf(home, run.id, 'stdout')).toBe('end\n/dev/null\n');
  });

  it('what is written to it, to the last byte, and its end', async () => {
    const home = world(backend);
    const run = home.start(argv('cat'), { stdin: 'orders' });
    await run.started;
    const every = Uint8Array.from({ length: 256 }, (_, value) => value);
    const sent = Buffer.concat(Array.from({ length: 800 }, () => every));
    for (let from = 0; from < sent.length; from += 10_000) {
      run.write(sent.subarray(from, from + 10_000));
    }
    run.write('end ü\n');
    run.endInput();
    expect((await run.done).outcome).toEqual(exited(0));
    expect(sha(bytesOf(home, run.id))).toBe(sha(Buffer.concat([sent, Buffer.from('end ü\n')])));
  });

  it('what is written to it before it was there', async () => {
    const home = world(backend);
    for (let i = 0; i < 20; i++) {
      const run = home.start(argv('cat'), { stdin: 'orders' });
      run.write(`early ${i}\n`);
      run.endInput();
      expect((await run.wait(50_000))?.outcome).toEqual(exited(0));
      expect(textOf(home, run.id)).toBe(`early ${i}\n`);
    }
  });

  it('input that is stored nowhere', async () => {
    const home = world(backend);
    const run = home.start('read secret; wc -c <<< "$secret"', { stdin: 'orders' });
    await run.started;
    run.write('correct-horse-battery\n');
    await run.done;
    await run.closed;
    const { dir } = home.shell.open(run.id);
    expect(textOf(home, run.id)).toBe('22\n');
    const files = readdirSync(dir).map((name) => readFileSync(join(dir, name), 'latin1'));
    expect(files.filter((text) => text.includes('correct-horse-battery'))).toEqual([]);
  });

  it('the environment of the shell and what the run adds', async () => {
    const home = world(backend, { env: { ...process.env, CONTRACT_A: '1', CONTRACT_B: 'a b\nc' } });
    const run = home.start(argv('env', '-0'), { env: { CONTRACT_C: 'ü', CONTRACT_A: '2' } });
    await run.done;
    const lines = textOf(home, run.id).split('\0');
    const own = lines.filter((line) => line.startsWith('CONTRACT_')).sort();
    expect(own).toEqual(['CONTRACT_A=2', 'CONTRACT_B=a b\nc', 'CONTRACT_C=ü']);
  });

  it('no secrets and no editor, when an agent asked', async () => {
    const secrets = {
      ANTHROPIC_API_KEY: 's',
      OPENAI_API_KEY: 's',
      GEMINI_KEY: 's',
      AWS_SECRET_ACCESS_KEY: 's',
      PHOENIX_X: 's',
    };
    const others = { AWS_REGION: 'eu', OPENAIR: 'x', MY_ANTHROPIC_KEY: 'x', EDITOR: 'vi' };
    const env = { ...process.env, ...secrets, ...others };
    const home = world(backend, { env, environment: 'agent' });
    for (const waitMs of [60_000, 0]) {
      const run = home.start(argv('env', '-0'));
      await run.wait(waitMs); // nobody waits for the second one
      await run.closed;
      const lines = textOf(home, run.id).split('\0').filter(Boolean);
      const got = new Map(lines.map((line) => line.split(/=(.*)/s) as [string, string]));
      expect(Object.keys(secrets).filter((name) => got.has(name))).toEqual([]);
      const { ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_KEY, ...rest } = env;
      const { AWS_SECRET_ACCESS_KEY, PHOENIX_X, ...kept } = rest;
      const wanted = { ...kept, EDITOR: '/bin/false', VISUAL: '/bin/false' };
      const before = Object.keys(wanted).filter(
        (name) => !/^(OPENAI|ANTHROPIC|GEMINI)_/.test(name),
      );
      expect([...got.keys()].sort()).toEqual(before.sort());
      expect(got.get('EDITOR')).toBe('/bin/false');
      expect(got.get('VISUAL')).toBe('/bin/false');
      expect(got.get('AWS_REGION')).toBe('eu');
    }
  });

  it.skipIf(noGit)('an editor that fails at once instead of waiting', async () => {
    const home = world(backend, { environment: 'agent' });
    const identity = '-c user.name=a -c user.email=a@example.org';
    const run = home.start(`git init -q . && git ${identity} commit --allow-empty`, {
      env: { GIT_CONFIG_GLOBAL: '/dev/null', HOME: home.dir },
    });
    expect((await run.done).outcome).toEqual(exited(1));
    expect(textOf(home, run.id, 'stderr')).toContain('editor');
  });

  it("nobody's start-up files", async () => {
    const { dir } = world(backend);
    for (const name of ['.bashrc', '.bash_profile', '.profile', 'bash-env']) {
      writeFileSync(join(dir, name), 'echo sourced\n');
    }
    const { SHLVL, ...env } = process.env;
    const trap = { HOME: dir, BASH_ENV: join(dir, 'bash-env'), ENV: join(dir, 'bash-env') };
    const home = world(backend, { env: { ...env, ...trap, SSH_CLIENT: '1 2 3' } });
    const run = home.start('echo "$HOME"; sh -c "echo sh"');
    await run.done;
    expect(textOf(home, run.id)).toBe(`${dir}\nsh\n`);
  });
});

function sha(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function has(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // that is the answer
  }
}
