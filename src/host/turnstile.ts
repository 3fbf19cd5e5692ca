// The turnstile in front of one plugin. Open, it counts the calls inside. Held, it makes new calls
// wait until it is released, and then lets them in, in their order. It never ends a call.

/** The answer of a call that is cancelled while it waits. */
export type Cancel<T> = { readonly signal: AbortSignal; readonly answer: () => T };

export class Turnstile {
  readonly #inside = new Set<Promise<unknown>>();
  #waiting: (() => void)[] = [];
  #held = false;

  /** Runs `work` at once, or after the release. An aborted wait ends with `cancel.answer`. */
  run<T>(work: () => Promise<T>, cancel?: Cancel<T>): Promise<T> {
    if (!this.#held) return this.#enter(work);
    return new Promise((resolve) => {
      const go = (): void => {
        cancel?.signal.removeEventListener('abort', leave);
        resolve(this.#enter(work));
      };
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== go);
        if (cancel !== undefined) resolve(cancel.answer());
      };
      this.#waiting.push(go);
      cancel?.signal.addEventListener('abort', leave, { once: true });
      if (cancel?.signal.aborted === true) leave();
    });
  }

  /** True once no call is inside. False when that took too long: then it is released again. */
  async hold(limitMs: number): Promise<boolean> {
    this.#held = true;
    if (await this.#empty(limitMs)) return true;
    this.release();
    return false;
  }

  /** Waits for the calls that are inside now; others may have come meanwhile. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#inside]);
  }

  release(): void {
    this.#held = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    // All of them start before any later call.
    for (const go of waiting) go();
  }

  #enter<T>(work: () => Promise<T>): Promise<T> {
    const running = work();
    this.#inside.add(running);
    const leave = (): void => {
      this.#inside.delete(running);
    };
    running.then(leave, leave);
    return running;
  }

  async #empty(limitMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), limitMs).unref();
    });
    try {
      return await Promise.race([this.settled().then(() => true), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
