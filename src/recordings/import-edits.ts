// The files that agents edited with their own tools, out of transcripts: facts beside the entries
// of the session, without content and without hashes, which no transcript has. Each is kept once.

import { resolve } from 'node:path';
import type { BesideEnv } from '../journal/beside.ts';
import { appendEdits, type EditRecord, readEdits } from '../journal/edits.ts';
import { entryTimestamp } from '../journal/entry.ts';
import type { Redactor } from '../text/redact.ts';
import { sessionsSince } from './sessions.ts';
import type { TranscriptEdit } from './transcripts/call.ts';

const WAITING_MAX = 200_000; // they are small, and written when all sessions are there

export class EditImport {
  readonly #directory: string;
  readonly #env: BesideEnv;
  readonly #known: ReadonlySet<string>;
  /** By the key of the agent's session. */
  readonly #waiting = new Map<string, EditRecord[]>();
  count = 0;

  constructor(directory: string, since: number | undefined, env: BesideEnv) {
    this.#directory = directory;
    this.#env = env;
    const ids = sessionsSince(directory, since);
    this.#known = new Set(ids.flatMap((id) => readEdits(directory, id).map(keyOf)));
  }

  /** `at`: when it was, for a transcript that does not say. */
  add(edit: TranscriptEdit, at: number, redact: Redactor): void {
    const record = recordOf(edit, at, redact);
    if (this.#known.has(keyOf(record)) || this.count >= WAITING_MAX) return;
    const key = `${edit.agent}\0${edit.session}`;
    const waiting = this.#waiting.get(key) ?? [];
    waiting.push(record);
    this.#waiting.set(key, waiting);
    this.count += 1;
  }

  /** `sessionOf`: the journal's session for the agent's; without one the edits are not kept. */
  async write(sessionOf: (key: string) => string | undefined): Promise<void> {
    for (const [key, edits] of this.#waiting) {
      const id = sessionOf(key);
      if (id === undefined) this.count -= edits.length;
      else await appendEdits(this.#directory, id, edits, this.#env);
    }
    this.#waiting.clear();
  }
}

function keyOf({ conversation_id, tool_call_id, path }: EditRecord): string {
  return `${conversation_id}\0${tool_call_id}\0${path}`;
}

function recordOf(edit: TranscriptEdit, at: number, redact: Redactor): EditRecord {
  const { agent, sidechain } = edit;
  return {
    timestamp: entryTimestamp(edit.at ?? at),
    tool: edit.tool,
    path: redact(resolve(edit.cwd ?? '/', edit.path)),
    lines_added: edit.added,
    lines_removed: edit.removed,
    hash_before: null,
    hash_after: null,
    failed: false,
    agent_id: sidechain === undefined ? agent : `${agent}:${sidechain}`,
    conversation_id: edit.session,
    tool_call_id: edit.call,
  };
}
