// What the sanitiser has found to be text, put together again: as it came (`KeptText`), or as a
// terminal would show each line at last (`ShownText`).
//
// A line of a terminal is a row of cells with a cursor. Every character is one cell here, tabs and
// wide or combining characters too: good for progress bars, which is what lines are rewritten for.
import { characterLength, ESC, MORE, odd, sequenceEnd } from './sanitize-units.ts';

/** Where text goes. What is handed to `text` are whole characters, tabs and newlines. */
export interface TextOutput {
  text(bytes: Uint8Array, from: number, to: number): void;
  /** May take, in a quicker way, what starts at `from`. Gives where it stopped. */
  skim(bytes: Uint8Array, from: number): number;
  carriageReturn(): void;
  backspace(): void;
  /** A control sequence, without what introduces it: its parameters and its final byte. */
  sequence(bytes: Uint8Array, from: number, to: number): void;
  /** All that is certain by now. May be a part of what was handed to `text` last. */
  take(): Uint8Array;
  /** The rest. */
  end(): Uint8Array;
  /** With what `end` would give, once everything was taken. */
  copy(): TextOutput;
}

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const NOTHING = new Uint8Array(0);

/** Bytes to be continued. */
export class Growing {
  #bytes = NOTHING;
  length = 0;

  append(bytes: Uint8Array, from: number, to: number): void {
    this.#makeRoom(to - from);
    const out = this.#bytes;
    if (to - from > COPY_NATIVELY) out.set(bytes.subarray(from, to), this.length);
    else for (let i = from, at = this.length; i < to; i += 1, at += 1) out[at] = bytes[i] ?? 0;
    this.length += to - from;
  }

  push(byte: number): void {
    this.#makeRoom(1);
    this.#bytes[this.length] = byte;
    this.length += 1;
  }

  /**
   * Copies ASCII text without the control sequences in it, as much as can be done in one go: the
   * quick way through colourful output. Gives where something else stands, or a long run of text.
   */
  appendColoured(bytes: Uint8Array, from: number, folded: boolean): number {
    this.#makeRoom(bytes.length - from);
    const [source, target] = [viewOf(bytes), viewOf(this.#bytes)];
    const most = bytes.length - 8;
    let to = this.length;
    let at = from;
    let stop = at + LONG_RUN;
    while (at < most && at < stop) {
      const word = source.getInt32(at, true);
      target.setInt32(to, word, true); // too much of it will be written over
      const found = odd(word);
      const clean = found === 0 ? 4 : (31 - Math.clz32(found & -found)) >> 3;
      at += clean;
      to += clean;
      if (clean === 4) continue;
      const next = source.getUint16(at, true);
      if (next === CRLF && folded) at += 1;
      else if (next === ESCAPE_BRACKET) {
        const end = sequenceEnd(bytes, at + 2, false);
        if (end === MORE || end === at + 2 || (bytes[end - 1] ?? 0) < 0x40) break;
        at = end;
      } else break;
      stop = at + LONG_RUN;
    }
    this.length = to;
    return at;
  }

  copy(): Growing {
    const copy = new Growing();
    copy.append(this.#bytes, 0, this.length);
    return copy;
  }

  /** Everything, which is then no longer here. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.length);
    this.#bytes = NOTHING;
    this.length = 0;
    return taken;
  }

  #makeRoom(count: number): void {
    if (this.length + count <= this.#bytes.length - WORD) return;
    const wanted = Math.max(this.length + count, this.#bytes.length * 2, GROWING_BYTES_MIN);
    const grown = Buffer.allocUnsafeSlow(wanted + WORD); // what was not written is never given
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = new Uint8Array(grown.buffer, 0, wanted + WORD);
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

const WORD = 4; // bytes; a whole one may be written where only one byte counts
const CRLF = 0x0a0d; // both as a DataView reads them, the first byte lowest
const ESCAPE_BRACKET = 0x5b1b;
const GROWING_BYTES_MIN = 4_096;
const LONG_RUN = 256; // from here on whole words and native copies are quicker
const COPY_NATIVELY = 48; // bytes from which a call costs less than a loop

/** Text as it came; `keep` leaves out the `\r` before a `\n`. */
export class KeptText implements TextOutput {
  readonly #out = new Growing();
  readonly #cr: 'keep' | 'raw';
  /** The only text so far: most pieces are clean, and need not be copied. */
  #only: Uint8Array | undefined;
  #returns = 0;

  constructor(cr: 'keep' | 'raw') {
    this.#cr = cr;
  }

  text(bytes: Uint8Array, from: number, to: number): void {
    if (this.#returns > 0) this.#writeReturns(bytes[from] === NEWLINE);
    if (this.#out.length === 0 && this.#only === undefined) {
      this.#only = bytes.subarray(from, to);
      return;
    }
    this.#copyOnly();
    this.#out.append(bytes, from, to);
  }

  skim(bytes: Uint8Array, from: number): number {
    if (!skimmable(bytes, from)) return from;
    if (this.#returns > 0 && bytes[from] !== NEWLINE) return from;
    this.#returns = 0;
    this.#copyOnly();
    return this.#out.appendColoured(bytes, from, this.#cr === 'keep');
  }

  /** However many: a terminal driver makes `\r\r\n` of `\r\n`. */
  carriageReturn(): void {
    this.#returns += 1;
    if (this.#cr === 'raw') this.#writeReturns(false);
  }

  backspace(): void {}

  sequence(): void {}

  take(): Uint8Array {
    const only = this.#only;
    this.#only = undefined;
    return only ?? this.#out.take();
  }

  end(): Uint8Array {
    this.#writeReturns(false);
    return this.take();
  }

  copy(): KeptText {
    const copy = new KeptText(this.#cr);
    copy.#returns = this.#returns;
    return copy;
  }

  #writeReturns(dropped: boolean): void {
    if (!dropped && this.#returns > 0) this.#copyOnly();
    for (; this.#returns > 0; this.#returns -= 1) if (!dropped) this.#out.push(RETURN);
  }

  #copyOnly(): void {
    if (this.#only === undefined) return;
    this.#out.append(this.#only, 0, this.#only.length);
    this.#only = undefined;
  }
}

/** Whether text or a control sequence may stand there: setting up costs more than one control. */
function skimmable(bytes: Uint8Array, i: number): boolean {
  const byte = bytes[i] ?? 0;
  if (byte >= SPACE) return byte < 0x7f;
  if (byte === ESC) return bytes[i + 1] === 0x5b && (bytes[i + 2] ?? 0) >= SPACE;
  return byte === NEWLINE || byte === TAB;
}

// A terminal has some hundred columns. What is longer is no progress bar, can no longer be
// rewritten, and costs no memory; and clearing a line again and again stays cheap.
const CELLS_MAX = 16_384;
const CELLS_MIN = 256;

/** What a terminal would show of each line when it is over: progress bars collapse. */
export class ShownText implements TextOutput {
  readonly #out = new Growing();
  /** The unfinished line: in each cell the bytes of a character, as one number. */
  #cells = new Uint32Array(CELLS_MIN);
  #length = 0;
  #column = 0;
  /** Something in the line was written over: blanks at its end are then what was wiped out. */
  #rewritten = false;

  text(bytes: Uint8Array, from: number, to: number): void {
    let at = from;
    while (at < to) {
      if (this.#length === 0 && this.#column === 0 && !this.#rewritten) {
        // Whole lines that nothing was done to: most text.
        const behind = at + bytes.subarray(at, to).lastIndexOf(NEWLINE) + 1;
        this.#out.append(bytes, at, behind);
        at = behind;
      }
      at = this.#putLine(bytes, at, to);
    }
  }

  skim(_: Uint8Array, from: number): number {
    return from;
  }

  carriageReturn(): void {
    this.#column = 0;
  }

  backspace(): void {
    this.#column = Math.max(0, this.#column - 1);
  }

  /** CUF, CUB, CHA and EL, by their names in ECMA-48. */
  sequence(bytes: Uint8Array, from: number, to: number): void {
    const number = numberIn(bytes, from, to - 1);
    if (number === undefined) return;
    const count = Math.max(1, number);
    const final = bytes[to - 1];
    if (final === 0x43) this.#moveTo(this.#column + count);
    else if (final === 0x44) this.#moveTo(this.#column - count);
    else if (final === 0x47) this.#moveTo(count - 1);
    else if (final === 0x4b) this.#erase(number);
  }

  take(): Uint8Array {
    return this.#out.take();
  }

  end(): Uint8Array {
    this.#endLine();
    return this.take();
  }

  copy(): ShownText {
    const copy = new ShownText();
    copy.#cells = this.#cells.slice();
    copy.#length = this.#length;
    copy.#column = this.#column;
    copy.#rewritten = this.#rewritten;
    return copy;
  }

  /** The characters up to the end of the line. Gives where that is. */
  #putLine(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    while (at < to) {
      if (bytes[at] === NEWLINE) {
        this.#endLine();
        this.#out.push(NEWLINE);
        return at + 1;
      }
      const length = (bytes[at] ?? 0) < 0x80 ? 1 : characterLength(bytes, at, true);
      let cell = 0;
      for (let k = 0; k < length; k += 1) cell = cell * 0x100 + (bytes[at + k] ?? 0);
      this.#put(cell);
      at += length;
    }
    return at;
  }

  #put(cell: number): void {
    if (this.#column >= CELLS_MAX) this.#letGo();
    if (this.#column >= this.#cells.length) this.#widen();
    if (this.#column > this.#length) this.#cells.fill(SPACE, this.#length, this.#column);
    if (this.#column < this.#length) this.#rewritten = true;
    this.#cells[this.#column] = cell;
    this.#column += 1;
    this.#length = Math.max(this.#length, this.#column);
  }

  #widen(): void {
    const wider = new Uint32Array(Math.max(this.#cells.length * 2, this.#column + 1));
    wider.set(this.#cells);
    this.#cells = wider;
  }

  #moveTo(column: number): void {
    this.#column = Math.max(0, Math.min(column, CELLS_MAX - 1));
  }

  #erase(what: number): void {
    if (what === 0) this.#length = Math.min(this.#length, this.#column);
    else if (what === 1) this.#cells.fill(SPACE, 0, Math.min(this.#length, this.#column + 1));
    else if (what === 2) this.#length = 0;
    else return;
    this.#rewritten = true;
  }

  #endLine(): void {
    if (this.#rewritten) {
      while (this.#length > 0 && this.#cells[this.#length - 1] === SPACE) this.#length -= 1;
    }
    this.#letGo();
    this.#rewritten = false;
  }

  /** The line so far, as text. What follows starts at column 0. */
  #letGo(): void {
    for (let i = 0; i < this.#length; i += 1) {
      const cell = this.#cells[i] ?? 0;
      if (cell >= 0x1000000) this.#out.push(cell >>> 24);
      if (cell >= 0x10000) this.#out.push((cell >>> 16) & 0xff);
      if (cell >= 0x100) this.#out.push((cell >>> 8) & 0xff);
      this.#out.push(cell & 0xff);
    }
    this.#length = 0;
    this.#column = 0;
  }
}

/** The one number that the parameters are: 0 if there is none, undefined if there is more. */
function numberIn(bytes: Uint8Array, from: number, to: number): number | undefined {
  let number = 0;
  for (let i = from; i < to; i += 1) {
    const digit = (bytes[i] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    number = Math.min(number * 10 + digit, CELLS_MAX);
  }
  return number;
}
