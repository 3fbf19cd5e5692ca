// What an agent is told of the policy before it asks for anything: about ten lines. A policy's text
// may come with the project, and a model reads these lines as words of its own tools. So they have
// patterns and nothing else of it, each of plain characters and short; of a policy that no person
// has trusted, only the names of programs, in the order of the alphabet.

import type { Verdict } from '../policy/decision.ts';
import type { CommandRule, LoadedPolicy } from '../policy/policy.ts';
import type { PolicyEngine } from './engine.ts';
import { policyText } from './policy-text.ts';
import { isTrustedPolicy } from './trust.ts';

const LENGTH_MAX = 1_200; // some 350 tokens, which every conversation pays
const LIST_LENGTH_MAX = 320; // of the patterns of one kind

/** What a pattern is made of that tells a reader no more than which commands it is about. */
const PLAIN = /^[\w@%+=:,.~^/<>*{}[\]-]+(?: [\w@%+=:,.~^/<>*{}[\]-]+){0,7}$/;
const PATTERN_LENGTH_MAX = 48;

/** One word cannot be a sentence. */
const PROGRAM = /^[a-z][\w.+-]{0,15}$/;

const ENDS: Readonly<Record<Verdict, string>> = {
  allow: 'Everything else runs, but for what is protected or not clear from its text.',
  ask: 'A person is asked about everything else.',
  deny: 'Everything else is refused.',
};

/** Empty where no policy refuses anything. */
export function policyBrief(engine: PolicyEngine): string {
  const { inForce, policies, scratch } = engine;
  if (inForce?.mode !== 'enforce' || policies.length === 0) return '';
  const lines = [
    'A policy decides which commands run here. It may change; a refusal says what counts then.',
    ...listed('These run, with arguments that change nothing else', policies, 'allow', engine),
    ...listed('A person is asked about these', policies, 'ask', engine),
    ...listed('These are refused', policies, 'deny', engine),
    ENDS[strictest(policies)],
    'Secrets, start-up files, .git and the configuration of agents are protected.',
    ...(scratch !== undefined && PLAIN.test(scratch) ? [`Scratch files go to ${scratch}.`] : []),
    'Run simple commands one by one; what a text hides is asked about.',
  ];
  return lines.join('\n').slice(0, LENGTH_MAX);
}

function strictest(policies: readonly LoadedPolicy[]): Verdict {
  const all = policies.map(({ policy }) => policy.default);
  return (['deny', 'ask', 'allow'] as const).find((verdict) => all.includes(verdict)) ?? 'ask';
}

function listed(
  title: string,
  policies: readonly LoadedPolicy[],
  decision: Verdict,
  engine: PolicyEngine,
): readonly string[] {
  const known = policies.flatMap((loaded) => namesOf(loaded, decision, engine));
  const shown: string[] = [];
  const all = [...new Set(known)];
  for (const name of all) {
    if ([...shown, name].join(', ').length > LIST_LENGTH_MAX) break;
    shown.push(name);
  }
  if (shown.length === 0) return [];
  const more = all.length > shown.length ? ` and ${all.length - shown.length} more` : '';
  return [`${title}: ${shown.join(', ')}${more}.`];
}

function namesOf(loaded: LoadedPolicy, decision: Verdict, engine: PolicyEngine): readonly string[] {
  const groups = loaded.policy.policies.flatMap(({ commands }) => commands);
  // Which agent reads this is not known when the tools are listed.
  const rules = groups.filter((rule) => rule.decision === decision && rule.agents === undefined);
  if (isOwn(loaded, engine)) return rules.flatMap(patternShown);
  const programs = rules.map(({ pattern }) => pattern.split(' ')[0] ?? '');
  return programs
    .filter((name) => PROGRAM.test(name))
    .map((name) => `${name} ...`)
    .sort();
}

function patternShown({ pattern, max_per_hour: max }: CommandRule): readonly string[] {
  if (pattern.length > PATTERN_LENGTH_MAX || !PLAIN.test(pattern)) return [];
  return [max === undefined ? pattern : `${pattern} (${max} an hour)`];
}

/** Whether it is a person's word: not in the project, or trusted as it is. */
function isOwn({ file, origin }: LoadedPolicy, { project, options }: PolicyEngine): boolean {
  if (options.trusted === true || file === undefined) return true;
  if (origin !== 'project' && !file.startsWith(`${project}/`)) return true;
  const read = policyText(file, false);
  return 'text' in read && isTrustedPolicy(file, read.text, { project, env: options.env });
}
