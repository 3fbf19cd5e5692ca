// The lines of one run, by ranges: only what is looked at is fetched, in pieces, and of those only
// so many are kept. A gigabyte is opened as fast as a page.
import { signal } from '@preact/signals';
import type { IndexAnswer, PlaceAnswer, RunAnswer } from '../../src/web/api.ts';
import { countNewlines, type LogLine, splitLines, timed } from '../core/lines.ts';
import { get, getBytes, Refusal } from './client.ts';
import { followRun } from './live.ts';

const PIECE_BYTES = 262_144;
const PIECES_MAX = 32; // 8 MB
const LINES_BEFORE = 80; // above what is looked at, for the next step up
const INDEX_RECORDS = 5_000;
const LIVE_JOIN_BYTES = 65_536; // pieces of a live run are put together up to here

/** Lines in a row. `first` is a line number from 0. */
type LogPiece = {
  readonly first: number;
  readonly lines: readonly LogLine[];
  readonly end: number;
  used: number;
};

export class LogSource {
  readonly id: string;
  /** Of all lines, a last one without a newline among them. */
  readonly count = signal(0);
  readonly bytes = signal(0);
  readonly open = signal(false);
  /** Another one whenever lines came. */
  readonly version = signal(0);
  readonly failure = signal<Refusal | undefined>(undefined);
  readonly run: RunAnswer;
  #newlines: number;
  #endsOpen = false;
  #pieces: LogPiece[] = [];
  #wanted: { first: number; end: number } | undefined;
  #busy = false;
  #clock = 0;

  constructor(run: RunAnswer) {
    this.run = run;
    this.id = run.run.session_id;
    this.#newlines = run.totals.lines;
    this.bytes.value = run.totals.bytes;
    this.open.value = run.run.output_open;
    this.count.value = this.#newlines;
  }

  /** Whether the last line has no newline is not in the index; one byte tells. */
  async begin(): Promise<void> {
    const bytes = this.bytes.value;
    const last = await getBytes(this.id, bytes - 1, bytes);
    if (bytes === this.bytes.value) this.#ended(last?.bytes.at(-1) !== 10 && bytes > 0);
  }

  #ended(open: boolean): void {
    this.#endsOpen = open;
    this.count.value = this.#newlines + (open ? 1 : 0);
  }

  line(number: number): LogLine | undefined {
    const piece = this.#pieceOf(number);
    if (piece === undefined) return undefined;
    this.#clock += 1;
    piece.used = this.#clock;
    return piece.lines[number - piece.first];
  }

  #pieceOf(number: number): LogPiece | undefined {
    return this.#pieces.find(
      ({ first, lines }) => number >= first && number < first + lines.length,
    );
  }

  /** Fetches what is missing of these lines, one piece after the other. */
  want(first: number, end: number): void {
    this.#wanted = { first, end: Math.min(end, this.count.value) };
    if (!this.#busy) void this.#fill();
  }

  async #fill(): Promise<void> {
    this.#busy = true;
    try {
      for (;;) {
        const missing = this.#missing();
        if (missing === undefined || !(await this.#load(missing))) break;
        this.version.value += 1;
      }
    } catch (error) {
      if (error instanceof Refusal) this.failure.value = error;
    } finally {
      this.#busy = false;
    }
  }

  #missing(): number | undefined {
    const { first, end } = this.#wanted ?? { first: 0, end: 0 };
    for (let line = first; line < end; line += 1) {
      if (this.#pieceOf(line) === undefined) return line;
    }
    return undefined;
  }

  async #load(line: number): Promise<boolean> {
    const start = await this.#start(line);
    const bytes = this.bytes.value;
    const piece = await this.piece(start.offset, Math.min(bytes, start.offset + PIECE_BYTES));
    if (piece === undefined || piece.lines.length === 0) return false;
    // Behind a hole the numbers go on elsewhere.
    const first =
      piece.offset === start.offset
        ? start.line
        : (await this.place({ offset: piece.offset })).line;
    const lines = await this.#measured(first, piece.lines);
    this.#keep({ first, lines, end: piece.end, used: this.#clock });
    return first <= line && line < first + piece.lines.length;
  }

  /** A line that is longer than a piece: where the next one begins tells how long. */
  async #measured(first: number, lines: readonly LogLine[]): Promise<readonly LogLine[]> {
    const last = lines.at(-1);
    const next = first + lines.length;
    if (last?.open !== true || next >= this.count.value) return lines;
    const { line, offset } = await this.place({ line: next });
    return line === next
      ? [...lines.slice(0, -1), { ...last, length: offset - last.offset }]
      : lines;
  }

  /** Where to read from, so that the line is in it. */
  async #start(line: number): Promise<{ line: number; offset: number }> {
    const before = this.#pieces.find(({ first, lines }) => first + lines.length === line);
    if (before !== undefined && before.lines.at(-1)?.open !== true) {
      return { line, offset: before.end };
    }
    if (line <= LINES_BEFORE) return { line: 0, offset: 0 };
    const ahead = this.#pieceOf(line - 1) === undefined ? LINES_BEFORE : 0;
    return this.place({ line: line - ahead });
  }

  /** The start of a line, by its number from 0, a byte in it or a time. */
  async place(query: { line: number } | { offset: number } | { t: number }) {
    const asked = 'line' in query ? { line: query.line + 1 } : query;
    const path = `runs/${encodeURIComponent(this.id)}/place`;
    const { line, offset } = await get<PlaceAnswer>(path, asked);
    return { line: line - 1, offset };
  }

  /** Lines with their times, from a byte where one begins. */
  async piece(from: number, to: number) {
    const came = await getBytes(this.id, from, to);
    if (came === undefined) return undefined;
    const { offset, bytes } = came;
    const { lines, end } = splitLines(bytes, offset, offset + bytes.length >= this.bytes.value);
    const records = await this.#index(offset, end);
    return { offset, lines: timed(lines, records, this.run.t0), end };
  }

  async #index(from: number, to: number): Promise<IndexAnswer['records']> {
    const path = `runs/${encodeURIComponent(this.id)}/index`;
    const records: IndexAnswer['records'][number][] = [];
    for (let next = from; next < to; ) {
      const answer = await get<IndexAnswer>(path, { from: next, limit: INDEX_RECORDS });
      records.push(...answer.records);
      if (answer.records.length === 0 || answer.next <= next) break;
      next = answer.next;
    }
    return records;
  }

  #keep(piece: LogPiece): void {
    const at = this.#pieces.findIndex(({ first, lines }) => first + lines.length === piece.first);
    const before = this.#pieces[at];
    const left = this.#pieces.filter((one) => one.first !== piece.first);
    const size = (before?.end ?? 0) - (before?.lines[0]?.offset ?? 0);
    if (before !== undefined && this.open.value && size < LIVE_JOIN_BYTES) {
      const lines = [...before.lines, ...piece.lines];
      this.#pieces = [
        ...left.filter((one) => one !== before),
        { ...piece, first: before.first, lines },
      ];
      return;
    }
    left.sort((a, b) => b.used - a.used);
    this.#pieces = [...left.slice(0, PIECES_MAX - 1), piece];
  }

  /** Follows a live run; `onLines` is told of more output. */
  follow(onLines: () => void): () => void {
    let told = false;
    const tell = () => {
      if (told) return;
      told = true;
      requestAnimationFrame(() => {
        told = false;
        onLines();
      });
    };
    return followRun({
      id: this.id,
      from: () => this.bytes.value,
      bytes: (offset, bytes) => {
        if (offset !== this.bytes.value) return void this.#recount().then(tell);
        this.#grow(bytes);
        tell();
      },
      behind: () => void this.#recount().then(tell),
      state: ({ run }) => {
        this.open.value = run.output_open;
        tell();
      },
    });
  }

  #grow(bytes: Uint8Array): void {
    this.#dropOpenEnd();
    this.#newlines += countNewlines(bytes);
    this.bytes.value += bytes.length;
    this.#ended(bytes.length > 0 ? bytes.at(-1) !== 10 : this.#endsOpen);
  }

  /** What was not sent is counted by the server. */
  async #recount(): Promise<void> {
    const { lines, bytes } = await get<PlaceAnswer>(`runs/${encodeURIComponent(this.id)}/place`, {
      offset: Number.MAX_SAFE_INTEGER,
    });
    this.#dropOpenEnd();
    this.#newlines = lines;
    this.bytes.value = bytes;
    await this.begin();
  }

  /** A last line without its end is read again. */
  #dropOpenEnd(): void {
    this.#pieces = this.#pieces.map((piece) => {
      const last = piece.lines.at(-1);
      if (last?.open !== true) return piece;
      return { ...piece, lines: piece.lines.slice(0, -1), end: last.offset };
    });
  }
}
