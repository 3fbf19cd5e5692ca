// What the settings say about the journal. Loaded only when it matters: it needs every plugin's
// idea of its configuration, because settings that are wrong must not count as the defaults.

import { stateRoot } from '../../capture/paths.ts';
import { recorderSettings } from '../../dialects/bash_recorder/config.ts';
import { BUILTINS } from '../../dialects/builtins.ts';
import { loadSettings } from '../../host/settings.ts';
import type { RecordingSettings } from '../../recorder/settings.ts';
import { type JournalLocation, nearestJournal } from '../../recordings/directory.ts';
import { type WaitingSettings, waitingSentence } from '../../trust/settings.ts';
import type { Env } from '../../types.ts';

const NAME = 'bash_recorder';

export type JournalSettings = JournalLocation & {
  /** 0: for ever. */
  readonly retentionDays: number;
  /** No secret in anything made from the journal. True while settings wait, which may say so. */
  readonly redact: boolean;
  /** Settings of the project that wait for trust, one sentence each. */
  readonly waiting: readonly string[];
};

/** Throws `settings_invalid`. */
export async function journalSettings(
  cwd: string,
  env: Env,
  trusted = false,
): Promise<JournalSettings> {
  const { recording, waiting } = await recorderOf(cwd, env, trusted);
  const { retentionDays } = recording;
  const { recording: usual } = recorderSettings({}, cwd, stateRoot(env));
  const { directory, because } = recording;
  const named = { directory, because, named: because === undefined };
  const place = directory === usual.directory ? nearestJournal(cwd, env) : named;
  // Which keys wait is read without a parser, and may be incomplete: any file that waits counts.
  const redact = recording.redact || waiting.length > 0;
  return { ...place, retentionDays, redact, waiting: waiting.map(waitingSentence) };
}

/** How commands of this project are recorded. Throws `settings_invalid`. */
export async function recordingSettingsOf(
  project: string,
  env: Env,
  trusted = false,
): Promise<RecordingSettings> {
  const { recording, waiting } = await recorderOf(project, env, trusted);
  // Settings that wait may say that no secret is stored.
  return { ...recording, redact: recording.redact || waiting.length > 0 };
}

async function recorderOf(
  cwd: string,
  env: Env,
  trusted: boolean,
): Promise<{
  readonly recording: RecordingSettings;
  readonly waiting: readonly WaitingSettings[];
}> {
  const { plugins, waiting = [] } = await loadSettings({ cwd, env, builtins: BUILTINS, trusted });
  const recorder = plugins.find(({ name }) => name === NAME) ?? plugins.find(isRecorder);
  const { recording } = recorderSettings(recorder?.config ?? {}, cwd, stateRoot(env));
  return { recording, waiting };
}

/** The same plugin under another name. */
function isRecorder({ module }: { readonly module: string | undefined }): boolean {
  return module?.endsWith(`.${NAME}`) === true;
}
