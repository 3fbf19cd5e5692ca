// Reads a policy: YAML or JSON in, a checked `Policy` or every problem with its position out. A
// file with any mistake is no policy at all: a command that a rule forbids must not silently be
// allowed.

import { shortLine } from '../text/printable.ts';
import { type Problem as Fault, pathText, quoted, suggestion } from '../text/problems.ts';
import { type LocatedMap, type LocatedValue, readYaml } from '../text/yaml.ts';
import { boundsOf } from './bounds.ts';
import { decideText } from './decide.ts';
import { MODES, VERDICTS } from './decision.ts';
import { compilePattern, operatorOf, PatternError } from './pattern.ts';
import {
  type CommandRule,
  EMPTY_POLICY,
  GATES,
  ON_ASK,
  type Policy,
  type PolicyGroup,
  SANDBOXES,
  type Scopes,
  unsaved,
} from './policy.ts';
import { rulesOf } from './rules.ts';

export type PolicyProblem = {
  readonly line: number;
  readonly column: number;
  readonly message: string;
};

export type PolicyResult =
  | { readonly policy: Policy }
  | { readonly problems: readonly PolicyProblem[] };

export type PolicyContext = {
  readonly home: string;
  /** Relative paths in the tests of rules are relative to this. */
  readonly project?: string | undefined;
  /** The file is a project's own. */
  readonly guest?: boolean | undefined;
};

export const VALUES_MAX = 400_000; // 100,000 commands make about a third of that

/** Looking for the word that was meant takes long for thousands of keys. */
const FAULTS_MAX = 1_000;

/** Each use is a file for an hour. */
const PER_HOUR_MAX = 1_000;

/** A name that an agent could give itself, and that can be shown as it is. */
const AGENT = /^[a-z0-9][\w .@+-]{0,63}$/i;

const EXAMPLE_SHOWN_MAX = 60; // characters of a failed example

const KEYS = [
  ...['version', 'default', 'mode', 'policies', 'scopes', 'redirects', 'filters', 'env', 'network'],
  ...['programs', 'shadow', 'gate', 'sandbox', 'answer_prompts', 'on_ask'],
];
const RULE_KEYS = [
  ...['pattern', 'frequency', 'decision', 'reason', 'paths', 'args', 'stdin', 'tests', 'agents'],
  'max_per_hour',
];
const SCOPE_KEYS = ['cwd', 'read', 'write', 'protect'] as const;

export function readPolicy(text: string, where: PolicyContext): PolicyResult {
  const { root, problems } = readYaml(text, undefined, VALUES_MAX);
  const reader = new Reader(problems);
  const policy = root === undefined ? EMPTY_POLICY : reader.policy(root);
  if (reader.faults.length === 0) reader.test(policy, where);
  if (reader.faults.length === 0) return { policy };
  const sorted = [...reader.faults].sort(
    (a, b) => a.at.line - b.at.line || a.at.column - b.at.column,
  );
  return { problems: sorted.map(({ at, message }) => ({ ...at, message })) };
}

class Reader {
  readonly faults: Fault[];
  /** Where each rule stands in the file. */
  readonly #positions = new Map<CommandRule, Fault['at']>();

  constructor(problems: readonly Fault[]) {
    this.faults = [...problems];
  }

  fault(at: Fault['at'], message: string): void {
    this.faults.push({ at, message });
  }

  policy(root: LocatedValue): Policy {
    const empty = EMPTY_POLICY;
    if (root.kind !== 'map') {
      this.fault(root.at, 'a policy is a mapping with keys like policies, default and mode');
      return empty;
    }
    this.#known(root, KEYS, '');
    const version = get(root, 'version');
    const second = version !== undefined && scalar(version) === 2;
    if (version !== undefined && !second && scalar(version) !== 1) {
      this.fault(version.at, 'version: must be 1 or 2');
    }
    const groups = this.#list(get(root, 'policies'), 'policies');
    return {
      version: second ? 2 : 1,
      default: this.#oneOf(root, 'default', VERDICTS, empty.default),
      mode: this.#oneOf(root, 'mode', MODES, empty.mode),
      policies: groups.flatMap((group, index) => this.#group(group, `policies[${index}]`)),
      scopes: this.#scopes(get(root, 'scopes'), second ? ['.'] : []),
      redirects: this.#strings(get(root, 'redirects'), 'redirects'),
      filters: this.#boolean(root, 'filters') ?? empty.filters,
      env: this.#strings(get(root, 'env'), 'env'),
      network: this.#strings(get(root, 'network'), 'network'),
      programs: this.#strings(get(root, 'programs'), 'programs'),
      shadow: this.#string(get(root, 'shadow'), 'shadow'),
      gate: this.#oneOf(root, 'gate', GATES, empty.gate),
      sandbox: this.#oneOf(root, 'sandbox', SANDBOXES, empty.sandbox),
      answerPrompts: this.#boolean(root, 'answer_prompts'),
      onAsk: isGiven(get(root, 'on_ask')) ? this.#oneOf(root, 'on_ask', ON_ASK, 'deny') : undefined,
    };
  }

  /** The examples that rules carry must hold for each rule by itself. */
  test(policy: Policy, { home, project = '/project' }: PolicyContext): void {
    const bounds = boundsOf([unsaved(policy)], { project, home });
    for (const [rule, at] of this.#positions) {
      const { match, not_match } = rule.tests;
      if (match.length + not_match.length === 0) continue;
      const alone = [{ name: '', description: '', commands: [rule] }];
      const rules = rulesOf([unsaved({ ...policy, policies: alone })]);
      // A command that the rule does not match falls to the other side.
      const fallback = rule.decision === 'allow' ? 'ask' : 'allow';
      const court = { rules, bounds, fallback, sealed: false, filters: false } as const;
      const matches = (text: string): boolean =>
        decideText(court, text, project).verdict === rule.decision;
      const wrong = (key: string, text: string, does: string): void => {
        const example = JSON.stringify(shortLine(text, EXAMPLE_SHOWN_MAX));
        const pattern = JSON.stringify(rule.pattern);
        this.fault(at, `tests.${key} has ${example}, but the rule ${pattern} ${does}`);
      };
      for (const text of match) if (!matches(text)) wrong('match', text, 'does not match it');
      for (const text of not_match) if (matches(text)) wrong('not_match', text, 'matches it');
    }
  }

  #group(group: LocatedValue, path: string): readonly PolicyGroup[] {
    if (group.kind !== 'map') {
      this.fault(group.at, `${path}: must be a mapping with name and commands`);
      return [];
    }
    this.#known(group, ['name', 'description', 'commands', 'agents'], path);
    const name = this.#string(get(group, 'name'), `${path}.name`);
    if (name === undefined) this.fault(group.at, `${path}: needs a name`);
    const commands = this.#list(get(group, 'commands'), `${path}.commands`);
    const agents = this.#agents(group, path);
    return [
      {
        name: name ?? '',
        description: this.#string(get(group, 'description'), `${path}.description`) ?? '',
        commands: commands.flatMap((rule, index) =>
          this.#rule(rule, `${path}.commands[${index}]`, agents),
        ),
      },
    ];
  }

  /** A text alone is the pattern of a rule without anything else. */
  #rule(
    given: LocatedValue,
    path: string,
    ofGroup: readonly string[] | undefined,
  ): readonly CommandRule[] {
    const { at } = given;
    const alone = given.kind === 'scalar' && { key: 'pattern', at, value: given };
    const rule = alone ? ({ kind: 'map', at, entries: [alone] } as const) : given;
    if (rule.kind !== 'map') {
      this.fault(rule.at, `${path}: must be a mapping with a pattern`);
      return [];
    }
    this.#known(rule, RULE_KEYS, path);
    const pattern = this.#string(get(rule, 'pattern'), `${path}.pattern`);
    const decision = this.#oneOf(rule, 'decision', VERDICTS, 'allow');
    if (pattern === undefined) this.fault(rule.at, `${path}: needs a pattern`);
    else this.#checkPattern(pattern, decision, get(rule, 'pattern')?.at ?? rule.at, path);
    const paths = get(rule, 'paths');
    const tests = get(rule, 'tests');
    if (tests?.kind === 'map') this.#known(tests, ['match', 'not_match'], `${path}.tests`);
    else if (isGiven(tests)) this.fault(tests.at, `${path}.tests: must be a mapping`);
    const examples = (key: string): readonly string[] =>
      this.#strings(tests === undefined ? undefined : get(tests, key), `${path}.tests.${key}`);
    const stdin = isGiven(get(rule, 'stdin'))
      ? this.#oneOf(rule, 'stdin', ['none', 'any'] as const, 'none')
      : undefined;
    const made: CommandRule = {
      pattern: pattern ?? '',
      frequency: this.#count(get(rule, 'frequency'), `${path}.frequency`),
      decision,
      reason: this.#string(get(rule, 'reason'), `${path}.reason`),
      agents: this.#agents(rule, path) ?? ofGroup,
      max_per_hour: this.#budget(rule, path, decision),
      paths: paths === undefined ? undefined : this.#strings(paths, `${path}.paths`),
      args: this.#oneOf(rule, 'args', ['inert', 'any'] as const, 'inert'),
      stdin,
      tests: { match: examples('match'), not_match: examples('not_match') },
    };
    this.#positions.set(made, rule.at);
    return [made];
  }

  #budget(rule: LocatedMap, path: string, decision: string): number | undefined {
    const value = get(rule, 'max_per_hour');
    const count = this.#count(value, `${path}.max_per_hour`);
    if (value === undefined || count === undefined) return undefined;
    if (decision !== 'allow') {
      this.fault(value.at, `${path}.max_per_hour: is for a rule that allows`);
    } else if (count < 1 || count > PER_HOUR_MAX) {
      this.fault(value.at, `${path}.max_per_hour: must be from 1 to ${PER_HOUR_MAX}`);
    }
    return count;
  }

  /** Undefined: nothing is said of agents. */
  #agents(map: LocatedMap, path: string): readonly string[] | undefined {
    const value = get(map, 'agents');
    if (!isGiven(value)) return undefined;
    const names = this.#strings(value, `${path}.agents`);
    // It would be about no agent: a rule that denies would deny nothing.
    if (value.kind === 'list' && value.items.length === 0) {
      this.fault(value.at, `${path}.agents: names no agent`);
    }
    for (const name of names) {
      if (AGENT.test(name)) continue;
      const why = 'is no name of an agent; names are like claude-code';
      this.fault(value.at, `${path}.agents: ${quoted(name)} ${why}`);
    }
    return names;
  }

  #checkPattern(pattern: string, decision: string, at: Fault['at'], path: string): void {
    try {
      for (const { words } of compilePattern(pattern)) {
        if (decision === 'allow' && words[0]?.kind !== 'literal') {
          throw new PatternError('a rule that allows has to name its program');
        }
      }
      const operator = decision === 'allow' ? undefined : operatorOf(pattern);
      // Its author relies on a deny rule; an allow rule that matches nothing does no harm.
      if (operator !== undefined) {
        const why = `a pattern is one simple command, so that none has \`${operator}\` in it`;
        throw new PatternError(`${why}; write a rule for each command`);
      }
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      this.fault(at, `${path}.pattern: ${quoted(pattern)}: ${error.message}`);
    }
  }

  /** `write`: what the file lets commands write if it says nothing of it. */
  #scopes(value: LocatedValue | undefined, write: readonly string[]): Scopes {
    if (!isGiven(value)) return { ...EMPTY_POLICY.scopes, write };
    if (value.kind !== 'map') {
      this.fault(value.at, 'scopes: must be a mapping');
      return EMPTY_POLICY.scopes;
    }
    this.#known(value, SCOPE_KEYS, 'scopes');
    const of = (key: (typeof SCOPE_KEYS)[number]): readonly string[] =>
      this.#strings(get(value, key), `scopes.${key}`);
    const written = isGiven(get(value, 'write')) ? of('write') : write;
    return { cwd: of('cwd'), read: of('read'), write: written, protect: of('protect') };
  }

  #known(map: LocatedMap, keys: readonly string[], path: string): void {
    for (const { key, at } of map.entries) {
      if (keys.includes(key)) continue;
      if (this.faults.length >= FAULTS_MAX) return;
      const where = path === '' ? '' : `${path}: `;
      this.fault(at, `${where}unknown key ${quoted(key)}${suggestion(key, keys)}`);
    }
  }

  #oneOf<T extends string>(map: LocatedMap, key: string, values: readonly T[], otherwise: T): T {
    const value = get(map, key);
    if (!isGiven(value)) return otherwise;
    // YAML reads `off` as it stands, but some write it as false.
    const given = scalar(value) === false ? 'off' : scalar(value);
    const found = values.find((one) => one === given);
    if (found !== undefined) return found;
    this.fault(value.at, `${pathText([key])}: must be one of ${values.join(', ')}`);
    return otherwise;
  }

  #boolean(map: LocatedMap, key: string): boolean | undefined {
    const value = get(map, key);
    if (!isGiven(value)) return undefined;
    const given = scalar(value);
    if (typeof given === 'boolean') return given;
    this.fault(value.at, `${pathText([key])}: must be true or false`);
    return undefined;
  }

  #string(value: LocatedValue | undefined, path: string): string | undefined {
    if (!isGiven(value)) return undefined;
    const text = scalar(value);
    if (typeof text === 'string' && !text.includes('\0')) return text;
    this.fault(value.at, `${path}: must be text; write it in quotes`);
    return undefined;
  }

  #strings(value: LocatedValue | undefined, path: string): readonly string[] {
    return this.#list(value, path).flatMap((item, index) => {
      const text = this.#string(item, `${path}[${index}]`);
      if (text === '') this.fault(item.at, `${path}[${index}]: is empty`);
      return text === undefined || text === '' ? [] : [text];
    });
  }

  #count(value: LocatedValue | undefined, path: string): number | undefined {
    if (!isGiven(value)) return undefined;
    const count = scalar(value);
    if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) return count;
    this.fault(value.at, `${path}: must be a whole number`);
    return undefined;
  }

  #list(value: LocatedValue | undefined, path: string): readonly LocatedValue[] {
    if (!isGiven(value)) return [];
    if (value.kind === 'list') return value.items;
    this.fault(value.at, `${path}: must be a list`);
    return [];
  }
}

function get(map: LocatedValue, key: string): LocatedValue | undefined {
  if (map.kind !== 'map') return undefined;
  return map.entries.find((entry) => entry.key === key)?.value;
}

/** Undefined for what is no scalar. */
function scalar(value: LocatedValue): string | number | boolean | null | undefined {
  return value.kind === 'scalar' ? value.value : undefined;
}

/** A key without a value is as good as none. */
function isGiven(value: LocatedValue | undefined): value is LocatedValue {
  return value !== undefined && scalar(value) !== null;
}
