// What a backend is asked to run and what it reports. Both backends, the native runner and the
// portable fallback, speak these types; no caller above them knows which one is at work.

import type { Channel, Ended, EndedBy, Outcome, ProcessId, Survivor, Transport } from '../types.ts';
import type { Memory } from './memory.ts';

export type RunSpec = {
  readonly id: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The capture directory; undefined runs without recording. */
  readonly dir: string | undefined;
  readonly transport: Transport;
  /** `orders`: what `write` sends. `inherit`: our own stdin. */
  readonly stdin: 'null' | 'inherit' | 'orders';
  /** Copy the output to our own stdout and stderr. */
  readonly forward: boolean;
  /**
   * `auto` stays in the session of a terminal, if there is one, so that its keys work. `group`: in
   * the starter's group of processes, and killed if the starter is.
   */
  readonly session: 'own' | 'auto' | 'group';
  readonly killAfterMs: number | undefined;
  readonly graceMs: number;
  readonly outputBytesMax: number;
  /** End the run when it cannot be recorded. */
  readonly strict: boolean;
  /** `answer`: everything is on disk before the run is said to be done. */
  readonly sync: 'answer' | 'late';
  /** `answer`: less output than this is synced late all the same. */
  readonly syncFromBytes?: number;
  readonly size: { readonly cols: number; readonly rows: number };
  /** Set for a run whose output goes there and to no file. */
  readonly memory?: Memory;
  /**
   * Processes are reported in `trace.bin`. The portable backend cannot do that, and leaves it out.
   */
  readonly trace?: TraceSpec;
};

/**
 * Whether the runner starts while meta.json is still being written. Only a trace has files that the
 * command needs from its start. A strict run has more of them, and its runner must find the capture
 * complete.
 */
export function startsEarly({ trace, memory, strict }: RunSpec): boolean {
  return trace !== undefined && memory === undefined && !strict;
}

type TraceSpec = {
  /** The directory of the shim, an absolute path. */
  readonly shimDir: string;
  /** Variables whose values may be written down. */
  readonly envNames: readonly string[];
  /** False: `merged` stays a pipe, on which the processes themselves say what they write. */
  readonly stamps?: boolean;
  /** False: no frames are written; the shim only asks the gate. */
  readonly frames?: boolean;
  readonly gate?: GateSpec;
};

/** Every program of the run asks there whether it may begin; `strict`: not without an answer. */
export type GateSpec = { readonly path: string; readonly strict: boolean };

export type RunMessage =
  /** It takes long, because a file system does not answer. Orders are taken from here on. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'started'; readonly child: ProcessId }
  | { readonly kind: 'uncaptured'; readonly error: string }
  /** How the outer terminal was set before, in the runner's own hexadecimal form. */
  | { readonly kind: 'tty'; readonly saved: string }
  | {
      readonly kind: 'failed';
      readonly stage: string;
      readonly error: string;
      readonly message: string;
    }
  /** The shell is done and its output drained; survivors may go on writing. */
  | {
      readonly kind: 'done';
      readonly outcome: Outcome;
      readonly outputBytes: number;
      readonly lostBytes: number;
      /** From the start of the command to its end. */
      readonly tookMs: number;
      readonly survivors: number;
      readonly endedBy: EndedBy;
    }
  /** Nothing more can come. */
  | { readonly kind: 'ended' }
  /** The runner itself is gone. Without `ended` before it, it was killed. */
  | { readonly kind: 'gone' };

export type Listener = (message: RunMessage) => void;

/** How a run is ended: the first signal, how long until KILL, and the reason. */
export type KillOrder = {
  readonly signal: string;
  readonly graceMs: number;
  readonly cause: EndedBy;
};

export type Handle = {
  kill(order: KillOrder): void;
  /** One signal to the command alone, as if it had been sent to the bare command. */
  signal(name: string): void;
  write(bytes: Uint8Array): void;
  endInput(): void;
  resize(cols: number, rows: number): void;
};

/** The capture of the portable backend; the native runner writes its capture itself. */
export type Sink = {
  started(child: ProcessId): void;
  append(channel: Channel, bytes: Uint8Array): void;
  event(type: string, fields: Readonly<Record<string, unknown>>): void;
  /** Bytes that could not be kept so far. */
  readonly lostBytes: number;
  readonly outputBytes: number;
  finish(
    ended: Ended,
    output: { readonly closed: boolean; readonly survivors: readonly Survivor[] },
  ): void;
};

export type Backend = {
  readonly kind: 'native' | 'portable';
  /**
   * Prepares a run while its caller writes meta.json; `start` with the same spec must follow, or
   * the function that is returned, which withdraws it. Undefined if nothing needs preparing.
   */
  prepare?(spec: RunSpec): (() => void) | undefined;
  start(spec: RunSpec, listener: Listener): Handle;
  /** Lets go of the backend; its runs go on where it can promise that. */
  close(): void;
};
