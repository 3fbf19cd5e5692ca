// Seed 004's dialect: four tools that find captures and read their output, live or later. It only
// reads. Every answer has its schema version; whatever is wrong with a call is one line that does
// not change.

import { isAppError, messageOf } from '../../errors.ts';
import type {
  CallContext,
  ConfigProblem,
  JsonSchema,
  Resource,
  ResourceTemplate,
  Services,
  ToolDefinition,
  ToolResult,
} from '../../host/plugin.ts';
import { READ_BYTES_DEFAULT } from '../../limits.ts';
import {
  type Capture,
  listing,
  openCapture,
  type Store,
  unreadNote,
} from '../../shell/captures.ts';
import { decryption } from '../../shell/decryption.ts';
import { OutputReader } from '../../shell/output/reader.ts';
import { openStore } from '../../shell/store.ts';
import { printable } from '../../text/printable.ts';
import type { Health } from '../../types.ts';
import { ToolPlugin } from '../tool-plugin.ts';
import { type Args, cursorOf, oneOf, refuseUnknown, sessionIdOf, wholeNumberOf } from './args.ts';
import { BYTES_MAX, type Question, readChunks, waitForChunks } from './output.ts';
import { sessionDetails, sessionRow } from './shapes.ts';
import {
  ENCODINGS,
  LIST_DEFAULT,
  LIST_MAX,
  STATES,
  TOOLS,
  WAIT_MS_DEFAULT,
  WAIT_MS_MAX,
} from './tools.ts';

const SCHEMA_VERSION = 'v1alpha1';

const OUTPUT_URI = /^cuff:\/\/sessions\/([^/?#]+)\/output$/;

type Answer = Readonly<Record<string, unknown>>;

export class DerunPlugin extends ToolPlugin {
  static readonly pluginVersion = '1.0.0';
  static readonly configSchema: JsonSchema = { type: 'object', additionalProperties: false };

  /** It has no settings. */
  static checkConfig(config: unknown): readonly ConfigProblem[] {
    if (config === undefined || config === null) return [];
    if (typeof config !== 'object' || Array.isArray(config)) {
      return [{ path: [], message: 'must be a mapping' }];
    }
    return Object.keys(config).map((key) => ({ path: [key], message: 'derun has no settings' }));
  }

  readonly #store: Store;

  constructor(_config: unknown, services: Pick<Services, 'stateRoot' | 'now'>) {
    super();
    const decrypt = decryption(process.env);
    this.#store = { ...openStore(services.stateRoot), now: services.now, decrypt };
  }

  async healthCheck(): Promise<Health> {
    try {
      listing(this.#store, { limit: 1 });
      return { healthy: true, reasons: [] };
    } catch (error) {
      return { healthy: false, reasons: [`The captures cannot be listed: ${wordsOf(error)}.`] };
    }
  }

  getTools(): readonly ToolDefinition[] {
    return TOOLS;
  }

  protected override unknownTool(name: string): string {
    return `unknown tool derun_${printable(name)}`;
  }

  protected override checked({ parameters }: ToolDefinition, args: Args): Args {
    refuseUnknown(args, Object.keys(parameters.properties ?? {}));
    return args;
  }

  protected async respond(tool: string, args: Args, context: CallContext): Promise<ToolResult> {
    const answer = { schema_version: SCHEMA_VERSION, ...(await this.#answer(tool, args, context)) };
    return { success: true, text: JSON.stringify(answer), structured: answer };
  }

  /** Whatever is wrong is an answer. */
  protected override failure(error: unknown): ToolResult {
    const text = wordsOf(error);
    const structured = { schema_version: SCHEMA_VERSION, error: text };
    return { success: false, text, structured };
  }

  getResources(): readonly ResourceTemplate[] {
    return [
      {
        uriTemplate: 'cuff://sessions/{id}/output',
        name: 'Output of a session',
        description: 'What a session printed, as text: all of it, or its end when that is long.',
        mimeType: 'text/plain',
      },
    ];
  }

  async readResource(uri: string): Promise<Resource | undefined> {
    const id = OUTPUT_URI.exec(uri)?.[1];
    if (id === undefined) return undefined;
    try {
      const text = outputText(this.#store, openCapture(this.#store, id));
      return { uri, mimeType: 'text/plain', text };
    } catch (error) {
      // A wrong address is the caller's mistake, not trouble of ours.
      if (wordsOf(error) === 'session not found') return undefined;
      throw error;
    }
  }

  #answer(name: string, args: Args, { signal }: CallContext): Answer | Promise<Answer> {
    if (name === 'list_sessions') return this.#list(args);
    if (name === 'get_session') return this.#get(args);
    if (name === 'read_output') return this.#read(args);
    return this.#wait(args, signal);
  }

  #list(args: Args): Answer {
    const state = oneOf(args, 'state', STATES);
    const range = { least: 1, most: LIST_MAX, fallback: LIST_DEFAULT };
    const limit = wholeNumberOf(args, 'limit', range);
    const filter = state === undefined ? { limit } : { limit, state };
    const { captures, more } = listing(this.#store, filter);
    return { sessions: captures.map(sessionRow), more };
  }

  #get(args: Args): Answer {
    const capture = openCapture(this.#store, sessionIdOf(args));
    return sessionDetails(capture, OutputReader.of(capture).end);
  }

  #read(args: Args): Answer {
    const question = questionOf(args, '0');
    const range = { least: 1, most: BYTES_MAX, fallback: READ_BYTES_DEFAULT };
    const maxBytes = wholeNumberOf(args, 'max_bytes', range);
    return { session_id: question.id, ...readChunks(this.#store, { ...question, maxBytes }) };
  }

  async #wait(args: Args, signal: AbortSignal): Promise<Answer> {
    const question = questionOf(args);
    const range = { least: 0, most: WAIT_MS_MAX, fallback: WAIT_MS_DEFAULT };
    const timeoutMs = wholeNumberOf(args, 'timeout_ms', range);
    const output = await waitForChunks(this.#store, question, timeoutMs, signal);
    return { session_id: question.id, ...output };
  }
}

function questionOf(args: Args, cursor?: string): Question {
  return {
    id: sessionIdOf(args),
    cursor: cursorOf(args, cursor),
    maxBytes: READ_BYTES_DEFAULT,
    encoding: oneOf(args, 'encoding', ENCODINGS) ?? 'base64',
  };
}

/** Everything, or the last lines of what is too much for one answer. */
function outputText(store: Store, capture: Capture): string {
  const { end } = OutputReader.of(capture);
  const from = Math.max(0, end - BYTES_MAX);
  let cursor = from;
  let text = '';
  while (true) {
    const question = { id: capture.id, cursor, maxBytes: end - cursor, encoding: 'text' } as const;
    const { chunks, next_cursor, eof } = readChunks(store, question);
    text += chunks.map((chunk) => chunk.text).join('');
    cursor = Number(next_cursor);
    if (eof || cursor >= end || chunks.length === 0) break;
  }
  const unread = unreadNote(capture);
  if (unread !== undefined)
    text += `${text === '' || text.endsWith('\n') ? '' : '\n'}[${unread}]\n`;
  if (from === 0) return text;
  const lines = text.slice(text.indexOf('\n') + 1);
  return `[Only the end of ${end} bytes. Read the rest with derun_read_output.]\n${lines}`;
}

/** One line, whatever it is. What cannot be an id is the id of no session. */
function wordsOf(error: unknown): string {
  if (isAppError(error) && error.code === 'session_id_invalid') return 'session not found';
  return printable(messageOf(error));
}
