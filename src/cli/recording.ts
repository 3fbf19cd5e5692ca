// How commands of a directory are recorded: as the settings that count for its project say. Without
// a file nothing that reads settings is loaded, because every command of an agent comes this way.

import { DEFAULT_RECORDING, type RecordingSettings } from '../recorder/settings.ts';
import { journalOf, projectFolder } from '../recordings/directory.ts';
import { countingSettings } from '../trust/settings.ts';
import type { Env } from '../types.ts';

export type ProjectRecording = {
  readonly project: string;
  readonly recording: RecordingSettings;
};

/** Throws `settings_invalid`. */
export async function recordingOf(cwd: string, env: Env): Promise<ProjectRecording> {
  const project = projectFolder(cwd, env);
  const { file, waiting } = countingSettings({ cwd: project, env });
  if (file === undefined && waiting.length === 0) {
    const { directory, because } = journalOf(project, env);
    return { project, recording: { ...DEFAULT_RECORDING, directory, because } };
  }
  const { recordingSettingsOf } = await import('./record/record-settings.ts');
  return { project, recording: await recordingSettingsOf(project, env) };
}
