// `claude_code`: the shell tools of Claude Code, over our runs. Commands start where the one before
// them ended; those that run in the background have ids of their own in each conversation.

import { statSync } from 'node:fs';
import * as z from 'zod';
import {
  answerNote,
  exitCodeOf,
  hasFailed,
  lostOutput,
  survivorsNow,
  unreadOutput,
} from '../../agent/aftermath.ts';
import type { AgentRun, Ending } from '../../agent/agent-shell.ts';
import type { Caller } from '../../agent/caller.ts';
import { Conversations } from '../../agent/conversations.ts';
import { rawPath } from '../../agent/output-copy.ts';
import { type Followed, Preludes } from '../../agent/shell-prelude.ts';
import { messageOf } from '../../errors.ts';
import type { ToolDefinition, ToolResult } from '../../host/plugin.ts';
import { leadsToRemote } from '../../run/mounts.ts';
import { NewOutput } from '../../shell/output/new-output.ts';
import { OutputReader } from '../../shell/output/reader.ts';
import { type LineRange, suspectsIn } from '../../shell/output/suspects.ts';
import type { Capture } from '../../shell/shell.ts';
import type { RunHandle } from '../../types.ts';
import { dialectConfig } from '../agent-config.ts';
import { type Args, ArgumentError, commandOf, numberOf, textOf } from '../arguments.ts';
import { dialect, pidText, waitedForText } from '../dialect.ts';
import {
  errorNotes,
  hiddenNotes,
  linesCommand,
  lostNote,
  survivorNote,
  unreadableNote,
} from '../notes.ts';
import { failed } from '../tool-plugin.ts';
import { filterOf, matching, NOTHING } from './filter.ts';
import { claudeTools, TASK_WAIT_MS_DEFAULT } from './tools.ts';
import * as words from './words.ts';

const OUTPUT_CHARS_MAX = 150_000;
const SHELLS_KEPT_MAX = 200; // of one conversation
const KILL_ROOM_MS = 60_000; // beyond the deadline: TERM, grace, KILL and the entry

const DAY_MS = 86_400_000; // a timer cannot wait for much more
const positive = z.int().min(1).max(DAY_MS);
const keys = {
  default_timeout_ms: positive.default(120_000).describe('How long a command may take.'),
  max_timeout_ms: positive.default(600_000).describe('The longest that a call may ask for.'),
  on_timeout: z
    .enum(['kill', 'background'])
    .default('kill')
    .describe('What becomes of a command whose time is over.'),
  max_output_chars: z
    .int()
    .min(1_000)
    .max(OUTPUT_CHARS_MAX)
    .default(30_000)
    .describe('How much output an answer may have.'),
  keep_directory: z
    .boolean()
    .default(true)
    .describe('Whether a command starts in the directory the one before it ended in.'),
};
const config = dialectConfig('inherit', keys);

/** A command in the background. */
type Background = {
  readonly id: string;
  readonly run: AgentRun;
  readonly reader: NewOutput;
  /** How much of its output could not be kept, as far as BashOutput has said. */
  lostBytes: number;
};

class Talk {
  readonly shells = new Map<string, Background>();
  /** Where its next command starts, if one before it has gone there. */
  directory: string | undefined;
  #count = 0;

  nextId(): string {
    this.#count += 1;
    return `bash_${this.#count}`;
  }

  /** Of an earlier server: later ones count on above it. */
  seen(id: string): void {
    this.#count = Math.max(this.#count, Number(/^bash_(\d{1,9})$/.exec(id)?.[1] ?? 0));
  }
}

export class ClaudeCode extends dialect({ name: 'claude_code', version: '1.0.0', config }) {
  readonly #talks = new Conversations(() => new Talk());
  readonly #preludes = new Preludes();

  getTools(): readonly ToolDefinition[] {
    return claudeTools(this.own);
  }

  protected override get tellsLeaks(): boolean {
    return true;
  }

  /** Claude Code's own switch for its sandbox: here the policy decides. */
  protected override get foreign(): readonly string[] {
    return ['dangerouslyDisableSandbox'];
  }

  override async shutdown(): Promise<void> {
    await super.shutdown();
    this.#preludes.close();
  }

  protected async answer(tool: string, args: Args, caller: Caller): Promise<ToolResult> {
    if (tool === 'Bash') return this.#bash(args, caller);
    if (tool === 'BashOutput') return this.#output(args, caller);
    if (tool === 'TaskOutput') return this.#task(args, caller);
    return this.#kill(tool, args, caller);
  }

  protected override handleOf(run: AgentRun): string {
    const { shells } = this.#talks.of({ key: run.owner });
    const shell = [...shells.values()].find((one) => one.run === run);
    return shell === undefined ? waitedForText(run) : `${shell.id} (${pidText(run)})`;
  }

  async #bash(args: Args, caller: Caller): Promise<ToolResult> {
    const command = commandOf(args);
    const talk = this.#talks.of(caller);
    const { directory, notes } = this.#directory(talk);
    const request = {
      command,
      description: textOf(args.description),
      workingDirectory: directory,
      how: { transport: 'merged' as const },
    };
    if (args.run_in_background === true) {
      const run = await this.shell.start(request, caller);
      return this.#inBackground(run, talk, words.background);
    }
    const { default_timeout_ms, max_timeout_ms, on_timeout, keep_directory } = this.own;
    const timeoutMs = Math.min(numberOf(args.timeout) ?? default_timeout_ms, max_timeout_ms);
    const deadline = on_timeout === 'kill' ? { killAfterMs: timeoutMs } : {};
    const followed = keep_directory ? this.#preludes.follow(command) : undefined;
    const env = followed?.env;
    const run = await started(followed, () =>
      this.shell.start({ ...request, env, ...deadline }, caller),
    );
    const patience = timeoutMs + (on_timeout === 'kill' ? KILL_ROOM_MS : 0);
    const finished = await this.shell.wait(run, patience, caller);
    if (finished === undefined) {
      void run.finished.then(() => followed?.take());
      return this.#inBackground(run, talk, (id, path) =>
        words.movedToBackground(id, path, timeoutMs),
      );
    }
    const went = followed?.take();
    // One that was ended tells, too, but has not done what was asked of it.
    if (exitCodeOf(finished.ended.outcome) === 0) talk.directory = went ?? talk.directory;
    return this.#waited(run, finished, timeoutMs, notes);
  }

  #waited(run: AgentRun, ending: Ending, timeoutMs: number, notes: readonly string[]): ToolResult {
    const { id, command } = run;
    const { ended, survivors, lostBytes } = ending;
    const look = this.shell.look(ending);
    const options = {
      bytesMax: this.own.max_output_chars,
      cr: 'overwrite',
      gap: words.gap,
    } as const;
    const [{ output, errors }, trouble] = readOr(NO_TEXT, () => {
      if (run.silent) return NO_TEXT;
      const capture = look.open(id);
      const view = OutputReader.of(capture).view({ kind: 'ends', ...options });
      const searched = view.summary === undefined && hasFailed(run, ended);
      const errors = searched ? errorsIn(capture, view.hidden, rawPath(run)) : [];
      return { output: words.outputOf(view), errors };
    });
    const left = [
      ...lostNote(lostBytes),
      ...unreadOutput(look, run),
      ...survivorNote(survivors, words.SURVIVORS),
    ];
    const inside = hiddenNotes(run.hidden);
    const answer = answerNote(run, ended, output !== '');
    const all = [...errors, ...answer, ...trouble, ...inside, ...left, ...notes];
    return words.bashAnswer({ command, output, ended, timeoutMs, notes: all });
  }

  async #inBackground(
    run: AgentRun,
    talk: Talk,
    say: (id: string, path: string) => string,
  ): Promise<ToolResult> {
    if ((await run.started) === undefined) {
      return this.#waited(run, await run.finished, 0, []);
    }
    const id = talk.nextId();
    this.#keep(talk, id, run);
    this.shell.named(run, id);
    return { success: true, text: say(id, rawPath(run)) };
  }

  protected override handleSeen(handle: RunHandle, caller: Caller): void {
    this.#talks.of(caller).seen(String(handle));
  }

  protected override took(run: AgentRun, handle: RunHandle | undefined, caller: Caller): void {
    const talk = this.#talks.of(caller);
    const had = typeof handle === 'string' ? handle : undefined;
    this.#keep(
      talk,
      this.handleFor(run, had, talk.shells, () => talk.nextId()),
      run,
    );
  }

  #keep(talk: Talk, id: string, run: AgentRun): void {
    talk.shells.set(id, { id, run, reader: new NewOutput('all'), lostBytes: 0 });
    for (const [old, { run: one }] of talk.shells) {
      if (talk.shells.size <= SHELLS_KEPT_MAX) break;
      if (one.result !== undefined) talk.shells.delete(old);
    }
  }

  #output(args: Args, caller: Caller): ToolResult {
    const id = String(args.bash_id);
    const filter = filterOf(textOf(args.filter));
    const shell = this.#talks.of(caller).shells.get(id);
    if (shell === undefined) return failed(words.unknown('shell', id));
    const { run, reader } = shell;
    // How it came out is asked before: then no output can be behind what is read.
    const ended = run.result?.ended;
    const bytesMax = this.own.max_output_chars;
    const look = this.shell.look();
    const [{ text, more, gaveUp }, trouble] = readOr(NOTHING, () => {
      if (run.silent) return NOTHING;
      const capture = look.open(run.id);
      return filter === undefined
        ? { ...reader.next(capture, bytesMax), gaveUp: false }
        : matching(reader, capture, filter, bytesMax);
    });
    const waiting = `[There is more: call BashOutput again. All of it is in ${rawPath(run)}]`;
    const unfiltered = '[The filter takes too long, so the last part is shown without it]';
    const lostBytes = lostOutput(look, run);
    const notes = [
      ...(gaveUp ? [unfiltered] : []),
      ...(more ? [waiting] : []),
      ...trouble,
      ...(lostBytes > shell.lostBytes ? lostNote(lostBytes) : []),
      ...unreadOutput(look, run),
      ...survivorNote(survivorsNow(look, run), words.SURVIVORS),
    ];
    shell.lostBytes = lostBytes;
    const shown = words.bashOutput({
      status: words.statusOf(ended),
      code: ended && exitCodeOf(ended.outcome),
      output: text,
      notes,
      now: this.services.now(),
    });
    return { success: true, text: shown };
  }

  async #task(args: Args, caller: Caller): Promise<ToolResult> {
    const id = String(args.task_id);
    const shell = this.#talks.of(caller).shells.get(id);
    if (shell === undefined) return failed(words.unknown('task', id));
    const waited = args.block !== false;
    const waitMs = waited ? (numberOf(args.timeout) ?? TASK_WAIT_MS_DEFAULT) : 0;
    const finished = await this.shell.wait(shell.run, waitMs, caller, 'leave');
    const { run } = shell;
    const look = this.shell.look(finished);
    const limits = { bytesMax: this.own.max_output_chars, cr: 'overwrite' } as const;
    const [{ output, errors }, trouble] = readOr(NO_TEXT, () => {
      const capture = look.open(run.id);
      const view = OutputReader.of(capture).view({ kind: 'tail', ...limits });
      const cut = view.cut !== 'none' && view.summary === undefined;
      const searched = cut && finished !== undefined && hasFailed(run, finished.ended);
      const hidden = { firstLine: 1, lastLine: view.firstLine - 1 };
      const errors = searched ? errorsIn(capture, hidden, rawPath(run)) : [];
      return { output: words.taskText(view), errors };
    });
    const notes = [
      ...errors,
      ...trouble,
      ...lostNote(lostOutput(look, run)),
      ...unreadOutput(look, run),
      ...survivorNote(survivorsNow(look, run), words.SURVIVORS),
    ];
    const code = finished && exitCodeOf(finished.ended.outcome);
    const status = words.statusOf(finished?.ended);
    return { success: true, text: words.taskOutput({ id, status, code, waited, output, notes }) };
  }

  async #kill(tool: string, args: Args, caller: Caller): Promise<ToolResult> {
    const id = textOf(args.task_id) ?? textOf(args.shell_id);
    if (id === undefined) throw new ArgumentError(`${tool} needs the argument task_id.`);
    const task = tool === 'TaskStop';
    const shell = this.#talks.of(caller).shells.get(id);
    if (shell === undefined) return failed(words.unknown(task ? 'task' : 'shell', id));
    const { run } = shell;
    // What the shell has left running can be ended as well.
    if (run.result !== undefined && survivorsNow(this.shell, run).length === 0) {
      const status = `(status: ${words.statusOf(run.result.ended)})`;
      const why = task
        ? `Task ${id} is not running`
        : `Shell ${id} is not running, so cannot be killed`;
      return failed(`${why} ${status}`);
    }
    await this.shell.kill(run);
    const say = task ? words.stopped : words.killed;
    return { success: true, text: say(id, run.command) };
  }

  /** Where the next command starts. */
  #directory(talk: Talk): { readonly directory: string; readonly notes: readonly string[] } {
    const { directory } = talk;
    if (directory === undefined || !this.own.keep_directory) {
      return { directory: this.workingDirectory, notes: [] };
    }
    if (isDirectory(directory)) return { directory, notes: [] };
    talk.directory = undefined;
    const notes = [`[${directory} is gone. Shell cwd was reset to ${this.workingDirectory}]`];
    return { directory: this.workingDirectory, notes };
  }
}

const NO_TEXT: { readonly output: string; readonly errors: readonly string[] } = {
  output: '',
  errors: [],
};

/** What looks like an error in the lines that are left out. */
function errorsIn(
  capture: Capture,
  hidden: LineRange | undefined,
  path: string,
): readonly string[] {
  if (hidden === undefined || hidden.lastLine < hidden.firstLine) return [];
  return errorNotes(suspectsIn(capture, 'all', hidden), linesCommand(path));
}

/** Nothing is left of what follows a command that was not started. */
async function started(
  followed: Followed | undefined,
  start: () => Promise<AgentRun>,
): Promise<AgentRun> {
  try {
    return await start();
  } catch (error) {
    followed?.take();
    throw error;
  }
}

/** What can be read, and what is to be said if that is nothing: how it came out is told anyway. */
function readOr<T>(otherwise: T, read: () => T): [T, readonly string[]] {
  try {
    return [read(), []];
  } catch (error) {
    return [otherwise, [unreadableNote('The output', messageOf(error))]];
  }
}

function isDirectory(path: string): boolean {
  if (leadsToRemote(path)) return true; // it may never answer; starting the command tells
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // gone, or we may not look any more: either way nothing can start there
  }
}
