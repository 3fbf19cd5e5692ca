// The shell that records, as the user's own settings and policies want it. No project's count here:
// the files are for all projects. The helper of a call reads those of its project, too.

import {
  type ShellFiles,
  type ShellTerms,
  shellTerms,
  writeShellFiles,
} from '../hooks/shell/install.ts';
import { isThere, settingsCandidates, userConfig } from '../places.ts';
import { policyPlaces } from '../policies/places.ts';
import type { Check } from '../shell/capabilities.ts';
import type { Env } from '../types.ts';
import { ownProgram } from './own-program.ts';

/** Throws `settings_invalid`, and as `writeShellFiles` does. */
export async function writeOwnShell(env: Env): Promise<ShellFiles> {
  const [strict, enforced] = [await strictWanted(env), await enforcedWanted(env)];
  return writeShellFiles(env, { program: ownProgram(), strict, enforced });
}

/** Rows only where the files say something else than the settings and policies do now. */
export async function shellChecks(env: Env): Promise<readonly Check[]> {
  const is = shellTerms(env);
  if (is === undefined) return [];
  const strict = await strictWanted(env).catch(() => is.strict); // what is wrong has its own row
  const enforced = await enforcedWanted(env);
  return (['strict', 'enforced'] as const)
    .filter((name) => is[name] !== { strict, enforced }[name])
    .map((name) => ({
      name: "agent's shell",
      status: 'warn',
      value: is[name] ? STALE[name].refuses : STALE[name].runs,
      hint: 'Write its files again: `cuff init --shell`, or the next `cuff exec`.',
    }));
}

const STALE: { readonly [name in keyof ShellTerms]: Readonly<Record<'refuses' | 'runs', string>> } =
  {
    strict: {
      refuses:
        'refuses what cannot be recorded; the settings do not say `recording.strict` any more',
      runs: 'runs what cannot be recorded; the settings say `recording.strict`',
    },
    enforced: {
      refuses:
        'refuses what cannot be judged; no policy of the user or the system is enforced any more',
      runs: 'runs what cannot be judged; a policy of the user or the system is enforced',
    },
  };

async function strictWanted(env: Env): Promise<boolean> {
  const cwd = userConfig(env);
  if (!settingsCandidates(cwd, env).some(({ path, own }) => own && isThere(path))) return false;
  const { recordingSettingsOf } = await import('./record/record-settings.ts');
  return (await recordingSettingsOf(cwd, env)).strict;
}

/** Without a policy nothing that reads one is loaded. */
export async function enforcedWanted(env: Env): Promise<boolean> {
  const places = policyPlaces({ project: userConfig(env), env });
  if (!places.some(({ origin, path }) => origin !== 'project' && isThere(path))) return false;
  return (await import('../policies/own-mode.ts')).isOwnPolicyEnforced({ env });
}
