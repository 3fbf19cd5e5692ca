// The tool of `phoenix_bash` as an agent sees it, to the letter of seed 002, its settings, and what
// one call of it asks for.

import * as z from 'zod';
import type { ToolDefinition } from '../../host/plugin.ts';
import { dialectConfig } from '../agent-config.ts';
import { type Args, commandOf } from '../arguments.ts';
import { description } from './words.ts';

const SECONDS_MAX = 24 * 60 * 60;

export const phoenixConfig = dialectConfig('agent', {
  timeout_seconds: z
    .int()
    .min(1)
    .max(SECONDS_MAX)
    .default(30)
    .describe('When a command is killed with all its processes.'),
  slow_timeout_seconds: z
    .int()
    .min(1)
    .max(SECONDS_MAX)
    .default(900)
    .describe('The same for a command with slow_ok.'),
  co_author: z
    .union([
      z.literal(false),
      z
        .string()
        .regex(/^[^\0-\x1f\x7f\\`]*[^\s\0-\x1f\x7f\\`]$/, 'must be one line without \\ and `'),
    ])
    .default('Phoenix <phoenix@exe.dev>')
    .describe('Who is named as co-author of commits; false for nobody.'),
});

export function bashTool(workingDirectory: string): ToolDefinition {
  return {
    name: 'bash',
    plain: true,
    description: description(workingDirectory),
    parameters: {
      type: 'object',
      required: ['command'],
      properties: {
        command: { type: 'string', description: 'Shell command to execute via bash -c' },
        slow_ok: {
          type: 'boolean',
          description: 'Use extended 15-minute timeout for builds, tests, installs',
        },
        background: {
          type: 'boolean',
          description: 'Run detached, return immediately with PID and output file',
        },
      },
      additionalProperties: false,
    },
  };
}

export type PhoenixCall = {
  readonly command: string;
  readonly background: boolean;
  /** When it is killed, if it is waited for. */
  readonly timeoutSeconds: number;
};

export type Deadlines = { readonly timeout_seconds: number; readonly slow_timeout_seconds: number };

/** `args` fit the schema. */
export function phoenixCall(args: Args, deadlines: Deadlines): PhoenixCall {
  return {
    command: commandOf(args),
    background: args.background === true,
    timeoutSeconds:
      args.slow_ok === true ? deadlines.slow_timeout_seconds : deadlines.timeout_seconds,
  };
}
