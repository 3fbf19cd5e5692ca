// Counts the observed commands for the rules: every shape, and for every head the words behind it.
// The number of runs is the frequency of a rule; whether words vary is counted by sessions, so that
// one busy loop is one observation.

import { compare } from './evidence.ts';
import type { Reading } from './reading.ts';
import type { Head, Shape } from './shape.ts';

export type Count = { count: number; readonly sessions: Set<string> };

export type Tails = {
  readonly head: Head;
  readonly text: string;
  /** By shape. */
  readonly shapes: Map<Shape, Count>;
};

export type Tally = {
  readonly shapes: ReadonlyMap<Shape, Count>;
  readonly heads: ReadonlyMap<string, Tails>;
  readonly needs: ReadonlyMap<string, number>;
};

export function tallyOf(readings: readonly Reading[]): Tally {
  const shapes = new Map<Shape, Count>();
  const heads = new Map<string, Tails>();
  const needs = new Map<string, number>();
  for (const { seen, shapes: own, needs: wanted } of readings) {
    for (const need of wanted) needs.set(need, (needs.get(need) ?? 0) + seen.count);
    for (const shape of own) {
      const count = countOf(shapes, shape);
      count.count += seen.count;
      for (const id of seen.sessions) count.sessions.add(id);
    }
  }
  for (const [shape, count] of shapes) {
    if (shape.head === undefined) continue;
    const text = shape.head.words.join(' ');
    const known = heads.get(text);
    const tails = known ?? { head: shape.head, text, shapes: new Map() };
    // A program that was seen to do more than read counts as that.
    const more = known?.head.kind === 'read' && shape.head.kind !== 'read';
    heads.set(text, more ? { ...tails, head: shape.head } : tails);
    tails.shapes.set(shape, count);
  }
  const sorted = [...heads].sort(([a], [b]) => compare(a, b));
  return { shapes, heads: new Map(sorted), needs };
}

function countOf(counts: Map<Shape, Count>, shape: Shape): Count {
  const known = counts.get(shape);
  if (known !== undefined) return known;
  const made: Count = { count: 0, sessions: new Set() };
  counts.set(shape, made);
  return made;
}

/** Good and Turing: of the next observation, how likely it is one that was never made. */
export function unseenMass(counts: Iterable<Count>): number {
  let [observations, once] = [0, 0];
  for (const { sessions } of counts) {
    observations += sessions.size;
    if (sessions.size === 1) once += 1;
  }
  return observations === 0 ? 0 : once / observations;
}
