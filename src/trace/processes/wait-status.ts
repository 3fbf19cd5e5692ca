// What wait(2) says about a child, in words. The numbers are Linux's, where traces are made; they
// may be read anywhere.

import type { ProcessExit } from './process.ts';

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

/** Undefined for a child that only stopped or went on. */
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
