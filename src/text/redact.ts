// Keeps the values of secrets out of text. A secret is known by the name of its variable; its value
// is found as it is, URL-encoded, and inside of base64, and a placeholder that names the variable
// stands in its place. In the text of a command, what its own words call a secret is one, too.

import type { Env } from '../types.ts';
import { literalRegex } from './regex.ts';
import { isSecretName, redactText } from './secret-words.ts';

/** `lengthMax`: no form of a secret is longer, so a caller knows what cutting a text can hide. */
export type Redactor = ((text: string) => string) & { readonly lengthMax: number };

/** Taken out to be safe; but `AWS_REGION` and `GITHUB_WORKSPACE` in an output are no leaks. */
const ACCOUNTS = /^(AWS|GITHUB|OPENAI|ANTHROPIC|GEMINI)_/i;

// A shorter value is a word like `true` or a port, and would be found everywhere.
const VALUE_LENGTH_MIN = 8;

type Form = { readonly name: string; readonly pattern: string; readonly length: number };

export type KnownSecret = { readonly name: string; readonly value: string };

/** The variables whose names say that they are secrets, in order of their names. */
export function secretVariables(env: Env): readonly KnownSecret[] {
  return variables(env, isSecretName);
}

function variables(env: Env, wanted: (name: string) => boolean): readonly KnownSecret[] {
  return Object.entries(env)
    .filter(([name]) => wanted(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value = '']) => ({ name, value: value.trim() }))
    .filter(({ value }) => value.length >= VALUE_LENGTH_MIN);
}

export function redactor(env: Env): Redactor {
  const forms = variables(env, (name) => isSecretName(name) || ACCOUNTS.test(name))
    .flatMap(formsOf)
    // Of two secrets that start alike, the longer one is meant.
    .sort((a, b) => b.length - a.length);
  const lengthMax = forms[0]?.length ?? 0;
  if (forms.length === 0) return Object.assign((text: string) => text, { lengthMax });
  const any = new RegExp(forms.map(({ pattern }) => `(${pattern})`).join('|'), 'g');
  const redact = (text: string): string =>
    text.replace(any, (_, ...groups: readonly unknown[]) => {
      const found = forms[groups.findIndex((group) => group !== undefined)];
      return `[REDACTED:${found?.name}]`;
    });
  return Object.assign(redact, { lengthMax });
}

/** For the text of a command, and what describes it; not for output, where `--password` is help. */
export function commandRedactor(values: Redactor): Redactor {
  return Object.assign((text: string) => redactText(values(text)), {
    lengthMax: values.lengthMax,
  });
}

function formsOf({ name, value }: KnownSecret): Form[] {
  const plain = [...value].map(character).join('');
  const forms = [{ name, pattern: plain, length: Buffer.byteLength(value) * 3 }];
  // In base64 the same bytes look different at each of three places, and their ends are mixed
  // with their neighbours'.
  for (const before of [0, 1, 2]) {
    const pattern = base64Pattern(Buffer.from(value), before);
    forms.push({ name, pattern, length: Math.ceil((Buffer.byteLength(value) + 4) / 3) * 4 });
  }
  return forms;
}

/** A character as it is, or URL-encoded: encoders differ in which characters they encode. */
function character(one: string): string {
  if (/^[A-Za-z0-9]$/.test(one)) return one;
  const bytes = [...Buffer.from(one)].map((byte) => byte.toString(16).padStart(2, '0'));
  const encoded = bytes.map((hex) => `%${eitherCase(hex)}`).join('');
  return `(?:${literalRegex(one)}|${encoded}${one === ' ' ? '|\\+' : ''})`;
}

function eitherCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function base64Pattern(value: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), value])
    .toString('base64')
    .replace(/=+$/, '');
  const mixedStart = before === 0 ? 0 : before + 1;
  const mixedEnd = (before + value.length) % 3 === 0 ? 0 : 1;
  const certain = text.slice(mixedStart, text.length - mixedEnd);
  const own = certain.replace(/[+/]/g, (sign) => (sign === '+' ? '[+-]' : '[/_]'));
  return `${before === 0 ? '' : '[\\w+/-]'}${own}${mixedEnd === 0 ? '' : '[\\w+/-]?={0,2}'}`;
}
