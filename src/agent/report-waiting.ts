// Whether a run waits for input from a terminal: one of its processes is blocked in a read of
// its terminal. The kernel says so; what was printed says nothing about it. A run without a
// terminal never waits, because its input is over.

import { openFilesOf, readProc } from '../run/processes.ts';
import { runProcesses } from '../shell/processes.ts';
import type { Capture } from '../shell/shell.ts';

export type InputWait = { readonly pid: number; readonly command: string };

// By architecture: read; and those that wait for one of the files below their first argument.
const SYSCALLS: Readonly<
  Record<string, { readonly read: number; readonly select: readonly number[] }>
> = { x64: { read: 0, select: [23, 270] }, arm64: { read: 63, select: [72] } };

const TERMINAL = /^\/dev\/(pts\/\d+|tty)$/;

/** The first one that is found, if there is any. */
export function waitingForInput(capture: Pick<Capture, 'meta' | 'final'>): InputWait | undefined {
  if (capture.meta?.transport !== 'pty') return undefined;
  const found = runProcesses(capture).find(({ pid }) => readsTerminal(pid));
  return found && { pid: found.pid, command: found.command };
}

function readsTerminal(pid: number): boolean {
  const known = SYSCALLS[process.arch];
  const [number, first = ''] = readProc(`${pid}/syscall`).split(' ');
  const argument = Number(first);
  if (known === undefined || !/^\d+$/.test(number ?? '')) {
    // Where the kernel does not tell the call, it may tell the function that waits.
    return readProc(`${pid}/wchan`) === 'n_tty_read';
  }
  const call = Number(number);
  // A select of nothing but file 0 is a read that will follow.
  const fd =
    call === known.read ? argument : known.select.includes(call) && argument === 1 ? 0 : -1;
  return openFilesOf(pid).some((file) => file.fd === fd && TERMINAL.test(file.link));
}
