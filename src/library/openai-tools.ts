// Our tools in the shapes of OpenAI's SDK: for chat completions, whose `runTools` also calls them,
// and for the Responses API. Nothing of the SDK is needed for it.

import { messageOf } from '../errors.ts';
import type { AbortSignalLike, BashTool, ToolInput } from './bash-tool.ts';
import {
  answerOf,
  type Callable,
  parsedArguments,
  type SchemaObject,
  schemaObject,
} from './shapes.ts';

/** The part of a runner that we use: it is aborted when its user gives up. */
export type OpenAIRunner = { readonly controller: { readonly signal: AbortSignalLike } };

export type OpenAITool = {
  type: 'function';
  function: {
    name: string;
    description: string;
    parameters: SchemaObject;
    function(input: ToolInput, runner?: OpenAIRunner): Promise<string>;
    parse(input: string): ToolInput;
  };
};

export type OpenAIResponsesTool = {
  type: 'function';
  name: string;
  description: string;
  parameters: SchemaObject;
  strict: false;
};

export type OpenAIFunctionCall = {
  readonly call_id: string;
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
};

export type OpenAIFunctionCallOutput = {
  type: 'function_call_output';
  call_id: string;
  output: string;
};

/** For `chat.completions.create` and `chat.completions.runTools`. */
export function toOpenAITools(tools: readonly BashTool[]): OpenAITool[] {
  return tools.map((tool) => ({
    type: 'function',
    function: {
      name: tool.name,
      description: tool.description,
      parameters: schemaObject(tool.inputSchema),
      function: (input, runner) => tool.execute(input, { signal: runner?.controller.signal }),
      parse: parsedArguments,
    },
  }));
}

/** For `responses.create`. */
export function toOpenAIResponsesTools(tools: readonly BashTool[]): OpenAIResponsesTool[] {
  return tools.map((tool) => ({
    type: 'function',
    name: tool.name,
    description: tool.description,
    parameters: schemaObject(tool.inputSchema),
    strict: false, // optional arguments stay optional
  }));
}

/** Carries out a `function_call` item: the `function_call_output` to send back. */
export async function openAIFunctionOutput(
  tools: readonly Callable[],
  call: OpenAIFunctionCall,
  options: { readonly signal?: AbortSignalLike | undefined } = {},
): Promise<OpenAIFunctionCallOutput> {
  const output = await outputOf(tools, call, options.signal);
  return { type: 'function_call_output', call_id: call.call_id, output };
}

async function outputOf(
  tools: readonly Callable[],
  call: OpenAIFunctionCall,
  signal: AbortSignalLike | undefined,
): Promise<string> {
  let input: ToolInput;
  try {
    input = parsedArguments(call.arguments);
  } catch (error) {
    return messageOf(error);
  }
  return (await answerOf(tools, call.name, input, { signal, toolCallId: call.call_id })).text;
}
