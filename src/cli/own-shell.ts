// The shell that records, as the user's own settings want it. No project's count here: the files
// are for all projects. The helper of a call reads the settings of its project, too.

import { isStrict, type ShellFiles, writeShellFiles } from '../hooks/shell/install.ts';
import { isThere, settingsCandidates, userConfig } from '../places.ts';
import type { Check } from '../shell/capabilities.ts';
import type { Env } from '../types.ts';
import { ownProgram } from './own-program.ts';

/** Throws `settings_invalid`, and as `writeShellFiles` does. */
export async function writeOwnShell(env: Env): Promise<ShellFiles> {
  return writeShellFiles(env, { program: ownProgram(), strict: await strictWanted(env) });
}

/** A row only where the files say something else than the settings do now. */
export async function shellChecks(env: Env): Promise<readonly Check[]> {
  const is = isStrict(env);
  const wanted = is === undefined ? undefined : await strictWanted(env).catch(() => undefined);
  if (wanted === undefined || is === wanted) return [];
  const value = is
    ? 'refuses what cannot be recorded; the settings do not say `recording.strict` any more'
    : 'runs what cannot be recorded; the settings say `recording.strict`';
  const hint = 'Write its files again: `cuff init --shell`, or the next `cuff exec`.';
  return [{ name: "agent's shell", status: 'warn', value, hint }];
}

async function strictWanted(env: Env): Promise<boolean> {
  const cwd = userConfig(env);
  if (!settingsCandidates(cwd, env).some(({ path, own }) => own && isThere(path))) return false;
  const { recordingSettingsOf } = await import('./record/record-settings.ts');
  return (await recordingSettingsOf(cwd, env)).strict;
}
