// The life of one portable run, from start to the last byte of its last survivor. Bytes go to the
// sink first; the run is done when its command is, even if other processes still hold its output;
// and the sink has everything before the run is said to be done.

import { errnoOf, messageOf } from '../errors.ts';
import { TIMER_MS_MAX } from '../limits.ts';
import { signalNamed } from '../text/signal-name.ts';
import type { Channel, EndedBy, ProcessId, Survivor } from '../types.ts';
import { type Forward, forwardTo } from './portable-forward.ts';
import { groupOf, type RunGroup, send } from './portable-group.ts';
import { Killing, type KillReport } from './portable-kill.ts';
import {
  type Exited,
  type Failure,
  type Launched,
  launchPiped,
  type Output,
} from './portable-launch.ts';
import { launchPty, loadPty, sizeOf } from './portable-pty.ts';
import type { Handle, KillOrder, Listener, RunMessage, RunSpec, Sink } from './spec.ts';

const DRAIN_MS = 100; // how long survivors may hold up the answer
const INPUT_BYTES_MAX = 16 * 1024 * 1024; // input that the command does not read is kept up to here
const LOOK_MS_MIN = 50; // survivors without our streams: the kernel does not notify us of their end
const LOOK_MS_MAX = 1_000;

const CLOSED = { closed: true, survivors: [] };

/** Signals that a terminal sends to its whole foreground group. */
const TERMINAL_SIGNALS: readonly string[] = ['SIGINT', 'SIGQUIT', 'SIGTSTP', 'SIGHUP'];

type Streams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;

export type PortableOptions = {
  openSink(spec: RunSpec): Sink;
  /** Streams for `forward` and for keys; by default our own. */
  readonly streams?: Streams;
};

/** A command that has been started. */
type Live = { readonly child: Launched; readonly group: RunGroup; readonly killing: Killing };

export class PortableRun implements Handle {
  readonly #spec: RunSpec;
  readonly #options: PortableOptions;
  readonly #streams: Streams;
  readonly #tell: Listener;
  #sink: Sink = unrecorded();
  #live: Live | undefined;
  /** Orders that came before the command was started. */
  readonly #orders: ((live: Live) => void)[] = [];
  #launchedMs = 0;
  #killReport: KillReport | undefined;
  #exited: { readonly outcome: Exited; readonly at: number; readonly tookMs: number } | undefined;
  #endedBy: EndedBy = 'itself';
  #state: 'running' | 'answered' | 'over' = 'running';
  readonly #open = new Set<Output>();
  readonly #forwards: Forward[] = [];
  #drained = false;
  #looking = false;
  #lookMs = LOOK_MS_MIN;
  readonly #timers = new Set<NodeJS.Timeout>();
  #unreferenced = false;

  constructor(spec: RunSpec, options: PortableOptions, tell: Listener) {
    this.#spec = spec;
    this.#options = options;
    this.#streams = options.streams ?? process;
    this.#tell = tell;
  }

  launch(): void {
    const spec = this.#spec;
    const on = {
      launched: (child: Launched) => this.#started(child),
      failed: (failure: Failure) => this.#failed(failure),
    };
    const trouble = this.#openSink();
    if (trouble !== undefined) queueMicrotask(() => this.#tell(trouble));
    if (trouble?.kind === 'failed') return;
    this.#launchedMs = performance.now();
    if (spec.transport === 'pty') {
      loadPty().then((pty) =>
        pty === undefined ? launchPiped(spec, on) : launchPty(pty, spec, this.#streams, on),
      );
    } else {
      launchPiped(spec, on);
    }
  }

  kill(order: KillOrder): void {
    const signal = signalNamed(order.signal);
    if (signal !== undefined) this.#order(() => this.#end(signal, order.graceMs, order.cause));
  }

  signal(name: string): void {
    const signal = signalNamed(name);
    if (signal === undefined) return;
    this.#order(({ child, group }) => {
      if (this.#exited !== undefined) return;
      if (this.#fromTerminal(signal)) group.signal(signal);
      else send(child.pid, signal);
      const from = this.#spec.forward ? 'starter' : 'order';
      this.#sink.event('signal', { signal, from });
    });
  }

  write(bytes: Uint8Array): void {
    const copy = Buffer.from(bytes);
    this.#order(({ child }) => {
      if (child.inputBytes + copy.length <= INPUT_BYTES_MAX) return child.write(copy);
      const { outputBytes: offset } = this.#sink;
      this.#sink.event('gap', { offset, lost_bytes: copy.length, reason: 'stdin' });
    });
  }

  endInput(): void {
    this.#order(({ child }) => child.endInput());
  }

  resize(cols: number, rows: number): void {
    if (this.#spec.transport !== 'pty') return;
    this.#order(({ child }) => {
      if (this.#exited !== undefined) return;
      child.resize(cols, rows);
      this.#sink.event('resize', { cols, rows });
    });
  }

  /** Stops keeping this process alive; a kill under way still does. */
  unref(): void {
    this.#unreferenced = true;
    this.#live?.child.unref();
    for (const timer of this.#timers) timer.unref();
  }

  #order(order: (live: Live) => void): void {
    if (this.#state === 'over') return;
    if (this.#live === undefined) this.#orders.push(order);
    else order(this.#live);
  }

  #openSink(): RunMessage | undefined {
    if (this.#spec.dir === undefined) return undefined;
    try {
      this.#sink = this.#options.openSink(this.#spec);
      return undefined;
    } catch (thrown) {
      const error = errnoOf(thrown) ?? 'EIO';
      if (!this.#spec.strict) return { kind: 'uncaptured', error };
      this.#state = 'over';
      const message = messageOf(thrown);
      return { kind: 'failed', stage: 'capture', error, message };
    }
  }

  #failed({ stage, error, message }: Failure): void {
    this.#state = 'over';
    const outcome = { kind: 'failed', error, message } as const;
    this.#sink.finish({ at: Date.now(), outcome, endedBy: 'itself' }, CLOSED);
    this.#tell({ kind: 'failed', stage, error, message });
  }

  #started(child: Launched): void {
    const { killAfterMs = 0, graceMs } = this.#spec;
    const group = groupOf(child.pid);
    const killing = new Killing(group, (report) => this.#killed(report));
    this.#live = { child, group, killing };
    this.#sink.started(group.leader);
    if (child.outputs[0]?.channel === 'pty') {
      this.#sink.event('resize', sizeOf(this.#spec, this.#streams));
    }
    this.#tell({ kind: 'started', child: group.leader });
    child.onExit((outcome) => this.#exit(outcome));
    for (const output of child.outputs) this.#read(output);
    if (killAfterMs > 0) {
      this.#later(killAfterMs, () => {
        if (this.#state === 'running') this.#end('SIGTERM', graceMs, 'timeout');
      });
    }
    for (const order of this.#orders.splice(0)) order(this.#live);
    if (this.#unreferenced) this.unref();
  }

  #read(output: Output): void {
    const { stdout, stderr } = this.#streams;
    const target = output.channel === 'stderr' ? stderr : stdout;
    const forward = this.#spec.forward
      ? forwardTo(target, {
          idle: () => {
            output.resume();
            this.#settle();
          },
          broken: () => output.close(),
        })
      : undefined;
    if (forward !== undefined) this.#forwards.push(forward);
    this.#open.add(output);
    output.listen({
      data: (bytes) => {
        this.#keep(output.channel, bytes);
        forward?.send(bytes);
        if (forward?.full) output.pause();
      },
      end: () => {
        this.#open.delete(output);
        this.#settle();
      },
    });
  }

  #keep(channel: Channel, bytes: Buffer): void {
    const lost = this.#sink.lostBytes;
    this.#sink.append(channel, bytes);
    if (!this.#spec.strict || this.#sink.lostBytes === lost) return;
    if (this.#live?.killing.active === false) {
      this.#end('SIGTERM', this.#spec.graceMs, 'capture');
    }
  }

  #end(signal: NodeJS.Signals, graceMs: number, cause: EndedBy): void {
    const killing = this.#live?.killing;
    if (killing?.active === false && this.#exited === undefined) this.#endedBy = cause;
    killing?.begin(signal, graceMs, cause);
  }

  /** /proc may show the shell dead before Node says how it died. That is reported first. */
  #killed(report: KillReport): void {
    const dead = this.#live !== undefined && !report.alive.includes(this.#live.child.pid);
    if (this.#exited === undefined && dead) this.#killReport ??= report;
    else this.#reportKill(report);
  }

  #reportKill({ signal, cause, died, alive }: KillReport): void {
    this.#killReport = undefined;
    const by = cause === 'timeout' || cause === 'capture' ? cause : 'order';
    this.#sink.event('kill', { signal, by, died, alive });
    // A process that was not found and still holds the output would keep a killed run open.
    this.#afterDrain(() => {
      for (const output of this.#open) output.close();
    });
    this.#settle();
  }

  #exit(outcome: Exited): void {
    const tookMs = Math.round(performance.now() - this.#launchedMs);
    this.#exited = { outcome, at: Date.now(), tookMs };
    this.#sink.event(
      'shell_exited',
      outcome.kind === 'exited' ? { exit_code: outcome.code } : { signal: outcome.signal },
    );
    if (this.#killReport !== undefined) this.#reportKill(this.#killReport);
    this.#live?.killing.look();
    this.#afterDrain(() => {
      this.#drained = true;
      this.#settle();
    });
    this.#settle();
  }

  /** When the time is over, and all that had been written by then is read. */
  #afterDrain(then: () => void): void {
    this.#later(DRAIN_MS, () => setImmediate(then));
  }

  #settle(): void {
    const { group, killing } = this.#live ?? {};
    if (group === undefined || killing?.active !== false) return;
    if (this.#exited === undefined || this.#state === 'over') return;
    const sent = this.#forwards.every((forward) => !forward.pending);
    const closed = this.#open.size === 0 && sent;
    const answer = this.#state === 'running';
    if (answer ? !closed && !(this.#drained && sent) : !closed) return;
    // Looking for members costs a walk through /proc: not when there can hardly be any.
    const left = closed && !group.exists() ? [] : group.members();
    const over = closed && left.length === 0;
    if (answer) this.#answer(group, left, over);
    if (over) this.#finish(!answer);
    else if (closed) this.#lookAgain();
  }

  #answer(group: RunGroup, left: readonly ProcessId[], over: boolean): void {
    const survivors = group.describe(left, this.#open.size > 0);
    if (survivors.length > 0) this.#sink.event('survivors', { processes: survivors.map(facts) });
    this.#state = 'answered';
    if (this.#exited === undefined) return;
    const { outcome, at, tookMs } = this.#exited;
    const endedBy = this.#endedBy;
    this.#sink.finish({ at, outcome, endedBy }, { closed: over, survivors });
    const { outputBytes, lostBytes } = this.#sink;
    const seen = { outcome, outputBytes, lostBytes, tookMs, survivors: left.length, endedBy };
    this.#tell({ kind: 'done', ...seen });
  }

  #finish(again: boolean): void {
    this.#state = 'over';
    for (const timer of this.#timers) clearTimeout(timer);
    if (again && this.#exited !== undefined) {
      const { at, outcome } = this.#exited;
      this.#sink.finish({ at, outcome, endedBy: this.#endedBy }, CLOSED);
    }
    this.#tell({ kind: 'ended' });
  }

  #lookAgain(): void {
    if (this.#looking) return;
    this.#looking = true;
    this.#later(this.#lookMs, () => {
      this.#looking = false;
      this.#settle();
    });
    this.#lookMs = Math.min(LOOK_MS_MAX, this.#lookMs * 2);
  }

  /** The command is in a session of its own, so a Ctrl-C reaches only us. It is meant for all. */
  #fromTerminal(signal: string): boolean {
    const { stdin, stdout, stderr } = this.#streams;
    if (this.#spec.session !== 'auto' || this.#spec.transport === 'pty') return false;
    const terminal = stdin.isTTY || stdout.isTTY || stderr.isTTY;
    return terminal && TERMINAL_SIGNALS.includes(signal);
  }

  #later(ms: number, then: () => void): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        if (ms > TIMER_MS_MAX) this.#later(ms - TIMER_MS_MAX, then);
        else then();
      },
      Math.min(ms, TIMER_MS_MAX),
    );
    this.#timers.add(timer);
    if (this.#unreferenced) timer.unref();
  }
}

/** A survivor as events.jsonl has it. */
function facts({ pid, startTime, command, holdsOutput }: Survivor): Record<string, unknown> {
  return { pid, start_time: startTime, command, holds_output: holdsOutput };
}

/** For a run without a capture: only counts. */
function unrecorded(): Sink {
  let bytes = 0;
  return {
    started: () => undefined,
    append: (_channel, piece) => {
      bytes += piece.length;
    },
    event: () => undefined,
    finish: () => undefined,
    lostBytes: 0,
    get outputBytes() {
      return bytes;
    },
  };
}
