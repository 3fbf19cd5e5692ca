// Attributes errors to the plugin that caused them. Every call into a plugin runs inside `ownedBy`,
// so that even an error out of a timer, much later, has a known owner. What one process cannot
// contain: an endless loop, `process.exit`, running out of memory, a throw in `queueMicrotask`.

import { AsyncLocalStorage } from 'node:async_hooks';
import { printable } from '../text/printable.ts';

/** The plugin, or the module, that gets the blame. */
export type Owner = {
  readonly name: string;
  /** Must not throw. */
  readonly trouble: (where: string, error: unknown) => void;
};

const current = new AsyncLocalStorage<Owner>();

export function ownedBy<T>(owner: Owner, work: () => T): T {
  return current.run(owner, work);
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

/** One line about anything that was thrown, even a value that throws when it is looked at. */
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
  stray('a promise without a handler was rejected', 'unhandledRejection', reason);
}

function onException(error: unknown): void {
  stray('an error came out of a callback', 'uncaughtException', error);
}

/** An error without an owner is a bug of ours: the process ends, as it would without us. */
function stray(where: string, event: 'unhandledRejection' | 'uncaughtException', error: unknown) {
  const owner = current.getStore();
  if (owner !== undefined) owner.trouble(where, error);
  else if (process.listenerCount(event) === 1) throw error;
}
