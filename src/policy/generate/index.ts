// Makes a policy from recorded commands. `reading.ts` takes them apart into shapes (`shape.ts`) and
// needs (`surroundings.ts`), `tally.ts` counts them, `propose.ts` and `closures.ts` propose rules
// with a `*`, `covering.ts` keeps those that hold, and `trial.ts` tries every draft on the commands
// and on attacks. The result tells which commands it leaves out and why. Nothing depends on the
// order of the evidence or on the clock: the same evidence gives the same policy.

import type { Policy } from '../policy.ts';
import { ATTACKS } from './attacks.ts';
import { type Covering, covering } from './covering.ts';
import { policyOf, type RuleDraft, type Surroundings } from './document.ts';
import { compare, type Evidence, type Observation, seenOf } from './evidence.ts';
import { Reader, type Reading } from './reading.ts';
import type { Shape } from './shape.ts';
import { gathering, NEEDS, SAID_NAMES_ENOUGH, SAID_NAMES_FEW, widening } from './surroundings.ts';
import { tallyOf } from './tally.ts';
import { withTests } from './tests.ts';
import { attacksAllowed, bannedBy, type Trial, trialOf } from './trial.ts';
import type { Exclusion, GeneratedPolicy, GenerateOptions } from './types.ts';

export type { Evidence } from './evidence.ts';
export { policyJson, policyYaml } from './render.ts';
export {
  type GeneratedPolicy,
  type GenerateOptions,
  STRATEGIES,
  type Strategy,
} from './types.ts';

export function generatePolicy(
  evidence: readonly Evidence[],
  options: GenerateOptions,
): GeneratedPolicy {
  const { strategy, now, home } = options;
  const seen = seenOf(evidence);
  const { readings: read, excluded } = readAll(seen, home);
  // Commands that are refused whatever the rules say must not help to make them.
  const { readings: able, refused } = refusedAnyway(read, home);
  const readings = able.filter(({ unfit }) => unfit === undefined);
  const unfit = able.flatMap((one) =>
    one.unfit === undefined ? [] : [excludedOf(one.seen, one.unfit)],
  );
  excluded.push(...refused, ...unfit);
  const made = make(readings, options);
  excluded.push(...made.left.map(({ reading, reason }) => excludedOf(reading.seen, reason)));
  const commands = seen.reduce((sum, { count }) => sum + count, 0);
  const left = excluded.reduce((sum, { count }) => sum + count, 0);
  return {
    strategy,
    generatedAt: now,
    sessions: new Set(evidence.map(({ sessionId }) => sessionId)).size,
    commands,
    accepted: commands - left,
    attacks: { allowed: attacksAllowed(made.policy, home).length, total: ATTACKS.length },
    policy: made.policy,
    imported: made.imported,
    excluded: merged(excluded),
  };
}

function readAll(seen: readonly Observation[], home: string) {
  const reader = new Reader(home);
  const readings: Reading[] = [];
  const excluded: Exclusion[] = [];
  for (const one of seen) {
    const read = reader.read(one);
    if ('reading' in read) readings.push(read.reading);
    else excluded.push(excludedOf(one, read.reason));
  }
  return { readings, excluded };
}

/** Made with every need of the evidence, so that it is the same for every strategy. */
function refusedAnyway(read: readonly Reading[], home: string) {
  const all = new Set<string>(read.flatMap(({ needs }) => needs));
  const trial = trialOf([], surroundingsOf([...all]), home);
  const readings: Reading[] = [];
  const refused: Exclusion[] = [];
  for (const reading of read) {
    const { verdict, code } = trial.decide(reading.seen.command, reading.seen);
    if (verdict === 'deny') refused.push(excludedOf(reading.seen, code));
    else readings.push(reading);
  }
  return { readings, refused };
}

function excludedOf({ command, count }: Observation, reason: string): Exclusion {
  return { command: reason === 'secret' ? undefined : command, reason, count };
}

/** The same command in several directories is one line. */
function merged(excluded: readonly Exclusion[]): readonly Exclusion[] {
  const all = new Map<string, Exclusion>();
  for (const one of excluded) {
    const key = `${one.reason}\0${one.command ?? ''}`;
    all.set(key, { ...one, count: one.count + (all.get(key)?.count ?? 0) });
  }
  return [...all.values()].sort(
    (a, b) =>
      b.count - a.count || compare(a.reason, b.reason) || compare(a.command ?? '', b.command ?? ''),
  );
}

type Omission = { readonly reading: Reading; readonly reason: string };

type Result = {
  readonly policy: Policy;
  readonly left: readonly Omission[];
  readonly imported: ReadonlySet<string>;
};

function make(read: readonly Reading[], options: GenerateOptions): Result {
  const { minFrequency, home } = options;
  const readings = withNeedsFor(options, read);
  const tally = tallyOf(readings);
  const needs = [...tally.needs].filter(([, count]) => count >= minFrequency).map(([need]) => need);
  const around = surroundingsOf(needs);
  const found = covering(readings, tally, around, options);
  const rules = found.rules(bannedBy(found.rules, around, home));
  const trial = trialOf(rules, around, home);
  const rare = (shape: Shape): boolean => (tally.shapes.get(shape)?.count ?? 0) < minFrequency;
  const { accepted, left, by } = tried(readings, { trial, found, rules, rare });
  const patternsOf = ({ shapes }: Reading): readonly (string | undefined)[] =>
    shapes.flatMap((shape) => [found.generalFor(shape), shape.literal]);
  const used = new Set([...by.keys(), ...accepted.flatMap(patternsOf)]);
  const kept = rules.filter(({ pattern, closed }) => closed || used.has(pattern));
  const final = needed(needs, accepted, (own) => trialOf(kept, own, home));
  const policy = policyOf(withTests(kept, final, found, home), final);
  const recorded = accepted.filter(({ seen }) => !seen.imported);
  const own = new Set<string | undefined>([
    ...[...by].flatMap(([pattern, seen]) => (seen ? [pattern] : [])),
    ...recorded.flatMap(patternsOf),
  ]);
  const alone = recorded.length === accepted.length ? [] : kept.map(({ pattern }) => pattern);
  return { policy, left, imported: new Set(alone.filter((pattern) => !own.has(pattern))) };
}

/** Drops the needs of commands that were left out, if every accepted one still passes. */
function needed(
  needs: readonly string[],
  accepted: readonly Reading[],
  trialIn: (around: Surroundings) => Trial,
): Surroundings {
  const wanted = new Set<string>(accepted.flatMap((reading) => reading.needs));
  const own = needs.filter((need) => wanted.has(need));
  const around = surroundingsOf(own);
  if (own.length === needs.length) return around;
  const trial = trialIn(around);
  const same = accepted.every(({ seen }) => trial.allows(seen.command, seen));
  return same ? around : surroundingsOf(needs);
}

type TrialInput = {
  readonly trial: Trial;
  readonly found: Covering;
  readonly rules: readonly RuleDraft[];
  readonly rare: (shape: Shape) => boolean;
};

function tried(
  readings: readonly Reading[],
  { trial, found: { passed, generalFor }, rules, rare }: TrialInput,
): {
  readonly accepted: readonly Reading[];
  readonly left: readonly Omission[];
  /** The rules that had a part in it where that had to be tried; true: in a recorded command. */
  readonly by: ReadonlyMap<string, boolean>;
} {
  const by = new Map<string, boolean>();
  const patterns = new Set(rules.map(({ pattern }) => pattern));
  const general = (shape: Shape): boolean => patterns.has(generalFor(shape) ?? '');
  const accepted: Reading[] = [];
  const left: Omission[] = [];
  for (const reading of readings) {
    const { shapes, seen } = reading;
    // It was tried with just these rules: more of them do not take anything back.
    if (passed.has(reading) && shapes.every(general)) {
      accepted.push(reading);
      continue;
    }
    const ruleless = shapes.filter(
      (shape) => !general(shape) && !patterns.has(shape.literal ?? ''),
    );
    // Nothing allows what was seen once and has nothing in common with the rest.
    if (ruleless.some((shape) => shape.head === undefined && rare(shape))) {
      left.push({ reading, reason: 'frequency' });
      continue;
    }
    const { verdict, code, reasons } = trial.decide(seen.command, seen);
    if (verdict === 'allow') {
      accepted.push(reading);
      for (const { rule } of reasons) {
        if (rule !== undefined)
          by.set(rule.pattern, by.get(rule.pattern) === true || !seen.imported);
      }
    } else {
      const reason = code === 'default.ask' && ruleless.length > 0 ? 'frequency' : code;
      left.push({ reading, reason });
    }
  }
  return { accepted, left, by };
}

/** Without needs that only a star has, or with those that stand for several like them. */
function withNeedsFor(
  { strategy, home }: GenerateOptions,
  readings: readonly Reading[],
): readonly Reading[] {
  if (strategy === 'exact') {
    return readings.map((reading) => ({
      ...reading,
      needs: reading.needs.filter((need) => !/^(?:read|network)\0/.test(need)),
    }));
  }
  const gathered = gathering(readings, home);
  const all = readings.flatMap(({ needs }) => needs);
  const widened = widening(all, strategy === 'semantic' ? SAID_NAMES_FEW : SAID_NAMES_ENOUGH);
  if (gathered === undefined && widened === undefined) return readings;
  return readings.map((reading) => {
    const needs = gathered === undefined ? reading.needs : reading.needs.map(gathered);
    const wide = widened === undefined ? needs : needs.flatMap(widened);
    return { ...reading, needs: [...new Set(wide)] };
  });
}

/** A directory stands for all that is in it. */
function outermost(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((one) => path.startsWith(`${one}/`)));
}

function surroundingsOf(needs: readonly string[]): Surroundings {
  const named = (kind: (typeof NEEDS)[number]): readonly string[] =>
    needs
      .filter((need) => need.startsWith(`${kind}\0`))
      .map((need) => need.slice(kind.length + 1))
      .sort(compare);
  const lists = NEEDS.map((kind) => {
    const all = named(kind);
    return [kind, kind === 'read' || kind === 'cwd' ? outermost(all) : all] as const;
  });
  return Object.fromEntries(lists) as Surroundings;
}
