// Our tools as a ToolSet of the AI SDK. The schema is a Standard Schema that can give itself as
// JSON Schema; for releases that know only the SDK's own schemas it is one of these as well.

import type { AbortSignalLike, BashTool, ToolInput } from './bash-tool.ts';
import { type SchemaObject, schemaObject } from './shapes.ts';

type Validation =
  | { readonly value: ToolInput; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

export type StandardInputSchema = {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'cuff';
    readonly validate: (value: unknown) => Validation;
    readonly types?: { readonly input: unknown; readonly output: ToolInput } | undefined;
    readonly jsonSchema: {
      readonly input: () => SchemaObject;
      readonly output: () => SchemaObject;
    };
  };
};

export type AiSdkTool = {
  description: string;
  inputSchema: StandardInputSchema;
  /** Throws the text of an answer that is an error, for that is how the SDK knows one. */
  execute(
    input: ToolInput,
    options: {
      readonly toolCallId?: string | undefined;
      readonly abortSignal?: AbortSignalLike | undefined;
    },
  ): Promise<string>;
};

/** By name, for `generateText({ tools })` and its like. */
export function toAiSdkTools(tools: readonly BashTool[]): Record<string, AiSdkTool> {
  return Object.fromEntries(tools.map((tool) => [tool.name, aiSdkTool(tool)]));
}

function aiSdkTool(tool: BashTool): AiSdkTool {
  return {
    description: tool.description,
    inputSchema: standardSchema(schemaObject(tool.inputSchema)),
    async execute(input, options) {
      const { toolCallId, abortSignal: signal } = options;
      const { text, isError } = await tool.call(input, { toolCallId, signal });
      if (isError) throw failure(text);
      return text;
    },
  };
}

/** Without a name, which the SDK would put in front of what the model reads. */
function failure(text: string): Error {
  return Object.assign(new Error(text), { name: '' });
}

function standardSchema(schema: SchemaObject): StandardInputSchema {
  // The dialect checks the content: it has a sentence for each mistake.
  const validate = (value: unknown): Validation =>
    typeof value === 'object' && value !== null
      ? { value: value as ToolInput }
      : { issues: [{ message: 'The input must be an object.' }] };
  const own = {
    [Symbol.for('vercel.ai.schema')]: true,
    jsonSchema: schema,
    validate: (value: unknown) => {
      const { issues } = validate(value);
      if (issues === undefined) return { success: true, value };
      return { success: false, error: new Error(issues[0]?.message) };
    },
  };
  const jsonSchema = { input: () => schema, output: () => schema };
  return { ...own, '~standard': { version: 1, vendor: 'cuff', validate, jsonSchema } };
}
