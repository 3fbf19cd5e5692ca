// Makes a rule of an answer: exactly the commands of one text, each word as it is, added to a
// policy file whose comments stay where they are. Nothing is written unless the file with the rule
// in it would allow that text, and nothing that may be a secret.

import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { type Document, isMap, isSeq, parseDocument, YAMLSeq } from 'yaml';
import { makeDirectories, replaceFile } from '../directories.ts';
import { realOf } from '../places.ts';
import { analyse } from '../policy/analyse/index.ts';
import { VERDICTS } from '../policy/decision.ts';
import { ruleOf } from '../policy/generate/document.ts';
import { looksSecret } from '../policy/generate/secrets.ts';
import { quotedWord } from '../policy/pattern.ts';
import { because } from '../policy/reasons.ts';
import type { Unit } from '../policy/unit.ts';
import { trustFile } from '../trust/trust.ts';
import { rulable } from './approvals.ts';
import { contentState, ProjectChanges } from './changes.ts';
import type { PolicyEngine } from './engine.ts';
import { parsePolicy } from './files.ts';
import { examplesOf, type PatternExamples, patternProblem, patternsFor } from './pattern-rule.ts';
import { projectPolicy, userPolicy } from './places.ts';
import { isTrustedPolicy } from './trust.ts';

const GROUP = 'approved';

export type Always =
  | { readonly kind: 'written'; readonly file: string; readonly patterns: readonly string[] }
  | Impossible;

/** Why there is no such rule; one sentence. */
export type Impossible = { readonly kind: 'impossible'; readonly why: string };

export type AlwaysRequest = {
  readonly command: string;
  readonly cwd: string;
  readonly scope: 'project' | 'user';
  /** For commands like it, where not for exactly this one. */
  readonly pattern?: string | undefined;
  /** The agent that asked, where its name is proven. */
  readonly agent?: string | undefined;
};

type Plan = {
  readonly kind: 'plan';
  readonly file: string;
  readonly before: string | undefined;
  readonly text: string;
  readonly patterns: readonly string[];
  /** Where a pattern was wanted. */
  readonly examples: PatternExamples | undefined;
  /** The file is trusted, and has to be again. */
  readonly renewed: boolean;
};

export async function allowAlways(engine: PolicyEngine, request: AlwaysRequest): Promise<Always> {
  for (;;) {
    const plan = await engine.paths.settled(() => planOf(engine, request));
    if (plan.kind === 'impossible') return plan;
    const { file, before, text, patterns, renewed } = plan;
    if (textOf(file) !== before) continue; // another rule was added meanwhile
    replacePolicy(file, text);
    // A person's word; commands that run in a sandbox meanwhile did not write it.
    new ProjectChanges(engine.options.stateRoot, engine.project).see(
      realOf(file),
      contentState(text),
    );
    if (renewed) trustFile(engine.project, engine.options.env, file, text);
    engine.reload();
    return { kind: 'written', file, patterns };
  }
}

/** What a rule with this pattern, or with one that fits, would and would not allow. */
export async function proposal(
  engine: PolicyEngine,
  request: AlwaysRequest,
): Promise<PatternExamples | Impossible> {
  const { pattern, command, cwd } = request;
  const tried = pattern === undefined ? patternsFor(command, cwd, engine) : [pattern];
  let last = impossible('no pattern covers a single part of it, and more');
  for (const one of tried) {
    const plan = await engine.paths.settled(() => planOf(engine, { ...request, pattern: one }));
    if (plan.kind === 'plan' && plan.examples !== undefined) return plan.examples;
    if (plan.kind === 'impossible') last = plan;
  }
  return last;
}

function planOf(engine: PolicyEngine, request: AlwaysRequest): Plan | Impossible {
  const { command, cwd, scope, pattern, agent } = request;
  if (looksSecret(command)) return impossible('there may be a secret in it');
  const now = engine.inForce?.decide(command, cwd, { agent }).decision;
  if (now !== undefined && !rulable(now)) return impossible('it would read what may be a secret');
  const patterns = pattern === undefined ? patternsOf(engine, request) : [pattern];
  if (patterns === undefined) {
    return impossible('what it will run is not all known from its text');
  }
  const problem = pattern === undefined ? undefined : patternProblem(ruleFor(pattern), engine);
  if (problem !== undefined) return impossible(problem);
  const { project, options } = engine;
  const file = scope === 'user' ? userPolicy(options.env) : projectPolicy(project);
  const before = textOf(file);
  const text = withRules(
    before ?? newFile(engine),
    patterns,
    pattern === undefined ? command : undefined,
  );
  if (text === undefined) return impossible(`${file} is no policy that a rule can be added to`);
  const parsed = parsePolicy(text, { path: file, origin: scope }, engine);
  if (parsed.kind !== 'good') {
    return impossible(parsed.kind === 'bad' ? parsed.problem : `${file} cannot be read`);
  }
  const guest = scope === 'project';
  const renewed = guest && renews(engine, file, before);
  const place = { path: file, origin: scope, named: false, guest };
  const supposed = { place, text, loaded: parsed.loaded, trusted: renewed };
  const judgement = engine.supposing(supposed);
  const decision = judgement.decide(command, cwd, { agent });
  const [first] = decision.reasons;
  if (decision.verdict !== 'allow') {
    const whole = engine.supposing({ ...supposed, trusted: true }).decide(command, cwd, { agent });
    if (whole.verdict === 'allow') return impossible(`${file} waits for \`cuff trust\``);
    return impossible(first === undefined ? '' : because(first));
  }
  const examples = pattern === undefined ? undefined : examplesOf(pattern, command, cwd, judgement);
  if (pattern !== undefined && examples === undefined) {
    return impossible(`\`${pattern}\` allows too little besides it to show what it means`);
  }
  return { kind: 'plan', file, before, text, patterns, examples, renewed };
}

/** What was not trusted before is not trusted because of one rule more. */
function renews({ project, options }: PolicyEngine, file: string, before: string | undefined) {
  if (before === undefined) return options.trusted !== true;
  return isTrustedPolicy(file, before, { project, env: options.env });
}

function ruleFor(pattern: string) {
  return ruleOf({ pattern, program: '', frequency: 0 });
}

function impossible(why: string): Impossible {
  return { kind: 'impossible', why: why.replace(/\.$/, '') };
}

/** Of the commands that are not allowed yet. Undefined when one of them has an unknown word. */
function patternsOf(
  { inForce, home }: PolicyEngine,
  { command, cwd, agent }: AlwaysRequest,
): readonly string[] | undefined {
  const { units, problems } = analyse(command, { cwd, home });
  if (problems.length > 0) return undefined;
  const patterns = units.filter(({ argv }) => argv.length > 0).map(patternOf);
  const known = patterns.filter((pattern) => pattern !== undefined);
  if (known.length < patterns.length || known.length === 0) return undefined;
  const fresh = [...new Set(known)].filter(
    (pattern) => inForce?.decide(pattern, cwd, { agent }).decision.verdict !== 'allow',
  );
  return fresh.length === 0 ? [...new Set(known)] : fresh;
}

function patternOf({ argv }: Unit): string | undefined {
  const words = argv.map((arg) => (arg.kind === 'literal' ? quotedWord(arg.value) : undefined));
  return words.includes(undefined) ? undefined : words.join(' ');
}

/** Undefined when there is none yet. What cannot be read cannot be written either. */
function textOf(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** A file more must change nothing but by its rule, so that it says what is in force already. */
function newFile({ mode, policies }: PolicyEngine): string {
  const defaults = policies.map(({ policy }) => policy.default);
  const strictest = VERDICTS.findLast((verdict) => defaults.includes(verdict)) ?? 'ask';
  const gates = policies.map(({ policy }) => policy.gate);
  const gate = GATES.findLast((one) => gates.includes(one)) ?? 'on';
  return `version: 1\ndefault: ${strictest}\nmode: ${mode}\ngate: "${gate}"\n`;
}

const GATES = ['off', 'on', 'strict'] as const;

/** The same file with the rules at the end of the group for them; undefined when it is no map. */
function withRules(
  text: string,
  patterns: readonly string[],
  command: string | undefined,
): string | undefined {
  const document: Document = parseDocument(text);
  if (document.errors.length > 0) return undefined;
  document.contents ??= document.createNode({});
  if (!isMap(document.contents)) return undefined;
  if ((document.get('policies') ?? null) === null) document.set('policies', new YAMLSeq());
  const groups = document.get('policies');
  if (!isSeq(groups)) return undefined;
  const known = groups.items.findIndex((one) => isMap(one) && one.get('name') === GROUP);
  if (known < 0) {
    const description = 'Said yes to, one by one.';
    groups.add(document.createNode({ name: GROUP, description, commands: [] }));
  }
  const at = known < 0 ? groups.items.length - 1 : known;
  const commands = document.getIn(['policies', at, 'commands']);
  if (!isSeq(commands)) return undefined;
  commands.flow = false;
  for (const pattern of patterns) {
    // A pattern with a hole is no example of itself.
    const match = [patterns.length === 1 ? command : pattern];
    const tests = command === undefined ? {} : { tests: { match } };
    commands.add(document.createNode({ pattern, ...tests }));
  }
  return document.toString({ lineWidth: 0 });
}

/** A server reads it the moment it changes. */
function replacePolicy(file: string, text: string): void {
  const target = realOf(file); // the link stays
  makeDirectories(dirname(target));
  replaceFile(target, text, { mode: modeOf(target), sync: true });
}

function modeOf(file: string): number {
  return (fs.statSync(file, { throwIfNoEntry: false })?.mode ?? 0o644) & 0o777;
}
