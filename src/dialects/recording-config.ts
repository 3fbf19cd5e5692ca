// The configuration of `bash_recorder` as it stands in settings.yml: seed 000's keys and defaults,
// and four of ours. Unknown keys are problems, because a mistyped one would silently do nothing.

import { resolve } from 'node:path';
import * as z from 'zod';
import type { ConfigProblem, JsonSchema } from '../host/plugin.ts';
import { TRACE_DEFAULT } from '../limits.ts';
import { ConfigurationError } from '../recorder/errors.ts';
import {
  type RecorderSettings,
  type RecordingSettings,
  SESSION_MODES,
} from '../recorder/settings.ts';
import { journalPath } from '../recordings/directory.ts';
import { TRACE_SETTINGS } from '../types.ts';
import { placeProblems, problemsOf } from './config-problems.ts';

const TIMEOUT_SECONDS_MAX = 86_400; // a day: longer than that nobody waits for an answer

export const path = z
  .string()
  .min(1)
  .regex(/^[^\0]*$/, 'must not contain NUL');
const seconds = z.int().min(1).max(TIMEOUT_SECONDS_MAX);
export const variable = z.string().regex(/^[^=\0]+$/, 'is not the name of a variable');

export const recording = z.strictObject({
  enabled: z.boolean().default(true).describe('Record what is executed.'),
  directory: path.default('.cuff/recordings').describe('Where the journal is kept.'),
  capture_env: z
    .boolean()
    .default(false)
    .describe('Store environment variables with each entry; they may hold secrets.'),
  env_allowlist: z
    .array(variable)
    .default(['PATH', 'HOME', 'USER', 'SHELL', 'PWD'])
    .describe('The variables that capture_env stores.'),
  capture_output: z
    .boolean()
    .default(true)
    .describe('Store stdout and stderr; without it their bytes are in no file.'),
  max_output_size: z
    .int()
    .min(1)
    .default(1_000_000)
    .describe('How many bytes of each stream an entry holds.'),
  session_mode: z
    .enum(SESSION_MODES)
    .default('per_conversation')
    .describe('What a session is: a conversation, a day, or the life of the server.'),
  retention_days: z.int().min(0).default(30).describe('Days to keep sessions; 0 keeps them.'),
  strict: z.boolean().default(false).describe('Refuse to execute what cannot be recorded.'),
  redact: z
    .boolean()
    .default(false)
    .describe('Replace secrets of the environment in stored output, too.'),
  trace: z
    .enum(TRACE_SETTINGS)
    .default(TRACE_DEFAULT)
    .describe('Write down every process of a command; auto: where a self-test passes.'),
});

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

export function configProblems(given: unknown, project?: string): readonly ConfigProblem[] {
  return checked(config, given, project);
}

/** With a project, also what is named and not there. */
export function checked(
  schema: z.ZodType,
  given: unknown,
  project: string | undefined,
): readonly ConfigProblem[] {
  const whole = sections(given);
  const problems = problemsOf(schema, whole);
  return project === undefined ? problems : [...problems, ...placeProblems(whole, project)];
}

/** Throws `ConfigurationError` for a config that has problems. */
export function parsed<T>(schema: z.ZodType<T>, given: unknown): T {
  const [problem] = problemsOf(schema, sections(given));
  if (problem !== undefined) {
    throw new ConfigurationError(`${problem.path.join('.') || 'config'}: ${problem.message}`);
  }
  return schema.parse(sections(given));
}

/** Throws `ConfigurationError` for a config that has problems. */
export function recorderSettings(given: unknown, projectDirectory: string): RecorderSettings {
  const { recording: r, execution: e } = parsed(config, given);
  return {
    recording: recordingSettings(r, projectDirectory),
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

export function recordingSettings(
  r: z.output<typeof recording>,
  projectDirectory: string,
): RecordingSettings {
  return {
    enabled: r.enabled,
    directory: journalPath(projectDirectory, r.directory),
    captureEnv: r.capture_env,
    envAllowlist: r.env_allowlist,
    captureOutput: r.capture_output,
    outputBytesMax: r.max_output_size,
    sessionMode: r.session_mode,
    retentionDays: r.retention_days,
    strict: r.strict,
    redact: r.redact,
    trace: r.trace,
  };
}

/** For editors: what `settings.yml` may say, without what is filled in. */
export const configSchema: JsonSchema = jsonSchema(config);

export function jsonSchema(of: z.ZodType): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(of, { io: 'input' });
  return schema;
}

/** In YAML a section whose keys are all commented out is null. */
function sections(given: unknown): unknown {
  if (given === undefined || given === null) return {};
  if (typeof given !== 'object' || Array.isArray(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}
