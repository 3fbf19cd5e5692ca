// Where settings are looked for. A file of its own, because `cuff record list` has to know it and
// must not load what reads them.

import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

type Env = Readonly<Record<string, string | undefined>>;

/** Where settings are looked for, in this order. */
export function settingsCandidates(
  cwd: string,
  env: Env,
): readonly { readonly path: string; readonly named: boolean }[] {
  if (env.CUFF_SETTINGS) return [{ path: resolve(cwd, env.CUFF_SETTINGS), named: true }];
  const xdg = env.XDG_CONFIG_HOME;
  // The XDG specification: a relative path is invalid and must be ignored.
  const config = xdg && isAbsolute(xdg) ? xdg : join(env.HOME || homedir(), '.config');
  return [
    join(cwd, 'settings.yml'),
    join(cwd, '.cuff', 'settings.yml'),
    join(config, 'cuff', 'settings.yml'),
  ].map((path) => ({ path, named: false }));
}
