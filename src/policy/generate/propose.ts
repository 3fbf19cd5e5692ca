// Which heads may get a `*`. Only where the words behind them vary: two different ones at least,
// and for what does more than read so many that others are likely to follow. Words that are always
// the same stay in the pattern there.

import { closureOf, type Member, readsOf } from './closures.ts';
import type { Shape } from './shape.ts';
import { type Count, type Tails, type Tally, unseenMass } from './tally.ts';

/** A rule with a `*` at its end, or one that stands for its effect class. */
export type General = Member & {
  readonly pattern: string;
  readonly program: string;
  /** Added by effect class: it stays whether or not it was seen. */
  readonly closed: boolean;
};

const UNSEEN_MIN = 0.2;
const DISTINCT_ENOUGH = 4; // an agent that used four will use a fifth

function generalOf(member: Member, closed: boolean): General {
  const { head, fixed, open, lead } = member;
  const start = lead === undefined ? head : head.replace(' ', ` ${lead} `);
  const pattern = [start, ...fixed, ...(open ? ['*'] : [])].join(' ');
  return { ...member, pattern, program: head.replace(/^xargs /, '').split(' ')[0] ?? '', closed };
}

function openHead(head: string, fixed: readonly string[] = []): General {
  return generalOf({ head, fixed, open: true }, false);
}

/** Every head that could be generalised, for finding out what that would cover. */
export function candidates(tally: Tally, minFrequency: number, closing: boolean): General[] {
  const found = new Map<string, General>();
  for (const tails of tally.heads.values()) {
    if (varies(tails, [...tails.shapes])) found.set(tails.text, openHead(tails.text));
  }
  for (const member of closing ? closureOf(tally, minFrequency) : readsOf(tally)) {
    // A member without a `*` must not replace the candidate for the same head.
    const key = [member.head, ...member.fixed].join(' ');
    found.set(member.open ? key : `=${key}`, generalOf(member, true));
  }
  return [...found.values()];
}

/** The candidate for the shapes in `covered` alone. */
export function narrowed(
  tails: Tails,
  covered: readonly (readonly [Shape, Count])[],
): General | undefined {
  if (!varies(tails, covered)) return undefined;
  const { head, text } = tails;
  if (!head.narrow && (head.kind === 'read' || head.scripts)) return openHead(text);
  const words = covered.map(([{ tail }]) => tail).filter((tail) => tail.length > 0);
  const fixed = commonStart(words);
  return head.narrow && fixed.length === 0 ? undefined : openHead(text, fixed);
}

/** Asking a program about itself says nothing of what else it is used for. */
const ABOUT_ITSELF = /^(?:--?version|-v|-V|--help|-h|--explain .*)$/;

function varies({ head }: Tails, all: readonly (readonly [Shape, Count])[]): boolean {
  // `xargs wc`: the words that it adds cannot be written down at all.
  if (head.unseen) return all.length > 0;
  const shapes = all.filter(([{ tail }]) => !ABOUT_ITSELF.test(tail.join(' ')));
  const distinct = shapes.filter(([{ tail }]) => tail.length > 0).length;
  const mass = unseenMass(shapes.map(([, count]) => count));
  // Something unknown among the words varies by itself, and no literal could say it.
  if (distinct === 1) {
    const open = shapes.some(([{ literal }]) => literal === undefined) && head.kind === 'read';
    return open || (shapes.length > 1 && mass >= UNSEEN_MIN);
  }
  if (distinct < 2) return false;
  return head.kind === 'read' || head.scripts || mass >= UNSEEN_MIN || distinct >= DISTINCT_ENOUGH;
}

function commonStart(tails: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = tails;
  const end = first.findIndex((word, at) => others.some((tail) => tail[at] !== word));
  const common = end < 0 ? first : first.slice(0, end);
  // Only plain words: a quoted or special one was not meant to be a constant.
  const odd = common.findIndex((word) => !/^[A-Za-z0-9_@%+:.,/=-]+$/.test(word));
  return odd < 0 ? common : common.slice(0, odd);
}
