// `cuff policy check COMMAND` on the short way through the program: with policies as an earlier
// process has read them, and without the parser of commands. Whatever is not as usual, from a flag
// to a mistake in a policy, is left to the whole program.

import { resolve } from 'node:path';
import { stateRoot } from '../../capture/paths.ts';
import { homeOf } from '../../places.ts';
import { checkBy } from '../../policies/checked.ts';
import { policyPlaces, projectAt } from '../../policies/places.ts';
import { readQuickly } from '../../policies/read-before.ts';
import { realPath, shortMemory } from '../../policies/real-path.ts';
import { countingPolicies } from '../../policies/trust.ts';
import { nameAndValue } from '../name-and-value.ts';
import { putChecked } from './checked-text.ts';

type Asked = {
  readonly command: string;
  readonly cwd: string;
  readonly project: string | undefined;
  readonly agent: string | undefined;
  readonly json: boolean;
  readonly trusted: boolean;
};

/** False: nothing was done. `args` are the words behind `check`. */
export async function checkQuickly(args: readonly string[]): Promise<boolean> {
  const asked = askedIn(args);
  if (asked === undefined) return false;
  const { env } = process;
  const { command, cwd, json, trusted, agent } = asked;
  const real = shortMemory(realPath);
  const project = real(asked.project === undefined ? projectAt(cwd) : resolve(asked.project));
  const places = policyPlaces({ project, env });
  const texts = [];
  for (const place of places) {
    const file = await readQuickly(stateRoot(env), place, { home: homeOf(env), project });
    if (file.kind === 'bad') return false;
    if (file.kind === 'good') texts.push({ ...file, place });
  }
  const { policies } = countingPolicies(texts, places, { project, env, trusted });
  if (policies.length === 0) return false;
  await putChecked(checkBy(policies, { env, project, real, agent })(command, cwd), json);
  return true;
}

/** Undefined: not one command with flags as they are usually written. */
function askedIn(args: readonly string[]): Asked | undefined {
  const values = new Map<string, string>();
  const operands: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    const [name, joined] = nameAndValue(word);
    if (word === '--json' || word === '--trust') values.set(word, '');
    else if (name === '--cwd' || name === '--project' || name === '--agent') {
      const value = joined ?? args[++at];
      if (value === undefined || value.startsWith('-')) return undefined;
      values.set(name, value);
    } else if (word.startsWith('-')) return undefined;
    else operands.push(word);
  }
  const [command, ...more] = operands;
  if (command === undefined || more.length > 0) return undefined;
  return {
    command,
    cwd: resolve(values.get('--cwd') ?? '.'),
    project: values.get('--project'),
    agent: values.get('--agent'),
    json: values.has('--json'),
    trusted: values.has('--trust'),
  };
}
