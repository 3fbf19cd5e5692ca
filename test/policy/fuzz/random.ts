// A source of chance that begins the same with the same seed, so that a failure can be had again.

export type Chance = {
  /** 0 <= n < below. */
  int(below: number): number;
  /** True once in `times`. */
  once(times: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** One of the functions, then called. */
  oneOf(makers: readonly (() => string)[]): string;
};

/** mulberry32. */
export function chance(seed: number): Chance {
  let state = seed >>> 0;
  const int = (below: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
  const pick = <T>(list: readonly T[]): T => {
    const found = list[int(list.length)];
    if (found === undefined) throw new Error('Nothing to pick from.');
    return found;
  };
  return { int, once: (times) => int(times) === 0, pick, oneOf: (makers) => pick(makers)() };
}
