// The files of a policy: what is read from each. One that cannot be read or understood is a value
// with its problems, one line each, with their place.

import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { errnoOf } from './errors.ts';
import { MODES, type Mode } from './policy/decision.ts';
import { readPolicy } from './policy/load.ts';
import type { LoadedPolicy } from './policy/policy.ts';
import type { PolicyPlace } from './policy-places.ts';
import { printable } from './text/printable.ts';

export { homeOf, type PolicyPlace, policyPlaces, projectPolicy } from './policy-places.ts';

const BYTES_MAX = 4 * 1024 * 1024; // a policy of this size was not written for anybody

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
  { path, origin, named }: PolicyPlace,
  ground: PolicyGround,
): PolicyFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const why = errnoOf(error) ?? String(error);
    if (!named && (why === 'ENOENT' || why === 'ENOTDIR')) return { kind: 'none' };
    return bad(path, `it cannot be read: ${why}`);
  }
  if (text.length > BYTES_MAX) return bad(path, `a policy may have ${BYTES_MAX} characters`);
  return parsePolicy(text, { path, origin }, ground);
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
  const lines = read.problems.map(
    ({ line, column, message }) => `${printable(path)}:${line}:${column}: ${message}`,
  );
  return { kind: 'bad', problem: lines.join('\n'), mode: modeOf(text) };
}

function bad(path: string, message: string): PolicyFile {
  return { kind: 'bad', problem: `${printable(path)}:1:1: ${message}`, mode: undefined };
}

/** Undefined unless the text is YAML as a whole: half of a file may say anything. */
function modeOf(text: string): Mode | undefined {
  try {
    const document = parseDocument(text);
    if (document.errors.length > 0) return undefined;
    const mode: unknown = document.get('mode');
    return MODES.find((one) => one === mode);
  } catch {
    return undefined; // no map at its top, or nested without end
  }
}
