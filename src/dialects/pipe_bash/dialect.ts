// The dialect of seed 001: one tool, `bash`. A command is waited for; when that takes too long it
// goes on in the background, and the same tool checks on it by its pid or kills it. Streams are
// kept apart, cleaned, and shown from their end; what does not fit is in a file that is named.

import { resolve } from 'node:path';
import { hasFailed, lostOutput, survivorsNow, unreadOutput } from '../../agent/aftermath.ts';
import type { AgentRun, Ending, Look } from '../../agent/agent-shell.ts';
import type { Caller } from '../../agent/caller.ts';
import {
  type Copy,
  type CopyDisk,
  capturedBytes,
  copyStream,
  LiveCopy,
  pathInCapture,
  pathInDirectory,
  rawPath,
} from '../../agent/output-copy.ts';
import type { ToolDefinition, ToolResult } from '../../host/plugin.ts';
import type { Tail } from '../../shell/output/ends.ts';
import { type Growth, NewOutput } from '../../shell/output/new-output.ts';
import { OutputReader } from '../../shell/output/reader.ts';
import { suspectsIn } from '../../shell/output/suspects.ts';
import { within } from '../../shell/run.ts';
import type { CutLimits } from '../../text/cut.ts';
import type { Args } from '../arguments.ts';
import { dialect, pidText, waitedForText } from '../dialect.ts';
import { errorNotes, linesCommand } from '../notes.ts';
import { failed } from '../tool-plugin.ts';
import { bashTool, pipeCall, pipeConfig } from './tools.ts';
import * as words from './words.ts';

const BYTES_MAX = 51_200; // seed 001, of each stream
const ROLLING_BYTES_MAX = 102_400; // seed 001: twice what can be shown
const ALL: CutLimits = { linesMax: 2_000, bytesMax: BYTES_MAX };
const COMPACT = {
  stdout: { linesMax: 500, bytesMax: BYTES_MAX },
  stderr: { linesMax: 100, bytesMax: BYTES_MAX },
};

// A copy that is far behind, because it has gigabytes to do, must not hold up the answer: then the
// capture itself is named.
const CATCH_UP_MS = 2_000;
const BEHIND_BYTES_MAX = 64 * 1024 * 1024;

// More than this is not written a second time when the capture has nothing else in it.
const CLEAN_COPY_BYTES_MAX = 8 * 1024 * 1024;

const KEPT_MAX = 1_000; // runs in the background that are over, and can still be checked

/** A run that no call waits for any more. */
type Background = {
  /** Everything it prints, as it comes. */
  readonly file: LiveCopy;
  readonly since: NewOutput;
};

export class PipeBashPlugin extends dialect({
  name: 'pipe_bash',
  version: '1.0.0',
  config: pipeConfig,
}) {
  /** Tests make it fail. */
  protected readonly disk: CopyDisk | undefined = undefined;
  readonly #background = new Map<AgentRun, Background>();

  getTools(): readonly ToolDefinition[] {
    return [bashTool(this.own.default_timeout_ms)];
  }

  override async shutdown(): Promise<void> {
    await super.shutdown();
    for (const { file } of this.#background.values()) file.stop();
    await Promise.all([...this.#background.values()].map(({ file }) => file.over));
  }

  protected async answer(_tool: string, args: Args, caller: Caller): Promise<ToolResult> {
    const call = pipeCall(args, this.own.default_timeout_ms);
    if (call.kind === 'run') return this.#run(call.command, call.timeoutMs, caller);
    const run = this.#backgrounded(caller, call.pid);
    const background = run && this.#background.get(run);
    if (run === undefined || background === undefined) {
      return failed(words.unknownText(call.pid));
    }
    return call.kind === 'check' ? this.#check(run, background) : this.#kill(run, background);
  }

  protected override handleOf(run: AgentRun): string {
    return this.#background.has(run) ? pidText(run) : waitedForText(run);
  }

  /** The newest that had this pid: pids come again. */
  #backgrounded({ key }: Caller, pid: number): AgentRun | undefined {
    return [...this.#background.keys()].findLast((run) => run.owner === key && run.pid === pid);
  }

  async #run(command: string, timeoutMs: number, caller: Caller): Promise<ToolResult> {
    const run = await this.shell.start({ command }, caller);
    const finished = await this.shell.wait(run, timeoutMs, caller);
    if (finished === undefined) return this.#leave(run, timeoutMs);
    const look = this.shell.look(finished);
    const streams = this.#streams(run, look);
    const files = {
      stdout: await this.#offload(run, 'stdout', streams),
      stderr: await this.#offload(run, 'stderr', streams),
    };
    const unread = unreadOutput(look, run);
    const errors = hasFailed(run, finished.ended) ? errorsIn(look, run, streams, files) : [];
    const text = words.endedText({ ...finished, unread: [...unread, ...errors] }, streams, files);
    const exitCode = exitCodeIn(finished);
    return { success: succeeded(finished), text, parts: partsOf(streams, exitCode) };
  }

  protected override took(run: AgentRun): void {
    // The copy of the earlier server stays as it is: it may be open elsewhere.
    this.#keep(run, `output-${process.pid}.log`);
  }

  #keep(run: AgentRun, name: string): Background {
    const { cr } = this.own;
    const file = new LiveCopy(run, this.#path(run, name), { text: { cr }, ...this.#disk });
    const since = new NewOutput('both', { cr, binary: 'shown' });
    this.#background.set(run, { file, since });
    this.#warn(run, file);
    this.#forget();
    return { file, since };
  }

  /** It goes on, and is known by its pid from now on. */
  async #leave(run: AgentRun, timeoutMs: number): Promise<ToolResult> {
    const { background_notice: notice } = this.own;
    const { file, since } = this.#keep(run, 'output.log');
    const added = this.#take(run, since);
    const limits = notice === 'compact' ? COMPACT : { stdout: ALL, stderr: ALL };
    const streams = {
      stdout: added.stdout.lines(limits.stdout),
      stderr: added.stderr.lines(limits.stderr),
    };
    const full = await fullOutput(run, file, since.cursor);
    const about = { timeoutMs, pid: run.pid ?? 0, file: full };
    const text = words.backgroundText(notice, about, streams);
    return { success: true, text, parts: partsOf(streams, null) };
  }

  #take({ id }: AgentRun, since: NewOutput): Growth['ends'] {
    return since.take(this.shell.open(id), { first: 0, last: ROLLING_BYTES_MAX }).ends;
  }

  async #check(run: AgentRun, { file, since }: Background): Promise<ToolResult> {
    const pid = run.pid ?? 0;
    // Its entry may be on its way to the disk: then it does not run any more.
    const over = await within(run.done, 0);
    if (over !== undefined) return this.#ended(run, await run.finished, file);
    const { all } = this.#take(run, since);
    const full = await fullOutput(run, file, since.cursor);
    const text = words.runningText(pid, all.lines(ALL), full);
    return { success: true, text };
  }

  async #kill(run: AgentRun, { file }: Background): Promise<ToolResult> {
    const finished = await this.shell.kill(run, { signal: 'KILL', graceMs: 0 });
    return { ...(await this.#ended(run, finished, file)), success: true };
  }

  async #ended(run: AgentRun, finished: Ending, file: LiveCopy): Promise<ToolResult> {
    const full = await fullOutput(run, file, capturedBytes(run));
    const look = this.shell.look();
    const streams = this.#streams(run, look);
    // Its survivors may be gone by now, or killed; and what was kept may be damaged.
    const survivors = survivorsNow(look, run);
    const lostBytes = lostOutput(look, run);
    const known = { ...finished, survivors, lostBytes, unread: unreadOutput(look, run) };
    const text = words.exitedText(run.pid ?? 0, known, streams, full);
    return { success: succeeded(finished), text, parts: partsOf(streams, exitCodeIn(finished)) };
  }

  #streams(run: AgentRun, look: Look): words.Streams {
    const { cr } = this.own;
    if (run.silent) return { stdout: words.NOTHING, stderr: words.NOTHING };
    const output = OutputReader.of(look.open(run.id));
    const view = (channel: 'stdout' | 'stderr'): Tail =>
      output.view({ kind: 'tail', channel, cr, ...ALL });
    return { stdout: view('stdout'), stderr: view('stderr') };
  }

  /** Seed 001: short lines that are only too many are no reason for a file. */
  async #offload(
    run: AgentRun,
    channel: 'stdout' | 'stderr',
    { stdout, stderr }: words.Streams,
  ): Promise<Copy | undefined> {
    const [shown, other] = channel === 'stdout' ? [stdout, stderr] : [stderr, stdout];
    const { bytes } = shown.totals;
    if (shown.cut === 'none' || bytes <= BYTES_MAX) return undefined;
    const { cr, offload_directory: directory } = this.own;
    const alone = other.totals.bytes === 0 && directory === null;
    if (alone && bytes > CLEAN_COPY_BYTES_MAX) return { path: rawPath(run), error: undefined };
    const path = this.#path(run, `${channel}.log`);
    return copyStream(run, channel, path, { text: { cr }, ...this.#disk });
  }

  #path(run: AgentRun, name: string): string {
    const { offload_directory: directory } = this.own;
    if (directory === null) return pathInCapture(run, name, this.disk);
    return pathInDirectory(resolve(this.services.projectDirectory, directory), 'pipe-bash-');
  }

  #warn({ id }: AgentRun, file: LiveCopy): void {
    void file.over.then(() => {
      const { path, error } = file;
      if (error === undefined) return;
      this.services.log('warn', 'Output file is incomplete', { run_id: id, path, error });
    });
  }

  get #disk(): { readonly disk?: CopyDisk } {
    return this.disk === undefined ? {} : { disk: this.disk };
  }

  #forget(): void {
    for (const run of this.#background.keys()) {
      if (this.#background.size <= KEPT_MAX) return;
      if (run.result !== undefined) this.#background.delete(run);
    }
  }
}

/** What looks like an error in the lines before those that are shown. */
function errorsIn(
  look: Look,
  run: AgentRun,
  streams: words.Streams,
  files: words.CopyFiles,
): readonly string[] {
  return (['stdout', 'stderr'] as const).flatMap((channel) => {
    const { cut, shown, totals } = streams[channel];
    if (cut === 'none') return [];
    const hidden = { firstLine: 1, lastLine: totals.lines - shown.lines };
    const path = files[channel]?.path ?? rawPath(run);
    return errorNotes(suspectsIn(look.open(run.id), channel, hidden), linesCommand(path));
  });
}

/** As the answer shows them. */
function partsOf({ stdout, stderr }: words.Streams, exitCode: number | null) {
  return { stdout: stdout.text, stderr: stderr.text, exitCode };
}

/** -1 for a command without a code of its own, as in the text. */
function exitCodeIn({ ended: { outcome } }: Ending): number {
  return outcome.kind === 'exited' ? outcome.code : -1;
}

function succeeded({ ended: { outcome } }: Ending): boolean {
  return outcome.kind === 'exited' && outcome.code === 0;
}

/** The file that has everything up to there: its copy, or the capture's own. */
async function fullOutput(run: AgentRun, file: LiveCopy, cursor: number): Promise<Copy> {
  if (cursor - file.cursor <= BEHIND_BYTES_MAX) await within(file.upTo(cursor), CATCH_UP_MS);
  const behind = file.error === undefined && file.cursor < cursor;
  return behind ? { path: rawPath(run), error: undefined } : file;
}
