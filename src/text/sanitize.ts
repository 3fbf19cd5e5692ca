// Output of programs as text for a reader who is no terminal. Escape sequences go (CSI, OSC, DCS,
// APC, PM, SOS and the two-byte ones, in 7 and in 8 bits), and so do all controls but `\t`, `\n`
// and `\r`; `\r\n` becomes `\n`. The bytes of a stream give the same whatever pieces they come in,
// and no character is ever cut. What is not UTF-8 stays as it is, unless the caller wants U+FFFD.
//
// No sequence can swallow the rest of a stream:
// - A control sequence is over at the first byte that cannot be part of it, or after 256.
// - A string (OSC, DCS, ...) is dropped up to its end, lines in it included (pictures have them),
//   if that comes within 1 MiB and nothing else starts before. CAN, SUB, ESC, a C1 control, the
//   limit and the end of the stream break it off. Of such a one only the first line is dropped,
//   and what was taken for the rest is text: it was a program that forgot to end its title.
// - A byte of 0x80..0x9f that belongs to no character may be a control or a letter in another
//   encoding. If nothing complete follows, that byte alone is dropped.
import { isUtf8 } from 'node:buffer';
import { Growing, KeptText, ShownText, type TextOutput } from './sanitize-output.ts';
import {
  type Control,
  CSI,
  controlAt,
  ESC,
  MORE,
  NO_CONTROL,
  OSC,
  ST,
  sequenceEnd,
  silentEnd,
  startsString,
  textEnd,
} from './sanitize-units.ts';
import { decodeUtf8 } from './utf8.ts';

const BELL = 0x07;
const BACKSPACE = 0x08;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const CANCEL = 0x18;
const SUBSTITUTE = 0x1a;

/** Of a string: pictures and clipboards are sent as strings. */
export const STRING_BYTES_MAX = 1024 * 1024;

const NOTHING = new Uint8Array(0);
const CHARACTER_STARTS = 0xc2; // the first byte that starts a character of several bytes

export type SanitizeOptions = {
  /**
   * What a `\r` without `\n` does: it stays, or what follows is written over the line, so that a
   * progress bar is left as it was seen last. `overwrite` also follows backspaces and the sequences
   * that move in a line or erase it; the line comes out when it is over. `raw` keeps every `\r`.
   */
  readonly cr?: 'keep' | 'overwrite' | 'raw';
  /** Bytes that are not UTF-8 stay as they are, or each broken character becomes U+FFFD. */
  readonly broken?: 'keep' | 'replace';
  /** A string that is longer is text: a caller that shows live output cannot wait for its end. */
  readonly stringBytesMax?: number;
};

/**
 * Takes a stream in pieces. What `push` gives may share memory with what it was given: use it, or
 * copy it, before the piece is written over. `end` gives what was held back; nothing follows it.
 */
export type Sanitizer = {
  push(bytes: Uint8Array): Uint8Array;
  end(): Uint8Array;
  /** What `end` would give now, without half a character; more may be pushed behind it. */
  peek(): Uint8Array;
  /** So many of the last bytes pushed are part of a character or sequence that is not over. */
  readonly pending: number;
};

/** All of a stream. Gives `bytes` itself, or a part of it, if there is nothing to do in between. */
export function sanitize(bytes: Uint8Array, options: SanitizeOptions = {}): Uint8Array {
  const stream = sanitizer(options);
  const [most, rest] = [stream.push(bytes), stream.end()];
  return joined(most, rest);
}

export function sanitizer(options: SanitizeOptions = {}): Sanitizer {
  const { cr = 'keep' } = options;
  return new Stream(cr === 'overwrite' ? new ShownText() : new KeptText(cr), options);
}

/** A string that has begun and not ended. */
type OpenString = {
  /** A BEL ends it as well. */
  readonly bell: boolean;
  readonly raw: boolean;
  /** Bytes of the control that started it. */
  readonly introducer: number;
  /** Its bytes from earlier pieces, if there are any. */
  held: Growing | undefined;
};

class Stream implements Sanitizer {
  readonly #out: TextOutput;
  readonly #options: SanitizeOptions;
  /** What could not be understood without the bytes behind it: never more than one sequence. */
  #carry: Uint8Array = NOTHING;
  #string: OpenString | undefined;

  constructor(out: TextOutput, options: SanitizeOptions) {
    this.#out = out;
    this.#options = options;
  }

  get pending(): number {
    const { introducer = 0, held } = this.#string ?? {};
    return introducer + (held?.length ?? 0) + this.#carry.length;
  }

  push(bytes: Uint8Array): Uint8Array {
    this.#read(joined(this.#carry, bytes), false);
    return this.#out.take();
  }

  end(): Uint8Array {
    this.#read(this.#carry, true);
    const most = this.#out.take();
    return joined(most, this.#out.end());
  }

  peek(): Uint8Array {
    const copy = new Stream(this.#out.copy(), this.#options);
    const string = this.#string;
    copy.#string = string && { ...string, held: string.held?.copy() };
    if ((this.#carry[0] ?? 0) < CHARACTER_STARTS) copy.#carry = this.#carry;
    return copy.end();
  }

  #read(piece: Uint8Array, last: boolean): void {
    let bytes = piece;
    let at = 0;
    while (at < bytes.length || (last && this.#string !== undefined)) {
      if (this.#string !== undefined) {
        [bytes, at] = this.#readString(this.#string, bytes, at, last);
        if (this.#string !== undefined) break;
        continue;
      }
      const end = textEnd(bytes, at, last);
      if (end > at) this.#text(bytes, at, end);
      at = silentEnd(bytes, end);
      if (at > end) continue;
      if (at === bytes.length) break;
      const behind = this.#readControl(bytes, at, last);
      if (behind === MORE) break;
      at = this.#string === undefined ? this.#out.skim(bytes, behind) : behind;
    }
    // A copy, because the piece is the caller's; `slice` would be none of a Buffer.
    this.#carry = at === bytes.length ? NOTHING : new Uint8Array(bytes.subarray(at));
  }

  /** Whole and broken characters: replacing here joins no bytes across a sequence. */
  #text(bytes: Uint8Array, from: number, to: number): void {
    const text = this.#options.broken === 'replace' ? bytes.subarray(from, to) : undefined;
    if (text === undefined || isUtf8(text)) this.#out.text(bytes, from, to);
    else {
      const valid = Buffer.from(decodeUtf8(text));
      this.#out.text(valid, 0, valid.length);
    }
  }

  /** Where reading goes on behind the control at `at`. */
  #readControl(bytes: Uint8Array, at: number, last: boolean): number {
    const control = controlAt(bytes, at, last);
    if (control === MORE) return MORE;
    const { code, length, raw } = control;
    if (code === CSI) return this.#readSequence(bytes, at, control, last);
    if (startsString(code)) {
      this.#string = { bell: code === OSC, raw, introducer: length, held: undefined };
    }
    if (code === RETURN) this.#out.carriageReturn();
    if (code === BACKSPACE) this.#out.backspace();
    return at + length;
  }

  #readSequence(bytes: Uint8Array, at: number, control: Control, last: boolean): number {
    const start = at + control.length;
    const end = sequenceEnd(bytes, start, last);
    if (end === MORE) return MORE;
    const final = bytes[end - 1] ?? 0;
    if (end === start || final < 0x40) return control.raw ? start : end;
    this.#out.sequence(bytes, start, end);
    return end;
  }

  /** Where reading goes on, and in what: a string that is broken off is read again as text. */
  #readString(
    string: OpenString,
    bytes: Uint8Array,
    start: number,
    last: boolean,
  ): [bytes: Uint8Array, at: number] {
    const { held, bell, raw } = string;
    const { stringBytesMax = STRING_BYTES_MAX } = this.#options;
    const limit = start + stringBytesMax - (held?.length ?? 0);
    const { at, kind } = stringEnd(bytes, start, Math.min(limit, bytes.length), bell, last);
    if (kind === 'unfinished' && !last && at < limit) {
      if (at > start) {
        string.held = held ?? new Growing();
        string.held.append(bytes, start, at);
      }
      return [bytes, at];
    }
    this.#string = undefined;
    if (kind === 'ended') return [bytes, at];
    if (held === undefined) return [bytes, raw ? start : firstLineEnd(bytes, start, at)];
    const end = held.length + at - start;
    const whole = joined(held.take(), bytes.subarray(start));
    return [whole, raw ? 0 : firstLineEnd(whole, 0, end)];
  }
}

/** The first newline in `bytes[from, to)`, or `to`. */
function firstLineEnd(bytes: Uint8Array, from: number, to: number): number {
  if (from === to) return to;
  const newline = bytes.subarray(from, to).indexOf(NEWLINE);
  return newline < 0 ? to : from + newline;
}

type StringEnd = {
  /** Behind the end; or where it was broken off; or how far it goes. */
  readonly at: number;
  readonly kind: 'ended' | 'broken' | 'unfinished';
};

/** Looks for the end of a string in `bytes[start, limit)`. */
function stringEnd(
  bytes: Uint8Array,
  start: number,
  limit: number,
  bell: boolean,
  last: boolean,
): StringEnd {
  let at = start;
  while (at < limit) {
    const byte = bytes[at] ?? 0;
    if (byte === ESC || byte >= 0x80) {
      const control = controlAt(bytes, at, last);
      if (control === MORE) return { at, kind: 'unfinished' };
      if (control.code === ST) return { at: at + control.length, kind: 'ended' };
      if (control.code !== NO_CONTROL) return { at, kind: 'broken' };
      at += control.length;
    } else if (byte === BELL && bell) return { at: at + 1, kind: 'ended' };
    else if (byte === CANCEL || byte === SUBSTITUTE) return { at, kind: 'broken' };
    else at += 1;
  }
  return { at, kind: 'unfinished' };
}

/** A copy only where both have bytes. */
function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
