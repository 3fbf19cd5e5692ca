// Waits for a signal that stops a server. Clients send two of them within milliseconds: those are
// one request, so that the second does not cut off the shutdown that the first began. A person who
// sends another one later does not want to wait.

export type StopSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP';

const SIGNALS: readonly StopSignal[] = ['SIGTERM', 'SIGINT', 'SIGHUP'];
const ONE_REQUEST_MS = 500;

/** The part of `process` that is used. */
export type SignalTarget = {
  on(signal: StopSignal, listener: () => void): unknown;
  exit(code: number): void;
};

/** Resolves with the first signal. */
export function stopSignal(
  target: SignalTarget = process,
  now: () => number = () => performance.now(),
): Promise<StopSignal> {
  return new Promise((resolve) => {
    let askedAt: number | undefined;
    for (const signal of SIGNALS) {
      target.on(signal, () => {
        if (askedAt !== undefined && now() - askedAt > ONE_REQUEST_MS) target.exit(1);
        askedAt ??= now();
        resolve(signal);
      });
    }
  });
}
