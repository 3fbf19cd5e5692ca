// What the settings say about the journal. Loaded only when it matters: it needs every plugin's
// idea of its configuration, because settings that are wrong must not count as the defaults.

import { loadSettings } from '../../config.ts';
import { BUILTINS } from '../../dialects/builtins.ts';
import { recorderSettings } from '../../dialects/recorder-config.ts';
import { nearestJournal } from '../../record-directory.ts';

const NAME = 'bash_recorder';

export type JournalSettings = {
  readonly directory: string;
  /** 0: for ever. */
  readonly retentionDays: number;
  /** No secret in anything that is made from the journal. */
  readonly redact: boolean;
};

/** Throws `settings_invalid`. */
export async function journalSettings(
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<JournalSettings> {
  const { plugins } = await loadSettings({ cwd, env, builtins: BUILTINS });
  const recorder = plugins.find(({ name }) => name === NAME) ?? plugins.find(isRecorder);
  const { recording } = recorderSettings(recorder?.config ?? {}, cwd);
  const usual = recorderSettings({}, cwd).recording.directory;
  const directory = recording.directory === usual ? nearestJournal(cwd) : recording.directory;
  return { directory, retentionDays: recording.retentionDays, redact: recording.redact };
}

/** The same plugin under another name. */
function isRecorder({ module }: { readonly module: string | undefined }): boolean {
  return module?.endsWith(`.${NAME}`) === true;
}
