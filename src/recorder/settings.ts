// What the runs of a dialect are told by its settings. The door that reads a configuration has
// checked it and made every path absolute.

import type { TraceSetting } from '../types.ts';

export const SESSION_MODES = ['per_conversation', 'per_day', 'continuous'] as const;

export type SessionMode = (typeof SESSION_MODES)[number];

export type RecordingSettings = {
  readonly enabled: boolean;
  readonly directory: string;
  /** Why that is not where the project has its journal, as one clause. */
  readonly because?: string | undefined;
  readonly captureEnv: boolean;
  readonly envAllowlist: readonly string[];
  readonly captureOutput: boolean;
  /** Of each stream, in the entry. */
  readonly outputBytesMax: number;
  readonly sessionMode: SessionMode;
  /** 0: for ever. */
  readonly retentionDays: number;
  /** Do not execute what cannot be recorded. */
  readonly strict: boolean;
  /** No secret of the environment in stored output either. */
  readonly redact: boolean;
  /** Say so when a command prints the value of a secret variable. */
  readonly leakWarning: boolean;
  /** Whether the processes of a command are written down. */
  readonly trace: TraceSetting;
};

/** What the settings of `bash_recorder` say without a file, but for the directory. */
export const DEFAULT_RECORDING: Omit<RecordingSettings, 'directory'> = {
  enabled: true,
  captureEnv: false,
  envAllowlist: ['PATH', 'HOME', 'USER', 'SHELL', 'PWD'],
  captureOutput: true,
  outputBytesMax: 1_000_000,
  sessionMode: 'per_conversation',
  retentionDays: 30,
  strict: false,
  redact: false,
  leakWarning: true,
  trace: 'auto',
};

const FOREVER_DAYS = 36_500; // a hundred years

/** How long the capture of an entry is kept: as long as the entry. */
export function captureSeconds({ retentionDays }: RecordingSettings): number {
  return Math.min(retentionDays === 0 ? FOREVER_DAYS : retentionDays, FOREVER_DAYS) * 86_400;
}

export type RunSettings = {
  readonly recording: RecordingSettings;
  /** Absolute; where commands run unless they say otherwise. */
  readonly workingDirectory: string;
  /** The program that gets `-c COMMAND`. */
  readonly shell: string;
  /**
   * `agent`: the server's, without the secrets of model providers, and editors fail at once.
   * `none`: nothing but `envOverrides`.
   */
  readonly environment: 'agent' | 'inherit' | 'none';
  readonly envOverrides: Readonly<Record<string, string>>;
  readonly liveRunsMax: number;
  /** What happens to live runs when the server stops. */
  readonly onShutdown: 'kill' | 'leave';
};
