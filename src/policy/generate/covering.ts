// Finds the rules for the observed commands: a command that a `*` covers by the engine's own
// judgement gets one, every other its literal. So a literal that no `*` covers is never lost, and a
// stricter strategy never allows a command that a looser one does not.

import type { RuleDraft, Surroundings } from './document.ts';
import { candidates, type General, narrowed } from './propose.ts';
import type { Reading } from './reading.ts';
import type { Shape } from './shape.ts';
import type { Count, Tally } from './tally.ts';
import { bannedBy, type Trial, trialOf } from './trial.ts';
import { type TypedRule, typedRules } from './typed.ts';
import type { GenerateOptions } from './types.ts';

export type Draft = RuleDraft & { readonly closed: boolean };

export type Covering = {
  /** All of them but the banned: a command that loses its `*` gets its literal. */
  rules(banned: ReadonlySet<string>): readonly Draft[];
  /** The commands that the rules with a `*` allow by themselves. */
  readonly passed: ReadonlySet<Reading>;
  /** The pattern with a `*` that covers a shape. */
  generalFor(shape: Shape): string | undefined;
  /** Shapes that a pattern with a `*` covers, with how often they were seen. */
  coveredBy(pattern: string): readonly (readonly [Shape, Count])[];
};

export function covering(
  readings: readonly Reading[],
  tally: Tally,
  around: Surroundings,
  options: GenerateOptions,
): Covering {
  const { strategy, minFrequency, home } = options;
  const proposed =
    strategy === 'exact' ? [] : candidates(tally, minFrequency, strategy === 'semantic');
  const stars = proposals(proposed, around, home);
  const heads = new Set(stars.map(({ head }) => head));
  const headed = ({ head }: Shape): boolean =>
    head !== undefined && heads.has(head.words.join(' '));
  const first = tryOut(readings, trialOf(stars, around, home), headed);
  // What no star covers may have holes of a kind.
  const open = [...tally.shapes].filter(
    ([shape]) => shape.typed !== undefined && (!headed(shape) || first.uncovered.has(shape)),
  );
  const typed = strategy === 'exact' ? [] : proposals(typedRules(open), around, home);
  const proven = [...stars, ...typed];
  const trial = trialOf(proven, around, home);
  const { passed, uncovered } = withTyped(readings, trial, { first, typed, headed });
  const covered = new Map([
    ...assign(tally, settled(stars, tally, first.uncovered), first.uncovered),
    ...typed.map((one) => [one, one.shapes.filter(([shape]) => !uncovered.has(shape))] as const),
  ]);
  const generals = [...covered].flatMap(([{ pattern, program, closed }, shapes]) => {
    const frequency = shapes.reduce((sum, [, { count }]) => sum + count, 0);
    return closed || frequency >= minFrequency ? [{ pattern, program, closed, frequency }] : [];
  });
  const byPattern = new Map([...covered].map(([{ pattern }, shapes]) => [pattern, shapes]));
  const general = new Map<Shape, string>();
  for (const { pattern } of generals) {
    for (const [shape] of byPattern.get(pattern) ?? []) general.set(shape, pattern);
  }
  const literals = literalsOf(tally, minFrequency);
  const fragile = fragileOf(readings, new Set(general.keys()), trial, around);
  return {
    rules: (banned) => {
      const open = generals.filter(({ pattern }) => !banned.has(pattern));
      const needed = literals.filter(([shape, { pattern }]) => {
        const covers = general.get(shape);
        if (banned.has(pattern)) return false;
        return covers === undefined || banned.has(covers) || fragile.has(shape);
      });
      return [...open, ...needed.map(([, draft]) => draft)];
    },
    passed,
    generalFor: (shape) => general.get(shape),
    coveredBy: (pattern) => byPattern.get(pattern) ?? [],
  };
}

/** Candidates that let no attack through. */
function proposals<T extends General>(
  proposed: readonly T[],
  around: Surroundings,
  home: string,
): readonly (T & RuleDraft)[] {
  const drafts = proposed.map((one) => ({ ...one, frequency: 0 }));
  const banned = bannedBy((ban) => drafts.filter(({ pattern }) => !ban.has(pattern)), around, home);
  return drafts.filter(({ pattern }) => !banned.has(pattern));
}

type Coverage = {
  readonly passed: ReadonlySet<Reading>;
  readonly uncovered: ReadonlySet<Shape>;
};

/** The commands once more that a rule with typed holes could be for. */
function withTyped(
  readings: readonly Reading[],
  trial: Trial,
  {
    first,
    typed,
    headed,
  }: {
    readonly first: Coverage;
    readonly typed: readonly TypedRule[];
    readonly headed: (shape: Shape) => boolean;
  },
): Coverage {
  const own = new Set(typed.flatMap(({ shapes }) => shapes.map(([shape]) => shape)));
  if (own.size === 0) return first;
  const some = readings.filter(({ shapes }) => shapes.some((shape) => own.has(shape)));
  const again = tryOut(some, trial, (shape) => own.has(shape) || headed(shape));
  const left = [...first.uncovered].filter((shape) => !own.has(shape));
  return {
    passed: new Set([...first.passed, ...again.passed]),
    uncovered: new Set([...left, ...again.uncovered]),
  };
}

/** Which commands pass with these rules alone, and which shapes they do not cover. */
function tryOut(
  readings: readonly Reading[],
  trial: Trial,
  headed: (shape: Shape) => boolean,
): Coverage {
  const passed = new Set<Reading>();
  const uncovered = new Set<Shape>();
  const open = new Set<Shape>();
  for (const reading of readings) {
    const mine = reading.shapes.filter(headed);
    if (mine.length === 0) continue;
    if (mine.length === reading.shapes.length && trial.allows(reading.seen.command, reading.seen)) {
      passed.add(reading);
      for (const shape of mine) if (shape.literal === undefined) open.add(shape);
      continue;
    }
    for (const shape of mine) {
      if (uncovered.has(shape)) continue;
      if (!trial.allows(shape.text, reading.seen)) uncovered.add(shape);
    }
  }
  // A shape without a literal was not judged as it was run; that it passed once says more.
  for (const shape of open) uncovered.delete(shape);
  return { passed, uncovered };
}

const PROJECTS_MAX = 4; // each costs as much as trying all commands once more

/**
 * Shapes that a `*` only covers where they were seen. In a directory outside of the project that a
 * policy lists, too, `cat a` names another file: its literal is for everywhere.
 */
function fragileOf(
  readings: readonly Reading[],
  covered: ReadonlySet<Shape>,
  trial: Trial,
  { cwd }: Surroundings,
): ReadonlySet<Shape> {
  if (cwd.length === 0) return new Set();
  const projects = [...new Set(readings.map(({ seen }) => seen.project))].slice(0, PROJECTS_MAX);
  // One directory outside is like another.
  const sites = projects.map((project) => ({ cwd: cwd[0] ?? project, project }));
  const everywhere = ({ text }: Shape) => sites.every((site) => trial.allows(text, site));
  return new Set([...covered].filter((shape) => !everywhere(shape)));
}

/** The candidates that have enough to cover, each as narrow as that allows. */
function settled(
  proven: readonly General[],
  tally: Tally,
  uncovered: ReadonlySet<Shape>,
): readonly General[] {
  return proven.flatMap((one) => {
    const tails = tally.heads.get(one.head);
    if (one.closed || tails === undefined) return [one];
    const covered = [...tails.shapes].filter(([shape]) => !uncovered.has(shape));
    const general = narrowed(tails, covered);
    return general === undefined ? [] : [general];
  });
}

function assign(
  tally: Tally,
  generals: readonly General[],
  uncovered: ReadonlySet<Shape>,
): ReadonlyMap<General, readonly (readonly [Shape, Count])[]> {
  return new Map(
    generals.map((general) => {
      const shapes = [...(tally.heads.get(general.head)?.shapes ?? [])].filter(
        ([shape]) =>
          !uncovered.has(shape) &&
          (general.open || shape.tail.length === general.fixed.length) &&
          general.fixed.every((word, at) => shape.tail[at] === word),
      );
      return [general, shapes] as const;
    }),
  );
}

function literalsOf(tally: Tally, minFrequency: number): readonly (readonly [Shape, Draft])[] {
  return [...tally.shapes].flatMap(([shape, { count }]) => {
    const { literal: pattern, program } = shape;
    if (pattern === undefined || count < minFrequency) return [];
    return [[shape, { pattern, program, closed: false, frequency: count }] as const];
  });
}
