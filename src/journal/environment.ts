// Which variables of a command's environment an entry may hold. None unless it is asked for; then
// those that are named and no others, and never one whose name says that it is a secret, even if
// it is named. Variables of cloud accounts need no rule here: only named ones are ever stored.

import { isSecretName } from '../text/secret-words.ts';
import type { Env } from '../types.ts';

export function storedEnvironment(
  env: Env,
  rules: { readonly captureEnv: boolean; readonly allowlist: readonly string[] },
): Readonly<Record<string, string>> | null {
  if (!rules.captureEnv) return null;
  const stored = rules.allowlist.flatMap((name): [string, string][] => {
    const value = isSecretName(name) || !Object.hasOwn(env, name) ? undefined : env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(stored);
}
