// Both ends of a stream as clean lines, with runs of similar lines folded, and what is between them
// searched for errors. Reads the stream once, in order, and keeps what is shown. Every line is
// shown, folded or hidden, and which is said by its number.

import { type ErrorLines, ErrorPick, errorWeight } from '../../text/error-lines.ts';
import { Folder, type FoldPiece } from '../../text/fold.ts';
import type { Line } from './lines.ts';
import type { LineRange } from './suspects.ts';

export type FoldedEnds = {
  /** Before what is hidden; all of it if nothing is. */
  readonly head: string;
  readonly tail: string;
  /** Of the lines in it. */
  readonly bytes: number;
  /** The lines that `[n lines like the one above]` stands for. */
  readonly foldedLines: number;
  readonly hidden: HiddenLines | undefined;
};

type HiddenLines = LineRange & { readonly errors: ErrorLines };

export type FoldLimits = {
  /** Of the text, in UTF-8; what stands for folded lines counts. */
  readonly headBytes: number;
  readonly tailBytes: number;
  /** What stands in place of lines that are folded; undefined: none are. */
  readonly folded: ((range: LineRange) => string) | undefined;
};

/** Undefined when a line is too long to be shown as a whole, or lines are missing. */
export function foldedEnds(
  lines: Iterable<readonly Line[]>,
  total: number,
  limits: FoldLimits,
): FoldedEnds | undefined {
  const ends = new PieceEnds(limits);
  const folder = limits.folded ? new Folder((text) => errorWeight(text) !== 'none') : undefined;
  const lengthMax = Math.floor(Math.min(limits.headBytes, limits.tailBytes) / 2);
  let count = 0;
  for (const some of lines) {
    for (const line of some) {
      count += 1;
      if (line.number !== count || line.text.length > lengthMax) return undefined;
      const pieces = folder?.push(line) ?? [{ kind: 'line', ...line } as const];
      for (const piece of pieces) ends.push(piece);
    }
  }
  for (const piece of folder?.end() ?? []) ends.push(piece);
  return count === total ? ends.result : undefined;
}

type Entry = { readonly piece: FoldPiece; readonly text: string; readonly bytes: number };

class PieceEnds {
  readonly #limits: FoldLimits;
  readonly #head: Entry[] = [];
  readonly #tail: Entry[] = [];
  readonly #errors = new ErrorPick();
  #headBytes = 0;
  #tailBytes = 0;
  /** Where the tail starts: what is before it is hidden. */
  #from = 0;
  #headFull = false;
  #folded = 0;
  #hidden: LineRange | undefined;

  constructor(limits: FoldLimits) {
    this.#limits = limits;
  }

  push(piece: FoldPiece): void {
    const text = `${piece.kind === 'line' ? piece.text : this.#limits.folded?.(rangeOf(piece))}\n`;
    const entry = { piece, text, bytes: Buffer.byteLength(text) };
    if (!this.#headFull && this.#headBytes + entry.bytes <= this.#limits.headBytes) {
      this.#head.push(entry);
      this.#headBytes += entry.bytes;
      return;
    }
    // What stands for a range says "the one above", so it stays with that line.
    const above = piece.kind === 'folded' && !this.#headFull ? this.#head.pop() : undefined;
    this.#headFull = true;
    this.#headBytes -= above?.bytes ?? 0;
    for (const one of above === undefined ? [entry] : [above, entry]) this.#later(one);
  }

  #later(entry: Entry): void {
    this.#tail.push(entry);
    this.#tailBytes += entry.bytes;
    while (this.#tailBytes > this.#limits.tailBytes || this.#startsFolded()) this.#hide();
    if (this.#from > 1_000 && this.#from * 2 > this.#tail.length) {
      this.#tail.splice(0, this.#from);
      this.#from = 0;
    }
  }

  get result(): FoldedEnds {
    const shown = this.#tail.slice(this.#from);
    for (const { piece } of [...this.#head, ...shown]) this.#count(piece);
    const { result: errors } = this.#errors;
    return {
      head: textOf(this.#head),
      tail: textOf(shown),
      bytes: this.#headBytes + this.#tailBytes,
      foldedLines: this.#folded,
      hidden: this.#hidden && { ...this.#hidden, errors },
    };
  }

  #startsFolded(): boolean {
    return this.#hidden !== undefined && this.#tail[this.#from]?.piece.kind === 'folded';
  }

  #hide(): void {
    const entry = this.#tail[this.#from];
    if (entry === undefined) return;
    this.#from += 1;
    this.#tailBytes -= entry.bytes;
    const { piece } = entry;
    const { firstLine, lastLine } = rangeOf(piece);
    this.#hidden = { firstLine: this.#hidden?.firstLine ?? firstLine, lastLine };
    if (piece.kind === 'line') this.#errors.add(piece.number, piece.text);
  }

  #count(piece: FoldPiece): void {
    if (piece.kind === 'folded') this.#folded += piece.last - piece.first + 1;
  }
}

function textOf(entries: readonly Entry[]): string {
  return entries.map(({ text }) => text).join('');
}

function rangeOf(piece: FoldPiece): LineRange {
  return piece.kind === 'line'
    ? { firstLine: piece.number, lastLine: piece.number }
    : { firstLine: piece.first, lastLine: piece.last };
}
