// What agents did that deserves a look, out of any number of commands: each is judged by a policy
// without rules, which is what cuff protects anyway, and read for what it did. Equal commands of a
// project are one finding. Nothing is written, and of each command only what is shown is kept.

import { type Judgement, judge } from '../policy/decide.ts';
import type { Decision } from '../policy/decision.ts';
import { DEED_KINDS, type DeedKind } from '../policy/deed-kinds.ts';
import { deedsOf } from '../policy/deeds.ts';
import { EMPTY_POLICY, unsaved } from '../policy/policy.ts';
import { type Protection, protectedPaths } from '../policy/protected.ts';
import { normalForm } from '../text/command-shape.ts';
import { redactText } from '../text/secret-words.ts';

/** One command of an agent, wherever it is known from. */
export type ReviewedCommand = {
  readonly agent: string;
  readonly session: string;
  readonly command: string;
  readonly cwd: string | null;
  /** Where its session works. */
  readonly project: string | null;
  readonly at: number;
  readonly exitCode: number | null;
  /** It was refused, and did not run. */
  readonly denied: boolean;
  /** Where it can be looked up. */
  readonly place: string;
};

export type ReviewedEdit = Omit<ReviewedCommand, 'exitCode' | 'denied' | 'command'> & {
  readonly path: string;
  readonly tool: string;
};

export type Finding = {
  /** Without secrets; not yet safe to show in a terminal. */
  readonly command: string;
  readonly part: string;
  readonly weight: number;
  count: number;
  /** Of the newest. */
  at: number;
  readonly agent: string;
  readonly project: string | null;
  place: string;
};

export type FailingCommand = {
  readonly form: string;
  readonly runs: number;
  readonly failed: number;
  readonly at: number;
  readonly place: string;
};

export type ReviewGroup = {
  readonly kind: DeedKind;
  readonly count: number;
  /** The weightiest first, the newest of equals first. */
  readonly findings: readonly Finding[];
};

export type Review = {
  readonly commands: number;
  readonly sessions: number;
  readonly projects: number;
  readonly agents: readonly { readonly agent: string; readonly sessions: number }[];
  readonly from: number | null;
  readonly to: number | null;
  /** What a policy without any rule would have said. */
  readonly verdicts: { readonly deny: number; readonly ask: number };
  readonly denied: number;
  readonly groups: readonly ReviewGroup[];
  readonly failing: readonly FailingCommand[];
};

const RUNS_MIN = 4;
const FORMS_MAX = 50_000;
const FINDINGS_MAX = 50_000;

export class Reviewer {
  readonly #home: string;
  readonly #judges = new Map<string, Judgement>();
  readonly #protected = new Map<string, Protection>();
  readonly #sessions = new Map<string, Set<string>>();
  readonly #projects = new Set<string>();
  readonly #findings = new Map<DeedKind, Map<string, Finding>>();
  readonly #counts = new Map<DeedKind, number>();
  readonly #forms = new Map<string, { runs: number; failed: number; at: number; place: string }>();
  readonly #judged = new Map<string, Judged>();
  readonly #verdicts = { deny: 0, ask: 0 };
  #commands = 0;
  #denied = 0;
  #from: number | null = null;
  #to: number | null = null;

  constructor(home: string) {
    this.#home = home;
  }

  add(one: ReviewedCommand): void {
    this.#commands += 1;
    this.#note(one);
    if (one.denied) {
      this.#denied += 1;
      return;
    }
    this.#tryForm(one);
    const { decision, deeds } = this.#judge(one);
    if (decision.verdict !== 'allow') this.#verdicts[decision.verdict] += 1;
    for (const { kind, weight, part } of deeds) {
      this.#find(kind, one, { command: one.command, part, weight });
    }
  }

  /** Only an edit of a protected file is worth a look: the others are an agent's work. */
  edit(one: ReviewedEdit): void {
    const project = one.project ?? '/';
    const { secret, control } = this.#protection(project);
    const path = one.path.startsWith('/') ? one.path : `${one.cwd ?? project}/${one.path}`;
    if (!control(path)) return;
    this.#note(one);
    const command = `${one.tool} ${one.path}`;
    this.#find(secret(path) ? 'secret' : 'protected', one, { command, part: command, weight: 3 });
  }

  #protection(project: string): Protection {
    const known = this.#protected.get(project);
    if (known !== undefined) return known;
    const made = protectedPaths({ project, home: this.#home }, NOTHING_OPEN);
    this.#protected.set(project, made);
    return made;
  }

  #note({ agent, session, project, at }: Omit<ReviewedEdit, 'path' | 'tool'>): void {
    const sessions = this.#sessions.get(agent) ?? new Set();
    this.#sessions.set(agent, sessions.add(session));
    if (project !== null) this.#projects.add(project);
    this.#from = Math.min(this.#from ?? at, at);
    this.#to = Math.max(this.#to ?? at, at);
  }

  /** How often commands of one form fail. A search that finds nothing has not failed. */
  #tryForm({ command, exitCode, at, place }: ReviewedCommand): void {
    if (exitCode === null || SEARCHING.test(command)) return;
    const form = normalForm(command);
    const known = this.#forms.get(form);
    if (known === undefined && this.#forms.size >= FORMS_MAX) return;
    const counts = known ?? { runs: 0, failed: 0, at, place };
    this.#forms.set(form, counts);
    counts.runs += 1;
    if (exitCode === 0) return;
    counts.failed += 1;
    if (at >= counts.at) Object.assign(counts, { at, place });
  }

  #judge({ command, cwd, project }: ReviewedCommand): Judged {
    const home = this.#home;
    const inside = project ?? cwd ?? '/';
    const place = { cwd: cwd ?? inside, project: inside, home };
    const key = `${inside}\0${place.cwd}\0${command}`;
    const known = this.#judged.get(key);
    if (known !== undefined) return known;
    const judgement =
      this.#judges.get(inside) ?? judge({ policies: [RULELESS], project: inside, home });
    this.#judges.set(inside, judgement);
    const decision = judgement.decide(command, place.cwd);
    const judged = { decision, deeds: deedsOf(command, place, decision) };
    if (this.#judged.size < JUDGED_MAX && key.length <= KEY_LENGTH_MAX)
      this.#judged.set(key, judged);
    return judged;
  }

  #find(
    kind: DeedKind,
    { agent, project, at, place }: Omit<ReviewedEdit, 'path' | 'tool'>,
    { command, part, weight }: Pick<Finding, 'command' | 'part' | 'weight'>,
  ): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    const findings = this.#findings.get(kind) ?? new Map<string, Finding>();
    this.#findings.set(kind, findings);
    const shown = redactText(command.slice(0, SHOWN_LENGTH_MAX));
    const key = `${project}\0${shown}`;
    const known = findings.get(key);
    if (known !== undefined) {
      known.count += 1;
      if (at >= known.at) Object.assign(known, { at, place });
    } else if (findings.size < FINDINGS_MAX) {
      const facts = { command: shown, part: redactText(part), weight, count: 1 };
      findings.set(key, { ...facts, at, agent, project, place });
    }
  }

  result(): Review {
    const sessions = [...this.#sessions].map(([agent, ids]) => ({ agent, sessions: ids.size }));
    return {
      commands: this.#commands,
      sessions: sessions.reduce((sum, one) => sum + one.sessions, 0),
      projects: this.#projects.size,
      agents: sessions.sort((a, b) => b.sessions - a.sessions || (a.agent < b.agent ? -1 : 1)),
      from: this.#from,
      to: this.#to,
      verdicts: this.#verdicts,
      denied: this.#denied,
      groups: DEED_KINDS.flatMap((kind) => this.#group(kind)),
      failing: [...this.#forms]
        .filter(([, { runs, failed }]) => runs >= RUNS_MIN && failed * 2 >= runs)
        .map(([form, counts]) => ({ form: redactText(form), ...counts }))
        .sort((a, b) => b.failed - a.failed || (a.form < b.form ? -1 : 1)),
    };
  }

  #group(kind: DeedKind): readonly ReviewGroup[] {
    const findings = [...(this.#findings.get(kind)?.values() ?? [])];
    if (findings.length === 0) return [];
    findings.sort((a, b) => b.weight - a.weight || b.at - a.at);
    return [{ kind, count: this.#counts.get(kind) ?? 0, findings }];
  }
}

type Judged = { readonly decision: Decision; readonly deeds: ReturnType<typeof deedsOf> };

// Agents repeat themselves; beyond this, a command is judged again.
const JUDGED_MAX = 20_000;
const KEY_LENGTH_MAX = 2_000;
const SHOWN_LENGTH_MAX = 2_000;

const NOTHING_OPEN = { more: [], opened: [] };

/** What is refused whatever the rules say. */
const RULELESS = unsaved({ ...EMPTY_POLICY, default: 'allow' });

const SEARCHING = /^\s*(?:e|f|z|rip)?grep\b|^\s*rg\b|^\s*(?:test|\[|diff|cmp|which|pgrep)\b/;
