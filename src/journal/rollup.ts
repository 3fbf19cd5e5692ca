// What commands add up to, in a form that can itself be added up: one rollup for each day makes the
// numbers of any period without looking at its entries. Adding gives the same in every order.
import { normalForm } from '../text/command-shape.ts';

export const ENDS = ['zero', 'one', 'other', 'none'] as const;

export type Rollup = {
  commands: number;
  durationMs: number;
  readonly exitCodes: Record<(typeof ENDS)[number], number>;
  longest: Longest | undefined;
  /** How often each normal form of a command was run. */
  readonly forms: Map<string, number>;
};

export type Longest = { readonly command: string; readonly durationMs: number };

/** What a rollup wants to know of an entry, in the entry's own names. */
export type CountedEntry = {
  readonly command: string;
  readonly duration_ms: number;
  readonly exit_code: number | null;
};

export function newRollup(): Rollup {
  return {
    commands: 0,
    durationMs: 0,
    exitCodes: { zero: 0, one: 0, other: 0, none: 0 },
    longest: undefined,
    forms: new Map(),
  };
}

export function addEntry(rollup: Rollup, entry: CountedEntry): void {
  const { command, duration_ms: durationMs, exit_code: code } = entry;
  rollup.commands += 1;
  rollup.durationMs += durationMs;
  rollup.exitCodes[code === null ? 'none' : code === 0 ? 'zero' : code === 1 ? 'one' : 'other'] +=
    1;
  rollup.longest = longer(rollup.longest, { command, durationMs });
  // A command whose words were redacted has none.
  if (command !== '') addForm(rollup, normalForm(command), 1);
}

export function addRollup(rollup: Rollup, other: Rollup): void {
  rollup.commands += other.commands;
  rollup.durationMs += other.durationMs;
  for (const end of ENDS) rollup.exitCodes[end] += other.exitCodes[end];
  if (other.longest !== undefined) rollup.longest = longer(rollup.longest, other.longest);
  for (const [form, count] of other.forms) addForm(rollup, form, count);
}

export function addForm(rollup: Rollup, form: string, count: number): void {
  rollup.forms.set(form, (rollup.forms.get(form) ?? 0) + count);
}

/** Of two that took equally long, the one that is first in the alphabet. */
function longer(a: Longest | undefined, b: Longest): Longest {
  if (a === undefined || b.durationMs > a.durationMs) return b;
  return b.durationMs === a.durationMs && b.command < a.command ? b : a;
}
