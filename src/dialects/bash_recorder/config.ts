// The configuration of `bash_recorder` as it stands in settings.yml: seed 000's keys and defaults,
// and four of ours.

import { resolve } from 'node:path';
import * as z from 'zod';
import type { RunSettings } from '../../recorder/settings.ts';
import {
  checked,
  type DialectConfig,
  jsonSchema,
  parsed,
  path,
  recording,
  recordingSettings,
  variable,
} from '../agent-config.ts';

const TIMEOUT_SECONDS_MAX = 86_400; // a day: no caller waits longer for an answer

const seconds = z.int().min(1).max(TIMEOUT_SECONDS_MAX);

const execution = z.strictObject({
  default_timeout: seconds.default(120).describe('Seconds a command gets unless it says more.'),
  max_timeout: seconds.default(600).describe('The most seconds a command can get.'),
  working_directory: path
    .nullable()
    .default(null)
    .describe('Where commands run; null is where the server was started.'),
  shell: path.default('/bin/bash').describe('The program that gets `-c COMMAND`.'),
  inherit_env: z.boolean().default(true).describe("Hand on the server's environment."),
  env_overrides: z
    .record(variable, z.string().regex(/^[^\0]*$/, 'must not contain NUL'))
    .default({})
    .describe('Variables that commands get in addition, or instead.'),
  on_shutdown: z
    .enum(['kill', 'leave'])
    .default('kill')
    .describe('What happens to live runs when the server stops.'),
});

const config = z.strictObject({
  recording: recording.prefault({}).describe('What is recorded, and where.'),
  execution: execution.prefault({}).describe('How commands are executed.'),
});

/** In seconds: what a command gets by default, and at most. */
export type Timeouts = {
  readonly defaultTimeoutSeconds: number;
  readonly maxTimeoutSeconds: number;
};

type RecorderSettings = Pick<RunSettings, 'recording'> & {
  readonly execution: Timeouts &
    Pick<RunSettings, 'workingDirectory' | 'shell' | 'envOverrides' | 'onShutdown'> & {
      readonly inheritEnv: boolean;
    };
};

/** Throws `ConfigurationError` for a config that has problems. */
export function recorderSettings(
  given: unknown,
  projectDirectory: string,
  stateRoot: string,
): RecorderSettings {
  const { recording: r, execution: e } = parsed(config, given);
  return {
    recording: recordingSettings(r, projectDirectory, stateRoot),
    execution: {
      defaultTimeoutSeconds: Math.min(e.default_timeout, e.max_timeout),
      maxTimeoutSeconds: e.max_timeout,
      workingDirectory: resolve(projectDirectory, e.working_directory ?? '.'),
      shell: e.shell,
      inheritEnv: e.inherit_env,
      envOverrides: e.env_overrides,
      onShutdown: e.on_shutdown,
    },
  };
}

/** The configuration of `bash_recorder`. */
export const recorderConfig: DialectConfig<Timeouts> = {
  schema: jsonSchema(config),
  problems: (given, project) => checked(config, given, project),
  read(given, projectDirectory, stateRoot) {
    const { recording, execution } = recorderSettings(given, projectDirectory, stateRoot);
    const { inheritEnv, defaultTimeoutSeconds, maxTimeoutSeconds, ...how } = execution;
    const environment = inheritEnv ? 'inherit' : 'none';
    const liveRunsMax = Number.POSITIVE_INFINITY; // each call waits for its run
    const agent = { recording, environment, liveRunsMax, ...how } as const;
    return { agent, own: { defaultTimeoutSeconds, maxTimeoutSeconds } };
  },
};
