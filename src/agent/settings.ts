// What the runs of a dialect are told by its settings. The door that reads a configuration has
// checked it and made every path absolute.

import type { RecorderSettings, RecordingSettings } from '../recorder/settings.ts';

export type AgentSettings = {
  readonly recording: RecordingSettings;
  /** Absolute; where commands run unless they say otherwise. */
  readonly workingDirectory: string;
  /** `agent`: without the secrets of model providers, and editors fail at once. */
  readonly environment: 'agent' | 'inherit';
  readonly envOverrides: Readonly<Record<string, string>>;
  readonly liveRunsMax: number;
  readonly onShutdown: 'kill' | 'leave';
};

/** The same for a recorder. Deadlines come with each run. */
export function recorderSettingsOf(settings: AgentSettings): RecorderSettings {
  const { recording, workingDirectory, envOverrides, onShutdown } = settings;
  return {
    recording,
    execution: {
      defaultTimeoutSeconds: Number.POSITIVE_INFINITY,
      maxTimeoutSeconds: Number.POSITIVE_INFINITY,
      workingDirectory,
      shell: '/bin/bash',
      inheritEnv: true,
      envOverrides,
      onShutdown,
    },
  };
}
