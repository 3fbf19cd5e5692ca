// A model on loopback that says what a script tells it to, in the protocols of the agent programs,
// and keeps what it was sent. It has no clock and no state between requests but that record.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readMessages, writeMessages } from './anthropic.ts';
import { readChat, writeChat } from './chat.ts';
import { readGemini, writeGemini } from './gemini.ts';
import { type Json, object } from './json.ts';
import { readResponses, writeResponses } from './responses.ts';
import {
  type Conversation,
  fullName,
  markOf,
  replyTo,
  type Script,
  type ToolResult,
} from './script.ts';
import { json } from './sse.ts';

export class ScriptedModel {
  /** Requests that were not understood, as `METHOD path`: the clients' side errands. */
  readonly errands: string[] = [];
  readonly #conversations: Conversation[] = [];
  readonly #script: Script;
  readonly #server: Server;

  private constructor(script: Script) {
    this.#script = script;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(script: Script): Promise<ScriptedModel> {
    const model = new ScriptedModel(script);
    await new Promise<void>((resolve) => model.#server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The names of all tools that the prompt with this mark was offered. */
  tools(mark: string): string[] {
    return [...new Set(this.#of(mark).flatMap(({ tools }) => tools.map(fullName)))];
  }

  /** What the client answered to the calls of this prompt, in the order of the calls. */
  results(mark: string): ToolResult[] {
    const byId = new Map(
      this.#of(mark).flatMap(({ results }) => results.map((one) => [one.id, one])),
    );
    return [...byId.values()].filter(({ id }) => id.startsWith(`call_${mark}_`));
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #of(mark: string): Conversation[] {
    return this.#conversations.filter((one) => markOf(one) === mark);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://model');
    const body = await bodyOf(request);
    const reply = (conversation: Conversation) => {
      this.#conversations.push(conversation);
      return replyTo(conversation, this.#script);
    };
    if (pathname.endsWith('/messages')) {
      writeMessages(response, body, await reply(readMessages(body)));
    } else if (pathname.endsWith('/chat/completions')) {
      writeChat(response, body, await reply(readChat(body)));
    } else if (pathname.endsWith('/responses')) {
      writeResponses(response, await reply(readResponses(body)));
    } else if (/:(stream)?generateContent$/i.test(pathname)) {
      writeGemini(response, pathname, await reply(readGemini(body)));
    } else if (/count_?tokens$/i.test(pathname)) {
      json(response, { input_tokens: 1, totalTokens: 1 });
    } else {
      this.errands.push(`${request.method} ${pathname}`);
      response.writeHead(404).end();
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  try {
    return object(JSON.parse(Buffer.concat(pieces).toString()));
  } catch {
    return {}; // no JSON: an errand
  }
}
