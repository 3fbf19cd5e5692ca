// Waiting for a directory to change: a watch for speed, a slow poll for what a watch cannot see (a
// runner that died, a file system without events). Never misses a change: one that happens between
// two waits ends the next wait at once.
import { type FSWatcher, watch } from 'node:fs';

// Changes that a watch cannot see are noticed this late.
const POLL_MS = 1_000;

// Without a watch (no more inotify instances) polling is all there is.
const POLL_ALONE_MS = 100;

const BYTES: readonly string[] = ['output.bin', 'index.jsonl'];

/** `bytes`: only output or its index grew. `state`: anything may be different now. */
export type Change = 'bytes' | 'state';

export type Watch = {
  /** Resolves when something may have changed, after at most `timeoutMs`, or on abort. */
  changed(timeoutMs: number, signal?: AbortSignal): Promise<Change>;
  close(): void;
};

/**
 * Watches the directory, not its files: a watch on a file goes silent after the first rename.
 * `ignored` names a file whose changes do not matter.
 */
export function openWatch(dir: string, ignored?: string): Watch {
  let dirty: Change | undefined;
  let wake: (() => void) | undefined;
  const touch = (): void => {
    dirty = 'state';
    wake?.();
  };
  let watcher = tryWatch(dir, (name) => {
    if (name === ignored && name !== null) return;
    dirty = name !== null && BYTES.includes(name) ? (dirty ?? 'bytes') : 'state';
    wake?.();
  });
  watcher?.on('error', () => {
    // The directory is gone, or the system ran out of watches: polling goes on.
    watcher?.close();
    watcher = undefined;
    touch();
  });
  return {
    async changed(timeoutMs, signal) {
      const wait = Math.min(timeoutMs, watcher === undefined ? POLL_ALONE_MS : POLL_MS);
      if (dirty === undefined && wait > 0 && signal?.aborted !== true) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, wait);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
          signal?.addEventListener('abort', touch);
        });
        wake = undefined;
        signal?.removeEventListener('abort', touch);
      }
      const change = dirty ?? 'state'; // nothing happened: time to look at what makes no noise
      dirty = undefined;
      return change;
    },
    close: () => watcher?.close(),
  };
}

function tryWatch(dir: string, onChange: (name: string | null) => void): FSWatcher | undefined {
  try {
    return watch(dir, (_, name) => onChange(name));
  } catch {
    return undefined; // ENOSPC or EMFILE: no watches left, which is no reason not to wait
  }
}
