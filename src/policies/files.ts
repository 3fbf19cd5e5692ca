// The files of a policy: what is read from each. One that cannot be read or understood is a value
// with its problems, one line each, with their place.

import { isThere } from '../places.ts';
import { MODES, type Mode } from '../policy/decision.ts';
import { readPolicy, VALUES_MAX } from '../policy/load.ts';
import type { LoadedPolicy } from '../policy/policy.ts';
import { printable } from '../text/printable.ts';
import { problemLines } from '../text/problems.ts';
import { readYaml } from '../text/yaml.ts';
import type { PolicyPlace } from './places.ts';
import { policyText } from './policy-text.ts';

// A server that has a policy loads this file, and with it everything that judges by policies.
export { explain, judge } from '../policy/decide.ts';

export type PolicyFile =
  | { readonly kind: 'none' }
  | { readonly kind: 'good'; readonly text: string; readonly loaded: LoadedPolicy }
  | {
      readonly kind: 'bad';
      /** `file:line:column: message`, one line each. */
      readonly problem: string;
      /** What it says of its mode, as far as that can be told. */
      readonly mode: Mode | undefined;
    };

/** What a policy is read for. */
export type PolicyGround = { readonly home: string; readonly project: string };

export function readPolicyFile(
  { path, origin, named, piped }: PolicyPlace,
  ground: PolicyGround,
): PolicyFile {
  if (!named && !isThere(path)) return { kind: 'none' };
  const read = policyText(path, piped === true);
  if ('why' in read) return bad(path, read.why);
  return parsePolicy(read.text, { path, origin }, ground);
}

export function parsePolicy(
  text: string,
  { path, origin }: Pick<PolicyPlace, 'path' | 'origin'>,
  { home, project }: PolicyGround,
): PolicyFile {
  const read = readPolicy(text, { home, project });
  if ('policy' in read) {
    return { kind: 'good', text, loaded: { policy: read.policy, origin, file: path } };
  }
  const problems = read.problems.map(({ message, ...at }) => ({ at, message }));
  return { kind: 'bad', problem: problemLines(path, problems), mode: modeOf(text) };
}

function bad(path: string, message: string): PolicyFile {
  return { kind: 'bad', problem: `${printable(path)}:1:1: ${message}`, mode: undefined };
}

/** Undefined unless the text is YAML as a whole: half of a file may say anything. */
function modeOf(text: string): Mode | undefined {
  const { root, problems } = readYaml(text, undefined, VALUES_MAX);
  if (problems.length > 0 || root?.kind !== 'map') return undefined;
  const mode = root.entries.find(({ key }) => key === 'mode')?.value;
  return MODES.find((one) => mode?.kind === 'scalar' && one === mode.value);
}
