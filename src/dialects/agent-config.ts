// What all dialects that run commands have in common in settings.yml: what is recorded, where and
// with which environment commands run, and how many may run at once. A dialect adds its own keys.
// Unknown keys are problems, because a mistyped one would silently do nothing.

import { resolve } from 'node:path';
import * as z from 'zod';
import type { ConfigProblem, JsonSchema } from '../host/plugin.ts';
import { TRACE_DEFAULT } from '../limits.ts';
import { ConfigurationError } from '../recorder/errors.ts';
import { type RecordingSettings, type RunSettings, SESSION_MODES } from '../recorder/settings.ts';
import { journalPlace } from '../recordings/directory.ts';
import { TRACE_SETTINGS } from '../types.ts';
import { missingPaths, problemsOf } from './config-problems.ts';

export const path = z
  .string()
  .min(1)
  .regex(/^[^\0]*$/, 'must not contain NUL');
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
  leak_warning: z
    .boolean()
    .default(true)
    .describe('Say so when a command prints the value of a secret variable.'),
  trace: z
    .enum(TRACE_SETTINGS)
    .default(TRACE_DEFAULT)
    .describe('Write down every process of a command; auto: where a self-test passes.'),
});

const LIVE_RUNS_MAX = 16; // more at once than any agent keeps an eye on

// An answer shows no more by default, and all of it is in the capture. A copy of a megabyte takes
// longer to encode and to sync than most commands take.
const STORED_BYTES_DEFAULT = 131_072;

/** Their answers are views of captured bytes, so there is nothing without them. */
const captured = recording.extend({
  max_output_size: z
    .int()
    .min(1)
    .default(STORED_BYTES_DEFAULT)
    .describe('How many bytes of each stream an entry holds; the capture has all.'),
  capture_output: z
    .literal(true, 'must be true: answers are views of captured output; use bash_recorder')
    .default(true)
    .describe('Output is always captured.'),
});

type AgentEnvironment = Exclude<RunSettings['environment'], 'none'>;

function commonKeys(environment: AgentEnvironment) {
  return {
    recording: captured.prefault({}).describe('What is recorded, and where.'),
    working_directory: path
      .nullable()
      .default(null)
      .describe('Where commands run; null is where the server was started.'),
    environment: z
      .enum(['agent', 'inherit'])
      .default(environment)
      .describe('agent: without the secrets of model providers, and editors fail at once.'),
    env_overrides: z
      .record(variable, z.string().regex(/^[^\0]*$/, 'must not contain NUL'))
      .default({})
      .describe('Variables that commands get in addition, or instead.'),
    max_live_runs: z
      .int()
      .min(1)
      .max(1_000)
      .default(LIVE_RUNS_MAX)
      .describe('How many commands may run at once; one more is refused.'),
    on_shutdown: z
      .enum(['kill', 'leave'])
      .default('kill')
      .describe('What happens to live runs when the server stops.'),
  };
}

type Common = ReturnType<typeof commonKeys>;

/** The configuration of one dialect; `Own` are the settings that the others do not have. */
export type DialectConfig<Own> = {
  readonly schema: JsonSchema;
  /** With a project, also what is named and not there. */
  problems(given: unknown, project?: string): readonly ConfigProblem[];
  /** Throws `ConfigurationError`. */
  read(given: unknown, projectDirectory: string, stateRoot: string): DialectSettings<Own>;
};

type DialectSettings<Own> = { readonly agent: RunSettings; readonly own: Own };

/** The settings of its own that a config reads. */
export type OwnSettings<Config> = Config extends DialectConfig<infer Own> ? Own : never;

export function dialectConfig<S extends z.ZodRawShape>(
  environment: AgentEnvironment,
  shape: S,
): DialectConfig<z.output<z.ZodObject<S>>> {
  const common = z.strictObject(commonKeys(environment));
  const own = z.object(shape);
  const whole: z.ZodObject = z.strictObject({ ...commonKeys(environment), ...shape });
  return {
    schema: jsonSchema(whole),
    problems: (given, project) => checked(whole, given, project),
    read(given, projectDirectory, stateRoot) {
      const all: Readonly<Record<string, unknown>> = parsed(whole, given);
      const names = Object.keys(common.shape) as (keyof Common)[];
      const shared = common.parse(Object.fromEntries(names.map((name) => [name, all[name]])));
      return { agent: agentSettings(shared, projectDirectory, stateRoot), own: own.parse(all) };
    },
  };
}

function agentSettings(
  given: z.output<z.ZodObject<Common>>,
  projectDirectory: string,
  stateRoot: string,
): RunSettings {
  return {
    recording: recordingSettings(given.recording, projectDirectory, stateRoot),
    workingDirectory: resolve(projectDirectory, given.working_directory ?? '.'),
    shell: '/bin/bash',
    environment: given.environment,
    envOverrides: given.env_overrides,
    liveRunsMax: given.max_live_runs,
    onShutdown: given.on_shutdown,
  };
}

export function recordingSettings(
  r: z.output<typeof recording>,
  projectDirectory: string,
  stateRoot: string,
): RecordingSettings {
  return {
    enabled: r.enabled,
    ...journalPlace(projectDirectory, r.directory, stateRoot),
    captureEnv: r.capture_env,
    envAllowlist: r.env_allowlist,
    captureOutput: r.capture_output,
    outputBytesMax: r.max_output_size,
    sessionMode: r.session_mode,
    retentionDays: r.retention_days,
    strict: r.strict,
    redact: r.redact,
    leakWarning: r.leak_warning,
    trace: r.trace,
  };
}

/** With a project, also what is named and not there. */
export function checked(
  schema: z.ZodType,
  given: unknown,
  project: string | undefined,
): readonly ConfigProblem[] {
  const whole = sections(given);
  const problems = problemsOf(schema, whole);
  return project === undefined ? problems : [...problems, ...missingPaths(whole, project)];
}

/** Throws `ConfigurationError` for a config that has problems. */
export function parsed<T>(schema: z.ZodType<T>, given: unknown): T {
  const [problem] = problemsOf(schema, sections(given));
  if (problem !== undefined) {
    throw new ConfigurationError(`${problem.path.join('.') || 'config'}: ${problem.message}`);
  }
  return schema.parse(sections(given));
}

/** For editors: what `settings.yml` may say, without what is filled in. */
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
