// The dialect of seed 002: one tool, `bash`, that gives both streams as one text. A command has a
// deadline and is killed at it, or runs in the background with its output in a file. Commits name
// a co-author, editors fail at once, and a few commands that are never meant are not executed.

import { lstatSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { hasFailed, lostOutput, unreadOutput } from '../../agent/aftermath.ts';
import type { AgentRun, Look, RunRequest } from '../../agent/agent-shell.ts';
import type { Caller } from '../../agent/caller.ts';
import { dangerousPattern, hasInteractiveRebase, withTrailers } from '../../agent/command-text.ts';
import { LiveCopy, type LiveCopyOptions, rawPath } from '../../agent/output-copy.ts';
import { AppError, errnoOf, messageOf } from '../../errors.ts';
import type { ToolDefinition, ToolResult } from '../../host/plugin.ts';
import { mayCommit } from '../../run/git-trailer.ts';
import { leadsToRemote } from '../../run/mounts.ts';
import { sealTrailer } from '../../sealing/anchors/trailer.ts';
import { OutputReader } from '../../shell/output/reader.ts';
import { suspectsIn } from '../../shell/output/suspects.ts';
import { countNewlines } from '../../text/lines.ts';
import { onlyKills } from '../../text/shell-facts.ts';
import type { Args } from '../arguments.ts';
import { dialect, pidText } from '../dialect.ts';
import { errorNotes, linesCommand } from '../notes.ts';
import { failed } from '../tool-plugin.ts';
import { bashTool, phoenixCall, phoenixConfig } from './tools.ts';
import * as words from './words.ts';

// The runner keeps the deadline; this only ends the waiting should it be gone.
const ANSWER_MS = 10_000;

/** Seed 002: no person sits there to edit the list. */
const NO_REBASE = {
  GIT_SEQUENCE_EDITOR: "echo 'Interactive rebase requires background=true' && exit 1",
};

type AskedFor = Pick<RunRequest, 'command' | 'chosen'>;

export class PhoenixBashPlugin extends dialect({
  name: 'phoenix_bash',
  version: '1.0.0',
  config: phoenixConfig,
}) {
  /** Tests make the disk fail, and time stand still. */
  protected readonly copying: Pick<LiveCopyOptions, 'disk' | 'clock'> = {};
  readonly #files = new Set<LiveCopy>();

  getTools(): readonly ToolDefinition[] {
    return [bashTool(this.workingDirectory)];
  }

  override async shutdown(): Promise<void> {
    await super.shutdown();
    for (const file of this.#files) file.stop();
    await Promise.all([...this.#files].map((file) => file.over));
  }

  protected async answer(_tool: string, args: Args, caller: Caller): Promise<ToolResult> {
    const { command, background, timeoutSeconds } = phoenixCall(args, this.own);
    this.#checkWorkingDirectory();
    const pattern = dangerousPattern(command);
    if (pattern !== undefined) {
      await this.shell.deny({ command }, caller);
      return failed(words.dangerousText(pattern));
    }
    const text = await this.#withTrailers(command);
    // The trailers are ours: what is judged is what was asked for.
    const asked = { command: text, chosen: { command } };
    if (background) return this.#background(asked, caller);
    return this.#foreground(asked, timeoutSeconds, caller);
  }

  protected override handleOf(run: AgentRun): string {
    return pidText(run);
  }

  #checkWorkingDirectory(): void {
    const directory = this.workingDirectory;
    if (leadsToRemote(directory)) return; // it may never answer; starting the command tells
    try {
      if (statSync(directory).isDirectory()) return;
    } catch (error) {
      const why = errnoOf(error);
      if (why !== 'ENOENT' && why !== 'ENOTDIR') return; // starting the command says what it is
      throw new AppError('cwd_missing', words.missingDirectoryText(directory));
    }
    throw new AppError('cwd_not_directory', words.noDirectoryText(directory));
  }

  async #withTrailers(command: string): Promise<string> {
    const { co_author: coAuthor } = this.own;
    if (coAuthor === false || !mayCommit(command)) return command;
    const { env, stateRoot, projectDirectory: project } = this.services;
    const seal = await sealTrailer({ env, stateRoot, project });
    const trailers = [`Co-authored-by: ${coAuthor}`, ...(seal === undefined ? [] : [seal])];
    return withTrailers(command, trailers, { workingDirectory: this.workingDirectory, env });
  }

  async #foreground(asked: AskedFor, seconds: number, caller: Caller): Promise<ToolResult> {
    const killAfterMs = seconds * 1000;
    const run = await this.shell.start(
      {
        ...asked,
        killAfterMs,
        how: { transport: 'merged', graceMs: 0 },
        ...(hasInteractiveRebase(asked.command) && { env: NO_REBASE }),
        // There is no other tool: with sixteen servers in the background none could be stopped.
        makesRoom: onlyKills(asked.command),
      },
      caller,
    );
    const finished = await this.shell.wait(run, killAfterMs + ANSWER_MS, caller);
    const look = this.shell.look(finished);
    const lost = finished?.lostBytes ?? lostOutput(look, run);
    const shown = outputOf(look, run);
    const wrong = finished === undefined || hasFailed(run, finished.ended);
    const errors = wrong ? errorsIn(look, run, shown) : [];
    const missing = words.lostText(lost, [...unreadOutput(look, run), ...errors]);
    const output = words.outputText(shown, missing);
    if (finished === undefined || finished.ended.endedBy === 'timeout') {
      return failed(words.timedOutText(seconds, output));
    }
    const { outcome } = finished.ended;
    if (outcome.kind === 'exited' && outcome.code === 0) return { success: true, text: output };
    return failed(words.failedText(finished.ended, output));
  }

  /** The file follows the run for as long as anything of it can print. */
  async #background(asked: AskedFor, caller: Caller): Promise<ToolResult> {
    const directory = this.#newDirectory();
    const run = await this.#startIn(directory, asked, caller);
    const file = this.#follow(run, join(directory, 'output'));
    const child = await run.started;
    if (child !== undefined) {
      this.shell.named(run, file.path);
      return { success: true, text: words.backgroundText(child.pid, file.path) };
    }
    const { ended } = await run.finished;
    await file.over;
    rmSync(directory, { recursive: true, force: true });
    return failed(words.failedText(ended, ''));
  }

  /** The file that the earlier server named goes on; it has all of the output again. */
  protected override took(run: AgentRun, handle: string | number | undefined): void {
    const path = String(handle ?? '');
    const named = basename(dirname(path)).startsWith('phoenix-') && basename(path) === 'output';
    if (!named || !lstatSync(path, { throwIfNoEntry: false })?.isFile()) return;
    rmSync(path, { force: true });
    this.#follow(run, path);
  }

  #follow(run: AgentRun, path: string): LiveCopy {
    const file = new LiveCopy(run, path, {
      text: 'raw',
      lastWords: ({ outcome }, lost, unread) =>
        words.lastWords(outcome, words.lostText(lost, unread)),
      ...this.copying,
    });
    this.#keep(file, run);
    return file;
  }

  #newDirectory(): string {
    try {
      return mkdtempSync(join(this.services.env.TMPDIR || tmpdir(), 'phoenix-'));
    } catch (error) {
      const why = messageOf(error);
      throw new AppError('start_failed', `There is no place for the output file: ${why}`);
    }
  }

  async #startIn(directory: string, asked: AskedFor, caller: Caller): Promise<AgentRun> {
    try {
      const how = { transport: 'merged' } as const;
      return await this.shell.start({ ...asked, how }, caller);
    } catch (error) {
      rmSync(directory, { recursive: true, force: true });
      throw error;
    }
  }

  #keep(file: LiveCopy, { id }: AgentRun): void {
    this.#files.add(file);
    void file.over.then(() => {
      this.#files.delete(file);
      if (file.error === undefined) return;
      const { path, error } = file;
      this.services.log('warn', 'Output file is incomplete', { run_id: id, path, error });
    });
  }
}

/** What looks like an error between the ends that are shown. */
function errorsIn(look: Look, run: AgentRun, { first, last, totalBytes }: words.Output) {
  if (totalBytes <= words.OUTPUT_BYTES_MAX) return [];
  const capture = look.open(run.id);
  const { lines } = OutputReader.of(capture).totals('all');
  const hidden = {
    firstLine: countNewlines(first.subarray(0, words.SNIP_BYTES)) + 1,
    lastLine: lines - countNewlines(last.subarray(0, -1)),
  };
  return errorNotes(suspectsIn(capture, 'all', hidden), linesCommand(rawPath(run)));
}

function outputOf(look: Look, { id, silent }: AgentRun): words.Output {
  const nothing = new Uint8Array();
  if (silent) return { first: nothing, last: nothing, totalBytes: 0 };
  const { OUTPUT_BYTES_MAX, SNIP_BYTES } = words;
  const output = OutputReader.of(look.open(id));
  const totalBytes = output.end;
  const first = output.head('all', OUTPUT_BYTES_MAX);
  if (totalBytes <= OUTPUT_BYTES_MAX) return { first, last: nothing, totalBytes };
  const last = [...output.pieces(totalBytes - SNIP_BYTES)].map(({ bytes }) => bytes);
  return { first, last: Buffer.concat(last), totalBytes };
}
