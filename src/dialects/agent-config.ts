// What all dialects that run commands have in common in settings.yml: what is recorded, where and
// with which environment commands run, and how many may run at once. A dialect adds its own keys.

import { resolve } from 'node:path';
import * as z from 'zod';
import type { AgentSettings } from '../agent/settings.ts';
import type { ConfigProblem, JsonSchema } from '../host/plugin.ts';
import {
  checked,
  jsonSchema,
  parsed,
  path,
  recording,
  recordingSettings,
  variable,
} from './recording-config.ts';

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

function commonKeys(environment: AgentSettings['environment']) {
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

/** The configuration of one dialect. */
export type DialectConfig<S extends z.ZodRawShape> = {
  readonly schema: JsonSchema;
  /** With a project, also what is named and not there. */
  problems(given: unknown, project?: string): readonly ConfigProblem[];
  /** Throws `ConfigurationError`. */
  read(given: unknown, projectDirectory: string): DialectSettings<S>;
};

type DialectSettings<S extends z.ZodRawShape> = {
  readonly agent: AgentSettings;
  /** The keys of its own, with their defaults. */
  readonly own: z.output<z.ZodObject<S>>;
};

export function dialectConfig<S extends z.ZodRawShape>(
  environment: AgentSettings['environment'],
  shape: S,
): DialectConfig<S> {
  const common = z.strictObject(commonKeys(environment));
  const own = z.object(shape);
  const whole: z.ZodObject = z.strictObject({ ...commonKeys(environment), ...shape });
  return {
    schema: jsonSchema(whole),
    problems: (given, project) => checked(whole, given, project),
    read(given, projectDirectory) {
      const all: Readonly<Record<string, unknown>> = parsed(whole, given);
      const names = Object.keys(common.shape) as (keyof Common)[];
      const shared = common.parse(Object.fromEntries(names.map((name) => [name, all[name]])));
      return { agent: agentSettings(shared, projectDirectory), own: own.parse(all) };
    },
  };
}

function agentSettings(
  given: z.output<z.ZodObject<Common>>,
  projectDirectory: string,
): AgentSettings {
  return {
    recording: recordingSettings(given.recording, projectDirectory),
    workingDirectory: resolve(projectDirectory, given.working_directory ?? '.'),
    environment: given.environment,
    envOverrides: given.env_overrides,
    liveRunsMax: given.max_live_runs,
    onShutdown: given.on_shutdown,
  };
}
