// Our tools in the shapes of Anthropic's SDK: for `messages.create`, where only the definition is
// sent, and for its tool runner, which also calls `run`. Nothing of the SDK is needed for it.

import type { AbortSignalLike, BashTool, ToolInput } from './bash-tool.ts';
import { answerOf, type Callable, type SchemaObject, schemaObject } from './shapes.ts';

export type AnthropicRunContext = {
  readonly toolUse?: { readonly id: string } | undefined;
  readonly signal?: AbortSignalLike | null | undefined;
};

export type AnthropicTool = {
  readonly type: 'custom';
  readonly name: string;
  readonly description: string;
  readonly input_schema: SchemaObject;
  /** Throws the text of an answer that is an error, for then the runner says so to the model. */
  run(input: ToolInput, context?: AnthropicRunContext): Promise<string>;
  parse(content: unknown): ToolInput;
};

export type AnthropicToolUse = {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
};

export type AnthropicToolResult = {
  type: 'tool_result';
  tool_use_id: string;
  content: string;
  is_error: boolean;
};

export function toAnthropicTools(tools: readonly BashTool[]): AnthropicTool[] {
  return tools.map((tool) => ({
    type: 'custom',
    name: tool.name,
    description: tool.description,
    input_schema: schemaObject(tool.inputSchema),
    ...runnable(tool),
  }));
}

/** What Anthropic's tool runner calls. */
export function runnable({ call }: Pick<BashTool, 'call'>): Pick<AnthropicTool, 'run' | 'parse'> {
  return {
    async run(input, context) {
      const options = { signal: context?.signal ?? undefined, toolCallId: context?.toolUse?.id };
      const { text, isError } = await call(input, options);
      if (isError) throw new Error(text);
      return text;
    },
    parse: (content) => content as ToolInput,
  };
}

/** Carries out a `tool_use` block: the `tool_result` to send back. */
export async function anthropicToolResult(
  tools: readonly Callable[],
  block: AnthropicToolUse,
  options: { readonly signal?: AbortSignalLike | undefined } = {},
): Promise<AnthropicToolResult> {
  const call = { signal: options.signal, toolCallId: block.id };
  const { text, isError } = await answerOf(tools, block.name, block.input, call);
  return { type: 'tool_result', tool_use_id: block.id, content: text, is_error: isError };
}
