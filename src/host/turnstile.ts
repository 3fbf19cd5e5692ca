// The gate in front of one plugin. Open, it only knows who is inside. Held, it lets nobody in
// until it is released, and then everybody in the order they came. It never ends what is inside.

/** What somebody gets who stopped waiting. */
export type Cancel<T> = { readonly signal: AbortSignal; readonly answer: () => T };

export class Gate {
  readonly #inside = new Set<Promise<unknown>>();
  #waiting: (() => void)[] = [];
  #held = false;

  /** Runs `work` at once, or when the gate opens. Who aborts the wait gets an answer of his own. */
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

  /** True once nobody is inside. False when that took too long: the gate is then open again. */
  async hold(limitMs: number): Promise<boolean> {
    this.#held = true;
    if (await this.#empty(limitMs)) return true;
    this.release();
    return false;
  }

  /** Everybody who is inside now is out; others may have come meanwhile. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#inside]);
  }

  release(): void {
    this.#held = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    // All of them start before anybody who comes from now on.
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
