// What the writers of a simulated run write, and how well it was found again.
import { attribute } from '../../../src/trace/attribution/attribution.ts';
import { type Captured, Kernel, type Random, randomFrom, type Writer } from './kernel.ts';

/** `short`: a few bytes; `block`: a full buffer of stdio; `long`: more than a pipe keeps whole. */
export type Kind = 'short' | 'line' | 'text' | 'block' | 'long';

export type Scene = {
  readonly seed: number;
  readonly terminal: boolean;
  /** What each process may write; as many processes as there are lists. */
  readonly told: readonly (readonly Kind[])[];
  /** Programs without a shim. */
  readonly silent: readonly (readonly Kind[])[];
  readonly writes: number;
  readonly busy: number;
  readonly rawShare: number;
};

const LETTERS = 'etaoin shrdlu cmfwyp';

function wordsOf(random: Random, mark: string, kind: Kind): Uint8Array {
  const letter = (): string => LETTERS[random(LETTERS.length)] ?? ' ';
  if (kind === 'short') {
    const length = 1 + random(6);
    return Buffer.from(Array.from({ length }, () => (random(5) === 0 ? '\n' : letter())).join(''));
  }
  const sizes = { line: 12 + random(70), text: 300 + random(2000), block: 4096 };
  const size = kind === 'long' ? 5000 + random(40_000) : sizes[kind];
  let text = mark;
  while (text.length < size) text += random(40) === 0 ? '\n' : letter();
  return Buffer.from(kind === 'block' ? text.slice(0, size) : `${text.slice(0, size - 1)}\n`);
}

export function play(scene: Scene): Captured & { readonly toldCount: number } {
  const random = randomFrom(Math.imul(scene.seed, 0x9e3779b1) ^ 0x5bd1e995);
  for (let i = 0; i < 8; i += 1) random(2);
  const writers = [...scene.told, ...scene.silent].map(
    (kinds, id): Writer => ({
      told: id < scene.told.length,
      writes: Array.from({ length: scene.writes }, (_, n) =>
        wordsOf(random, `<${id}.${n}>`, kinds[random(kinds.length)] ?? 'line'),
      ),
    }),
  );
  const { busy, rawShare } = scene;
  const captured = new Kernel(writers, scene.terminal, random).run({ busy, rawShare });
  return { ...captured, toldCount: scene.told.length };
}

export type Score = {
  /** Bytes of processes that told. */
  readonly told: number;
  readonly right: number;
  readonly wrong: number;
};

export function score(captured: Captured & { readonly toldCount: number }): Score {
  const { chunks, writes, output, truth, toldCount } = captured;
  const segments = attribute({
    chunks,
    writes,
    read: (offset, length) => output.subarray(offset, offset + length),
    writerOf: () => undefined,
  });
  let [right, wrong, at] = [0, 0, 0];
  for (const { offset, length, process } of segments) {
    if (offset !== at) throw new Error(`bytes ${at} to ${offset} are missing`);
    at += length;
    if (process === undefined) continue;
    for (let i = offset; i < offset + length; i += 1) {
      if (truth[i] === process) right += 1;
      else wrong += 1;
    }
  }
  if (at !== output.length) throw new Error(`the bytes from ${at} are missing`);
  return { told: truth.filter((id) => id < toldCount).length, right, wrong };
}
