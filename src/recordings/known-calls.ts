// Which calls of agents a journal has already: those that were imported before, and those that our
// shell, a hook or a server of ours recorded itself. An entry of ours always wins over the agent's
// own word, so a call that has one is not imported.

import type { Entry, EntryDraft } from '../types.ts';
import { sessionEntries, sessionsSince } from './sessions.ts';

// Between the line of a call and the start of its command lies whatever the agent does in between.
const SLACK_MS = 5_000;

export class KnownCalls {
  readonly #keys = new Set<string>();
  /** Starts of recorded commands that name no call, by session and command. */
  readonly #starts = new Map<string, number[]>();

  /** Reads the entries of sessions that were written to since then. */
  constructor(directory: string, since: number | undefined) {
    for (const id of sessionsSince(directory, since)) {
      for (const entry of sessionEntries(directory, id)) this.#add(entry);
    }
  }

  #add(entry: Entry): void {
    for (const key of keysOf(entry)) this.#keys.add(key);
    if (entry.tool_call_id !== null) return;
    const key = entry.conversation_id === null ? unnamedKey(entry) : sessionKey(entry);
    const starts = this.#starts.get(key) ?? [];
    starts.push(Date.parse(entry.timestamp));
    this.#starts.set(key, starts);
  }

  /** True for a call that has an entry; an entry without the id of a call stands for one call. */
  has(draft: EntryDraft): boolean {
    if (keysOf(draft).some((key) => this.#keys.has(key))) return true;
    return this.#take(sessionKey(draft), draft) || this.#take(unnamedKey(draft), draft);
  }

  #take(key: string, draft: EntryDraft): boolean {
    const starts = this.#starts.get(key);
    if (starts === undefined) return false;
    const from = Date.parse(draft.timestamp) - SLACK_MS;
    const to = from + draft.duration_ms + 2 * SLACK_MS;
    const at = starts.findIndex((start) => start >= from && start <= to);
    if (at < 0) return false;
    starts.splice(at, 1);
    return true;
  }
}

function sessionKey({ conversation_id, command }: Entry | EntryDraft): string {
  return `${conversation_id}\0${command}`;
}

/** Shells of some agents are not told their session: then it is the agent and the directory. */
function unnamedKey({ agent_id, working_directory, command }: Entry | EntryDraft): string {
  return `${agent_id?.replace(/:.*$/s, '')}\0${working_directory}\0${command}`;
}

/** The call in its session; and as a session has it that was resumed under another name. */
function keysOf(entry: Entry | EntryDraft): readonly string[] {
  const { conversation_id, tool_call_id, timestamp, command } = entry;
  if (tool_call_id === null) return [];
  const own = `${conversation_id}\0${tool_call_id}`;
  return entry.source === 'transcript' ? [own, `${tool_call_id}\0${timestamp}\0${command}`] : [own];
}
