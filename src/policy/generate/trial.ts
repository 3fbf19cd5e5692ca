// Tries a policy that is being made: on the recorded commands, each in its own project, and on the
// attacks. Its decisions about these are the only measure of a draft.

import { type Judgement, judge } from '../decide.ts';
import type { Decision } from '../decision.ts';
import { type LoadedPolicy, type Policy, unsaved } from '../policy.ts';
import { ATTACKS } from './attacks.ts';
import { policyOf, type RuleDraft, type Surroundings } from './document.ts';
import { compare } from './evidence.ts';

/** One policy that is asked about many commands in many projects. */
export class Trial {
  readonly #policy: LoadedPolicy;
  readonly #home: string;
  readonly #byProject = new Map<string, Judgement>();

  constructor(policy: LoadedPolicy, home: string) {
    this.#policy = policy;
    this.#home = home;
  }

  decide(text: string, { cwd, project }: Location): Decision {
    return this.#in(project).decide(text, cwd);
  }

  allows(text: string, location: Location): boolean {
    return this.decide(text, location).verdict === 'allow';
  }

  #in(project: string): Judgement {
    const known = this.#byProject.get(project);
    if (known !== undefined) return known;
    const made = judge({ policies: [this.#policy], project, home: this.#home });
    this.#byProject.set(project, made);
    return made;
  }
}

export type Location = { readonly cwd: string; readonly project: string };

/** Of rules that are in no file yet. */
export function trialOf(rules: readonly RuleDraft[], around: Surroundings, home: string): Trial {
  return new Trial(unsaved(policyOf(rules, around)), home);
}

/** Where the attacks are tried: the paths in them are relative, or in the home directory. */
function attackedProject(home: string): string {
  return `${home === '/' ? '' : home}/project`;
}

export function attacksAllowed(policy: Policy, home: string): readonly Decision[] {
  const trial = new Trial(unsaved(policy), home);
  const project = attackedProject(home);
  return ATTACKS.map((text) => trial.decide(text, { cwd: project, project })).filter(
    ({ verdict }) => verdict === 'allow',
  );
}

/**
 * Patterns that must go so that no attack passes: those with a `*` first, of literal ones the one
 * that was seen least. `rules` are asked for again, since what loses its `*` may get its literal.
 */
export function bannedBy(
  rules: (banned: ReadonlySet<string>) => readonly RuleDraft[],
  around: Surroundings,
  home: string,
): ReadonlySet<string> {
  const banned = new Set<string>();
  for (;;) {
    const left = rules(banned);
    const allowed = attacksAllowed(policyOf(left, around), home);
    const culprits = allowed.flatMap((decision) => culpritsOf(decision, left));
    // Attacks that pass without any rule are not allowed by this policy.
    if (culprits.length === 0) return banned;
    for (const pattern of culprits) banned.add(pattern);
  }
}

/** With a star or a typed hole. */
const OPEN = / \*$|<(?:path|word)>/;

function culpritsOf({ reasons }: Decision, rules: readonly RuleDraft[]): readonly string[] {
  const patterns = new Set(reasons.map(({ rule }) => rule?.pattern));
  const involved = rules.filter(({ pattern }) => patterns.has(pattern));
  const open = involved.filter(({ pattern }) => OPEN.test(pattern));
  if (open.length > 0) return open.map(({ pattern }) => pattern);
  const [least] = involved.sort(
    (a, b) => a.frequency - b.frequency || compare(a.pattern, b.pattern),
  );
  return least === undefined ? [] : [least.pattern];
}
