// `cuff demo`: a tour with real parts in a temporary state root. Whatever ends it, its end, an
// error, Ctrl-C or a reader that leaves, no process and no file of it stays.

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endRun } from '../shell/kill.ts';
import { runProcesses, stillAlive } from '../shell/processes.ts';
import type { Run } from '../shell/run.ts';
import { createShell, type Shell, type StartOptions } from '../shell/shell.ts';
import { printable, quoteWords } from '../text/printable.ts';
import type { Ended } from '../types.ts';
import { connectAgent } from './demo-agent.ts';
import { paint, put } from './output.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type Tour = {
  /** Cleaning up has begun: nothing may be started any more. */
  stopped: boolean;
  readonly shell: Shell;
  readonly runs: Run[];
  readonly children: Set<ChildProcess>;
};

export async function demo(): Promise<void> {
  // First of all: a signal must not come between the making of something and its removal.
  let signal: NodeJS.Signals | undefined;
  const interrupted = new Promise<void>((resolve, reject) => {
    for (const name of SIGNALS) {
      process.on(name, () => {
        signal ??= name;
        resolve();
      });
    }
    // A reader that left ends the tour, but not before it is cleaned up.
    process.stdout.removeAllListeners('error').on('error', reject);
  });
  const root = mkdtempSync(join(tmpdir(), 'cuff-demo-'));
  const shell = createShell({ stateRoot: root });
  const tour: Tour = { stopped: false, shell, runs: [], children: new Set() };
  try {
    const walking = walk(tour);
    // The second of the two to fail has no caller any more.
    for (const one of [walking, interrupted]) one.catch(() => undefined);
    await Promise.race([walking, interrupted]);
  } finally {
    tour.stopped = true;
    await cleanUp(tour, root);
  }
  if (signal !== undefined) process.exit(128 + constants.signals[signal]);
}

async function walk(tour: Tour): Promise<void> {
  await bothStreams(tour);
  const sleeper = await survivor(tour);
  await liveTail(tour);
  await killed(tour, sleeper);
  await agent(tour);
  await traced(tour);
  await judged(tour);
  await title('8. Everything that ran is listed, and its bytes are there until tomorrow.');
  await cuff(tour, ['ls'], (line) => put(`   ${line}\n`));
  await put('\nThe tour is over and its captures are removed. Your turn: cuff run -- COMMAND\n');
  await put('What was recorded is seen in a browser with: cuff ui\n');
}

async function bothStreams(tour: Tour): Promise<void> {
  await title('1. A command runs as it always did; both of its streams are captured.');
  const run = start(tour, 'echo "this is stdout"; echo "this is stderr" >&2; exit 3');
  const ended = await run.done;
  for (const channel of ['stdout', 'stderr'] as const) {
    const { text, totals } = tour.shell.view(run.id, { kind: 'tail', channel });
    await line(`${channel}: ${printable(text.trimEnd())}  (${totals.bytes} bytes)`);
  }
  await line(`how it ended: ${outcomeText(ended)}`);
}

async function survivor(tour: Tour): Promise<Run> {
  await title('2. A process left in the background does not hold up the answer. It is listed.');
  const before = performance.now();
  const run = start(tour, 'sleep 60 & echo "the shell is done"');
  await run.done;
  await line(`answered after ${Math.round(performance.now() - before)} ms`);
  for (const { pid, command } of runProcesses(tour.shell.open(run.id))) {
    await line(`still alive: ${pid} ${printable(command)}`);
  }
  return run;
}

async function liveTail(tour: Tour): Promise<void> {
  await title('3. Another process follows a run while it prints.');
  const run = start(tour, 'for i in 1 2 3; do echo "line $i"; sleep 0.4; done');
  await run.started;
  let ended = false;
  run.done.then(() => {
    ended = true;
  });
  const show = (text: string): Promise<void> =>
    line(`${printable(text)}  (the run ${ended ? 'has ended' : 'is still going on'})`);
  await cuff(tour, ['tail', '-f', run.id], show, 'shown');
}

async function killed(tour: Tour, sleeper: Run): Promise<void> {
  await title('4. A kill reaches every process, also one that left the group or ignores TERM.');
  const run = start(tour, 'trap "" TERM; setsid sleep 60 & echo ready; sleep 60');
  await tour.shell.waitOutput(run.id, 0, 5_000);
  for (const one of [sleeper, run]) {
    const processes = runProcesses(tour.shell.open(one.id));
    await endRun(tour.shell.store, one.id, { graceMs: 300 });
    const alive = stillAlive(processes).size;
    await line(`${one.id}: ${processes.length} alive before the kill, ${alive} after it`);
  }
}

async function agent(tour: Tour): Promise<void> {
  await title('5. An agent gets this shell over MCP. What it runs is an entry of a journal.');
  const server = again(tour, ['mcp'], ['pipe', 'pipe', 'inherit']);
  const closed = once(server, 'close');
  const one = await connectAgent(server);
  for (const command of ['echo "from the agent"', 'grep -c root /etc/passwd; ls /nowhere']) {
    await put(paint('dim', `   bash_recorder_execute: ${command}\n`));
    const answer = JSON.parse(await one.call('bash_recorder_execute', { command }));
    await line(`exit code ${answer.exit_code}, recorded as ${answer.recording_id}`);
  }
  one.leave();
  await closed;
  tour.children.delete(server);
  await cuff(tour, ['record', 'search', 'nowhere'], line, 'shown');
}

async function traced(tour: Tour): Promise<void> {
  await title('6. Every process inside a run is known: how it ended, and what it printed.');
  const run = start(tour, 'ls /nowhere | sort; (sleep 0.1; exit 7); echo done', { trace: 'auto' });
  await run.closed;
  await cuff(tour, ['trace', run.id], line, 'shown');
}

/** The lines that say what is decided and why, without the caret below the command. */
const VERDICT = /^(allow|ask|deny| {2}[A-Z])/;

async function judged(tour: Tour): Promise<void> {
  await title(
    '7. What an agent ran becomes a policy, and the policy judges what it asks for next.',
  );
  const file = ['--output', 'policy.yml', '--min-frequency', '1'];
  await cuff(tour, ['record', 'generate', ...file], line, 'shown');
  for (const command of ['grep -c root /etc/passwd', 'grep -c root /etc/passwd >> ~/.bashrc']) {
    const check = ['policy', 'check', command, '--policy', 'policy.yml'];
    await cuff(tour, check, (text) => (VERDICT.test(text) ? line(text) : put('')), 'shown');
  }
}

function start(tour: Tour, text: string, options: StartOptions = {}): Run {
  goOn(tour);
  process.stdout.write(paint('dim', `   $ ${text}\n`));
  const run = tour.shell.start(text, options);
  tour.runs.push(run);
  return run;
}

function goOn({ stopped }: Tour): void {
  if (stopped) throw new Error('The tour is over.');
}

/** This very program again, as a process of its own; each of its lines is shown as it comes. */
async function cuff(
  tour: Tour,
  args: readonly string[],
  show: (line: string) => Promise<void>,
  words: 'shown' | 'silent' = 'silent',
): Promise<void> {
  if (words === 'shown') await put(paint('dim', `   $ cuff ${quoteWords(args)}\n`));
  const child = again(tour, args, ['ignore', 'pipe', 'pipe']);
  const closed = once(child, 'close');
  // Both from the beginning: asking for the lines of a stream that has ended never returns.
  const texts = [child.stdout, child.stderr].map((input) => {
    if (input === null) throw new Error('There is nothing to read from.');
    return createInterface({ input })[Symbol.asyncIterator]();
  });
  for (const lines of texts) for await (const text of lines) await show(text);
  await closed;
  tour.children.delete(child);
}

/** In the tour's own directory, so that the journal is there, too. */
function again(tour: Tour, args: readonly string[], stdio: StdioOptions): ChildProcess {
  goOn(tour);
  const { root } = tour.shell.store;
  const { CUFF_SETTINGS: _settings, ...env } = process.env;
  const child = spawn(process.execPath, [process.argv[1] ?? '', ...args], {
    env: { ...env, CUFF_STATE_ROOT: root, XDG_CONFIG_HOME: root },
    cwd: root,
    stdio,
  });
  tour.children.add(child);
  return child;
}

async function cleanUp({ shell, runs, children }: Tour, root: string): Promise<void> {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(runs.map((run) => endRun(shell.store, run.id, { signal: 'KILL' })));
  shell.close();
  await rm(root, { recursive: true, force: true, maxRetries: 5 });
}

function title(text: string): Promise<void> {
  return put(`\n${paint('bold', text)}\n`);
}

function line(text: string): Promise<void> {
  return put(`   ${text}\n`);
}

function outcomeText({ outcome }: Ended): string {
  if (outcome.kind === 'exited') return `exit code ${outcome.code}`;
  return outcome.kind === 'signaled' ? outcome.signal : outcome.message;
}
