// The tokens of a leaf: each kind has one text for each value, and `-` stands for nothing. So a
// leaf that was read and is written again is the same bytes.
import { fromBase64 } from './base64.ts';
import { parseSize } from './checkpoint.ts';
import { ENTRY_PARTS, type EntryPart, isCommitment } from './commitments.ts';

/** `format` gives undefined, and `parse` too, for what such a token cannot say. */
export type Token<T> = {
  readonly format: (value: T) => string | undefined;
  readonly parse: (token: string) => T | undefined;
};

const NOTHING = '-';

export function orNothing<T>(token: Token<T>): Token<T | null> {
  return {
    format: (value) => (value === null ? NOTHING : token.format(value)),
    parse: (text) => (text === NOTHING ? null : token.parse(text)),
  };
}

function matching(pattern: RegExp): Token<string> {
  const checked = (text: string): string | undefined => (pattern.test(text) ? text : undefined);
  return { format: checked, parse: checked };
}

/** A journal, a session, a run: a name that is safe as the name of a file. */
export const ID = matching(/^[A-Za-z0-9._][A-Za-z0-9._-]{0,199}$/);

/** Letters, digits and signs without a space, as the writer chose them. */
export const WORD = matching(/^(?!-$)[!-~]{1,8192}$/);

export const SHA256 = matching(/^[0-9a-f]{64}$/);

export const COUNT: Token<number> = {
  format: (value) => (Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined),
  parse: parseSize,
};

/** Epoch milliseconds as `2026-01-18T14:30:52.123Z`. */
export const TIME: Token<number> = {
  format: (value) => timeText(value),
  parse: (text) => {
    const at = Date.parse(text);
    return timeText(at) === text ? at : undefined;
  },
};

const TIME_MAX = Date.UTC(9999, 11, 31); // years have four digits

function timeText(at: number): string | undefined {
  return Number.isInteger(at) && at >= 0 && at <= TIME_MAX ? new Date(at).toISOString() : undefined;
}

export const COMMITMENT: Token<string> = {
  format: (value) => (isCommitment(value) ? value : undefined),
  parse: (text) => (isCommitment(text) ? text : undefined),
};

export function oneOf<T extends string>(...values: readonly T[]): Token<T> {
  return {
    format: (value) => (values.includes(value) ? value : undefined),
    parse: (text) => values.find((value) => value === text),
  };
}

/** Any text: bytes of its UTF-8 that are no visible ASCII, and `%`, are written as `%` and hex. */
export const TEXT: Token<string> = {
  format: (value) => {
    if (value === '' || !value.isWellFormed()) return undefined;
    const bytes = [...Buffer.from(value)];
    return value === NOTHING ? escaped(0x2d) : bytes.map(escapedUnlessPlain).join('');
  },
  parse: (text) => {
    if (!/^([!-$&-~]|%[0-9A-F]{2})+$/.test(text)) return undefined;
    const bytes = text.replace(/%(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
    const value = Buffer.from(bytes, 'latin1').toString('utf8');
    return TEXT.format(value) === text ? value : undefined;
  },
};

function escapedUnlessPlain(byte: number): string {
  return byte > 0x20 && byte < 0x7f && byte !== 0x25 ? String.fromCharCode(byte) : escaped(byte);
}

function escaped(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

/** `text,stdout`: in the order of the parts, each once. */
export const PARTS: Token<readonly EntryPart[]> = {
  format: (value) => {
    const ordered = ENTRY_PARTS.filter((part) => value.includes(part));
    const same = ordered.length === value.length && ordered.every((one, at) => one === value[at]);
    return same && value.length > 0 ? value.join(',') : undefined;
  },
  parse: (text) => {
    const parts = text.split(',').map((one) => ENTRY_PARTS.find((part) => part === one));
    const known = parts.filter((part) => part !== undefined);
    return PARTS.format(known) === text ? known : undefined;
  },
};

export type ByteRange = readonly [from: number, to: number];

/** `0-100,200-300`: bytes of output.bin, each range behind the one before it. */
export const RANGES: Token<readonly ByteRange[]> = {
  format: (value) => {
    const bounds = value.flat();
    const whole = bounds.every((bound) => Number.isSafeInteger(bound) && bound >= 0);
    const rising = bounds.every((bound, at) => at === 0 || bound > (bounds[at - 1] ?? bound));
    if (value.length === 0 || !whole || !rising) return undefined;
    return value.map(([from, to]) => `${from}-${to}`).join(',');
  },
  parse: (text) => {
    const ranges = text.split(',').map((range): ByteRange => {
      const [from = '', to = '', ...more] = range.split('-');
      const end = more.length > 0 ? undefined : parseSize(to);
      return [parseSize(from) ?? -1, end ?? -1];
    });
    return RANGES.format(ranges) === text ? ranges : undefined;
  },
};

/** A verifier key, as `note-keys.ts` reads it. */
export const KEY: Token<string> = {
  format: (value) => (isKeyText(value) ? value : undefined),
  parse: (text) => (isKeyText(text) ? text : undefined),
};

function isKeyText(text: string): boolean {
  const [name = '', id = '', ...rest] = text.split('+');
  const plain = WORD.parse(name) !== undefined && /^[0-9a-f]{8}$/.test(id);
  return plain && fromBase64(rest.join('+')) !== undefined && rest.join('') !== '';
}
