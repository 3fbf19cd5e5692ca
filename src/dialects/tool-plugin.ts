// How a plugin of ours answers a call: the tool is looked up, its arguments are checked, and an
// error becomes a sentence. Loads nothing that runs commands: derun only reads.

import { AppError, isAppError } from '../errors.ts';
import type { CallContext, Plugin, ToolDefinition, ToolResult } from '../host/plugin.ts';
import type { Health, StopCause } from '../types.ts';
import { type Args, ArgumentError, checkedArguments } from './arguments.ts';

export abstract class ToolPlugin implements Plugin {
  abstract getTools(): readonly ToolDefinition[];

  abstract healthCheck(): Promise<Health>;

  /** `args` are checked. */
  protected abstract respond(tool: string, args: Args, context: CallContext): Promise<ToolResult>;

  async initialize(): Promise<void> {}

  stopping(_cause: StopCause): void {}

  async shutdown(): Promise<void> {}

  async onConfigReload(_config: unknown): Promise<void> {}

  async callTool(name: string, args: Args, context: CallContext): Promise<ToolResult> {
    try {
      const tool = this.getTools().find((one) => one.name === name);
      if (tool === undefined) throw new AppError('usage', this.unknownTool(name));
      return await this.respond(name, this.checked(tool, args), context);
    } catch (error) {
      return this.failure(error);
    }
  }

  protected unknownTool(name: string): string {
    return `Unknown tool: ${name}`;
  }

  /** Throws `ArgumentError`. */
  protected checked(tool: ToolDefinition, args: Args): Args {
    return checkedArguments(tool, args);
  }

  /** The answer to a call that could not be carried out. Throws what is a defect of ours. */
  protected failure(error: unknown): ToolResult {
    if (error instanceof ArgumentError) return failed(error.message);
    if (!isAppError(error)) throw error;
    const { message, hint } = error;
    const success = error.code === 'policy_denied' && this.refusalIsAnswer;
    return { success, text: hint === undefined ? message : `${message} ${hint}` };
  }

  /** Whether a refusal by the policy is an answer; models trained on a tool know it as an error. */
  protected get refusalIsAnswer(): boolean {
    return false;
  }
}

/** The call could not be carried out. */
export function failed(text: string): ToolResult {
  return { success: false, text };
}
