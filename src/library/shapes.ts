// Shared by the shapes of all model APIs: a schema as plain data, and a call that names its tool.

import { messageOf } from '../errors.ts';
import { asObject } from '../text/json.ts';
import type { BashTool, InputSchema, ToolAnswer, ToolCallOptions, ToolInput } from './bash-tool.ts';

/** An `InputSchema` that may be written to, as the types of other packages want it. */
export type SchemaObject = {
  type: 'object';
  properties?: Record<string, never>;
  required?: string[];
  [key: string]: unknown;
};

/** A copy, so that a caller cannot change ours. */
export function schemaObject(schema: InputSchema): SchemaObject {
  return structuredClone(schema) as SchemaObject;
}

/** The parts of a tool that are needed to call it by name. */
export type Callable = Pick<BashTool, 'name' | 'call'>;

/** The answer of the tool of that name; an unknown name is an answer that is an error. */
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
    throw new Error(`The arguments are no JSON: ${messageOf(error)}.`);
  }
  const object = asObject(value);
  if (object === undefined) throw new Error('The arguments must be a JSON object.');
  return object;
}
