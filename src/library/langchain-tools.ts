// Our tools as LangChain's, made by LangChain's own class, which the caller hands over: so that
// `bindTools`, agents and tool nodes take them for what they are.

import type { AbortSignalLike, BashTool, ToolInput } from './bash-tool.ts';
import { type SchemaObject, schemaObject } from './shapes.ts';

export type LangChainConfig = {
  readonly signal?: AbortSignalLike | undefined;
  readonly toolCall?: { readonly id?: string | undefined } | undefined;
};

export type LangChainToolFields = {
  name: string;
  description: string;
  schema: SchemaObject;
  func(input: ToolInput, runManager?: unknown, config?: LangChainConfig): Promise<string>;
};

/** `toLangChainTools(tools, DynamicStructuredTool)`, with the class of `@langchain/core/tools`. */
export function toLangChainTools<T>(
  tools: readonly BashTool[],
  DynamicStructuredTool: new (fields: LangChainToolFields) => T,
): T[] {
  return tools.map(
    (tool) =>
      new DynamicStructuredTool({
        name: tool.name,
        description: tool.description,
        schema: schemaObject(tool.inputSchema),
        func: (input, _runManager, config) =>
          tool.execute(input, { signal: config?.signal, toolCallId: config?.toolCall?.id }),
      }),
  );
}
