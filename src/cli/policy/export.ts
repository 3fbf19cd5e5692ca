// `cuff policy export`: the rules for another tool on stdout, and on stderr a line for everything
// that it cannot express. What would allow more there is left out, unless --loose is given.

import { AppError } from '../../errors.ts';
import { exportFor, lossLine, policiesFor, TARGETS, type Target } from '../../policies/check.ts';
import { projectAt } from '../../policies/places.ts';
import { printable } from '../../text/printable.ts';
import { put, say } from '../output.ts';
import { policyTrouble } from './trouble.ts';

export { TARGETS };

export type ExportFlags = {
  readonly to: string;
  readonly loose?: boolean;
  readonly trust?: boolean;
};

export async function exportRules(file: string | undefined, flags: ExportFlags): Promise<void> {
  const to = targetOf(flags.to);
  await policyTrouble(async () => {
    const options = { env: process.env, policy: file, trusted: flags.trust };
    const policies = policiesFor(projectAt(process.cwd()), options);
    const exported = exportFor(policies, to, { loose: flags.loose === true });
    for (const loss of exported.losses) say(`cuff: ${lossLine(loss)}`);
    await put(exported.text);
  });
}

function targetOf(name: string): Target {
  const found = TARGETS.find((one) => one === name);
  if (found !== undefined) return found;
  const message = `There is no export to '${printable(name)}'.`;
  throw new AppError('usage', message, { hint: `There is one to ${TARGETS.join(', ')}.` });
}
