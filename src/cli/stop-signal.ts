// When a server was told to stop by a signal. Clients send two of them within milliseconds: those
// are one request, so that what the first one began is not cut off by the second. A person who
// sends another one later does not want to wait.

export type StopSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP';

const SIGNALS: readonly StopSignal[] = ['SIGTERM', 'SIGINT', 'SIGHUP'];
const ONE_REQUEST_MS = 500;

/** Where signals arrive, and how this process ends at once. */
export type Signalled = {
  on(signal: StopSignal, listener: () => void): unknown;
  exit(code: number): void;
};

/** Resolves with the first signal. */
export function stopSignal(
  target: Signalled = process,
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
