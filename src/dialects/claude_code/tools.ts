// The tools of `claude_code` as their callers see them: the names and parameters of Claude Code's
// shell tools, described in our own words with the limits that are in force.

import type { JsonSchema, ToolDefinition } from '../../host/plugin.ts';

export const TASK_WAIT_MS_DEFAULT = 30_000;
const TASK_WAIT_MS_MAX = 600_000;

export type ClaudeLimits = {
  readonly default_timeout_ms: number;
  readonly max_timeout_ms: number;
  readonly on_timeout: 'kill' | 'background';
  readonly max_output_chars: number;
  readonly keep_directory: boolean;
};

export function claudeTools(limits: ClaudeLimits): readonly ToolDefinition[] {
  return [
    tool('Bash', bashDescription(limits), {
      required: ['command'],
      properties: {
        command: text('the command to run'),
        timeout: {
          type: 'number',
          minimum: 1,
          description: `milliseconds, at most ${limits.max_timeout_ms}`,
        },
        description: text('what the command does, in 5 to 10 words'),
        run_in_background: {
          type: 'boolean',
          description: 'true: do not wait for it; read it with BashOutput',
        },
      },
    }),
    tool('BashOutput', OUTPUT, {
      required: ['bash_id'],
      properties: {
        bash_id: text('the id of the background shell, as Bash gave it'),
        filter: text('a regular expression: only lines that match are shown, the others are gone'),
      },
    }),
    tool('KillShell', 'Ends a background shell and everything it started, by its id.', {
      required: ['shell_id'],
      properties: { shell_id: text('the id of the background shell to end') },
    }),
    tool('TaskOutput', TASK_OUTPUT, {
      required: ['task_id'],
      properties: {
        task_id: text('the id of the background shell, as Bash gave it'),
        block: { type: 'boolean', default: true, description: 'whether to wait for its end' },
        timeout: {
          type: 'number',
          minimum: 0,
          maximum: TASK_WAIT_MS_MAX,
          default: TASK_WAIT_MS_DEFAULT,
          description: 'how long to wait, in milliseconds',
        },
      },
    }),
    tool('TaskStop', 'Ends a background shell: KillShell under its newer name.', {
      properties: {
        task_id: text('the id of the background shell to end'),
        shell_id: text('the same under its older name'),
      },
    }),
  ];
}

function bashDescription(limits: ClaudeLimits): string {
  const { default_timeout_ms, max_timeout_ms, on_timeout, max_output_chars, keep_directory } =
    limits;
  const over =
    on_timeout === 'kill'
      ? 'A command whose time is over is ended, and what it has printed is shown.'
      : 'A command whose time is over goes on as a background shell.';
  return [
    'Runs a command in bash and gives its output, standard error included.',
    keep_directory
      ? 'The directory it ends in is where the next one starts; variables are not kept.'
      : 'Each command starts in the same directory; nothing is kept between them.',
    `timeout: milliseconds, ${default_timeout_ms} if not given, at most ${max_timeout_ms}.`,
    over,
    `Of more than ${max_output_chars} characters the middle is left out; all of it is in a file.`,
    'Nothing can be typed into it: standard input is empty.',
    'With run_in_background it is not waited for: BashOutput shows what is new, KillShell ends it.',
  ].join('\n');
}

const OUTPUT = `Shows what a background shell has printed since this was last asked, and its status.
With filter, only the lines that match; a line that does not match is not shown later, either.`;

const TASK_OUTPUT = `Shows the status of a background shell and its output so far: all, or its end.
Waits for its end, unless block is false; at most timeout milliseconds.`;

function tool(
  name: string,
  description: string,
  schema: { readonly properties: JsonSchema; readonly required?: readonly string[] },
): ToolDefinition {
  const reads = name === 'BashOutput' || name === 'TaskOutput';
  return {
    name,
    plain: true,
    description,
    parameters: { type: 'object', additionalProperties: false, ...schema },
    annotations: reads
      ? { readOnlyHint: true, openWorldHint: false }
      : { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  };
}

function text(description: string): JsonSchema {
  return { type: 'string', description };
}
