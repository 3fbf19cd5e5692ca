// Runs of lines that differ only in digits, told by their first line, their last one and how many
// are between. Only lines with a word in them are folded: of numbers alone the digits are what was
// asked for. A number that the first two lines share is the same in the whole run, so that the one
// `status 500` among many `status 200` is shown. Nothing is lost silently: the ranges of all pieces
// put together are all lines.

const RUN_MIN = 6; // fewer lines are about as short as what stands for them
const WORD = /\p{L}{3}/u;

export type NumberedLine = { readonly number: number; readonly text: string };

/** A line, or a range of lines like the one before it. */
export type FoldPiece =
  | { readonly kind: 'line'; readonly number: number; readonly text: string }
  | { readonly kind: 'folded'; readonly first: number; readonly last: number };

/** What lines that differ only in digits have in common. */
export function shapeOf(line: string): string {
  return line.replace(/\d+/g, '0');
}

export class Folder {
  readonly #keeps: (line: string) => boolean;
  #shape: string | undefined;
  /** The lines of a run that may be too short to be folded; then its first and its last one. */
  #run: NumberedLine[] = [];
  #folding = false;
  /** Where the first two lines have the same number. */
  #constant: readonly (string | undefined)[] = [];

  /** `keeps`: lines that are never folded. */
  constructor(keeps: (line: string) => boolean) {
    this.#keeps = keeps;
  }

  push(line: NumberedLine): readonly FoldPiece[] {
    const shape = shapeOf(line.text);
    if (shape === this.#shape && this.#goesOn(line)) {
      this.#run.push(line);
      if (!this.#folding && this.#run.length < RUN_MIN) return [];
      this.#folding = true;
      const [first = line] = this.#run;
      this.#run = [first, line];
      return [];
    }
    const before = this.end();
    if (!WORD.test(line.text) || this.#keeps(line.text)) return [...before, lineOf(line)];
    this.#shape = shape;
    this.#run = [line];
    return before;
  }

  #goesOn(line: NumberedLine): boolean {
    const [first, last] = [this.#run[0], this.#run.at(-1)];
    if (first === undefined || line.number !== (last?.number ?? 0) + 1) return false;
    const numbers = numbersOf(line.text);
    if (this.#run.length === 1) {
      const before = numbersOf(first.text);
      this.#constant = numbers.map((one, i) => (one === before[i] ? one : undefined));
    }
    return this.#constant.every((one, i) => one === undefined || one === numbers[i]);
  }

  /** What was held back. */
  end(): readonly FoldPiece[] {
    const run = this.#run;
    const folding = this.#folding;
    this.#shape = undefined;
    this.#run = [];
    this.#folding = false;
    const [first, last] = run;
    if (!folding || first === undefined || last === undefined) return run.map(lineOf);
    const between = { kind: 'folded', first: first.number + 1, last: last.number - 1 } as const;
    return [lineOf(first), between, lineOf(last)];
  }
}

/** Of a date or a time, digits that stay for a while say nothing. */
const TIME = /[\d./T-]*\d:\d\d(?::\d\d)?(?:[.,]\d+)?/g;

function numbersOf(line: string): readonly string[] {
  return line.replace(TIME, '').match(/\d+/g) ?? [];
}

function lineOf({ number, text }: NumberedLine): FoldPiece {
  return { kind: 'line', number, text };
}
