// `shell.wait`, on both backends and from another process, and calls of a shell that cannot be
// meant: each is a `usage` error with a sentence, and nothing was started.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createBashTool, createShell, isAppError, type Shell } from '../../src/index.ts';
import { describeBackends, world } from '../shell/backends.ts';
import { home } from './home.ts';

describeBackends('wait', (backend) => {
  it('gives how a run ended, also when it ended long before', async () => {
    const { shell, start } = world(backend);
    const { id, done } = start('exit 3');
    const exited = { outcome: { kind: 'exited', code: 3 }, endedBy: 'itself' };
    expect(await shell.wait(id)).toMatchObject(exited);
    await done;
    expect(await shell.wait(id, 0)).toMatchObject(exited);
    expect(await shell.wait(id, Number.POSITIVE_INFINITY)).toMatchObject(exited);
  });

  it('gives undefined when the time is over first, and kills nothing', async () => {
    const { shell, start, dir } = world(backend);
    const { id } = start('while [ ! -e go ]; do sleep 0.01; done; exit 4', { cwd: dir });
    expect(await shell.wait(id, 1)).toBeUndefined();
    writeFileSync(join(dir, 'go'), '');
    expect(await shell.wait(id)).toMatchObject({ outcome: { kind: 'exited', code: 4 } });
  });

  it('answers when the shell is done, not when the last process is', async () => {
    const { shell, start } = world(backend);
    const { id } = start('sleep 100 & exit 5');
    expect(await shell.wait(id)).toMatchObject({ outcome: { kind: 'exited', code: 5 } });
    await shell.kill(id);
  });
});

/** A shell of its own on the same captures: to it the runs of the other are those of a stranger. */
function twoShells(): { readonly mine: Shell; readonly other: Shell; readonly dir: string } {
  const { dir, options } = home();
  const make = (): Shell => {
    const shell = createShell(options);
    onTestFinished(() => shell.close());
    return shell;
  };
  return { mine: make(), other: make(), dir };
}

it('waits for a run that somebody else started', async () => {
  const { mine, other, dir } = twoShells();
  const { id, started } = mine.start('while [ ! -e go ]; do sleep 0.01; done; exit 6');
  await started;
  expect(await other.wait(id, 1)).toBeUndefined();
  const waiting = other.wait(id);
  writeFileSync(join(dir, 'go'), '');
  expect(await waiting).toMatchObject({ outcome: { kind: 'exited', code: 6 }, endedBy: 'itself' });
});

it('knows no run that there is none of', async () => {
  const { mine } = twoShells();
  await expect(mine.wait('none')).rejects.toMatchObject({ code: 'session_not_found' });
});

/** What is thrown, as `code: message`. */
async function refusal(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    if (isAppError(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'nothing was thrown';
}

it('what cannot be meant is a usage error, and nothing is started', async () => {
  const { options } = home();
  const shell = createShell(options);
  onTestFinished(() => shell.close());
  const start = shell.start as (...given: unknown[]) => unknown;
  const view = shell.view as (...given: unknown[]) => unknown;
  const wait = shell.wait as (...given: unknown[]) => unknown;
  const tool = createBashTool as (...given: unknown[]) => unknown;
  const command = "A command is a text, or { kind: 'argv', argv: [program, ...] } with strings.";
  const deadline = 'killAfterMs must be a whole number of milliseconds from 1';
  const cases: readonly (readonly [() => unknown, string])[] = [
    [() => start(5), command],
    [() => start({ kind: 'argv', argv: [] }), command],
    [() => start({ argv: ['echo'] }), command],
    [() => start({ kind: 'argv', argv: ['echo', 1] }), command],
    [() => start('true', { killAfterMs: -1 }), `${deadline}, not -1.`],
    [() => start('true', { killAfterMs: 1.5 }), `${deadline}, not 1.5.`],
    [() => start('true', { killAfterMs: '9' }), `${deadline}, not "9".`],
    [
      () => start('true', { graceMs: -1 }),
      'graceMs must be a whole number of milliseconds up to 3600000, not -1.',
    ],
    [
      () => start('true', { transport: 'tcp' }),
      'transport must be one of pipe, merged, socket, pty, not "tcp".',
    ],
    [() => start('true', { env: 'A=1' }), 'env must be an object of strings, not "A=1".'],
    [() => start('true', { env: { A: 1 } }), 'env.A must be a string, not 1.'],
    [
      () => start('true', { env: { 'A=B': '1' } }),
      'a name in env must be one of a variable, not "A=B".',
    ],
    [() => view('x'), 'kind of a view must be one of tail, head, middle, raw, not undefined.'],
    [
      () => view('x', { kind: 'all' }),
      'kind of a view must be one of tail, head, middle, raw, not "all".',
    ],
    [() => wait('x', -1), 'waitMs must be a number of milliseconds from 0, not -1.'],
    [() => wait('x', 'long'), 'waitMs must be a number of milliseconds from 0, not "long".'],
    [() => tool(), "There is no dialect 'undefined'."],
    [() => tool({ dialect: 'toString' }), "There is no dialect 'toString'."],
  ];
  for (const [call, sentence] of cases) expect(await refusal(call)).toBe(`usage: ${sentence}`);
  expect(shell.list()).toEqual([]);
});
