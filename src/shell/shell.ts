// Joins the rooms into a shell that remembers. Starts runs through the native runner or the
// portable fallback, records each in a capture, and reads, waits for and kills any run of the same
// user, including runs that other processes started.

import { outputCap } from '../capture/cap.ts';
import type { LivePlace } from '../capture/live-place.ts';
import { stateRoot } from '../capture/paths.ts';
import { type OutputPiece, type ReadResult, readOutput } from '../capture/reader.ts';
import {
  type Capture,
  type CaptureSummary,
  closeRoot,
  listCaptures,
  openCapture,
  type Store,
} from '../capture/store.ts';
import { waitDone, waitOutput } from '../capture/wait.ts';
import { AppError } from '../errors.ts';
import { MEMORY_BYTES_MAX, READ_BYTES_DEFAULT } from '../limits.ts';
import { findRunner } from '../run/binary.ts';
import { assertWorkingDirectory } from '../run/cwd.ts';
import {
  argvOf,
  childEnvironment,
  type Environment,
  NO_EDITOR,
  SECRET_PREFIXES,
  shellEnvironment,
} from '../run/env.ts';
import { Memory } from '../run/memory.ts';
import { portableBackend } from '../run/portable.ts';
import { servedBackend } from '../run/served.ts';
import type { Backend, Listener, RunSpec } from '../run/spec.ts';
import { redactText } from '../text/secret-words.ts';
import type {
  CaptureMeta,
  Command,
  Ended,
  Env,
  JournalIntent,
  RunOwner,
  TraceSetting,
  Transport,
  View,
} from '../types.ts';
import { captureParts } from './attach.ts';
import { decryption } from './decryption.ts';
import { type GateRequest, gateCheck, reachedBy, withGate } from './gate-plan.ts';
import { endedOf, endRun } from './kill.ts';
import { ShellRuns } from './live-runs.ts';
import { newMeta, newSpec } from './new-run.ts';
import type { ViewOptions } from './output/raw-view.ts';
import { OutputReader } from './output/reader.ts';
import { portableSink } from './portable.ts';
import { createRecording } from './recording.ts';
import { type AbortSignalLike, type KillOptions, makeRun, type Run } from './run.ts';
import { openStore } from './store.ts';
import { planTrace, type TraceCheck, type TracePlan } from './trace-check.ts';
import { noteUncaptured } from './uncaptured.ts';
import { UnwrittenRuns } from './unwritten.ts';
import { refuseStart, refuseView, refuseWait } from './validate.ts';

export type { Capture, CaptureSummary, OutputPiece, ReadResult, ViewOptions };

export type ShellOptions = {
  readonly stateRoot?: string;
  /** The default directory of runs; fixed when the shell is made. */
  readonly cwd?: string;
  readonly env?: Env;
  /** `agent` withholds secrets and makes editors fail at once; `inherit` passes everything on. */
  readonly environment?: 'inherit' | 'agent';
  readonly runner?: 'auto' | 'native' | 'portable';
  /** `answer`: a run is on disk before `done` resolves. `group`: shortly after. */
  readonly durability?: 'answer' | 'group';
  readonly retentionSeconds?: number;
  readonly outputBytesMax?: number;
  /** Refuse to run, and end runs, that cannot be recorded. */
  readonly strict?: boolean;
  /** Whether to trace the processes of runs; default `off`. */
  readonly trace?: TraceSetting;
  /** Asked before each run; never throws. */
  readonly live?: () => LivePlace;
};

/** Returns the command line to start instead; `also` lists files it must be able to reach. */
type Sandbox = (
  argv: readonly string[],
  also: { readonly read: readonly string[]; readonly write: readonly string[] },
) => readonly string[];

export type StartOptions = {
  readonly id?: string;
  readonly cwd?: string;
  readonly env?: Environment;
  /** Default `pipe`; `socket` for a traced run. */
  readonly transport?: Transport;
  readonly stdin?: 'null' | 'orders';
  /** A hard deadline. Waiting never kills; this does. */
  readonly killAfterMs?: number;
  readonly graceMs?: number;
  readonly retentionSeconds?: number;
  readonly size?: { readonly cols: number; readonly rows: number };
  /** `memory`: the output goes to no file; the head of each stream is in the run's `memory`. */
  readonly output?: 'capture' | 'memory';
  /** Written down instead of the command's text; must not contain its secrets. */
  readonly shown?: string;
  readonly journal?: JournalIntent;
  /** Whose run it is, so that another server can adopt it if this one dies. */
  readonly owner?: RunOwner;
  /**
   * The starter itself stores up to this much output before it answers, so the capture may be
   * synced later.
   */
  readonly keptBytes?: number;
  /** Overrides the shell's setting. */
  readonly trace?: TraceSetting;
  /** Variables whose values a trace may keep, never those of secrets. Default: none. */
  readonly traceEnv?: readonly string[];
  /** An open gate (gate.ts), where every program of the run asks whether it may begin. */
  readonly gate?: GateRequest;
  /** Wraps the started command, in `bwrap` for instance; see sandbox.ts. */
  readonly sandbox?: Sandbox;
  /** Aborting it kills the run while its shell is not done; if aborted before, nothing starts. */
  readonly signal?: AbortSignalLike;
};

export type Shell = {
  readonly store: Store;
  readonly backend: 'native' | 'portable';
  /** Whether the programs of its runs can ask a gate. */
  gateCheck(): TraceCheck;
  /** Throws an `AppError`: `usage`, `closed`, `cwd_missing`, ... */
  start(command: string | Command, options?: StartOptions): Run;
  /**
   * How a run ended, as soon as its shell is done; works for runs of any process. Undefined when
   * the time is up first; without a time it waits for as long as it takes. Never kills.
   */
  wait(id: string, waitMs?: number): Promise<Ended | undefined>;
  read(id: string, cursor?: number, maxBytes?: number): ReadResult;
  /** Waits for bytes past the cursor, in a run of any process. */
  waitOutput(id: string, cursor: number, waitMs: number): Promise<ReadResult>;
  view(id: string, options: ViewOptions): View;
  list(filter?: Parameters<typeof listCaptures>[1]): CaptureSummary[];
  open(id: string): Capture;
  kill(id: string, options?: KillOptions): Promise<Ended | undefined>;
  /**
   * Lets go of the runs. Native runs continue, and their promises still resolve, but they no longer
   * keep this process alive; portable runs end with it.
   */
  close(): void;
};

export function createShell(options: ShellOptions = {}): Shell {
  const env = options.env ?? process.env;
  const decrypt = decryption(env);
  const store = { ...openStore(options.stateRoot ?? stateRoot(env)), decrypt };
  const cwd = options.cwd ?? process.cwd();
  const backend = chooseBackend(options, env);
  const base = baseEnvironment(env, options.environment ?? 'inherit');
  const runs = new ShellRuns(store);
  const unwritten = new UnwrittenRuns(store.now);
  let closed = false;

  function start(given: string | Command, start: StartOptions = {}): Run {
    if (closed) throw new AppError('closed', 'The shell was closed, so it starts no more runs.');
    const command: Command = typeof given === 'string' ? { kind: 'shell', text: given } : given;
    const where = start.cwd ?? cwd;
    refuseStart(given, start);
    refuseAborted(start.signal);
    assertWorkingDirectory(where);
    const words = argvOf(command);
    const place = placeOf(start, options, env);
    const plan = planOf(command, backend, env, { ...start, trace: start.trace ?? options.trace });
    const { id, killAfterMs, journal, owner, stdin, graceMs, size } = start;
    const meta = newMeta({
      ...{ id, killAfterMs, journal, owner },
      command: shownCommand(command, start.shown),
      cwd: where,
      retentionSeconds: start.retentionSeconds ?? options.retentionSeconds,
      transport: plan.transport,
      outputBytesMax: place.outputBytesMax,
      trace: plan.meta,
    });
    const memory = start.output === 'memory' ? new Memory(MEMORY_BYTES_MAX) : undefined;
    const specIn = (dir: string): RunSpec =>
      newSpec(meta, {
        argv: start.sandbox?.(words, reachedBy(dir, plan.spec)) ?? words,
        env: environmentFor(base, command, start.env),
        ...{ dir, stdin, graceMs, size, memory },
        strict: options.strict,
        sync: options.durability === 'group' ? 'late' : 'answer',
        syncFromBytes: start.keptBytes,
        trace: plan.spec,
      });
    const { recording, at, spec } = createRecording(store, meta, backend, specIn, place);
    const begin: MakeRun['begin'] = (heard) => backend.start(spec, noting(store, meta, heard));
    const parts = { id: meta.id, recording, graceMs: spec.graceMs, now: store.now, begin };
    const run = makeRun({ ...parts, memory: spec.memory, ...captureParts(at, meta.id) });
    runs.add(run, at);
    if (start.output !== 'memory') unwritten.add(run, meta);
    closeRoot(at);
    killOnAbort(run, start.signal);
    return run;
  }

  return {
    store,
    backend: backend.kind,
    gateCheck: () => gateCheck({ env, native: backend.kind === 'native' }),
    start,
    ...readingIn(store, runs, unwritten),
    async kill(id, kill = {}) {
      return runs.live(id)?.kill(kill) ?? endRun(runs.storeOf(id), id, kill);
    },
    close() {
      closed = true;
      backend.close();
      runs.close();
    },
  };
}

/** Where its capture is, if that is in memory, and how much it may hold. */
function placeOf({ output }: StartOptions, options: ShellOptions, env: Env) {
  const outputBytesMax = output === 'memory' ? 0 : (options.outputBytesMax ?? outputCap(env));
  const live = output === 'memory' ? undefined : options.live?.();
  if (live?.kind !== 'memory') return { env, outputBytesMax, memory: undefined };
  const most = Math.min(outputBytesMax, live.outputBytesMax);
  return { env, outputBytesMax: most, memory: live.root };
}

function noting({ root }: Store, meta: CaptureMeta, listener: Listener): Listener {
  return (message) => {
    if (message.kind === 'uncaptured') noteUncaptured(root, meta, message.error);
    listener(message);
  };
}

type Reading = Pick<Shell, 'wait' | 'read' | 'waitOutput' | 'view' | 'list' | 'open'>;

/** The calls that change nothing. */
function readingIn(store: Store, runs: ShellRuns, unwritten: UnwrittenRuns): Reading {
  const open = (id: string): Capture => unwritten.open(id) ?? openCapture(runs.storeOf(id), id);
  return {
    async wait(id, waitMs = Number.POSITIVE_INFINITY) {
      refuseWait(waitMs);
      const live = runs.live(id);
      if (live !== undefined) return live.wait(waitMs);
      const capture = unwritten.open(id) ?? (await waitDone(runs.storeOf(id), id, waitMs));
      return capture && endedOf(capture);
    },
    read: (id, cursor = 0, maxBytes = READ_BYTES_DEFAULT) => readOutput(open(id), cursor, maxBytes),
    waitOutput: (id, cursor, waitMs) => waitOutput(runs.storeOf(id), id, cursor, waitMs),
    view(id, options) {
      refuseView(options);
      return OutputReader.of(open(id)).raw(options);
    },
    list: (filter = {}) => listCaptures(store, filter),
    open,
  };
}

type MakeRun = Parameters<typeof makeRun>[0];

function refuseAborted(signal: AbortSignalLike | undefined): void {
  if (signal?.aborted !== true) return;
  throw new AppError('cancelled', 'The signal was aborted before the command was started.');
}

function killOnAbort(run: Run, signal: AbortSignalLike | undefined): void {
  if (signal === undefined) return;
  const cancel = (): void => {
    // The run's own promises report its end; an abort has no caller to take an error.
    run.kill({ cause: 'cancelled' }).catch(() => undefined);
  };
  signal.addEventListener('abort', cancel);
  void run.done.then(() => signal.removeEventListener('abort', cancel));
}

function chooseBackend(options: ShellOptions, env: Env): Backend {
  const wanted = options.runner ?? 'auto';
  const runner = wanted === 'portable' ? undefined : findRunner(env);
  if (runner?.kind === 'native') return servedBackend(runner.path);
  if (wanted === 'native') {
    throw new AppError('runner_unavailable', `No native runner: ${runner?.why}.`, {
      hint: 'Install a C compiler, or use the portable runner.',
    });
  }
  return portableBackend({ openSink: portableSink });
}

function planOf(
  command: Command,
  backend: Backend,
  env: Env,
  start: Omit<StartOptions, 'trace'> & { readonly trace: TraceSetting | undefined },
): TracePlan {
  const { transport, traceEnv: envNames = [], trace = 'off' } = start;
  const never = neverTraced(backend, command, start);
  const plan = planTrace(trace, { transport, argv: argvOf(command), env, envNames, never });
  return withGate(plan, start.gate, { env, native: backend.kind === 'native' });
}

/** A trace holds arguments unredacted, so a run with secrets must not be traced. */
function neverTraced(
  { kind }: Backend,
  command: Command,
  { output, shown }: Pick<StartOptions, 'output' | 'shown'>,
): string | undefined {
  if (kind !== 'native') return 'it is run without the native runner';
  // Printed text may come back as an argument of another program.
  if (output === 'memory') return 'its output is kept in no file';
  // The trace redacts what the text itself marks as a secret, as `shown` does.
  const hidden =
    shown !== undefined && command.kind === 'shell' && shown !== redactText(command.text);
  return hidden ? 'there is a secret in its text' : undefined;
}

function baseEnvironment(env: Env, kind: 'inherit' | 'agent'): Environment {
  if (kind === 'inherit') return childEnvironment(env);
  return childEnvironment(env, { add: NO_EDITOR, removePrefixes: SECRET_PREFIXES });
}

/** Runs that add no variables share one object, so that it is encoded once. */
const shellVariants = new WeakMap<Environment, Environment>();

function environmentFor(base: Environment, command: Command, add?: Environment): Environment {
  if (command.kind === 'argv') return add === undefined ? base : { ...base, ...add };
  let shared = shellVariants.get(base);
  if (shared === undefined) {
    shared = shellEnvironment(base);
    shellVariants.set(base, shared);
  }
  return add === undefined ? shared : { ...shared, ...add };
}

function shownCommand(command: Command, shown: string | undefined): Command {
  if (shown === undefined) return command;
  return command.kind === 'shell' ? { ...command, text: shown } : { kind: 'argv', argv: [shown] };
}
