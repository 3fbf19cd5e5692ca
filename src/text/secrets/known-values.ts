// Values that are secrets because of the name of their variable, found in every form that output
// may have them in: as they are, URL-encoded, escaped as in JSON, in base64 at each of its three
// places, and in hexadecimal digits. Text has one character for each byte.

import type { Env } from '../../types.ts';
import { type KnownSecret, secretVariables } from '../redact.ts';
import { literalRegex } from '../regex.ts';
import { isExampleWord } from './placeholders.ts';
import type { Encoding } from './views.ts';

export type KnownMatch = {
  readonly name: string;
  readonly value: string;
  readonly encoding: Encoding;
  readonly from: number;
  readonly to: number;
};

/** A backslash, and as JSON in JSON has it. */
const BACKSLASH = '\\\\{1,8}';

/** A line break that an encoder put between two digits, as it is or escaped. */
const BREAK = `(?:[\\r\\n]|${BACKSLASH}[rn]){0,2}`;

/**
 * A longer value is known by its beginning when it is only looked for. All of it is needed where it
 * is to be taken out.
 */
const HEAD_LENGTH = 128;

/** Those of an environment; `postgres` is no secret because a variable has it as a password. */
export function knownValues(env: Env): KnownValues {
  return new KnownValues(secretVariables(env).filter(({ value }) => !isExampleWord(value)));
}

export class KnownValues {
  readonly #secrets: readonly KnownSecret[];
  readonly #any: RegExp | undefined;

  constructor(secrets: readonly KnownSecret[], { whole = false } = {}) {
    const longest = [...secrets].sort((a, b) => b.value.length - a.value.length);
    this.#secrets = longest;
    const patterns = longest.flatMap(({ value }) =>
      formsOf(whole ? value : value.slice(0, HEAD_LENGTH)),
    );
    if (patterns.length > 0) {
      this.#any = new RegExp(patterns.map((pattern) => `(${pattern})`).join('|'), 'g');
    }
  }

  *find(text: string): Generator<KnownMatch, void, undefined> {
    const any = this.#any;
    if (any === undefined) return;
    any.lastIndex = 0;
    for (let match = any.exec(text); match !== null; match = any.exec(text)) {
      const group = match.findIndex((one, at) => at > 0 && one !== undefined) - 1;
      const secret = this.#secrets[Math.floor(group / FORMS)];
      if (secret === undefined) return;
      const form = group % FORMS;
      const encoding = form === 0 ? writtenAs(match[0], secret.value) : form < 4 ? 'base64' : 'hex';
      const from = match.index;
      yield { ...secret, encoding, from, to: from + match[0].length };
    }
  }

  /** The names of those that the text has, in order. */
  names(text: string): readonly string[] {
    return [...new Set([...this.find(text)].map(({ name }) => name))].sort();
  }
}

/** How many patterns a value has. */
const FORMS = 5;

function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  return [
    [...value].map(character).join(''),
    ...[0, 1, 2].map((before) => base64Pattern(bytes, before)),
    [...bytes].map(hexPattern).join(BREAK),
  ];
}

function writtenAs(found: string, value: string): Encoding {
  if (found === Buffer.from(value).toString('latin1').slice(0, found.length)) return 'plain';
  return found.includes('\\') ? 'json' : 'url';
}

const JSON_LETTERS: Readonly<Record<string, string>> = {
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '\b': 'b',
  '\f': 'f',
};

/** As it is, URL-encoded or escaped: encoders differ in which characters they encode. */
function character(one: string): string {
  if (/^[A-Za-z0-9]$/.test(one)) return one;
  const bytes = [...Buffer.from(one)];
  const units = Array.from({ length: one.length }, (_, at) => one.charCodeAt(at));
  const forms = [
    literalRegex(Buffer.from(one).toString('latin1')),
    bytes.map((byte) => `%${hexPattern(byte)}`).join(''),
    units.map((unit) => `${BACKSLASH}u${hexPattern(unit >> 8)}${hexPattern(unit & 0xff)}`).join(''),
    ...(/["\\/]/.test(one) ? [`${BACKSLASH}${literalRegex(one)}`] : []),
    ...(one in JSON_LETTERS ? [`${BACKSLASH}${JSON_LETTERS[one]}`] : []),
    ...(one === ' ' ? ['\\+'] : []),
  ];
  return `(?:${forms.join('|')})`;
}

/** Two hexadecimal digits in letters of either size. */
function hexPattern(byte: number): string {
  const digits = byte.toString(16).padStart(2, '0');
  return digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** The digits that are the same whatever stands before and behind the value. */
function base64Pattern(value: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), value])
    .toString('base64')
    .replace(/=+$/, '');
  const mixedStart = before === 0 ? 0 : before + 1;
  const mixedEnd = (before + value.length) % 3 === 0 ? 0 : 1;
  const digits = [...text.slice(mixedStart, text.length - mixedEnd)];
  return digits.map((digit) => BASE64_DIGITS[digit] ?? digit).join(BREAK);
}

const BASE64_DIGITS: Readonly<Record<string, string>> = { '+': '[+-]', '/': '[/_]' };
