// Gemini: POST /v1beta/models/NAME:generateContent and :streamGenerateContent.
import type { ServerResponse } from 'node:http';
import { type Json, list, object, text } from './json.ts';
import type { Conversation, Reply } from './script.ts';
import { events, json } from './sse.ts';

export function readGemini(body: Json): Conversation {
  const contents = list(body.contents);
  const parts = contents.flatMap((content) => list(content.parts));
  return {
    prompts: contents
      .filter(({ role }) => role === 'user')
      .flatMap((content) => list(content.parts).map((part) => text(part.text))),
    answers: contents.filter(
      ({ role, parts }) => role === 'model' && list(parts).some((part) => 'functionCall' in part),
    ).length,
    tools: list(body.tools)
      .flatMap((tool) => list(tool.functionDeclarations))
      .map(({ name }) => ({ name: text(name) })),
    results: parts
      .filter((part) => 'functionResponse' in part)
      .map((part) => object(part.functionResponse))
      .map(({ id, response }) => ({
        id: text(id),
        text: text(object(response).output) || text(object(response).error),
        failed: 'error' in object(response),
      })),
  };
}

export function writeGemini(response: ServerResponse, path: string, reply: Reply): void {
  const parts = [
    ...(reply.text === '' ? [] : [{ text: reply.text }]),
    ...reply.calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } })),
  ];
  const answer = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    modelVersion: 'scripted',
  };
  if (path.includes(':stream')) events(response, [answer]);
  else json(response, answer);
}
