// `codex`: the unified exec tools of Codex, over our runs. A command that outlives its wait is a
// session with a number of its own in each conversation, until its end was told.

import * as z from 'zod';
import {
  answerNote,
  exitCodeOf,
  hasFailed,
  isLost,
  lostOutput,
  survivorsNow,
  unreadOutput,
} from '../../agent/aftermath.ts';
import type { AgentRun, Ending, Look } from '../../agent/agent-shell.ts';
import type { Caller } from '../../agent/caller.ts';
import { Conversations } from '../../agent/conversations.ts';
import { rawPath } from '../../agent/output-copy.ts';
import { Preludes } from '../../agent/shell-prelude.ts';
import { messageOf } from '../../errors.ts';
import type { ToolDefinition, ToolResult } from '../../host/plugin.ts';
import { NewOutput } from '../../shell/output/new-output.ts';
import { OutputReader } from '../../shell/output/reader.ts';
import { type LineRange, suspectsIn } from '../../shell/output/suspects.ts';
import type { Capture } from '../../shell/shell.ts';
import { countNewlines } from '../../text/lines.ts';
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
import * as tools from './tools.ts';
import * as words from './words.ts';

const FIRST_SESSION = 1_000;
const TOKENS_MAX = 262_144; // a mebibyte: as much as Codex keeps of an output
const INTERRUPT = '\u0003';
const SETTLE_MS = 100; // for a program to react to what was typed, as Codex gives it

// No person sits at the terminal: no colours, no pager, no odd encoding.
const PLAIN_ENV = {
  NO_COLOR: '1',
  TERM: 'dumb',
  COLORTERM: '',
  LANG: 'C.UTF-8',
  LC_CTYPE: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GH_PAGER: 'cat',
};

const keys = {
  max_output_tokens: z
    .int()
    .min(100)
    .max(TOKENS_MAX)
    .default(10_000)
    .describe('How much output an answer may have; a token is four bytes.'),
  login: z
    .boolean()
    .default(false)
    .describe('Whether bash reads its login files for a call that does not say.'),
};
const config = dialectConfig('inherit', keys);

type Session = {
  readonly id: number;
  readonly run: AgentRun;
  readonly reader: NewOutput;
  readonly tty: boolean;
  /** How much of its output could not be kept, as far as that was told. */
  lostBytes: number;
};

class Talk {
  readonly sessions = new Map<number, Session>();
  next = FIRST_SESSION;
}

export class Codex extends dialect({ name: 'codex', version: '1.0.0', config }) {
  readonly #talks = new Conversations(() => new Talk());
  readonly #preludes = new Preludes();

  getTools(): readonly ToolDefinition[] {
    return tools.codexTools(this.own);
  }

  protected override get tellsLeaks(): boolean {
    return true;
  }

  /** How Codex asks for more rights: here the policy decides. */
  protected override get foreign(): readonly string[] {
    return ['sandbox_permissions', 'justification', 'with_escalated_permissions', 'prefix_rule'];
  }

  override async shutdown(): Promise<void> {
    await super.shutdown();
    this.#preludes.close();
  }

  protected answer(tool: string, args: Args, caller: Caller): Promise<ToolResult> {
    return tool === 'exec_command' ? this.#exec(args, caller) : this.#write(args, caller);
  }

  protected override handleOf(run: AgentRun): string {
    const { sessions } = this.#talks.of({ key: run.owner });
    const session = [...sessions.values()].find((one) => one.run === run);
    return session === undefined ? waitedForText(run) : `session ${session.id} (${pidText(run)})`;
  }

  async #exec(args: Args, caller: Caller): Promise<ToolResult> {
    const command = commandOf(args, 'cmd');
    const tty = args.tty === true;
    const waitMs = clamped(args.yield_time_ms, tools.EXEC_YIELD_MS, EXEC_RANGE);
    const startedAt = performance.now();
    const run = await this.shell.start(
      {
        command,
        workingDirectory: textOf(args.workdir),
        shell: shellOf(args.shell),
        env: { ...PLAIN_ENV, ...this.#loginEnv(args) },
        how: tty ? { transport: 'pty', stdin: 'orders' } : { transport: 'merged' },
      },
      caller,
    );
    const finished = await this.shell.wait(run, waitMs, caller);
    const wallMs = performance.now() - startedAt;
    const { outcome } = finished?.ended ?? {};
    if (outcome?.kind === 'failed' && !isLost(outcome)) {
      return failed(`exec_command failed: ${outcome.message}`);
    }
    const talk = this.#talks.of(caller);
    const look = this.shell.look(finished);
    // Of a program that draws a bar again and again only its last state is told.
    const over = finished !== undefined && finished.survivors.length === 0;
    const reader = new NewOutput('all', { cr: over ? 'overwrite' : 'keep' });
    const session = { id: talk.next, run, tty, reader, lostBytes: 0 };
    if (finished === undefined) {
      talk.next += 1;
      talk.sessions.set(session.id, session);
      this.shell.named(run, session.id);
    }
    return this.#told(session, { finished, look, wallMs }, args);
  }

  protected override handleSeen(handle: RunHandle, caller: Caller): void {
    const talk = this.#talks.of(caller);
    if (typeof handle === 'number') talk.next = Math.max(talk.next, handle + 1);
  }

  protected override took(run: AgentRun, handle: RunHandle | undefined, caller: Caller): void {
    const talk = this.#talks.of(caller);
    const had = typeof handle === 'number' ? handle : undefined;
    const id = this.handleFor(run, had, talk.sessions, () => talk.next);
    talk.next = Math.max(talk.next, id + 1);
    const tty = this.shell.open(run.id).meta?.transport === 'pty';
    talk.sessions.set(id, { id, run, tty, reader: new NewOutput('all'), lostBytes: 0 });
  }

  async #write(args: Args, caller: Caller): Promise<ToolResult> {
    const talk = this.#talks.of(caller);
    const session = talk.sessions.get(Number(args.session_id));
    if (session === undefined) {
      return failed(`write_stdin failed: Unknown process id ${args.session_id}`);
    }
    const { run, tty } = session;
    const chars = textOf(args.chars) ?? '';
    if (chars !== '' && !tty && chars !== INTERRUPT) return failed(CLOSED);
    const range = chars === '' ? POLL_RANGE : EXEC_RANGE;
    const waitMs = clamped(args.yield_time_ms, tools.WRITE_YIELD_MS, range);
    const startedAt = performance.now();
    if (run.result === undefined && chars !== '') await this.#type(run, chars, tty, caller);
    const finished = await this.shell.wait(run, waitMs, caller, 'leave');
    if (finished !== undefined) talk.sessions.delete(session.id);
    const look = this.shell.look(finished);
    return this.#told(session, { finished, look, wallMs: performance.now() - startedAt }, args);
  }

  /** What has no terminal cannot be typed to, but be interrupted; it does not survive that. */
  async #type(run: AgentRun, chars: string, tty: boolean, caller: Caller): Promise<void> {
    if (!tty) {
      // The answer tells how the run is; the end of the kill is not waited for.
      run.kill({ signal: 'INT' }).catch(() => undefined);
      return;
    }
    await this.shell.type(run, chars, caller);
    await Promise.race([run.finished, new Promise((resolve) => setTimeout(resolve, SETTLE_MS))]);
  }

  /** Whatever happens to its output, how it is and its session are told. */
  #told(session: Session, about: Standing & { readonly wallMs: number }, args: Args): ToolResult {
    const { finished, look, wallMs } = about;
    const { id, run } = session;
    const { max_output_tokens } = this.own;
    const asked = numberOf(args.max_output_tokens) ?? max_output_tokens;
    const most = Math.min(asked, max_output_tokens);
    const { output, trouble } = this.#new(session, { look, finished }, most);
    const lostBytes = lostOutput(look, run);
    const notes = [
      ...trouble,
      ...words.endNote(finished?.ended),
      ...(finished ? answerNote(run, finished.ended, output.bytes > 0) : []),
      ...hiddenNotes(run.hidden),
      ...(lostBytes > session.lostBytes ? lostNote(lostBytes) : []),
      ...unreadOutput(look, run),
      ...survivorNote(survivorsNow(look, run), words.SURVIVORS),
    ];
    session.lostBytes = lostBytes;
    const process =
      finished === undefined
        ? { session: id }
        : { exitCode: exitCodeOf(finished.ended.outcome) ?? -1 };
    return { success: true, text: words.answerText({ wallMs, process, output, notes }) };
  }

  #new({ run, reader }: Session, { look, finished }: Standing, tokens: number): NewText {
    try {
      if (run.silent) return { output: NOTHING, trouble: [] };
      const capture = look.open(run.id);
      const { hidden, ...output } = newEnds(reader, capture, words.bytesOf(tokens));
      if (hidden === undefined || words.isBinary(output)) return { output, trouble: [] };
      const searched = finished !== undefined && hasFailed(run, finished.ended);
      const path = rawPath(run);
      const errors = searched
        ? errorNotes(suspectsIn(capture, 'all', hidden), linesCommand(path))
        : [];
      return { output, trouble: [`[Full output: ${path}]`, ...errors] };
    } catch (error) {
      return {
        output: NOTHING,
        trouble: [unreadableNote(`The output of run ${run.id}`, messageOf(error))],
      };
    }
  }

  #loginEnv(args: Args): Readonly<Record<string, string>> {
    const login = typeof args.login === 'boolean' ? args.login : this.own.login;
    return login ? this.#preludes.login().env : {};
  }
}

const NOTHING: words.NewEnds = {
  head: '',
  tail: undefined,
  bytes: 0,
  lines: 0,
  sample: new Uint8Array(0),
};

type Standing = { readonly finished: Ending | undefined; readonly look: Look };

type NewText = { readonly output: words.NewEnds; readonly trouble: readonly string[] };

/** All of what is new, or both its ends. */
function newEnds(
  reader: NewOutput,
  capture: Capture,
  bytesMax: number,
): words.NewEnds & { readonly hidden: LineRange | undefined } {
  const half = Math.floor(bytesMax / 2);
  const { ends, from, to, sample } = reader.take(capture, { first: bytesMax, last: half });
  const { all, passed } = ends;
  const about = { bytes: to - from, sample };
  if (!passed && all.totals.bytes <= bytesMax) {
    return { ...about, head: all.head(bytesMax), tail: undefined, lines: 0, hidden: undefined };
  }
  const output = OutputReader.of(capture);
  const before = (position: number): number => output.newlinesBefore('all', position);
  const [first, last] = [before(from), before(to - 1) + 1];
  const [head, tail] = [all.head(half), all.tail(half)];
  const hidden = {
    firstLine: first + 1 + countNewlines(Buffer.from(head)),
    lastLine: last - countNewlines(Buffer.from(tail.slice(0, -1))),
  };
  return { ...about, head, tail, lines: last - first, hidden };
}

const CLOSED =
  'write_stdin failed: stdin is closed for this session; ' +
  'rerun exec_command with tty=true to keep stdin open';

type Range = { readonly least: number; readonly most: number };

const EXEC_RANGE: Range = { least: tools.YIELD_MS_MIN, most: tools.YIELD_MS_MAX };
const POLL_RANGE: Range = { least: tools.POLL_MS_MIN, most: tools.POLL_MS_MAX };

function clamped(given: unknown, otherwise: number, { least, most }: Range): number {
  return Math.max(least, Math.min(numberOf(given) ?? otherwise, most));
}

function shellOf(given: unknown): string | undefined {
  if (given === '') throw new ArgumentError('shell is empty: leave it out, or name a shell.');
  return textOf(given);
}
