// OpenAI Responses: POST /responses, always streamed.
import type { ServerResponse } from 'node:http';
import { type Json, list, plainText, text } from './json.ts';
import type { Conversation, OfferedTool, Reply } from './script.ts';
import { events } from './sse.ts';

const CALL = /^(function_call|custom_tool_call)$/;
const OUTPUT = /^(function_call_output|custom_tool_call_output)$/;

export function readResponses(body: Json): Conversation {
  const items = list(body.input);
  return {
    prompts: items.filter(({ role }) => role === 'user').map(({ content }) => plainText(content)),
    answers: items.filter((item, index) => isCall(item) && !isCall(items[index - 1])).length,
    tools: list(body.tools).flatMap(toolsOf),
    results: items
      .filter(({ type }) => OUTPUT.test(text(type)))
      .map((item) => ({ id: text(item.call_id), text: plainText(item.output), failed: false })),
  };
}

function isCall(item: Json | undefined): boolean {
  return CALL.test(text(item?.type));
}

function toolsOf(tool: Json): OfferedTool[] {
  if (tool.type !== 'namespace') return [{ name: text(tool.name) }];
  return list(tool.tools).map(({ name }) => ({ name: text(name), namespace: text(tool.name) }));
}

export function writeResponses(response: ServerResponse, reply: Reply): void {
  const items = [
    ...(reply.text === '' ? [] : [message(reply.text)]),
    ...reply.calls.map(({ id, name, namespace, input }) => ({
      type: 'function_call',
      id: `item_${id}`,
      call_id: id,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      arguments: JSON.stringify(input),
      status: 'completed',
    })),
  ];
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const whole = { id: 'resp_1', object: 'response', status: 'completed', output: items, usage };
  events(response, [
    { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
    ...items.flatMap((item, index) => [
      { type: 'response.output_item.added', output_index: index, item },
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    { type: 'response.completed', response: whole },
  ]);
}

function message(words: string): Json {
  const content = [{ type: 'output_text', text: words, annotations: [] }];
  return { type: 'message', id: 'item_text', role: 'assistant', status: 'completed', content };
}
