// `cuff policy diff`: what changes between two policies, in their rules and in what was recorded.

import { homeOf } from '../../places.ts';
import { diffPolicies, type PolicyDiff } from '../../recordings/evidence.ts';
import { countText } from '../../text/dates.ts';
import { shortLine } from '../../text/printable.ts';
import { paint, put, putJson } from '../output.ts';
import { loadedPolicy } from './test.ts';

export type PolicyDiffFlags = {
  readonly before: string;
  readonly after: string;
  /** The journal; where there is none, the tests of both policies are compared. */
  readonly directory: string;
  readonly since?: number | undefined;
  readonly json: boolean;
  /** As if this agent had run everything, with a proven name. */
  readonly agent?: string | undefined;
};

const SHOWN_MAX = 20;
const SHOWN_LENGTH_MAX = 80;

/** Exit 0, whether or not something differs. */
export async function policyDiff(flags: PolicyDiffFlags): Promise<void> {
  const home = homeOf(process.env);
  const { directory, since, agent } = flags;
  const [before, after] = [
    loadedPolicy({ file: flags.before, agent }, home),
    loadedPolicy({ file: flags.after, agent }, home),
  ];
  const diff = diffPolicies(before, after, { directory, since, home });
  if (flags.json) return putJson(diff);
  await put(diffText(diff));
}

const SIGNS = { added: '+', removed: '-', changed: '~' } as const;

function diffText(diff: PolicyDiff): string {
  const { rules, settings, decisions, compared } = diff;
  const more = diff.loosened + diff.tightened - Math.min(decisions.length, SHOWN_MAX);
  const lines = [
    ...rules.map(({ kind, pattern, decision, fields }) => {
      const what = fields.length === 0 ? '' : ` (${fields.join(', ')})`;
      const said = decision === 'allow' && kind !== 'changed' ? '' : ` -> ${decision}`;
      return `${SIGNS[kind]} ${shortLine(pattern, SHOWN_LENGTH_MAX)}${said}${what}`;
    }),
    ...settings.map(
      ({ key, before, after }) => `~ ${key}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`,
    ),
    ...(rules.length + settings.length === 0 ? ['No rule and no setting differs.'] : []),
    '',
    `Of ${countText(compared)} different commands, ${countText(diff.loosened)} ` +
      `${diff.loosened === 1 ? 'is' : 'are'} loosened and ${countText(diff.tightened)} tightened.`,
    ...decisions.slice(0, SHOWN_MAX).map(({ command, before, after, count }) => {
      const times = count === 0 ? '' : paint('dim', `  ${countText(count)} x`);
      return `  ${before} -> ${after}  ${shortLine(command, SHOWN_LENGTH_MAX)}${times}`;
    }),
    ...(more > 0 ? [`  ... and ${countText(more)} more`] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
