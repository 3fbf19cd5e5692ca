// A text as it reads when its encodings are undone: URL-encoding, the escapes of JSON, base64 and
// hexadecimal digits. Text has one character for each byte, before and after. Of long base64 the
// beginning may not be known, so it is decoded at each of the four places where it may begin; so
// are hexadecimal digits at each of two.

export type Encoding = 'plain' | 'base64' | 'url' | 'hex' | 'json';

export type View = {
  readonly encoding: Encoding;
  readonly text: string;
  /** Where in the undecoded text that which stands at `at` begins. */
  readonly rawAt: (at: number) => number;
};

/** The text itself first. Those in which nothing was encoded are left out. */
export function* viewsOf(text: string): Generator<View, void, undefined> {
  yield { encoding: 'plain', text, rawAt: (at) => at };
  const url = unescaped(text, /%([0-9A-Fa-f]{2})/g, ([, hex = '']) => byte(hex));
  if (url !== undefined) yield { encoding: 'url', ...url };
  const json = unescaped(text, JSON_ESCAPE, ([, hex, sign = '']) =>
    hex === undefined ? (JSON_SIGNS[sign] ?? sign) : byte(hex),
  );
  if (json !== undefined) yield { encoding: 'json', ...json };
  const { base64, hex } = runsOf(text);
  if (base64.length > 0) yield { encoding: 'base64', ...decoded(text, base64, BASE64) };
  if (hex.length > 0) yield { encoding: 'hex', ...decoded(text, hex, HEX) };
}

const JSON_ESCAPE = /\\(?:u00([0-9A-Fa-f]{2})|(["\\/bfnrt]))/g;
const JSON_SIGNS: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
};

function byte(hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}

type Decoded = Pick<View, 'text' | 'rawAt'>;

/** Undefined when there is nothing to undo. */
function unescaped(
  text: string,
  sign: RegExp,
  meaning: (match: RegExpExecArray) => string,
): Decoded | undefined {
  const parts: string[] = [];
  /** Behind each escape: where that is in the decoded text, and in the other. */
  const places: Place[] = [{ at: 0, raw: 0 }];
  let [from, length] = [0, 0];
  sign.lastIndex = 0;
  for (let match = sign.exec(text); match !== null; match = sign.exec(text)) {
    parts.push(text.slice(from, match.index), meaning(match));
    length += match.index - from + 1;
    from = match.index + match[0].length;
    places.push({ at: length, raw: from });
  }
  if (places.length === 1) return undefined;
  parts.push(text.slice(from));
  return {
    text: parts.join(''),
    rawAt: (at) => {
      const place = lastAtOrBefore(places, at);
      return place.raw + at - place.at;
    },
  };
}

type Place = { readonly at: number; readonly raw: number };

function lastAtOrBefore<T extends Place>(places: readonly T[], at: number): T | Place {
  let [low, high] = [0, places.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((places[middle]?.at ?? 0) <= at) low = middle;
    else high = middle;
  }
  return places[low] ?? { at: 0, raw: 0 };
}

type Run = { readonly from: number; readonly to: number };

// Shorter ones hold no secret of a known shape.
const BASE64_RUN_MIN = 24;
const HEX_RUN_MIN = 32;
/** `base64` breaks lines at 76, PEM at 64, `xxd -p` at 60: a run goes on behind a full line. */
const FULL_LINE_MIN = 56;

const [BREAK, OF_BASE64, OF_HEX] = [1, 2, 6];
const CLASS = new Uint8Array(256);
for (const sign of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-') {
  CLASS[sign.charCodeAt(0)] = /[0-9A-Fa-f]/.test(sign) ? OF_HEX : OF_BASE64;
}
CLASS[0x0a] = BREAK;
CLASS[0x0d] = BREAK;

/** Runs of base64 and of hexadecimal digits, which are base64, too: both are tried. */
function runsOf(text: string): { readonly base64: readonly Run[]; readonly hex: readonly Run[] } {
  return {
    base64: runsIn(text, OF_BASE64, BASE64_RUN_MIN),
    hex: runsIn(text, OF_HEX, HEX_RUN_MIN),
  };
}

function runsIn(text: string, wanted: number, lengthMin: number): readonly Run[] {
  const runs: Run[] = [];
  let [from, line] = [-1, -1];
  const close = (to: number): void => {
    if (to - from >= lengthMin) runs.push({ from, to });
    from = -1;
  };
  for (let at = 0; at < text.length; at += 1) {
    const kind = CLASS[text.charCodeAt(at)] ?? 0;
    if ((kind & wanted) === wanted) {
      if (from < 0) from = at;
      if (line < 0) line = at;
    } else if (from >= 0) {
      // The second character of CR LF ends nothing either.
      const goesOn = kind === BREAK && (line < 0 || at - line >= FULL_LINE_MIN);
      line = -1;
      if (!goesOn) close(at);
    } else line = -1;
  }
  if (from >= 0) close(text.length);
  return runs;
}

type Code = {
  readonly encoding: 'base64' | 'hex';
  /** So many digits are so many bytes, and the first of them is one of `first` in ASCII text. */
  readonly digits: number;
  readonly bytes: number;
  readonly first: Uint8Array;
  /** So many such groups in a row are worth decoding. */
  readonly groupsMin: number;
};

// Secrets are ASCII, and of that a sixth of all base64 and a hundred-thousandth of all hashes look.
const BASE64: Code = {
  encoding: 'base64',
  digits: 4,
  bytes: 3,
  first: signs('CIJKLMNOPQRSTUVWXYZabcdef'),
  groupsMin: 5,
};
const HEX: Code = { encoding: 'hex', digits: 2, bytes: 1, first: signs('0234567'), groupsMin: 15 };

function signs(of: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const sign of of) table[sign.charCodeAt(0)] = 1;
  return table;
}

/** `digit` is the number of its first one in the run. */
type Piece = Place & { readonly run: Run; readonly digit: number };

/** What may be text in the runs, wherever it begins, one behind the other with a NUL between. */
function decoded(text: string, runs: readonly Run[], code: Code): Decoded {
  const parts: string[] = [];
  const pieces: Piece[] = [];
  let at = 0;
  for (const run of runs) {
    const written = text.slice(run.from, run.to);
    const digits = BREAKS.test(written) ? written.replace(/[\r\n]+/g, '') : written;
    for (const { from, to } of textualParts(digits, code)) {
      const part = Buffer.from(digits.slice(from, to), code.encoding).toString('latin1');
      pieces.push({ at, raw: run.from, run, digit: from });
      parts.push(part);
      at += part.length + 1;
    }
  }
  return {
    text: parts.join('\0'),
    rawAt: (place) => {
      const piece = lastAtOrBefore(pieces, place);
      if (!('run' in piece)) return 0;
      const digit = Math.floor(((place - piece.at) * code.digits) / code.bytes) + piece.digit;
      return nthDigit(text, piece.run, digit);
    },
  };
}

const BREAKS = /[\r\n]/;

function* textualParts(digits: string, { digits: step, first, groupsMin }: Code): Generator<Run> {
  for (let start = 0; start < step; start += 1) {
    let from = start;
    for (let at = start; ; at += step) {
      if (at < digits.length && first[digits.charCodeAt(at)] === 1) continue;
      // A group of it at each end may be mixed with bytes that are no text.
      if (at - from >= groupsMin * step) {
        yield { from: Math.max(start, from - step), to: Math.min(digits.length, at + step) };
      }
      if (at >= digits.length) break;
      from = at + step;
    }
  }
}

/** Where the digit of this number stands, line breaks not counted. */
function nthDigit(text: string, { from, to }: Run, digit: number): number {
  let left = digit;
  for (let at = from; at < to; at += 1) {
    if (CLASS[text.charCodeAt(at)] === BREAK) continue;
    if (left === 0) return at;
    left -= 1;
  }
  return to;
}
