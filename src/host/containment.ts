// Keeps a plugin's trouble the plugin's. All that a plugin does runs inside `within`, so that even
// of an error that comes out of a timer later it is known whose it is. What one process cannot
// contain: an endless loop, `process.exit`, running out of memory, a throw in `queueMicrotask`.

import { AsyncLocalStorage } from 'node:async_hooks';
import { printable } from '../text/printable.ts';

export type Guarded = {
  readonly name: string;
  /** Must not throw. */
  readonly trouble: (where: string, error: unknown) => void;
};

const current = new AsyncLocalStorage<Guarded>();

export function within<T>(plugin: Guarded, work: () => T): T {
  return current.run(plugin, work);
}

/** The result of `work`, or a rejection after `limitMs` or on abort; the rest is ignored. */
export async function limited<T>(
  work: PromiseLike<T>,
  limitMs: number,
  what: string,
  signal?: AbortSignal,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let abort = (): void => undefined;
  const given = new Promise<never>((_, reject) => {
    const error = new Error(`${what} took longer than ${limitMs / 1000} s`);
    timer = setTimeout(() => reject(error), limitMs);
    abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted === true) abort();
  });
  try {
    return await Promise.race([work, given]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

const MESSAGE_MAX = 500;

/** One line about anything that was thrown, even if it does not want to be looked at. */
export function strayMessage(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message || error.name : String(error);
    return printable(text).slice(0, MESSAGE_MAX);
  } catch {
    return 'something that cannot be shown'; // a proxy, or a toString that throws
  }
}

let containing = false;

/** From now on a plugin's stray errors are reported instead of ending the process. */
export function containStrays(): void {
  if (containing) return;
  containing = true;
  // For good: what a plugin began may still fail after its host is closed.
  process.on('unhandledRejection', onRejection);
  process.on('uncaughtException', onException);
}

function onRejection(reason: unknown): void {
  stray('a promise nobody waited for was rejected', 'unhandledRejection', reason);
}

function onException(error: unknown): void {
  stray('an error came out of a callback', 'uncaughtException', error);
}

/** What is no plugin's is a fault of the house: the process ends, as it would without us. */
function stray(where: string, event: 'unhandledRejection' | 'uncaughtException', error: unknown) {
  const plugin = current.getStore();
  if (plugin !== undefined) plugin.trouble(where, error);
  else if (process.listenerCount(event) === 1) throw error;
}
