// What a program text in a language of its own (sed, awk, SQL) does.

import type { Part } from '../profile.ts';

export type Found = { readonly effect: NonNullable<Part['effect']>; readonly why: string };

/** Its effects, and the files that it reads. */
export type ScriptRead = { readonly found: readonly Found[]; readonly files: readonly string[] };
