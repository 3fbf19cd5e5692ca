// What is said about one word, or about a program text in a language of its own (sed, awk, SQL):
// the words for it that all judges of roles share.

import type { WordText } from '../../text/options.ts';
import type { Effect, Part, Role } from '../profile.ts';

/** A word, or the part of one that is judged. */
export type Text = WordText;

export type Judged = Pick<Part, 'role' | 'value' | 'prefix' | 'effect' | 'why'>;

/** The effect as a clause without its subject: "runs code". */
export const DOES: Readonly<Record<Effect, string>> = {
  exec: 'runs code',
  write: 'writes a file',
  delete: 'deletes or overwrites what is there',
  config: 'changes configuration',
  net: 'reaches the network',
  secret: 'can show secrets',
};

export function part(
  role: Part['role'],
  text: Text,
  effect?: Part['effect'],
  why?: string,
): Judged {
  return { role, value: text.value, prefix: text.prefix, effect, why };
}

export function shown(text: Text): string {
  const all = text.value ?? `${text.prefix}...`;
  return `\`${all.length > 40 ? `${all.slice(0, 40)}...` : all}\``;
}

/** Inert when `fine` says so; a word that is not known is nothing. */
export function named(
  role: Role,
  text: Text,
  fine: (value: string) => boolean,
  effect: Effect,
  not: string,
): Judged {
  if (text.value === undefined) return part(role, text, 'unknown', `${shown(text)} is not known`);
  return fine(text.value) ? part(role, text) : part(role, text, effect, `${shown(text)} ${not}`);
}

/** What a word of that role can do. */
export type Judge = (text: Text) => readonly Judged[];

export type Found = { readonly effect: NonNullable<Part['effect']>; readonly why: string };

/** Its effects, and the files that it reads. */
export type ScriptRead = { readonly found: readonly Found[]; readonly files: readonly string[] };
