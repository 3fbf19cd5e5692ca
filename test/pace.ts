// What a test may say about time on a machine of any speed: that work was given enough of it, that
// one way waits no longer than another, and how much work something is.
import { expect } from 'vitest';

/** Far beyond what a slow machine needs: only what never comes true takes this long. */
export const FACT_MS_MAX = 120_000;

const TIME_MS_MAX = 30_000; // more than this no tool waits
const PAIRS_MAX = 40;

/**
 * Again with four times as much time, as long as what came of it is not `enough`: how soon a
 * command prints on a slow machine is not what is tested.
 */
export async function withTime<T>(
  firstMs: number,
  attempt: (ms: number) => Promise<T>,
  enough: (got: T) => boolean,
): Promise<T> {
  for (let ms = firstMs; ; ms = Math.min(4 * ms, TIME_MS_MAX)) {
    const got = await attempt(ms);
    if (enough(got) || ms >= TIME_MS_MAX) return got;
  }
}

/**
 * The least that `work` took longer than `bare`, of pairs until one is below `msMax`. A wait that
 * is in the product is in each of them; a machine that is busy elsewhere is not.
 */
export async function expectNoWait(
  msMax: number,
  bare: () => Promise<unknown>,
  work: () => Promise<unknown>,
): Promise<void> {
  const added: number[] = [];
  do {
    const base = await millis(bare);
    added.push((await millis(work)) - base);
  } while (Math.min(...added) >= msMax && added.length < PAIRS_MAX);
  expect(Math.min(...added), `added to the bare one: ${added.map(Math.round)}`).toBeLessThan(msMax);
}

async function millis(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** How much work it is, as `workDone` counts it. */
export function workOf(work: () => void): number {
  const before = workDone();
  work();
  return workDone() - before;
}

/**
 * By this process until now, in units of a fixed piece of work of a few milliseconds. It is the
 * time of the processor, so that neither its speed nor the others on the machine are in it.
 */
export function workDone(): number {
  unit ??= Math.min(...Array.from({ length: 5 }, fixedWork));
  return cpuMicros() / unit;
}

let unit: number | undefined;

function fixedWork(): number {
  const before = cpuMicros();
  let words = 0;
  for (const text = 'some-words/of_a text '.repeat(4_000); words < 200_000; ) {
    for (const _ of text.matchAll(/[a-z]+/g)) words += 1;
  }
  return cpuMicros() - before;
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
