// What the shapes of all model APIs have in common: a schema as plain data, and a call that names
// its tool.

import type { BashTool, InputSchema, ToolAnswer, ToolCallOptions, ToolInput } from './bash-tool.ts';

/** An `InputSchema` that may be written to, as the types of other packages want it. */
export type SchemaObject = {
  type: 'object';
  properties?: Record<string, never>;
  required?: string[];
  [key: string]: unknown;
};

/** A copy: what somebody else does to it changes nothing here. */
export function schemaObject(schema: InputSchema): SchemaObject {
  return structuredClone(schema) as SchemaObject;
}

/** What of a tool is needed to call it by name. */
export type Callable = Pick<BashTool, 'name' | 'call'>;

/** What the tool of that name answers; a name that is none of theirs is an answer, too. */
export async function answerOf(
  tools: readonly Callable[],
  name: string,
  input: unknown,
  options: ToolCallOptions,
): Promise<ToolAnswer> {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) {
    const names = tools.map((one) => one.name).join(', ');
    return { text: `There is no tool '${name}'; there are ${names}.`, isError: true };
  }
  return tool.call(input as ToolInput, options);
}

/** Arguments as a model wrote them. Throws a sentence for the model. */
export function parsedArguments(text: string): ToolInput {
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '{}' : text);
  } catch (error) {
    throw new Error(
      `The arguments are no JSON: ${error instanceof Error ? error.message : error}.`,
    );
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as ToolInput;
  }
  throw new Error('The arguments must be a JSON object.');
}
