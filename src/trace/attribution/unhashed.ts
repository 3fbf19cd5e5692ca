// Bytes that went out of a file inside the kernel: their record has a length but no hash. They are
// believed when nothing else can be there.

import type { Board, Placed } from './board.ts';
import { STRENGTH_MIN } from './evidence.ts';
import type { Probe } from './probe.ts';

const CHAIN_MAX = 1024;
const AHEAD_MAX = 16;

export class Unhashed {
  readonly #board: Board;

  constructor(board: Board) {
    this.#board = board;
  }

  /** Where to go on if such records explain the bytes at `position`. */
  from(position: number): number | undefined {
    for (const probe of this.#board.probes) {
      const end = this.#chain(position, probe);
      if (end !== undefined) return end;
    }
    return undefined;
  }

  /** If all of them together reach exactly to where bytes of a known writer go on. */
  #chain(position: number, probe: Probe): number | undefined {
    const { bytes, records } = this.#board;
    const open = this.#board.candidates().filter((i) => !records.isHashed(i));
    const [first] = open;
    const owners = new Set(open.map((i) => records.process[i]));
    if (first === undefined || owners.size > 1) return undefined;
    const chain: Placed[] = [];
    let end = position;
    for (let i = first; i >= 0 && chain.length < CHAIN_MAX; i = records.nextOwn(i)) {
      if (records.isFound(i) || records.isHashed(i)) return undefined;
      const from = end;
      end = probe.endOf(from, records.length[i] ?? 0);
      if (end < 0 || end > bytes.length) return undefined;
      chain.push({ record: i, pieces: [{ from, to: end }] });
      if (end !== bytes.length && !this.#goesOn(end)) continue;
      for (const placed of chain) this.#board.place(placed);
      return end;
    }
    return undefined;
  }

  #goesOn(position: number): boolean {
    const { records } = this.#board;
    let i = records.first;
    for (let looked = 0; looked < AHEAD_MAX && i < records.count; looked += 1) {
      const long = (records.length[i] ?? 0) >= STRENGTH_MIN;
      if (long && this.#board.fit(i, position) >= 0) return true;
      i = records.next(i);
    }
    return false;
  }
}
