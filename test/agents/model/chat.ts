// OpenAI Chat Completions: POST /chat/completions, streamed or not.
import type { ServerResponse } from 'node:http';
import { type Json, list, object, plainText, text } from './json.ts';
import type { Conversation, Reply } from './script.ts';
import { events, json } from './sse.ts';

export function readChat(body: Json): Conversation {
  const messages = list(body.messages);
  return {
    prompts: messages
      .filter(({ role }) => role === 'user')
      .map(({ content }) => plainText(content)),
    answers: messages.filter(({ role }) => role === 'assistant').length,
    tools: list(body.tools).map((tool) => ({ name: text(object(tool.function).name) })),
    results: messages
      .filter(({ role }) => role === 'tool')
      .map((message) => ({
        id: text(message.tool_call_id),
        text: plainText(message.content),
        failed: false, // the protocol cannot say it
      })),
  };
}

export function writeChat(response: ServerResponse, body: Json, reply: Reply): void {
  const calls = reply.calls.map(({ id, name, input }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  const message = {
    role: 'assistant',
    content: reply.text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const reason = calls.length > 0 ? 'tool_calls' : 'stop';
  const head = { id: 'chat_1', created: 1, model: text(body.model) };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  if (body.stream !== true) {
    const choices = [{ index: 0, message, finish_reason: reason }];
    json(response, { ...head, object: 'chat.completion', choices, usage });
    return;
  }
  const chunk = { ...head, object: 'chat.completion.chunk' };
  events(
    response,
    [
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: reason }] },
      { ...chunk, choices: [], usage },
    ],
    '[DONE]',
  );
}
