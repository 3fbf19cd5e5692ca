// One fdatasync(2) for the line of one command. Another thread takes about as long to wake up, and
// to wake us, as a quick disk takes to sync. So while the disk is quick and no other caller waits
// for it, that is done here; a disk that was slow the last time is waited for off the event loop.

const QUICK_MS = 2;

export type Sync = (fd: number, alone?: boolean) => Promise<void>;

export function quickSync(io: {
  readonly here: (fd: number) => void;
  readonly away: (fd: number) => Promise<void>;
  readonly clock: () => number;
}): Sync {
  let lastMs = Number.POSITIVE_INFINITY;
  return async (fd, alone = false) => {
    const start = io.clock();
    if (alone && lastMs <= QUICK_MS) io.here(fd);
    else await io.away(fd);
    lastMs = io.clock() - start;
  };
}
