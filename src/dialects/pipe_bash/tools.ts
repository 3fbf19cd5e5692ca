// The tool of `pipe_bash` as an agent sees it, to the letter of seed 001, and what one call of it
// asks for. Of its arguments exactly one says what to do: the schema cannot say so, this file does.

import * as z from 'zod';
import type { ToolDefinition } from '../../host/plugin.ts';
import { dialectConfig, path } from '../agent-config.ts';
import { type Args, ArgumentError, commandOf } from '../arguments.ts';

const TIMEOUT_MS = 120_000; // seed 001
const TIMEOUT_MS_MAX = 3_600_000; // no client waits that long; what takes longer is checked on

/** Seed 001: nothing is withheld from commands, it is a trusted machine. */
export const pipeConfig = dialectConfig('inherit', {
  default_timeout_ms: z
    .int()
    .min(1)
    .max(TIMEOUT_MS_MAX)
    .default(TIMEOUT_MS)
    .describe('How long a command is waited for before it goes on in the background.'),
  background_notice: z
    .enum(['partial', 'compact'])
    .default('partial')
    .describe('partial: up to 2000 lines of each stream; compact: 500 of stdout, 100 of stderr.'),
  cr: z
    .enum(['keep', 'overwrite'])
    .default('keep')
    .describe(
      'overwrite: of a line written over by carriage returns only the last state is shown.',
    ),
  offload_directory: path
    .nullable()
    .default(null)
    .describe('Where pipe-bash-<hex>.log files go; null is the capture of the run.'),
});

export function bashTool(timeoutMs: number): ToolDefinition {
  return {
    name: 'bash',
    plain: true,
    description:
      'Execute a bash command. Output truncated to last 2000 lines or 50KB; if truncated, full ' +
      'output saved to temp file. Commands exceeding timeout are auto-backgrounded.',
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', description: 'The bash command to execute' },
        timeout: {
          type: 'integer',
          minimum: 1,
          maximum: TIMEOUT_MS_MAX,
          description: `Timeout in ms before auto-backgrounding (default: ${timeoutMs})`,
        },
        check_pid: {
          type: 'integer',
          minimum: 1,
          description: 'Check on a backgrounded process, return new output',
        },
        kill_pid: {
          type: 'integer',
          minimum: 1,
          description: 'Kill a backgrounded process, return final output',
        },
      },
      additionalProperties: false,
    },
  };
}

export type PipeCall =
  | { readonly kind: 'run'; readonly command: string; readonly timeoutMs: number }
  | { readonly kind: 'check'; readonly pid: number }
  | { readonly kind: 'kill'; readonly pid: number };

/** `args` fit the schema. Throws an `ArgumentError` for what cannot be meant together. */
export function pipeCall(args: Args, defaultTimeoutMs: number): PipeCall {
  const asked = ['command', 'check_pid', 'kill_pid'].filter((name) => args[name] !== undefined);
  const [what] = asked;
  if (what === undefined || asked.length > 1) {
    const given = what === undefined ? 'none of them was' : `${asked.join(' and ')} were`;
    throw new ArgumentError(
      `bash needs exactly one of command, check_pid and kill_pid; ${given} given.`,
    );
  }
  const { timeout = defaultTimeoutMs } = args;
  if (what === 'command') {
    return { kind: 'run', command: commandOf(args), timeoutMs: Number(timeout) };
  }
  if (args.timeout !== undefined) {
    throw new ArgumentError(`timeout belongs to command; ${what} does not wait.`);
  }
  return { kind: what === 'check_pid' ? 'check' : 'kill', pid: Number(args[what]) };
}
