// Finds parts of a policy that are valid but hardly meant: rules that never decide, stars that mean
// ask, rules for programs that run anything, lists that change nothing. Each with its position.

import { isDeepStrictEqual } from 'node:util';
import { AGENT_IDS, agentName, isAgentId } from '../text/agents.ts';
import { positionOf, readYaml } from '../text/yaml.ts';
import { wordArg } from './analyse/args.ts';
import { inputUse } from './input.ts';
import { type Finding, lintLists } from './lint-lists.ts';
import { starSurprise } from './lint-stars.ts';
import { type PolicyContext, type PolicyProblem, readPolicy, VALUES_MAX } from './load.ts';
import { literalText, operatorOf, type WordPattern } from './pattern.ts';
import type { CommandRule, Policy } from './policy.ts';
import { readCall } from './profiles/index.ts';
import { isOpaque, isShell } from './programs.ts';
import { type RuleVariant, starMeaning, variantsOf } from './rules.ts';
import { strictMatch } from './strict.ts';
import type { Arg } from './unit.ts';

/** A policy is not about one project. */
const ANYWHERE = { project: '/', home: '~', cwds: undefined };

type Warning = Omit<Finding, 'path'> & { readonly line: number; readonly column: number };

export type Lint =
  | { readonly kind: 'invalid'; readonly problems: readonly PolicyProblem[] }
  | { readonly kind: 'valid'; readonly warnings: readonly Warning[] };

export function lintPolicy(text: string, where: PolicyContext): Lint {
  const read = readPolicy(text, where);
  if ('problems' in read) return { kind: 'invalid', problems: read.problems };
  const { root } = readYaml(text, undefined, VALUES_MAX);
  const roots = { home: where.home, project: where.project ?? '/project' };
  const { policy } = read;
  const findings = [
    ...lintTop(policy, where.guest),
    ...lintRules(policy),
    ...lintLists(policy, roots),
  ];
  const warnings = findings.map(({ path, code, message, hint }): Warning => {
    const at = root === undefined ? { line: 1, column: 1 } : positionOf(root, path);
    return { line: at.line, column: at.column, code, message, hint };
  });
  warnings.sort((a, b) => a.line - b.line || a.column - b.column);
  return { kind: 'valid', warnings };
}

function lintTop(policy: Policy, guest = false): readonly Finding[] {
  const { default: fallback, mode, policies } = policy;
  const found = guest ? lintAnswers(policy) : [];
  const rules = policies.flatMap(({ commands }) => commands);
  if (fallback === 'allow' && rules.every(({ decision }) => decision === 'allow')) {
    const message = '`default: allow` without a rule that denies or asks allows everything.';
    const hint = 'Deny something, or say `default: ask`.';
    found.push({ path: ['default'], code: 'default', message, hint });
  }
  if (mode === 'off') {
    const message = '`mode: off`: nothing of this is in force.';
    const hint = 'Say `mode: record` to see what it would do, or `mode: enforce`.';
    found.push({ path: ['mode'], code: 'mode', message, hint });
  }
  return found;
}

/** Keys that answer for the person count in no project's policy, trusted or not. */
function lintAnswers({ answerPrompts, onAsk }: Policy): Finding[] {
  const given = { answer_prompts: answerPrompts, on_ask: onAsk };
  return Object.entries(given).flatMap(([key, value]): Finding[] => {
    if (value === undefined) return [];
    const message = `\`${key}\` answers for a person, so it does not count in a project's policy.`;
    const hint = 'Say it in your own policy: ~/.config/cuff/policy.yml.';
    return [{ path: [key], code: 'answers', message, hint }];
  });
}

/** A rule of the file, with its variants and where it stands. */
type RuleEntry = {
  readonly path: readonly (string | number)[];
  readonly rule: CommandRule;
  readonly variants: readonly RuleVariant[];
};

function lintRules(policy: Policy): readonly Finding[] {
  const entries = policy.policies.flatMap(({ commands }, at) =>
    commands.map((rule, index): RuleEntry => {
      const path = ['policies', at, 'commands', index, 'pattern'];
      return { path, rule, variants: variantsOf(rule) };
    }),
  );
  const strict = entries.filter(({ rule }) => rule.decision !== 'allow');
  const seen = new Set<string>();
  return entries.flatMap((one) => {
    const key = keyOf(one);
    if (seen.has(key)) return [duplicate(one)];
    seen.add(key);
    const stranger = unknownAgent(one);
    if (stranger !== undefined) return [stranger];
    const never = neverMatches(one);
    if (never !== undefined) return [never];
    return one.rule.decision === 'allow' ? lintAllow(one, strict) : [];
  });
}

function keyOf({ rule, variants }: RuleEntry): string {
  const words = variants.map((one) => one.words.map(wordKey));
  const { decision, args, paths = null, stdin = null, agents = null } = rule;
  return JSON.stringify([decision, args, paths, stdin, agents, words]);
}

function wordKey(word: WordPattern): readonly unknown[] {
  if (word.kind === 'literal') return ['literal', word.value];
  return word.kind === 'partial' ? ['partial', word.segments] : [word.kind];
}

function unknownAgent({ path, rule: { agents = [] } }: RuleEntry): Finding | undefined {
  const name = agents.find((one) => !isAgentId(agentName(one)));
  if (name === undefined) return undefined;
  const message = `No agent that cuff knows is called \`${name}\`.`;
  const known = AGENT_IDS.join(', ');
  const hint = `It knows ${known}. Another client has to call itself exactly this.`;
  return { path: [...path.slice(0, -1), 'agents'], code: 'agents', message, hint };
}

function duplicate({ path, rule }: RuleEntry): Finding {
  const message = `\`${rule.pattern}\` is here twice; the first one is enough.`;
  return { path, code: 'duplicate', message, hint: 'Remove one of them.' };
}

function neverMatches({ path, rule, variants }: RuleEntry): Finding | undefined {
  const operator = operatorOf(rule.pattern);
  if (operator !== undefined) {
    const message = `A pattern is one simple command: \`${operator}\` is a word in it.`;
    const hint = 'Write a rule for each command; redirections are listed under `redirects`.';
    return { path, code: 'never', message, hint };
  }
  const program = variants.map(({ words }) => literalText(words[0])).find(Boolean) ?? '';
  if (/^[A-Za-z_]\w*=/.test(program)) {
    const message = `\`${program}\` sets a variable and is no program, so this matches nothing.`;
    return { path, code: 'never', message, hint: 'Leave it out, and list its name under `env`.' };
  }
  if (!/\s/.test(program)) return undefined;
  const message = `The program would be called \`${program}\`, so this matches nothing.`;
  return { path, code: 'never', message, hint: 'Take the quotes away.' };
}

function lintAllow(one: RuleEntry, strict: readonly RuleEntry[]): readonly Finding[] {
  const shadow = shadowOf(one, strict);
  if (shadow !== undefined) return [shadow];
  const broad = one.variants.map((rule) => broadness(one, rule)).find((found) => found);
  const star = one.variants.map((rule) => starFinding(one, rule)).find((found) => found);
  const host = one.variants.map((rule) => openHost(one, rule)).find((found) => found);
  return [broad ?? star, host].filter((found) => found !== undefined);
}

/** More words never make a strict rule miss: one that matches the fewest words matches all. */
function shadowOf(
  { path, rule, variants }: RuleEntry,
  strict: readonly RuleEntry[],
): Finding | undefined {
  const least = variants.map(({ words }) =>
    words.flatMap((word) => (word.kind === 'literal' ? [wordArg(word.value)] : [])),
  );
  const found = strict.find(({ rule: { agents }, variants: others }) => {
    if (agents !== undefined && !isDeepStrictEqual(agents, rule.agents)) return false;
    const matches = (argv: readonly Arg[]): boolean =>
      others.some(({ words }) => strictMatch(words, argv, ANYWHERE) === 'yes');
    return least.every(matches);
  });
  if (found === undefined) return undefined;
  const { decision, pattern } = found.rule;
  const does = decision === 'deny' ? 'denies' : 'asks about';
  return {
    path,
    code: 'shadowed',
    message: `The rule \`${pattern}\` ${does} all that this one allows.`,
    hint: 'Remove this rule, or make that one narrower.',
  };
}

function broadness({ path, rule }: RuleEntry, { words }: RuleVariant): Finding | undefined {
  const program = literalText(words[0]);
  if (rule.args !== 'any' || !(isShell(program) || isOpaque(program) || runsCode(program))) {
    return undefined;
  }
  const message = `\`${program}\` runs whatever it is given: \`args: any\` allows everything.`;
  return { path, code: 'broad', message, hint: 'Name the script or the command in the pattern.' };
}

function runsCode(program: string): boolean {
  const argv = [wordArg(program)];
  const call = readCall(argv);
  return inputUse({ stdin: 'pipe' }, [{ argv, call }]) === 'code' || call?.kind === 'exec';
}

function starFinding({ path, rule }: RuleEntry, variant: RuleVariant): Finding | undefined {
  const meaning = rule.args === 'any' ? 'inert' : starMeaning(variant);
  const program = literalText(variant.words[0]);
  switch (meaning) {
    case 'inert': {
      const found = rule.args === 'any' ? undefined : starSurprise(variant.words);
      return found && { path, ...found };
    }
    case 'runs': {
      const message = `\`${program}\` runs whatever it is given, so \`*\` means ask here.`;
      const hint = 'Name the whole command in the pattern.';
      return { path, code: 'broad', message, hint };
    }
    case 'unprofiled': {
      const message = `What \`${program}\` does with arguments is not known, so \`*\` means ask.`;
      const hint = 'Write the arguments into the rule, or `args: any` if all of them are fine.';
      return { path, code: 'star.unprofiled', message, hint };
    }
    default: {
      const message = `This ${meaning}, so \`*\` means ask.`;
      const hint = 'Name the arguments in the rule, or use a typed hole like <path>.';
      return { path, code: 'star.destructive', message, hint };
    }
  }
}

/** `https://*.example.org/`, `https://example.org*`: the host is left open. */
function openHost({ path }: RuleEntry, { words }: RuleVariant): Finding | undefined {
  const open = words.some(
    (word) =>
      word.kind === 'partial' &&
      /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*$/i.test(word.lead) &&
      !word.segments.some((one) => one.kind === 'hole' && one.host !== undefined),
  );
  if (!open) return undefined;
  const message = 'The host is not whole in front of the star, so any host that begins so fits it.';
  const hint = 'Write `https://host/*` or `<url:host>`, or list the hosts under `network`.';
  return { path, code: 'host', message, hint };
}
