// `cuff run`: one command on the caller's own streams, as if cuff were not there, with a capture.
// The runner moves the bytes; this file chooses the transport, forwards signals even before the
// command's pid is known, and exits as the command did.

import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';
import { outputCap } from '../capture/cap.ts';
import type { LivePlace } from '../capture/live-place.ts';
import { homeDir, stateRoot } from '../capture/paths.ts';
import { closeRoot, createCapture, type Store } from '../capture/store.ts';
import { AppError, reasonOf } from '../errors.ts';
import { type Log, type LogFields, openLog } from '../log.ts';
import { type Attached, restoreTerminal, startAttached } from '../run/attached.ts';
import { findRunner, type Runner } from '../run/binary.ts';
import { childEnvironment, type Environment } from '../run/env.ts';
import { type Listener, type RunMessage, type RunSpec, startsEarly } from '../run/spec.ts';
import type { CaptureMeta, JournalIntent, Outcome } from '../types.ts';
import { newMeta, newSpec } from './new-run.ts';
import { deferred } from './run.ts';
import { isForbidden, spoolsThere } from './spool-look.ts';
import { openStore } from './store.ts';
import { sweepAtStart } from './sweep.ts';
import type { TracePlan } from './trace-check.ts';

export type ProxyOptions = {
  readonly id?: string;
  readonly retentionSeconds?: number;
  /** A pty even without a terminal, or none even with one. */
  readonly tty?: boolean;
  readonly killAfterMs?: number;
  readonly cwd?: string;
  readonly env?: Environment;
  readonly strict?: boolean;
  readonly trace?: boolean;
  readonly live?: LivePlace;
  /** The entry of the run in a journal. */
  readonly entry?: ProxyEntry;
  /** Called behind that. Never rejects. */
  readonly over?: (run: ProxyRun) => Promise<unknown>;
};

type ProxyEntry = {
  readonly intent: JournalIntent | undefined;
  /** Called when the run is over, before this process ends as the command did. Never rejects. */
  readonly finish: (end: ProxyEnd & ProxyRun) => Promise<unknown>;
};

type ProxyRun = {
  readonly id: string;
  /** Undefined without a capture. */
  readonly dir: string | undefined;
};

/** `timedOut`: the command was killed because of `killAfterMs`. */
export type ProxyEnd = {
  readonly outcome: Outcome;
  readonly timedOut: boolean;
  /** How long the command took, where a runner saw its end. */
  readonly tookMs?: number;
};

/** Sends an order in the syntax of native/orders.c. */
type Order = (text: string) => void;

export async function proxy(argv: readonly string[], options: ProxyOptions): Promise<ProxyEnd> {
  const store = openStore(stateRoot(process.env));
  const log = openLog(store.root);
  const runner = findRunner();
  const pty = await ptyWanted(runner, options);
  const plan = await tracePlan(pty, argv, options);
  const meta = describe(argv, options, plan);
  const end = deferred<ProxyEnd>();
  const state: { order?: Order; saved?: string; noted?: Promise<void> } = {};
  const uncaptured = (reason: string): void => {
    state.noted = noteUncaptured(store, meta, log, reason);
  };
  const listener = logged(meta, log, (message) => {
    if (message.kind === 'uncaptured') uncaptured(message.error);
    if (message.kind === 'tty') state.saved = message.saved;
    if (message.kind === 'gone' && state.saved !== undefined && runner.kind === 'native') {
      restoreTerminal(runner.path, state.saved);
    }
    const ended = endOf(message);
    if (ended !== undefined) end.resolve(ended);
  });
  const specIn = (dir: string | undefined): RunSpec => specify(meta, argv, dir, options, plan);
  const hold = (at: string): Attached | undefined => {
    const spec = specIn(at);
    const early = runner.kind === 'native' && startsEarly(spec);
    return early ? startAttached(runner.path, spec, listener, true) : undefined;
  };
  const memory = options.live?.kind === 'memory' ? options.live.root : undefined;
  const { strict } = options;
  const found = await captureFor(store, meta, argv, { strict, memory, hold });
  const { dir, why, held } = await spooledFor(store, meta, argv, found);
  // Handlers first: a signal that arrives before the pid is known must still reach the command.
  const stopForwarding = forwardSignals((text) => state.order?.(text));
  state.order = await start(runner, specIn(dir), listener, held);
  // After the start, so that the command does not wait for a log; no message can have arrived yet.
  log({ ...factsOf(meta), state_transition: 'starting' });
  closeRoot(store);
  if (why !== undefined) uncaptured(why);
  const swept = sweepAtStart(store, log, end.promise);
  const home = bringHomeBeside(store, log, end.promise);
  const ended = await end.promise;
  await swept;
  await home;
  await state.noted;
  await options.entry?.finish({ ...ended, id: meta.id, dir });
  await options.over?.({ id: meta.id, dir });
  stopForwarding();
  return ended;
}

async function start(
  runner: Runner,
  spec: RunSpec,
  listener: Listener,
  held: Attached | undefined,
): Promise<Order> {
  if (runner.kind === 'none') {
    const { startPortable } = await import('./portable.ts');
    return startPortable(spec, listener);
  }
  const attached = held ?? startAttached(runner.path, spec, listener);
  held?.permit(true);
  // The runner has these streams now. Close ours, so that a reader waiting for EOF on our stdout,
  // or a writer waiting for EPIPE, does not wait for us.
  for (const fd of [0, 1]) {
    closeSync(fd);
    openSync('/dev/null', 'r+'); // takes the lowest free number, which is this one
  }
  return attached.order;
}

/** A pty for a terminal, unless the caller chose otherwise; a pipe where no pty is available. */
async function ptyWanted(runner: Runner, options: ProxyOptions): Promise<boolean> {
  const wanted = options.tty ?? isatty(1);
  if (!wanted || runner.kind === 'native') return wanted;
  return (await import('./portable.ts')).portablePty();
}

/** Loaded only if tracing is requested. */
async function tracePlan(
  pty: boolean,
  argv: readonly string[],
  { trace }: ProxyOptions,
): Promise<TracePlan> {
  const untraced = pty ? 'pty' : 'pipe';
  if (trace !== true) return { transport: untraced, meta: undefined, spec: undefined };
  const { planTrace } = await import('./trace-check.ts');
  const transport = pty ? untraced : undefined;
  return planTrace('on', { transport, argv, env: process.env, envNames: [], never: undefined });
}

function describe(
  argv: readonly string[],
  options: ProxyOptions,
  { transport, meta: trace }: TracePlan,
): CaptureMeta {
  return newMeta({
    id: options.id,
    command: { kind: 'argv', argv },
    cwd: options.cwd ?? process.cwd(),
    retentionSeconds: options.retentionSeconds,
    transport,
    ttyAttached: transport === 'pty' && isatty(1),
    killAfterMs: options.killAfterMs,
    outputBytesMax: capOf(options),
    trace,
    journal: options.entry?.intent,
  });
}

function capOf({ live }: ProxyOptions): number {
  const most = live?.kind === 'memory' ? live.outputBytesMax : Number.POSITIVE_INFINITY;
  return Math.min(outputCap(process.env), most);
}

/** `forbidden`: by a sandbox. */
type Place = {
  readonly dir?: string;
  readonly why?: string;
  readonly forbidden?: boolean;
  readonly held?: Attached | undefined;
};

type CaptureChoice = {
  readonly strict?: boolean | undefined;
  /** A root in memory, for its files. */
  readonly memory: string | undefined;
  readonly hold: (dir: string) => Attached | undefined;
};

/**
 * The capture directory, or why it cannot be made: then the command still runs, and its streams
 * stay free of messages. Wrong usage is still an error. `hold` is called once the directory exists;
 * what it started is withdrawn if meta.json cannot be written.
 */
async function captureFor(
  store: Store,
  meta: CaptureMeta,
  argv: readonly string[],
  options: CaptureChoice,
): Promise<Place> {
  const { memory, strict = false, hold } = options;
  let held: Attached | undefined;
  const ready = (): void => {
    held = hold(homeDir(memory ?? store.root, meta.id));
  };
  try {
    if (memory === undefined) return { dir: createCapture(store, meta, argv, ready), held };
    const { createInMemory } = await import('../capture/in-memory.ts');
    return { dir: createInMemory(store, memory, meta, argv, ready), held };
  } catch (error) {
    held?.permit(false);
    const other = !(error instanceof AppError) || error.code !== 'session_exists';
    if (memory !== undefined && other) {
      return captureFor(store, meta, argv, { ...options, memory: undefined });
    }
    if (error instanceof AppError && error.code !== 'state_unwritable') throw error;
    if (!strict) return { why: reasonOf(error), forbidden: isForbidden(error) };
    throw new AppError('state_unwritable', `The state root ${store.root} cannot be written.`, {
      cause: error,
      hint: 'Check it with `cuff doctor`, or run without --strict.',
    });
  }
}

/** In a sandbox the capture goes to a spool, if there is a place for one. */
async function spooledFor(
  store: Store,
  meta: CaptureMeta,
  argv: readonly string[],
  found: Place,
): Promise<Place> {
  if (found.forbidden !== true) return found;
  const { createSpooled } = await import('./spool.ts');
  const spooled = createSpooled(store, meta, argv, { cwd: meta.cwd, env: process.env });
  return spooled === undefined ? found : { dir: spooled.dir };
}

/** Moves what earlier runs captured in a sandbox to the state root. */
async function bringHomeBeside(store: Store, log: Log, done: Promise<unknown>): Promise<void> {
  const where = { cwd: process.cwd(), env: process.env };
  if (!spoolsThere(where.cwd, where.env)) return;
  let over = false;
  void done.then(() => {
    over = true;
  });
  const { bringHome } = await import('./spool.ts');
  await bringHome(store, { ...where, log, enough: () => over });
}

/** Notes it in the log and for the next `cuff ls`; loaded only for such a run. */
async function noteUncaptured(
  store: Store,
  meta: CaptureMeta,
  log: Log,
  reason: string,
): Promise<void> {
  log({ ...factsOf(meta), state_transition: 'starting->uncaptured', error: reason });
  try {
    const { noteUncaptured: note } = await import('./uncaptured.ts');
    note(store.root, meta, reason);
  } catch (error) {
    log({ ...factsOf(meta), error: `the note of it was not written: ${error}` });
  }
}

function specify(
  meta: CaptureMeta,
  argv: readonly string[],
  dir: string | undefined,
  options: ProxyOptions,
  { spec: trace }: TracePlan,
): RunSpec {
  return newSpec(meta, {
    argv,
    env: childEnvironment(process.env, options.env === undefined ? {} : { add: options.env }),
    dir,
    // Without a capture there is nowhere to put a trace, and without a shim a pipe is better.
    transport: dir === undefined && meta.transport === 'socket' ? 'pipe' : meta.transport,
    stdin: 'inherit',
    forward: true,
    session: 'auto',
    strict: options.strict,
    sync: 'answer',
    trace: dir === undefined ? undefined : trace,
  });
}

const FORWARDED = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGTERM',
  'SIGUSR1',
  'SIGUSR2',
  'SIGALRM',
  'SIGTSTP',
] as const;

function forwardSignals(order: Order): () => void {
  const handlers = new Map<NodeJS.Signals, () => void>();
  for (const name of FORWARDED) handlers.set(name, () => order(`signal ${name}`));
  handlers.set('SIGWINCH', () => order('resize'));
  handlers.set('SIGCONT', () => order('cont'));
  for (const [name, handler] of handlers) process.on(name, handler);
  return () => {
    for (const [name, handler] of handlers) process.off(name, handler);
  };
}

function endOf(message: RunMessage): ProxyEnd | undefined {
  if (message.kind === 'done') {
    const { outcome, tookMs } = message;
    return { outcome, tookMs, timedOut: message.endedBy === 'timeout' };
  }
  if (message.kind === 'failed') {
    const { error, message: text } = message;
    return { outcome: { kind: 'failed', error, message: text }, timedOut: false };
  }
  if (message.kind !== 'gone') return undefined;
  const message_ = 'the runner was killed; the command may still be running';
  return {
    outcome: { kind: 'failed', error: 'runner_lost', message: message_ },
    timedOut: false,
  };
}

function factsOf(meta: CaptureMeta): LogFields {
  return {
    session_id: meta.id,
    transport_mode: meta.transportMode,
    tty_attached: meta.ttyAttached,
  };
}

/** Every change of state goes to the log with the fields that apply. */
function logged(meta: CaptureMeta, log: Log, listener: Listener): Listener {
  const facts = factsOf(meta);
  return (message) => {
    if (message.kind === 'started') log({ ...facts, state_transition: 'starting->running' });
    if (message.kind === 'failed') {
      log({ ...facts, state_transition: 'starting->failed', error: message.error });
    }
    if (message.kind === 'done') {
      const { outcome, outputBytes } = message;
      log({
        ...facts,
        state_transition: `running->${outcome.kind}`,
        exit_code: outcome.kind === 'exited' ? outcome.code : null,
        signal: outcome.kind === 'signaled' ? outcome.signal : null,
        chunk_offset: 0,
        chunk_size: outputBytes,
      });
    }
    listener(message);
  };
}
