// The three tools of `bash_recorder` as their callers see them: seed 000's names, words and schema,
// with the limits of the settings. Also what is wrong with the arguments of a call, in a sentence.

import type { ToolDefinition } from '../../host/plugin.ts';
import { SHOWN_BYTES_MAX } from '../../recorder/ending.ts';
import type { RunRequest } from '../../recorder/recorder.ts';
import { type Args, ArgumentError, COMMAND_BYTES_MAX, refuseUnknown, shown } from '../arguments.ts';
import type { Timeouts } from './config.ts';

const RECENT_DEFAULT = 10;
const RECENT_MAX = 100;

export function recorderTools(limits: Timeouts): readonly ToolDefinition[] {
  const { defaultTimeoutSeconds, maxTimeoutSeconds } = limits;
  return [
    {
      name: 'execute',
      title: 'Execute a command',
      description: describeExecute(defaultTimeoutSeconds, maxTimeoutSeconds),
      parameters: {
        type: 'object',
        properties: {
          command: { type: 'string', description: 'The bash command to execute' },
          timeout: {
            type: 'integer',
            description: 'Timeout in seconds',
            default: defaultTimeoutSeconds,
            minimum: 1,
            maximum: maxTimeoutSeconds,
          },
          working_directory: { type: 'string', description: 'Directory to run command in' },
          description: {
            type: 'string',
            description: "Human-readable description of the command's purpose",
          },
        },
        required: ['command'],
        additionalProperties: false,
      },
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true,
      },
    },
    {
      name: 'session_info',
      title: 'The current recording session',
      description: 'Get information about the current recording session',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    {
      name: 'list_recent',
      title: 'Recent commands',
      description: 'List recent recordings (last N commands)',
      parameters: {
        type: 'object',
        properties: {
          count: {
            type: 'integer',
            description: 'How many commands',
            default: RECENT_DEFAULT,
            minimum: 1,
            maximum: RECENT_MAX,
          },
        },
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
  ];
}

function describeExecute(defaultSeconds: number, maxSeconds: number): string {
  return `Execute a bash command and record the execution.

This tool runs shell commands similar to the built-in bash tool, but records
all executions for audit, analysis, and policy generation.

Arguments:
- command (required): The bash command to execute
- timeout (optional): Timeout in seconds (default: ${defaultSeconds}, max: ${maxSeconds})
- working_directory (optional): Directory to run command in
- description (optional): Human-readable description of what this command does

Returns:
- stdout: Command standard output
- stderr: Command standard error
- exit_code: Command exit code
- timed_out: Whether command exceeded timeout
- duration_ms: Execution time in milliseconds
- recording_id: ID of the recording entry (for reference)
`;
}

type ExecuteCall = {
  readonly request: RunRequest;
  /** In seconds; a command may get less. */
  readonly timeoutAsked: number;
};

/** Throws `ArgumentError`. */
export function executeCall(args: Args, limits: Timeouts): ExecuteCall {
  refuseUnknown('execute', args, ['command', 'timeout', 'working_directory', 'description']);
  const command = text(args, 'command');
  if (command === undefined || command.trim() === '') {
    throw new ArgumentError('command is required: the bash command to execute.');
  }
  if (Buffer.byteLength(command) > COMMAND_BYTES_MAX) {
    throw new ArgumentError(
      `command may have ${COMMAND_BYTES_MAX} bytes: write it to a file and run that.`,
    );
  }
  const timeoutAsked =
    wholeNumber(args, 'timeout', 'a whole number of seconds') ?? limits.defaultTimeoutSeconds;
  const request = {
    command,
    killAfterMs: Math.min(timeoutAsked, limits.maxTimeoutSeconds) * 1000,
    workingDirectory: text(args, 'working_directory'),
    description: text(args, 'description'),
    headBytes: SHOWN_BYTES_MAX,
  };
  return { request, timeoutAsked };
}

/** Of a tool that takes none. Throws `ArgumentError`. */
export function refuseArguments(tool: string, args: Args): void {
  refuseUnknown(tool, args, []);
}

/** Throws `ArgumentError`. */
export function recentCount(args: Args): number {
  refuseUnknown('list_recent', args, ['count']);
  const count = wholeNumber(args, 'count', 'a whole number') ?? RECENT_DEFAULT;
  if (count > RECENT_MAX) {
    throw new ArgumentError(`count must be at most ${RECENT_MAX}, not ${count}.`);
  }
  return count;
}

/** Some clients say null for what they leave out. */
function given(args: Args, name: string): unknown {
  return args[name] ?? undefined;
}

function text(args: Args, name: string): string | undefined {
  const value = given(args, name);
  if (value === undefined) return undefined;
  if (typeof value !== 'string') {
    throw new ArgumentError(`${name} must be a string, not ${shown(value)}.`);
  }
  if (value.includes('\0')) throw new ArgumentError(`${name} must not contain a NUL character.`);
  return value;
}

function wholeNumber(args: Args, name: string, what: string): number | undefined {
  const value = given(args, name);
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw new ArgumentError(`${name} must be ${what} from 1 on, not ${shown(value)}.`);
}
