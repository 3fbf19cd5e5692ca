// The backend without the native runner: child_process for pipes, node-pty for a terminal. Same
// contract, fewer promises: PORTABLE_LIMITS says which are missing.

import { loadPty } from './portable-pty.ts';
import { type PortableOptions, PortableRun } from './portable-run.ts';
import type { Backend } from './spec.ts';

/** What the native runner promises and this backend does not, one sentence each. */
export const PORTABLE_LIMITS: readonly string[] = [
  'A run does not outlive its starter: without a reader, its next output kills it.',
  'A kill misses processes that called setsid and lost their parent; it closes their output.',
  'Elsewhere than on Linux a kill reaches the process group alone, and survivors are not named.',
  'A survivor is seen only while it is in the process group or holds the output open.',
  'stdout and stderr are sockets: `echo x > /dev/stdout` fails with ENXIO.',
  'When the reader of forwarded output leaves, a write may fail with ECONNRESET before SIGPIPE.',
  'There is no true order between stdout and stderr; the merged transport is two streams, too.',
  'The socket transport does not say which process wrote the bytes.',
  'A run is not traced: its processes are not listed.',
  'Of more output than a capture may keep only the head stays: the tail is lost.',
  'Reading costs the event loop and heap of this process; starting costs more the larger it is.',
  'Deadlines, kills and ends are noticed late while the event loop is blocked.',
  'Death by a real-time signal looks like exit code 0, because Node has no name for those.',
  'No other process can give orders to a run: there is no control FIFO.',
  'At a terminal Ctrl-C is passed on by us and Ctrl-Z does not suspend the command.',
  'Without a pty the command has no controlling terminal, so it cannot open /dev/tty.',
  'A pty needs the optional package @lydell/node-pty; without it the run goes on over pipes.',
  'With a pty also stderr, and a stdin that is no terminal, go through it; PWD and TERM are set.',
  'The outer terminal is in the raw mode of Node, which still turns line feeds into CR LF.',
  'A process that outlives its shell in a pty loses the terminal with it.',
  'A run in a pty keeps this process alive, also after the backend was closed.',
  'On Windows every kill is a forced taskkill of the tree, and nothing of it was tested there.',
];

export function portableBackend(options: PortableOptions): Backend {
  const live = new Set<PortableRun>();
  return {
    kind: 'portable',
    start(spec, listener) {
      const run = new PortableRun(spec, options, (message) => {
        if (message.kind === 'failed' || message.kind === 'ended') live.delete(run);
        listener(message);
      });
      live.add(run);
      run.launch();
      return run;
    },
    close() {
      for (const run of live) run.unref();
    },
  };
}

/** Whether a pty can be had here, so that a capture can say beforehand what it will be. */
export async function portablePty(): Promise<boolean> {
  return (await loadPty()) !== undefined;
}
