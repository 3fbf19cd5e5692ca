// `cuff record generate`: a policy from what was recorded, to stdout or to a file.

import { homeOf } from '../../places.ts';
import {
  type GeneratedPolicy,
  generateFromJournal,
  policyJson,
  policyYaml,
  STRATEGIES,
} from '../../recordings/evidence.ts';
import { countText, sinceText } from '../../text/dates.ts';
import { manyText } from '../../text/plural.ts';
import { printable } from '../../text/printable.ts';
import { put, say } from '../output.ts';
import type { Flags } from './flags.ts';
import { Progress } from './progress.ts';
import { write } from './sink.ts';
import { sayUnreadable } from './unreadable.ts';
import { damagedLines, NO_RECORDINGS } from './words.ts';

/** Without recordings nothing is written; `--format json` is then a policy without rules. */
export async function generate(flags: Flags): Promise<void> {
  const { directory } = await flags.journal();
  const since = flags.since();
  const strategy = STRATEGIES.find((one) => one === flags.text('--strategy')) ?? 'pattern';
  const progress = new Progress('entries');
  const { generated, damagedLines: damaged } = generateFromJournal({
    directory,
    since,
    strategy,
    minFrequency: flags.count('--min-frequency'),
    now: Date.now(),
    home: homeOf(process.env),
    step: () => progress.step(),
  });
  progress.end();
  sayUnreadable(directory);
  if (damaged > 0) say(damagedLines(damaged));
  const json = flags.format() === 'json';
  if (generated.commands === 0 && !json) {
    const period = sinceText(flags.text('--since'));
    return put(since === undefined ? NO_RECORDINGS : `No recordings found (${period}).\n`);
  }
  const output = flags.text('--output');
  await write(output, [json ? policyJson(generated) : policyYaml(generated)], () => {});
  if (output !== undefined) say(`Wrote ${printable(output)}: ${summary(generated)}`);
}

function summary({ policy, accepted, commands }: GeneratedPolicy): string {
  const rules = policy.policies.reduce((sum, group) => sum + group.commands.length, 0);
  return (
    `${manyText(rules, 'rule')}, ` +
    `${countText(accepted)} of ${countText(commands)} commands accepted`
  );
}
