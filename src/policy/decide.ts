// Decides whether a command may run: its text is taken apart into units, each is judged, and the
// strictest answer is the answer. Everything that can be prepared is prepared once, in `judge`.

import { messageOf } from '../errors.ts';
import { forAgent, forAnyAgent, namesAgents } from './agents.ts';
import { wordArg } from './analyse/args.ts';
import { analyse } from './analyse/index.ts';
import { boundsOf, type Disk, pathObjection, protectionObjection } from './bounds.ts';
import {
  type Decision,
  MODES,
  type Mode,
  type Reason,
  VERDICTS,
  type Verdict,
} from './decision.ts';
import { activates, isActivation } from './environments.ts';
import { otherWords } from './equivalents.ts';
import { makesFiles } from './evasion.ts';
import { type Case, type Court, judgeUnit } from './judge-unit.ts';
import { movesIn } from './moving.ts';
import { GATES, type LoadedPolicy, type Policy, SANDBOXES } from './policy.ts';
import { profileOf } from './profiles/index.ts';
import { objectionReason, plainReason, ruleReason } from './reasons.ts';
import { rulesOf } from './rules.ts';
import { runFilesOf } from './run-files.ts';
import { dangerIn } from './safety.ts';
import { strictMatch } from './strict.ts';
import type { Analysis, Problem, Unit } from './unit.ts';
import { wordsForXargs } from './xargs-words.ts';

export { explain } from './reasons.ts';

export type Judge = {
  readonly policies: readonly LoadedPolicy[];
  /** Absolute. */
  readonly project: string;
  readonly home: string;
  /** Where a path really leads; without it, links are not seen. */
  readonly real?: (path: string) => string;
  /** Whether git would take a directory for a repository; without it, none is. */
  readonly bare?: (directory: string) => boolean;
  /** Directories that only cuff itself writes. */
  readonly kept?: readonly string[];
  readonly disk?: Disk | undefined;
  /** For files that are not for the project; policies of version 2 let them be written. */
  readonly scratch?: string | undefined;
};

/** Never throws: a command that cannot be judged is to be asked about. */
export type Judgement = {
  /** Whether the command may run in this directory. */
  decide(text: string, cwd: string, options?: DecideOptions): Decision;
  /** The same for a process that is about to start: only what a rule denies is denied. */
  decideProcess(argv: readonly string[], cwd: string, agent?: string): Decision;
  /** Whether an agent's own tool may write this file: as a command that writes there would. */
  decideWrite(path: string, cwd: string, removes?: boolean): Decision;
  readonly mode: Mode;
  readonly gate: Policy['gate'];
  readonly sandbox: Policy['sandbox'];
};

export type DecideOptions = {
  /** The processes of the command are judged when they start, by `decideProcess`. */
  readonly gated?: boolean;
  /** The name of the agent, where it is proven. */
  readonly agent?: string | undefined;
};

export function judge({ policies, project, home, ...around }: Judge): Judgement {
  const roots = { project, home };
  const bounds = boundsOf(policies, roots, { ...around, runs: runFilesOf(policies, roots) });
  const strictest = <T>(order: readonly T[], of: (policy: Policy) => T): T | undefined =>
    policies.reduce<T | undefined>((before, { policy }) => {
      const next = of(policy);
      return before === undefined || order.indexOf(next) > order.indexOf(before) ? next : before;
    }, undefined);
  const sealed = policies.some(
    ({ policy, origin }) => origin !== 'project' && policy.default === 'deny',
  );
  const court: Court = {
    rules: rulesOf(policies),
    bounds,
    fallback: strictest(VERDICTS, (policy) => policy.default) ?? 'ask',
    sealed,
    filters: policies.some(
      ({ policy, origin }) => policy.filters && !(sealed && origin === 'project'),
    ),
  };
  const by = courtsByAgent(court, policies);
  return {
    decide: (text, cwd, { gated, agent } = {}) =>
      orAsk(() => {
        const decision = decideText(by.court(agent), text, cwd, gated);
        return by.others === undefined ? decision : told(decision, by.others, text, cwd);
      }),
    decideProcess: (argv, cwd, agent) => orAsk(() => decideProcess(argv, cwd, by.court(agent))),
    decideWrite: (path, cwd, removes) => orAsk(() => decideWrite(path, cwd, removes, court)),
    mode: strictest(MODES, (policy) => policy.mode) ?? 'off',
    gate: strictest(GATES, (policy) => policy.gate) ?? 'off',
    sandbox: strictest(SANDBOXES, (policy) => policy.sandbox) ?? 'off',
  };
}

type Courts = {
  readonly court: (agent: string | undefined) => Court;
  /** With what is allowed to some agents alone; undefined where nothing is. */
  readonly others: Court | undefined;
};

/** One for each agent that asks, where rules name agents. */
function courtsByAgent(court: Court, policies: readonly LoadedPolicy[]): Courts {
  if (!namesAgents(policies)) return { court: () => court, others: undefined };
  const known = new Map<string | undefined, Court>();
  return {
    court: (agent) => {
      const made = known.get(agent) ?? { ...court, rules: rulesOf(forAgent(policies, agent)) };
      // Clients may call themselves anything.
      if (known.size < AGENTS_MAX) known.set(agent, made);
      return made;
    },
    others: { ...court, rules: rulesOf(forAnyAgent(policies)) },
  };
}

const AGENTS_MAX = 100;

/** With a word on the rule that would allow it to another agent. */
function told(decision: Decision, others: Court, text: string, cwd: string): Decision {
  const [first, ...rest] = decision.reasons;
  if (decision.verdict !== 'ask' || first === undefined) return decision;
  const other = decideText(others, text, cwd);
  const rule = other.reasons.find((one) => one.rule?.agents !== undefined)?.rule;
  if (other.verdict !== 'allow' || rule === undefined) return decision;
  const whom = rule.agents?.join(', ');
  const hint = `The rule \`${rule.pattern}\` allows it to ${whom} alone, by a proven name.`;
  return { ...decision, reasons: [{ ...first, hint }, ...rest] };
}

/** A fault of ours must not let a command through. */
function orAsk(decide: () => Decision): Decision {
  try {
    return decide();
  } catch (error) {
    const why = messageOf(error);
    const message = `It could not be judged: ${why}.`;
    const details = { detail: 'fault', span: undefined };
    return decisionOf([plainReason(wholeText(''), 'ask', 'unanalysable', message, details)]);
  }
}

export function decideText(court: Court, text: string, cwd: string, gated = false): Decision {
  const { bounds } = court;
  const activation = (script: string): boolean => isActivation(script, bounds);
  const analysis = analyse(text, { cwd, home: bounds.roots.home, activation });
  const refused = court.fallback === 'deny' ? 'deny' : 'ask';
  const given: Case = {
    text,
    functions: new Set(analysis.functions.map(({ name }) => name)),
    tainted: () => wordsForXargs(analysis, court.bounds),
    makes: makesFiles(analysis.units),
    moves: movesIn(analysis),
    activated: () => analysis.units.some((unit) => activates(unit, bounds)),
    gated,
  };
  const large = analysis.problems.some(({ code }) => code === 'too_many');
  const units = large ? analysis.units.map(shortened) : analysis.units;
  return decisionOf([
    ...danger(analysis),
    ...analysis.problems.map((problem) => problemReason(problem, text, refused)),
    ...analysis.functions.flatMap(({ name, span }) => shadowing(name, span, court, refused)),
    ...units.map((unit) => judgeUnit(unit, court, given)),
  ]);
}

function danger(analysis: Analysis): readonly Reason[] {
  const pattern = dangerIn(analysis);
  if (pattern === undefined) return [];
  const message = `Command contains dangerous pattern: ${pattern}`;
  return [plainReason(wholeText(analysis.text), 'deny', 'builtin.dangerous', message)];
}

const WORDS_MAX = 256;

/** A unit with too many words to be allowed: its first words tell whether it is denied. */
function shortened(unit: Unit): Unit {
  const { argv, assigned, redirects } = unit;
  return {
    ...unit,
    argv: argv.slice(0, WORDS_MAX),
    assigned: assigned.slice(0, WORDS_MAX),
    redirects: redirects.slice(0, WORDS_MAX),
  };
}

/** Strictest first, otherwise in the order of the text. */
function decisionOf(reasons: readonly Reason[]): Decision {
  const sorted = [...reasons].sort(
    (a, b) => VERDICTS.indexOf(b.verdict) - VERDICTS.indexOf(a.verdict),
  );
  const nothing = plainReason(wholeText(''), 'allow', 'builtin', 'There is nothing to run.');
  const [first = nothing, ...rest] = sorted;
  return { verdict: first.verdict, code: first.code, reasons: [first, ...rest] };
}

function wholeText(text: string): Unit {
  const argv = text === '' ? [] : [wordArg(text)];
  return {
    span: { from: 0, to: text.length },
    argv,
    assigned: [],
    redirects: [],
    cwds: undefined,
    stdin: 'inherited',
    via: [],
    behind: undefined,
  };
}

function problemReason({ code, span, message }: Problem, text: string, verdict: Verdict): Reason {
  const part = span === undefined ? text : text.slice(span.from, span.to);
  const hint = 'Write it in a simpler way, or as several commands.';
  const why = `It cannot be judged: ${message}.`;
  return plainReason(wholeText(part), verdict, 'unanalysable', why, { detail: code, span, hint });
}

/** A function with the name of a program would be run where a rule means the program. */
function shadowing(
  name: string,
  span: Reason['span'],
  { rules }: Court,
  verdict: Verdict,
): readonly Reason[] {
  if (profileOf(name) === undefined && rules.allowing(name).length === 0) return [];
  const message = `The function \`${name}\` has the name of a program.`;
  const details = { span, hint: 'Give it another name.' };
  return [plainReason(wholeText(name), verdict, 'function.shadows', message, details)];
}

/** Only deny rules: a running command cannot wait for a person's answer. */
function decideProcess(argv: readonly string[], cwd: string, { rules, bounds }: Court): Decision {
  const args = argv.map(wordArg);
  const lines = [args, ...otherWords(args)];
  const unit = { ...wholeText(''), argv: args, cwds: [cwd] };
  for (const { words, ref, rule } of rules.strict.deny) {
    const context = { ...bounds.roots, cwds: [cwd] };
    if (lines.some((line) => strictMatch(words, line, context) === 'yes')) {
      return decisionOf([ruleReason(unit, 'deny', ref, rule.reason)]);
    }
  }
  return decisionOf([plainReason(unit, 'allow', 'default.allow', 'No rule denies it.')]);
}

/** By the scopes and the protected paths: rules are about commands. */
function decideWrite(path: string, cwd: string, removes = false, court: Court): Decision {
  const { bounds, fallback } = court;
  const refused = fallback === 'deny' ? 'deny' : 'ask';
  // Some tools open `~` and some make a directory of that name.
  const names = path.startsWith('~/') ? [path, `${bounds.roots.home}${path.slice(1)}`] : [path];
  const reasons = names.map((name) => {
    const arg = wordArg(name);
    const unit = { ...wholeText(''), argv: [wordArg('write'), arg] };
    // A name like `-` or `file:x` would not be read as that of a file.
    const value = /^(?:-|[a-z][\w+.-]*:)/i.test(name) ? `./${name}` : name;
    const word = { value, prefix: '', arg };
    const where = { cwds: [cwd], bounds };
    const held = protectionObjection(word, 'write', { ...where, removes });
    if (held?.final === true) return objectionReason(unit, 'deny', held);
    const scope = fallback === 'allow' ? undefined : bounds.write;
    const outside = scope && pathObjection(word, 'write', { ...where, scope });
    const objection = held ?? outside;
    if (objection !== undefined) return objectionReason(unit, refused, objection);
    return plainReason(unit, 'allow', 'builtin', `\`${name}\` may be written.`);
  });
  return decisionOf(reasons);
}
