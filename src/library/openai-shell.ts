/// <reference lib="esnext.disposable" preserve="true" />
// OpenAI's `shell` tool of the Responses API, carried out on this machine, and its predecessor
// `local_shell`. Every command is a fresh bash in the working directory, one after the other.

import { constants } from 'node:os';
import { isLost } from '../agent/aftermath.ts';
import type { AgentShell, Ending } from '../agent/agent-shell.ts';
import type { Caller } from '../agent/caller.ts';
import { isAppError } from '../errors.ts';
import { quoteWord } from '../text/printable.ts';
import { openAgentHouse } from './agent-house.ts';
import type { AbortSignalLike, HouseOptions } from './bash-tool.ts';
import {
  endLines,
  joined,
  OUTPUT_BYTES_MAX,
  outputText,
  runToEnd,
  TIMEOUT_MS_DEFAULT,
  unrecordedLines,
} from './command-words.ts';

export type OpenAIShellOptions = HouseOptions & {
  /** For calls that name none: after this time a call is ended. 120,000 by default. */
  readonly timeoutMs?: number;
  /** For calls that name none: how much of each stream is in the answer. 30,000 by default. */
  readonly outputBytesMax?: number;
};

/** An item `shell_call` of a response. */
export type OpenAIShellCall = {
  readonly type: 'shell_call';
  readonly call_id: string;
  readonly action: {
    readonly commands: readonly string[];
    readonly timeout_ms?: number | null | undefined;
    readonly max_output_length?: number | null | undefined;
  };
};

export type OpenAIShellOutput = {
  stdout: string;
  stderr: string;
  outcome: { type: 'exit'; exit_code: number } | { type: 'timeout' };
};

export type OpenAIShellCallOutput = {
  type: 'shell_call_output';
  call_id: string;
  max_output_length?: number | null;
  output: OpenAIShellOutput[];
};

/** An item `local_shell_call` of a response. */
export type OpenAILocalShellCall = {
  readonly type: 'local_shell_call';
  readonly call_id: string;
  readonly action: {
    readonly command: readonly string[];
    readonly env?: Readonly<Record<string, string>> | undefined;
    readonly timeout_ms?: number | null | undefined;
    readonly working_directory?: string | null | undefined;
  };
};

export type OpenAILocalShellCallOutput = {
  type: 'local_shell_call_output';
  id: string;
  /** An `OpenAIShellOutput` as JSON. */
  output: string;
};

type CallOptions = { readonly signal?: AbortSignalLike | undefined };

export type OpenAIShell = {
  /** For `tools` of `responses.create`. */
  readonly tool: { type: 'shell'; environment: { type: 'local' } };
  readonly localTool: { type: 'local_shell' };
  /** Carries out a call: the item to send back. Rejects with `cancelled` and `closed`. */
  run(call: OpenAIShellCall, options?: CallOptions): Promise<OpenAIShellCallOutput>;
  runLocal(call: OpenAILocalShellCall, options?: CallOptions): Promise<OpenAILocalShellCallOutput>;
  /** Ends what still runs and lets go. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Throws an `AppError` with the code `settings_invalid`. */
export function createOpenAIShell(options: OpenAIShellOptions = {}): OpenAIShell {
  const { timeoutMs = TIMEOUT_MS_DEFAULT, outputBytesMax = OUTPUT_BYTES_MAX } = options;
  const house = openAgentHouse('openai_shell', options);
  const limits = { bytesMax: outputBytesMax, recording: house.recording };
  return {
    tool: { type: 'shell', environment: { type: 'local' } },
    localTool: { type: 'local_shell' },
    run: ({ call_id, action }, given) =>
      house.during({ ...given, toolCallId: call_id }, async (shell, caller) => {
        const asked = action.max_output_length ?? undefined;
        const bytesMax = Math.min(asked ?? outputBytesMax, outputBytesMax);
        const deadline = performance.now() + (action.timeout_ms ?? timeoutMs);
        const output: OpenAIShellOutput[] = [];
        for (const command of action.commands) {
          const left = Math.ceil(deadline - performance.now());
          const one = { command, killAfterMs: Math.max(1, left) };
          const answer = await runOne(shell, caller, one, { ...limits, bytesMax });
          output.push(answer);
          if (answer.outcome.type === 'timeout' || caller.signal.aborted) break;
        }
        return {
          type: 'shell_call_output',
          call_id,
          ...(asked !== undefined && { max_output_length: asked }),
          output,
        };
      }),
    runLocal: ({ call_id, action }, given) =>
      house.during({ ...given, toolCallId: call_id }, async (shell, caller) => {
        const command = action.command.map(quoteWord).join(' ');
        const killAfterMs = action.timeout_ms ?? timeoutMs;
        const { env, working_directory: where } = action;
        const one = { command, killAfterMs, env, workingDirectory: where ?? undefined };
        const output = JSON.stringify(await runOne(shell, caller, one, limits));
        return { type: 'local_shell_call_output', id: call_id, output };
      }),
    close: house.close,
    [Symbol.asyncDispose]: house.close,
  };
}

type One = {
  readonly command: string;
  readonly killAfterMs: number;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly workingDirectory?: string | undefined;
};

type Limits = { readonly bytesMax: number; readonly recording: boolean };

async function runOne(
  shell: AgentShell,
  caller: Caller,
  one: One,
  limits: Limits,
): Promise<OpenAIShellOutput> {
  try {
    const asked = { ...one, chosen: { env: one.env } };
    const { run, finished } = await runToEnd(shell, asked, caller);
    const { bytesMax } = limits;
    const text = (channel: 'stdout' | 'stderr'): string =>
      outputText(shell, run.id, { channel, bytesMax });
    const facts = [
      ...endLines(shell, run, finished, one.killAfterMs),
      ...unrecordedLines(finished, limits.recording),
      ...caller.notes.splice(0),
    ];
    const stderr = facts.length === 0 ? text('stderr') : joined(text('stderr'), facts);
    return { stdout: text('stdout'), stderr, outcome: outcomeOf(finished) };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { stdout: '', stderr: error.message, outcome: { type: 'exit', exit_code: 126 } };
  }
}

function outcomeOf({ ended: { outcome, endedBy } }: Ending): OpenAIShellOutput['outcome'] {
  if (endedBy === 'timeout') return { type: 'timeout' };
  if (outcome.kind === 'exited') return { type: 'exit', exit_code: outcome.code };
  if (isLost(outcome)) return { type: 'exit', exit_code: -1 };
  // As a shell has it: 126 for what could not be started, 128 and more for signals.
  if (outcome.kind === 'failed') return { type: 'exit', exit_code: 126 };
  const number = constants.signals[outcome.signal as NodeJS.Signals] ?? 0;
  return { type: 'exit', exit_code: 128 + number };
}
