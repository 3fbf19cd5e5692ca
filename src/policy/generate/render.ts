// A generated policy as a file, in the layout of seed 000: four lines that say where it comes from,
// a few more that say what it is worth, then the groups. The same policy is always the same bytes.

import { countText } from '../../text/dates.ts';
import type { JsonObject } from '../../text/json.ts';
import { printableJson, shortLine } from '../../text/printable.ts';
import type { CommandRule, Policy } from '../policy.ts';
import type { Exclusion, GeneratedPolicy } from './types.ts';

const SHOWN_MAX = 40; // a person does not read a longer list
const SHOWN_LENGTH_MAX = 88;

export function policyYaml(generated: GeneratedPolicy): string {
  return `${head(generated)}\n${body(generated.policy, generated.imported)}`;
}

/** The document alone: JSON has no place for remarks. */
export function policyJson({ policy }: GeneratedPolicy): string {
  const text = JSON.stringify(documentOf(policy), undefined, 2);
  // JSON has none of these outside of its strings, and escapes the others itself.
  const safe = (one: string): string => printableJson(one).slice(1, -1);
  return `${text.replace(/[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu, safe)}\n`;
}

/** The lines in front of it. */
function head(generated: GeneratedPolicy): string {
  const { excluded, attacks } = generated;
  const left = excluded.reduce((sum, { count }) => sum + count, 0);
  const lines = [
    'Auto-generated policy from recordings',
    `Generated: ${new Date(generated.generatedAt).toISOString().replace(/\.\d+Z$/, 'Z')}`,
    `Source sessions: ${generated.sessions}`,
    `Commands analyzed: ${countText(generated.commands)}`,
    `Strategy: ${generated.strategy}`,
    `Accepts ${countText(generated.accepted)} of these commands, ` +
      `and ${attacks.allowed} of the ${attacks.total} attacks it is tried with`,
    ...(generated.imported.size === 0 ? [] : [importedLine(generated)]),
    ...(left === 0 ? [] : [`Excluded: ${countText(left)} (${reasons(excluded)})`]),
    ...examples(excluded),
  ];
  return lines.map((line) => `# ${line}\n`).join('');
}

/** A transcript is an agent's own word: what it says ran was seen by nothing else. */
function importedLine({ imported, policy }: GeneratedPolicy): string {
  const rules = policy.policies.reduce((sum, { commands }) => sum + commands.length, 0);
  const many = `${countText(imported.size)} of ${countText(rules)} rules`;
  return `Marked as imported: ${many}, which rest on agents' own transcripts alone`;
}

/** How many for which reason: the most frequent first. */
function reasons(excluded: readonly Exclusion[]): string {
  const counts = new Map<string, number>();
  for (const { reason, count } of excluded) counts.set(reason, (counts.get(reason) ?? 0) + count);
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([reason, count]) => `${reason} ${countText(count)}`)
    .join(', ');
}

function examples(excluded: readonly Exclusion[]): readonly string[] {
  const shown = excluded.filter(({ command }) => command !== undefined).slice(0, SHOWN_MAX);
  const more = excluded.length - shown.length;
  return [
    ...shown.map(
      ({ command = '', reason, count }) =>
        `  ${reason}, ${countText(count)} x: ${shortLine(command, SHOWN_LENGTH_MAX)}`,
    ),
    ...(more > 0 ? [`  and ${countText(more)} more that are not shown`] : []),
  ];
}

/** As the seed writes it: names plain, patterns in quotes, an empty line between two groups. */
function body(policy: Policy, imported: ReadonlySet<string>): string {
  const groups = policy.policies.map(({ name, description, commands }) =>
    [
      `  - name: ${name}`,
      `    description: ${description}`,
      '    commands:',
      ...commands.flatMap((rule) => ruleLines(rule, imported.has(rule.pattern))),
    ].join('\n'),
  );
  const rules = groups.length === 0 ? 'policies: []\n' : `policies:\n${groups.join('\n\n')}\n`;
  const { policies: _, ...rest } = documentOf(policy);
  const others = Object.entries(rest).map(([key, value]) => `\n${key}: ${printableJson(value)}\n`);
  return rules + others.join('');
}

function ruleLines(
  { pattern, frequency, tests }: CommandRule,
  imported: boolean,
): readonly string[] {
  const lines = [
    ...(imported ? ['      # imported'] : []),
    `      - pattern: ${printableJson(pattern)}`,
  ];
  if (frequency !== undefined) lines.push(`        frequency: ${frequency}`);
  const examples = Object.entries(withoutEmpty(tests) ?? {});
  if (examples.length > 0) lines.push('        tests:');
  for (const [kind, texts] of examples) lines.push(`          ${kind}: ${printableJson(texts)}`);
  return lines;
}

function documentOf({
  version,
  policies,
  scopes,
  redirects,
  filters,
  env,
  network,
}: Policy): JsonObject {
  const around = withoutEmpty({ cwd: scopes.cwd, read: scopes.read });
  return {
    policies: policies.map(({ name, description, commands }) => ({
      name,
      description,
      commands: commands.map(({ pattern, frequency, tests }) => {
        const examples = withoutEmpty(tests);
        return { pattern, frequency, ...(examples && { tests: examples }) };
      }),
    })),
    ...(version === 2 && { version }),
    ...(filters && { filters }),
    ...(around && { scopes: around }),
    ...withoutEmpty({ redirects, env, network }),
  };
}

/** Only what says something: an empty list is what a policy has anyway. */
function withoutEmpty(lists: Readonly<Record<string, readonly string[]>>): JsonObject | undefined {
  const said = Object.entries(lists).filter(([, list]) => list.length > 0);
  return said.length === 0 ? undefined : Object.fromEntries(said);
}
