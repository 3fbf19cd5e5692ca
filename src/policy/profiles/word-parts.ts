// What is said about one word: the words for it that all judges of roles share.

import type { Effect, Part, Role } from '../profile.ts';

/** A word, or the part of one that is judged. */
export type Text = {
  readonly value: string | undefined;
  readonly prefix: string;
  /** Of a word that is a glob to the shell, too. */
  readonly pattern?: string;
};

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
