// Texts without their secrets: each is replaced by its kind, whatever it is encoded as.

import { redactText } from '../secret-words.ts';
import { type FoundSecret, SecretFinder, secretsIn } from './finder.ts';
import type { KnownValues } from './known-values.ts';

/** A command is shown by its beginning; nothing behind this is looked at, or kept. */
const LENGTH_MAX = 16_384;

/** A command that can be shown. */
export function withoutSecrets(whole: string, known: KnownValues): string {
  const bytes = Buffer.from(whole.slice(0, LENGTH_MAX));
  const found = [...secretsIn(bytes.toString('latin1'), known)];
  return redactText(replaced(bytes, found, ''));
}

/** An output that can be kept, of any length. `known` must be of whole values. */
export function outputWithoutSecrets(whole: string, known: KnownValues): string {
  const bytes = Buffer.from(whole);
  const finder = new SecretFinder(known);
  const found = [...finder.push(bytes), ...finder.end()];
  return found.length === 0 ? whole : replaced(bytes, found, 'REDACTED:');
}

function replaced(bytes: Buffer, secrets: readonly FoundSecret[], label: string): string {
  const text = bytes.toString('latin1');
  const found = secrets.map(({ kind, name, encoding, from, to }) => {
    const encoded = encoding === 'base64' || encoding === 'hex';
    const [start, end] = encoded ? wordAround(text, from, to) : [from, to];
    return { from: start, to: end, shown: `[${label}${name ?? kind}]` };
  });
  found.sort((a, b) => a.from - b.from || b.to - a.to);
  let safe = '';
  let at = 0;
  for (const { from, to, shown } of found) {
    if (from >= at) safe += text.slice(at, from) + shown;
    at = Math.max(at, to);
  }
  return Buffer.from(safe + text.slice(at), 'latin1').toString();
}

const OF_WORD = /[A-Za-z0-9+/_=-]/;

/** Digits next to a secret may hold a part of its first and its last byte. */
function wordAround(text: string, from: number, to: number): readonly [number, number] {
  let [start, end] = [from, to];
  while (start > 0 && OF_WORD.test(text.charAt(start - 1))) start -= 1;
  while (end < text.length && OF_WORD.test(text.charAt(end))) end += 1;
  return [start, end];
}
