// Progress as a client can bear it: steps that only grow, at most so many in a second, the latest
// message when several came at once, and none once the call is over.

const EVERY_MS = 250;

export type Progress = {
  readonly report: (message: string) => void;
  /** From now on nothing is sent. */
  readonly end: () => void;
};

export function throttled(send: (step: number, message: string) => void): Progress {
  let step = 0;
  let waiting: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  const flush = (): void => {
    timer = undefined;
    if (waiting === undefined || over) return;
    const message = waiting;
    waiting = undefined;
    step += 1;
    send(step, message);
    timer = setTimeout(flush, EVERY_MS);
    timer.unref();
  };
  return {
    report(message) {
      waiting = message;
      if (timer === undefined) flush();
    },
    end() {
      over = true;
      clearTimeout(timer);
    },
  };
}
