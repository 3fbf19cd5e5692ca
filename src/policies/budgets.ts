// How often a rule with `max_per_hour` has allowed something in the last hour, for all servers and
// hooks of a project. A use is an empty file in `<state root>/budgets/<rule>/` (0700): its name has
// the time by both clocks. A process makes its file first and counts then, so that of two at once
// none gets past the limit; one that is killed in between has used it up. What cannot be counted is
// not allowed.

import * as fs from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { ensurePrivateDir, ensureRoot, isPrivateDir } from '../capture/paths.ts';
import { namesIn } from '../directories.ts';
import { isThere } from '../places.ts';
import type { Decision, Reason, RuleRef } from '../policy/decision.ts';
import { hintFor } from '../policy/hints.ts';
import type { LoadedPolicy } from '../policy/policy.ts';
import { HOUR_MS } from '../text/dates.ts';
import { sha256 } from '../text/hash.ts';

const USE = /^(\d{1,15})-(\d{1,15})-[0-9a-z]+$/;

/** A rule with a budget, and how many parts of a command it allows. */
export type BudgetUse = { readonly rule: RuleRef; readonly max: number; readonly count: number };

export type BudgetState = Omit<BudgetUse, 'count'> & { readonly used: number };

/** Empty for nearly every command: then nothing is read. */
export function budgetUses({ verdict, reasons }: Decision): readonly BudgetUse[] {
  if (verdict !== 'allow') return [];
  const uses = new Map<string, BudgetUse>();
  for (const { rule } of reasons) {
    if (rule?.maxPerHour === undefined) continue;
    const key = JSON.stringify([rule.file, rule.policy, rule.pattern]);
    const count = (uses.get(key)?.count ?? 0) + 1;
    uses.set(key, { rule, max: rule.maxPerHour, count });
  }
  return [...uses.values()];
}

export class Budgets {
  readonly #root: string;
  readonly #project: string;
  readonly #now: () => number;
  readonly #up: () => number;

  constructor(
    root: string,
    project: string,
    now: () => number = Date.now,
    up: () => number = () => uptime() * 1_000,
  ) {
    this.#root = root;
    this.#project = project;
    this.#now = now;
    this.#up = up;
  }

  states(uses: readonly BudgetUse[]): readonly BudgetState[] {
    return uses.map(({ rule, max }) => ({ rule, max, used: this.#used(rule).length }));
  }

  /** The same decision, unless a budget has too little left for it. */
  within(decision: Decision, policies: readonly LoadedPolicy[]): Decision {
    const over = budgetUses(decision).find(
      ({ rule, max, count }) => this.#used(rule).length + count > max,
    );
    return over === undefined ? decision : overBudget(decision, over, policies);
  }

  /** False: one of them is used up by now, and nothing was taken. */
  spend(uses: readonly BudgetUse[]): boolean {
    const made: string[] = [];
    try {
      for (const { rule, max, count } of uses) {
        const directory = this.#directory(rule);
        ensureRoot(this.#root);
        ensurePrivateDir(join(this.#root, NAME));
        ensurePrivateDir(directory);
        for (let one = 0; one < count; one += 1) made.push(this.#use(directory));
        if (this.#used(rule).length > max) return giveBack(made);
      }
      return true;
    } catch {
      return giveBack(made); // what cannot be counted is not allowed
    }
  }

  #use(directory: string): string {
    const at = Math.max(0, Math.floor(this.#now()));
    const up = Math.max(0, Math.floor(this.#up()));
    const id = Math.random().toString(36).slice(2) || '0';
    const path = join(directory, `${at}-${up}-${process.pid}${id}`);
    fs.closeSync(fs.openSync(path, 'wx', 0o600));
    return path;
  }

  /** Those of the last hour; older ones are removed. */
  #used(rule: RuleRef): readonly string[] {
    const directory = this.#directory(rule);
    if (!isThere(directory)) return [];
    if (!isPrivateDir(directory)) return Array.from({ length: rule.maxPerHour ?? 0 }, () => '');
    const names = namesIn(directory).filter((name) => USE.test(name));
    const [live, old] = [names.filter(this.#isLive), names.filter((name) => !this.#isLive(name))];
    for (const name of old) fs.rmSync(join(directory, name), { force: true });
    return live;
  }

  /** The clock since the start of the machine cannot be set. It begins anew with the machine. */
  readonly #isLive = (name: string): boolean => {
    const [, at, up] = USE.exec(name) ?? [];
    const age = this.#up() - Number(up);
    const byClock = this.#now() - Number(at);
    return age >= 0 ? age < HOUR_MS : byClock >= 0 && byClock < HOUR_MS;
  };

  #directory({ file = '', policy, pattern }: RuleRef): string {
    const rule = JSON.stringify([this.#project, file, policy, pattern]);
    return join(this.#root, NAME, sha256(rule).slice(0, 40));
  }
}

const NAME = 'budgets';

function giveBack(made: readonly string[]): false {
  for (const path of made) fs.rmSync(path, { force: true });
  return false;
}

function overBudget(
  decision: Decision,
  { rule, max }: BudgetUse,
  policies: readonly LoadedPolicy[],
): Decision {
  const allows = `allows ${max} an hour, which is used up`;
  const sealed = policies.some(({ policy }) => policy.default === 'deny');
  const at = decision.reasons.find((one) => one.rule === rule) ?? decision.reasons[0];
  const reason: Reason = {
    verdict: sealed ? 'deny' : 'ask',
    code: 'budget',
    detail: undefined,
    span: at?.span,
    unit: at?.unit ?? '',
    message: `The rule \`${rule.pattern}\` of ${rule.policy} ${allows}.`,
    rule,
    nearest: undefined,
    hint: hintFor('budget', undefined),
  };
  const { verdict, code } = reason;
  return { verdict, code, reasons: [reason, ...decision.reasons] };
}
