/// <reference lib="esnext.disposable" preserve="true" />
// Anthropic's own bash tool, `bash_20250124`: the model knows it without a schema, and expects a
// shell that persists between calls.

import type { AgentShell } from '../agent/agent-shell.ts';
import { isAppError } from '../errors.ts';
import { openAgentHouse } from './agent-house.ts';
import { type AnthropicTool, runnable } from './anthropic-tools.ts';
import type { BashTool, HouseOptions, ToolAnswer } from './bash-tool.ts';
import {
  codeLines,
  endLines,
  joined,
  OUTPUT_BYTES_MAX,
  outputText,
  TIMEOUT_MS_DEFAULT,
  unrecordedLines,
} from './command-words.ts';
import { type PersistentRun, PersistentShell } from './persistent-shell.ts';

export type AnthropicBashOptions = HouseOptions & {
  /** After this time a command is ended with everything it started. 120,000 by default. */
  readonly timeoutMs?: number;
  /** Of the output in one answer. 30,000 by default. */
  readonly outputBytesMax?: number;
};

/**
 * Goes into `tools` of `messages.create`, where only `type` and `name` are sent, and of the tool
 * runner, which calls `run`.
 */
export type AnthropicBash = Pick<BashTool, 'call' | 'close' | typeof Symbol.asyncDispose> &
  Pick<AnthropicTool, 'run' | 'parse'> & {
    readonly type: 'bash_20250124';
    readonly name: 'bash';
  };

/** Throws an `AppError` with the code `settings_invalid`. */
export function createAnthropicBash(options: AnthropicBashOptions = {}): AnthropicBash {
  const { timeoutMs = TIMEOUT_MS_DEFAULT, outputBytesMax = OUTPUT_BYTES_MAX } = options;
  const house = openAgentHouse('anthropic_bash', options);
  let persistent: PersistentShell | undefined;

  const words = (shell: AgentShell, ran: PersistentRun): string => {
    const { run, finished, lostDirectory, stateLost } = ran;
    const output = outputText(shell, run.id, { channel: 'all', bytesMax: outputBytesMax });
    const lost = `[${lostDirectory} is gone; this command ran in ${run.cwd}]`;
    return joined(output, [
      ...codeLines(finished),
      ...endLines(shell, run, finished, timeoutMs),
      ...(lostDirectory === undefined ? [] : [lost]),
      ...(stateLost ? ['[what this command changed in the shell was not kept]'] : []),
      ...unrecordedLines(finished, house.recording),
    ]);
  };

  const call: AnthropicBash['call'] = (input, callOptions) =>
    house.during(callOptions, async (shell, caller): Promise<ToolAnswer> => {
      const { command, restart } = input;
      const text = typeof command === 'string' && command.trim() !== '' ? command : undefined;
      if (restart !== true && text === undefined) {
        return { text: 'command is required: the bash command to run.', isError: true };
      }
      persistent ??= new PersistentShell(shell);
      if (restart === true) await persistent.restart();
      if (text === undefined) return { text: 'The shell was restarted.', isError: false };
      try {
        const ran = await persistent.run(text, timeoutMs, caller);
        const { outcome, endedBy } = ran.finished.ended;
        const isError = outcome.kind === 'failed' || endedBy !== 'itself';
        return { text: words(shell, ran), isError };
      } catch (error) {
        if (isAppError(error)) return { text: error.message, isError: true };
        throw error;
      }
    });

  const close = async (): Promise<void> => {
    await house.close();
    persistent?.close();
  };

  return {
    type: 'bash_20250124',
    name: 'bash',
    call,
    ...runnable({ call }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
