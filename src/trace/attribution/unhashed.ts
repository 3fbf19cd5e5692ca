// Bytes that went out of a file inside the kernel: their write has a length but no hash. They are
// believed when nothing else can be there.

import type { Board, Placement } from './board.ts';
import { STRENGTH_MIN } from './evidence.ts';
import type { Probe } from './probe.ts';

const CHAIN_MAX = 1024;
const AHEAD_MAX = 16;

/** Where to go on if such writes explain the bytes at `position`. */
export function unhashedFrom(board: Board, position: number): number | undefined {
  for (const probe of board.probes) {
    const end = chainFrom(board, position, probe);
    if (end !== undefined) return end;
  }
  return undefined;
}

/** If all of them together reach exactly to where bytes of a known writer go on. */
function chainFrom(board: Board, position: number, probe: Probe): number | undefined {
  const { bytes, writes } = board;
  const open = board.candidates().filter((i) => !writes.isHashed(i));
  const [first] = open;
  const owners = new Set(open.map((i) => writes.process[i]));
  if (first === undefined || owners.size > 1) return undefined;
  const chain: Placement[] = [];
  let end = position;
  for (let i = first; i >= 0 && chain.length < CHAIN_MAX; i = writes.nextOwn(i)) {
    if (writes.isFound(i) || writes.isHashed(i)) return undefined;
    const from = end;
    end = probe.endOf(from, writes.length[i] ?? 0);
    if (end < 0 || end > bytes.length) return undefined;
    chain.push({ write: i, pieces: [{ from, to: end }] });
    if (end !== bytes.length && !goesOn(board, end)) continue;
    for (const placed of chain) board.place(placed);
    return end;
  }
  return undefined;
}

function goesOn(board: Board, position: number): boolean {
  const { writes } = board;
  let i = writes.first;
  for (let looked = 0; looked < AHEAD_MAX && i < writes.count; looked += 1) {
    if ((writes.length[i] ?? 0) >= STRENGTH_MIN && board.fit(i, position) >= 0) return true;
    i = writes.next(i);
  }
  return false;
}
