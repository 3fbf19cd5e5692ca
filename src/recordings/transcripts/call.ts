// What an agent's own transcript tells: the shell commands it asked for and the files it edited.
// Each agent has one parser: lines in, facts out, nothing read and nothing remembered beyond the
// calls that have no result yet. A transcript belongs to its agent, changes with every version and
// may be damaged or forged, so parsers never throw, never guess, and count what they do not
// understand. Everything here is the agent's own word: none of it was seen by us.

import { asObject, asString, type JsonObject } from '../../text/json.ts';
import type { TranscriptAgent } from './agents.ts';

export type { TranscriptAgent };

/** Who let a call run, or refused it, as the transcript has it. `agent`: a rule of its own. */
export type Decider = 'person' | 'config' | 'hook' | 'agent';

/** How a call ended. `open`: the transcript has no result of it. */
export type CallEnd = 'itself' | 'timeout' | 'interrupted' | 'failed' | 'denied' | 'open';

export type TranscriptCall = {
  readonly agent: TranscriptAgent;
  readonly session: string;
  /** Unique in its session: the agent's id of the call, or its place in the file. */
  readonly call: string;
  readonly command: string;
  readonly description: string | null;
  /** As the agent wrote it; null when the transcript does not say. */
  readonly cwd: string | null;
  /** Epoch milliseconds. */
  readonly startedAt: number | null;
  /** From the call to its result, which includes the time that a person took to approve it. */
  readonly durationMs: number | null;
  /** Null unless the transcript says it. */
  readonly exitCode: number | null;
  readonly output: string | null;
  /** The agent itself kept less than there was. */
  readonly truncated: boolean;
  readonly end: CallEnd;
  /** Why it was not run, in the agent's words. */
  readonly denied?: string;
  readonly decidedBy?: Decider;
  /** The subagent that asked for it. */
  readonly sidechain?: string;
  /** The file with the whole output, as the transcript names it. */
  readonly outputFile?: string;
  /** Where the call stands in its file, from 1. */
  readonly line: number;
};

export type TranscriptEdit = {
  readonly agent: TranscriptAgent;
  readonly session: string;
  readonly call: string;
  /** The agent's name of the tool. */
  readonly tool: string;
  readonly path: string;
  readonly cwd: string | null;
  readonly at: number | null;
  /** Lines, as far as the transcript tells. */
  readonly added: number | null;
  readonly removed: number | null;
  readonly sidechain?: string;
  readonly line: number;
};

export type TranscriptFact =
  | { readonly kind: 'call'; readonly call: TranscriptCall }
  | { readonly kind: 'edit'; readonly edit: TranscriptEdit }
  /** Where a session works, if its file says so itself. */
  | { readonly kind: 'place'; readonly session: string; readonly cwd: string }
  /** A shell call or a line that is not what it should be. */
  | { readonly kind: 'unknown'; readonly line: number };

/** One record of a transcript, whatever it is stored in. */
export type TranscriptLine = { readonly number: number; readonly json: JsonObject };

/** What is known of a transcript without reading it. */
export type TranscriptOrigin = {
  /** From its name; its records may know better. */
  readonly session: string;
  readonly cwd: string | null;
};

export type TranscriptParser = (
  lines: Iterable<TranscriptLine>,
  origin: TranscriptOrigin,
) => Generator<TranscriptFact, void, undefined>;

/** A call that waits for its result. */
export type CallRequest = Pick<
  TranscriptCall,
  'session' | 'command' | 'description' | 'cwd' | 'startedAt' | 'line' | 'sidechain'
>;

/** What a result adds to it. */
export type CallResult = Pick<TranscriptCall, 'exitCode' | 'output' | 'end'> &
  Partial<Pick<TranscriptCall, 'truncated' | 'denied' | 'decidedBy' | 'outputFile' | 'durationMs'>>;

const OPEN_MAX = 4096; // calls without a result; a real transcript has a handful
const OUTPUT_LENGTH_MAX = 1_048_576; // more is not kept by an entry either
const COMMAND_LENGTH_MAX = 1_048_576; // no kernel takes a longer argument

export type Waiting =
  | { readonly kind: 'call'; readonly asked: CallRequest }
  | { readonly kind: 'edit'; readonly edit: TranscriptEdit };

/** The calls of one transcript that have no result yet, by the agent's id. */
export class OpenCalls {
  readonly #agent: TranscriptAgent;
  readonly #open = new Map<string, Waiting>();

  constructor(agent: TranscriptAgent) {
    this.#agent = agent;
  }

  /** The facts that this makes certain: the oldest call, when too many wait. */
  *add(id: string, waiting: Waiting): Generator<TranscriptFact> {
    this.#open.set(id, waiting);
    if (this.#open.size <= OPEN_MAX) return;
    const [oldest] = this.#open.keys();
    if (oldest !== undefined) yield* this.#left(oldest);
  }

  get(id: string): Waiting | undefined {
    return this.#open.get(id);
  }

  take(id: string): Waiting | undefined {
    const found = this.#open.get(id);
    this.#open.delete(id);
    return found;
  }

  /** To be called at the end: what has no result is open; an edit without one is no fact. */
  *rest(): Generator<TranscriptFact> {
    for (const id of [...this.#open.keys()]) yield* this.#left(id);
  }

  *#left(id: string): Generator<TranscriptFact> {
    const waiting = this.take(id);
    if (waiting?.kind !== 'call') return;
    yield callFact(this.#agent, id, waiting.asked, { exitCode: null, output: null, end: 'open' });
  }
}

export function callFact(
  agent: TranscriptAgent,
  call: string,
  asked: CallRequest,
  answered: CallResult,
): TranscriptFact {
  if (asked.command.trim() === '' || asked.command.length > COMMAND_LENGTH_MAX) {
    return { kind: 'unknown', line: asked.line };
  }
  const { output } = answered;
  const cut = output !== null && output.length > OUTPUT_LENGTH_MAX;
  return {
    kind: 'call',
    call: {
      agent,
      session: asked.session,
      call,
      command: asked.command,
      description: asked.description,
      cwd: asked.cwd,
      startedAt: asked.startedAt,
      durationMs: answered.durationMs ?? null,
      exitCode: answered.exitCode,
      output: cut ? output.slice(0, OUTPUT_LENGTH_MAX) : output,
      truncated: cut || answered.truncated === true,
      end: answered.end,
      ...(answered.denied !== undefined && { denied: answered.denied }),
      ...(answered.decidedBy !== undefined && { decidedBy: answered.decidedBy }),
      ...(asked.sidechain !== undefined && { sidechain: asked.sidechain }),
      ...(answered.outputFile !== undefined && { outputFile: answered.outputFile }),
      line: asked.line,
    },
  };
}

/** Of a result that says that the call was refused. */
export function refusal(reason: string, decidedBy?: Decider): CallResult {
  const by = decidedBy === undefined ? {} : { decidedBy };
  return { exitCode: null, output: null, end: 'denied', denied: reason, ...by };
}

const TIME_MAX = Date.UTC(9999, 11, 31);
const SPAN_MS_MAX = 31_536_000_000; // a year: a longer one is damage

/** Epoch milliseconds of an ISO time or a number of milliseconds. */
export function timeOf(value: unknown): number | null {
  const at = typeof value === 'number' ? Math.trunc(value) : Date.parse(asString(value) ?? '');
  return at > 0 && at <= TIME_MAX ? at : null;
}

export function spanOf(ms: number | null | undefined): number | null {
  if (ms === null || ms === undefined || !(ms >= 0 && ms <= SPAN_MS_MAX)) return null;
  return Math.round(ms);
}

export function between(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : spanOf(to - from);
}

/** An exit code as any system has one; Windows has large ones. */
export function codeOf(value: unknown): number | null {
  if (typeof value !== 'number' || !Number.isInteger(value)) return null;
  return value >= -2_147_483_648 && value <= 4_294_967_295 ? value : null;
}

export function objectsOf(value: unknown): readonly JsonObject[] {
  if (!Array.isArray(value)) return [];
  return value.map(asObject).filter((one) => one !== undefined);
}

/** The text of a string, or of a list of blocks with a `text` each. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return objectsOf(value)
    .map(({ text }) => asString(text) ?? '')
    .join('');
}

export function textOrNull(value: unknown): string | null {
  return asString(value) ?? null;
}
