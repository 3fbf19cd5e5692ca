// Anthropic Messages: POST /v1/messages, streamed as server-sent events.
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Json, list, object, plainText, text } from './json.ts';
import type { Conversation, Reply } from './script.ts';
import { events, json } from './sse.ts';

export function readMessages(body: Json): Conversation {
  const messages = list(body.messages);
  const blocks = messages.flatMap((message) => list(message.content));
  return {
    prompts: messages
      .filter(({ role }) => role === 'user')
      .flatMap(({ content }) =>
        typeof content === 'string'
          ? [content]
          : list(content)
              .filter((block) => block.type === 'text')
              .map((block) => text(block.text)),
      ),
    answers: messages.filter(({ role }) => role === 'assistant').length,
    tools: list(body.tools).map((tool) => ({ name: text(tool.name) })),
    results: blocks
      .filter((block) => block.type === 'tool_result')
      .map((block) => ({
        id: text(block.tool_use_id),
        text: plainText(block.content),
        failed: block.is_error === true,
      })),
  };
}

export function writeMessages(response: ServerResponse, body: Json, reply: Reply): void {
  const stop = reply.calls.length > 0 ? 'tool_use' : 'end_turn';
  const blocks = [
    ...(reply.text === '' ? [] : [{ type: 'text', text: reply.text }]),
    ...reply.calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
  ];
  const message = {
    id: `msg_${randomUUID()}`, // Claude Code takes messages of one id for one message
    type: 'message',
    role: 'assistant',
    model: text(body.model),
    content: blocks,
    stop_reason: stop,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  if (body.stream !== true) {
    json(response, message);
    return;
  }
  const start = { ...message, content: [], stop_reason: null };
  events(response, [
    { type: 'message_start', message: start },
    ...blocks.flatMap((block, index) => blockEvents(block, index)),
    {
      type: 'message_delta',
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: 1 },
    },
    { type: 'message_stop' },
  ]);
}

function blockEvents(block: Json, index: number): Json[] {
  const words = text(block.text);
  const [empty, delta] =
    block.type === 'text'
      ? [
          { ...block, text: '' },
          { type: 'text_delta', text: words },
        ]
      : [
          { ...block, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(object(block.input)) },
        ];
  return [
    { type: 'content_block_start', index, content_block: empty },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ];
}
