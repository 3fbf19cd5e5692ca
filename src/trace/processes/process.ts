// A process of a run as the readers of a trace see it. Plain values: `processes.ts` makes them from
// frames, and everything that shows or exports a trace takes them.

import type { Source } from '../decode/format.ts';

/**
 * The source of a report about a process: its own shim, its parent's, the runner that started or
 * reaped it, the runner's look into /proc or while it followed it, or only the kernel, which named
 * the writer of some bytes.
 */
export type Teller = Source | 'parent' | 'kernel';

/** `unknown`: no process saw its end, or at least it is not known to run. */
export type ProcessExit =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signaled'; readonly signal: string; readonly core: boolean }
  | { readonly kind: 'running' }
  | { readonly kind: 'unknown' };

/**
 * The most memory that its last program had. The kernel counts it together with the memory that the
 * process had before as a copy of its parent: where that was more, only a limit is known.
 */
export type PeakMemory = { readonly kind: 'known' | 'at most'; readonly bytes: number };

/** A program that a process was. An exec in the same process makes another one. */
export type Image = {
  /** Empty where it is not known. */
  readonly exe: string;
  readonly argv: readonly string[];
  /** How many words argv had; `argv` may be cut. */
  readonly args: number;
  /** Empty where it is not known. */
  readonly cwd: string;
  readonly startNs: bigint;
  readonly uid: number | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly isStatic: boolean;
  readonly cut: boolean;
  readonly redacted: boolean;
  /** Reported by the process itself (or seen in it), or only by its parent. */
  readonly argvFrom: 'child' | 'parent';
  /** It is the parent's: the process was forked and never became another program. */
  readonly inherited: boolean;
};

export type FailedExec = {
  readonly file: string;
  readonly errno: number;
  readonly atNs: bigint;
  /** It was to be a child, not this process. */
  readonly spawn: boolean;
};

export type Process = {
  /** Its place in the list of all; a pid may be there twice. */
  readonly id: number;
  readonly pid: number;
  /** The pid namespace that counts so: 0 is the recorder's. */
  readonly space: number;
  /** 0 where it is not known. */
  readonly ppid: number;
  /** The `id` of the parent, if that is part of the run. */
  readonly parent: number | undefined;
  /** How many ancestors it has in the list. */
  readonly depth: number;
  readonly startNs: bigint;
  /** Undefined while it runs, and if no process saw its end. */
  readonly endNs: bigint | undefined;
  readonly images: readonly Image[];
  /** The `id` of the process whose program it is a copy of, where it has none of its own. */
  readonly forkedFrom: number | undefined;
  readonly exit: ProcessExit;
  /** Processor time of all its threads, without its children. Undefined: not known; never zero. */
  readonly cpuNs: number | undefined;
  readonly peak: PeakMemory | undefined;
  readonly failedExecs: readonly FailedExec[];
  readonly sources: readonly Teller[];
};

/** The program it ended as. */
export function lastImage(process: Pick<Process, 'images'>): Image | undefined {
  return process.images.at(-1);
}

// The numbers are Linux's, where traces are made; they may be read anywhere.
const SIGNALS = [
  'SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2',
  'SIGPIPE SIGALRM SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG',
  'SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO SIGPWR SIGSYS',
]
  .join(' ')
  .split(' ');

const REALTIME_MIN = 34; // what glibc leaves of the kernel's 32
const REALTIME_MAX = 64;
const STOPPED = 0x7f;
const CORE = 0x80;

/** What wait(2) says about a child; undefined for one that only stopped or continued. */
export function decodeStatus(status: number): ProcessExit | undefined {
  const signal = status & 0x7f;
  if (signal === STOPPED) return undefined;
  if (signal === 0) return { kind: 'exited', code: (status >> 8) & 0xff };
  return { kind: 'signaled', signal: signalName(signal), core: (status & CORE) !== 0 };
}

function signalName(number: number): string {
  const name = SIGNALS[number - 1];
  if (name !== undefined) return name;
  if (number < REALTIME_MIN || number > REALTIME_MAX) return `SIG${number}`;
  return `SIGRTMIN+${number - REALTIME_MIN}`;
}
