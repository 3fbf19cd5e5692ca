// The tools of `codex` as their callers see them: the names and parameters of Codex's unified exec,
// described in our own words with the limits that are in force.

import type { JsonSchema, ToolDefinition } from '../../host/plugin.ts';

export const EXEC_YIELD_MS = 10_000;
export const WRITE_YIELD_MS = 250;
export const YIELD_MS_MIN = 250;
export const YIELD_MS_MAX = 30_000;
/** A call that only looks waits longer, so that looking is not all an agent does. */
export const POLL_MS_MIN = 5_000;
export const POLL_MS_MAX = 300_000;

export type CodexLimits = {
  readonly max_output_tokens: number;
  readonly login: boolean;
};

export function codexTools({ max_output_tokens, login }: CodexLimits): readonly ToolDefinition[] {
  const tokens = {
    type: 'number',
    minimum: 1,
    description: `how much output may be shown; ${max_output_tokens} is the default and the most`,
  };
  return [
    {
      name: 'exec_command',
      plain: true,
      description: EXEC,
      parameters: {
        type: 'object',
        additionalProperties: false,
        required: ['cmd'],
        properties: {
          cmd: text('the shell command to run'),
          workdir: text('where to run it; the project unless it is given'),
          shell: text('the shell to run it with; bash unless it is given'),
          login: flag(`whether bash reads its login files first, ${login} unless it is given`),
          tty: flag(
            'true: with a terminal, so that write_stdin can type; false: standard input is empty',
          ),
          yield_time_ms: wait(
            `how long to wait for its end, ${EXEC_YIELD_MS} unless it is given, ` +
              `from ${YIELD_MS_MIN} to ${YIELD_MS_MAX}`,
          ),
          max_output_tokens: tokens,
        },
      },
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    },
    {
      name: 'write_stdin',
      plain: true,
      description: WRITE,
      parameters: {
        type: 'object',
        additionalProperties: false,
        required: ['session_id'],
        properties: {
          session_id: { type: 'number', description: 'the session ID that exec_command gave' },
          chars: text('what to type; nothing, to see only what is new'),
          yield_time_ms: wait(
            `how long to wait, ${WRITE_YIELD_MS} unless it is given and at most ${YIELD_MS_MAX}; ` +
              `without chars from ${POLL_MS_MIN} to ${POLL_MS_MAX}`,
          ),
          max_output_tokens: tokens,
        },
      },
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    },
  ];
}

const EXEC = `Runs a shell command and gives its output, standard error included.
A command that is not done when the wait is over goes on: write_stdin takes its session ID.
A token is four bytes. Of more output than may be shown the middle is left out.`;

const WRITE = `Types into a command that is still running, and shows what is new of its output.
Only a command with tty can be typed to. "\\u0003" interrupts it, and ends one without tty.`;

function text(description: string): JsonSchema {
  return { type: 'string', description };
}

function flag(description: string): JsonSchema {
  return { type: 'boolean', description };
}

function wait(description: string): JsonSchema {
  return { type: 'number', minimum: 0, description: `milliseconds: ${description}` };
}
