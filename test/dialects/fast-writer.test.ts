// Commands that print faster than anybody reads: the answer comes all the same, others are served
// meanwhile, its numbers agree, and the file it names has what it says.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { CopyDisk } from '../../src/agent/output-copy.ts';
import { Codex } from '../../src/dialects/codex/dialect.ts';
import { CuffShellPlugin } from '../../src/dialects/cuff_shell/dialect.ts';
import { PhoenixBashPlugin } from '../../src/dialects/phoenix_bash/dialect.ts';
import { PipeBashPlugin } from '../../src/dialects/pipe_bash/dialect.ts';
import { until } from '../cli/helper.ts';
import { withTime, workDone } from '../pace.ts';
import { call, World } from '../recorder/helper.ts';
import { background, newWorld } from './phoenix_bash/helper.ts';
import { bash, pipe, text } from './pipe_bash/helper.ts';

const YES = 'yes aaaaaaaaaaaaaaaaaaaaaaaaaa';
// In the units of `workDone`, a few milliseconds each. Answers took twenty seconds once.
const ANSWER_WORK = 300;
const SILENT_WORK = 100;

type Effort = { readonly work: number; readonly silent: number };

/** What it gives, how much work it was, and how much of it while nobody else was served. */
async function measured<T>(answer: Promise<T>): Promise<Effort & { readonly value: T }> {
  const before = workDone();
  let [seen, silent] = [before, 0];
  const look = (): void => {
    silent = Math.max(silent, workDone() - seen);
    seen = workDone();
  };
  const timer = setInterval(look, 5);
  const value = await answer;
  clearInterval(timer);
  look();
  return { value, work: workDone() - before, silent };
}

/** Gives more time as long as a slow machine has printed nothing: then there is no effort. */
async function expectLittleWork(
  attempt: (waitMs: number) => Promise<readonly Effort[] | undefined>,
): Promise<void> {
  const efforts = await withTime(300, attempt, (all) => all !== undefined);
  const little = efforts?.map(({ work, silent }) => work < ANSWER_WORK && silent < SILENT_WORK);
  expect(little, JSON.stringify(efforts)).toEqual(efforts?.map(() => true) ?? 'efforts');
}

it('codex shows both ends of what there was', async () => {
  await expectLittleWork(async (yield_time_ms) => {
    const plugin = await new World().open(Codex);
    const exec = await measured(call(plugin, 'exec_command', { cmd: YES, yield_time_ms }));
    const session_id = Number(/session ID (\d+)/.exec(exec.value.text)?.[1]);
    const stop = { session_id, chars: '\u0003', yield_time_ms: 30_000 };
    const write = await measured(call(plugin, 'write_stdin', stop));
    expect(write.value.text).toContain('Process exited with code 130');
    if (!/\naaa/.test(exec.value.text)) return undefined;
    expect(exec.value.text).toMatch(/tokens truncated…[a\n]*\n\[Full output: \S+\]$/);
    return [exec, write];
  });
});

it('pipe_bash shows the end of what there was, and names a file that has it', async () => {
  await expectLittleWork(async (timeout) => {
    const world = new World();
    const plugin = await pipe(world);
    const command = `echo quiet >&2; ${YES}`;
    const left = await measured(text(bash(plugin, { command, timeout })));
    const pid = Number(/\(pid (\d+)\)/.exec(left.value)?.[1]);
    const check = await measured(text(bash(plugin, { check_pid: pid })));
    const killed = await measured(text(bash(plugin, { kill_pid: pid })));
    for (const { value } of [left, check, killed]) expect(value).toMatch(/Full output: \S+/);
    const path = /Full output: ([^\s\]]+)/.exec(killed.value)?.[1] ?? '';
    const captured = join(world.shell.list()[0]?.dir ?? '', 'output.bin');
    expect(fs.statSync(path).size).toBe(fs.statSync(captured).size);
    // How much is new depends on how much of the machine it got meanwhile.
    expect(check.value).toMatch(/New output since last check \((last \d+ of )?\d+ lines?\b/);
    if (!/\naaa/.test(left.value)) return undefined;
    expect(left.value).toMatch(/stdout \(last \d+ lines\):\na+\n[\s\S]*\nstderr:\nquiet\n/);
    return [left, check, killed];
  });
});

it('cuff_shell counts what it shows', async () => {
  const plugin = await new World().open(CuffShellPlugin);
  let [answer, id] = ['', ''];
  // With more time as long as a busy machine has not started it.
  for (let wait_ms = 300; !/^a+$/m.test(answer) && wait_ms < 30_000; wait_ms *= 4) {
    if (id !== '') await call(plugin, 'shell_kill', { id });
    ({ text: answer } = await call(plugin, 'shell_run', { command: YES, wait_ms }));
    id = /"id":"([^"]+)"/.exec(answer)?.[1] ?? '';
  }
  const hidden = Number(/\[new lines 1-(\d+) not shown/.exec(answer)?.[1]);
  const shown = answer.split('\n').filter((line) => YES.endsWith(` ${line}`)).length;
  const { text: next } = await call(plugin, 'shell_wait', { id, wait_ms: 300 });
  await call(plugin, 'shell_kill', { id });
  expect(next).toContain(`[new lines ${hidden + shown + 1}-`);
});

function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** With a disk that takes its time for each of the pieces that a file is copied in. */
function slowDisk(written: () => void): CopyDisk {
  return {
    ...fs,
    writeSync(fd, bytes, offset, length) {
      written();
      return fs.writeSync(fd, bytes, offset, length);
    },
  };
}

/**
 * The file that phoenix_bash left of a command that printed this much. None of it is copied before
 * all is printed; by the clock of the copy each piece of a MiB takes `pieceMs`.
 */
async function leftBehind(pieceMs: number, size: number): Promise<{ world: World; path: string }> {
  const world = newWorld();
  const done = join(world.project, 'done');
  let now = 0;
  class Slow extends PhoenixBashPlugin {
    protected override readonly copying = {
      clock: () => now,
      disk: slowDisk(() => {
        while (!fs.existsSync(done)) sleepSync(5);
        now += pieceMs;
        sleepSync(pieceMs);
      }),
    };
  }
  const plugin = await world.open(Slow);
  const { path } = await background(plugin, `${YES} | head -c ${size}; touch done`);
  await until(() => fs.existsSync(done), 'all is printed');
  await world.stop(plugin);
  return { world, path };
}

it('phoenix_bash finishes the file of a command before the server stops', async () => {
  const size = 60_000_000;
  const { world, path } = await leftBehind(1, size); // of two seconds, which it has for all
  const written = fs.readFileSync(path);
  expect(written.subarray(size).toString()).toMatch(/^\n\n\[background process [^\n]*\]\n$/);
  expect(written.subarray(0, size).equals(Buffer.alloc(size, `${YES.slice(4)}\n`))).toBe(true);
  expect(world.log('Output file is incomplete')).toEqual([]);
});

it('phoenix_bash says nothing behind a part of the output, and the log says why', async () => {
  const { world, path } = await leftBehind(200, 40_000_000);
  expect(fs.statSync(path).size).toBeLessThan(40_000_000);
  expect(fs.readFileSync(path, 'utf8')).not.toContain('[background');
  expect(world.log('Output file is incomplete')).toMatchObject([
    { fields: { path, error: 'the server stopped before all was copied' } },
  ]);
});

it('pipe_bash names the capture itself while its copy is behind', async () => {
  const attempt = async (timeout: number) => {
    class Slow extends PipeBashPlugin {
      // All of it would take some twenty times as long.
      protected override readonly disk = slowDisk(() => sleepSync(timeout / 8));
    }
    const world = new World();
    const plugin = await world.open(Slow);
    const command = `${YES} | head -c 40000000; touch done; sleep 200`;
    const answer = await text(bash(plugin, { command, timeout }));
    return { world, plugin, answer, printed: fs.existsSync(join(world.project, 'done')) };
  };
  const { world, plugin, answer } = await withTime(3_000, attempt, ({ printed }) => printed);
  const path = /Full output: ([^\s\]]+)/.exec(answer)?.[1] ?? '';
  expect(path).toMatch(/\/output\.bin$/);
  expect(fs.statSync(path).size).toBe(40_000_000);
  await world.stop(plugin);
  expect(world.log('Output file is incomplete')).toHaveLength(1);
});
