// Which captures belong to a conversation, without reading all of them for each question: what
// meta.json says of its conversation never changes, and neither does a run of which nothing is
// left. Each capture is therefore read once; a question lists the directory and reads new ones.

import { lstatSync } from 'node:fs';
import { decodeMeta } from '../capture/format.ts';
import { captureDir, readTextIn } from '../capture/paths.ts';
import { type Capture, captureIds, newestFirst, type Store } from '../capture/store.ts';
import { isAppError } from '../errors.ts';
import { keepRecent } from '../text/recent.ts';
import { survivorsIn } from './aftermath.ts';
import type { Caller } from './caller.ts';

const IDS_MAX = 10_000; // runs of one conversation on this server; the captures last no longer
const CONVERSATIONS_MAX = 1_000;
const REMOVED_MAX = 1_000; // captures that are remembered although they were removed

export type OwnCapture = {
  readonly id: string;
  /** As far as it may be shown: without secrets. */
  readonly command: string;
  readonly cwd: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
};

type Known = OwnCapture & {
  readonly conversationId: string | null;
  /** The journal it has an entry in. */
  readonly directory: string | undefined;
};

export class OwnCaptures {
  readonly #store: Store;
  readonly #known = new Map<string, Known>();
  readonly #over = new Set<string>();
  /** By the key of a conversation, oldest first. */
  readonly #ids = new Map<string, string[]>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** A run of this server, or one that it took over. */
  started(key: string, id: string): void {
    const ids = this.#ids.get(key) ?? [];
    ids.push(id);
    if (ids.length > IDS_MAX) ids.shift();
    keepRecent(this.#ids, key, ids, CONVERSATIONS_MAX);
  }

  /**
   * Newest first: with a conversation id also those of other servers in this journal, without one
   * those of this server.
   */
  of({ key, context }: Pick<Caller, 'key' | 'context'>, directory: string): readonly OwnCapture[] {
    const here = (this.#ids.get(key) ?? []).filter((id) => this.#there(id));
    const named = this.#named(context.conversationId, directory);
    const found = here.flatMap((id) => this.#find(id) ?? []);
    const all = new Map([...named, ...found].map((one) => [one.id, one]));
    return [...all.values()].sort(newestFirst);
  }

  /** Nothing of the run is left, not even its capture. Once that is so it stays so. */
  over(id: string, open: () => Capture): boolean {
    if (this.#over.has(id)) return true;
    let over = true;
    try {
      const capture = open();
      over = !capture.outputOpen && survivorsIn(capture).length === 0;
    } catch (error) {
      if (!isAppError(error)) throw error; // it was removed
    }
    if (over) this.#over.add(id);
    return over;
  }

  #named(conversationId: string | null, directory: string): readonly OwnCapture[] {
    if (conversationId === null) return [];
    const ids = captureIds(this.#store);
    this.#forget(ids);
    return ids.flatMap((id) => {
      const known = this.#find(id);
      const own = known?.conversationId === conversationId && known.directory === directory;
      return own ? [known] : [];
    });
  }

  #there(id: string): boolean {
    const dir = captureDir(this.#store.root, id);
    return lstatSync(dir, { throwIfNoEntry: false }) !== undefined;
  }

  #find(id: string): Known | undefined {
    const known = this.#known.get(id) ?? this.#read(id);
    if (known !== undefined) this.#known.set(id, known);
    return known;
  }

  #read(id: string): Known | undefined {
    const meta = metaOf(captureDir(this.#store.root, id));
    if (meta === undefined) return undefined;
    const { command, cwd, createdAt, journal } = meta;
    return {
      id,
      command: command.kind === 'shell' ? command.text : command.argv.join(' '),
      cwd,
      createdAt,
      conversationId: journal?.draft.conversation_id ?? null,
      directory: journal?.directory,
    };
  }

  /** Captures that were removed. */
  #forget(ids: readonly string[]): void {
    if (this.#known.size <= ids.length + REMOVED_MAX) return;
    const there = new Set(ids);
    for (const id of this.#known.keys()) if (!there.has(id)) this.#known.delete(id);
    for (const id of this.#over) if (!there.has(id)) this.#over.delete(id);
  }
}

/** Undefined for a capture that was removed, that is damaged, or that may not be read. */
function metaOf(dir: string): ReturnType<typeof decodeMeta> {
  try {
    return decodeMeta(readTextIn(dir, 'meta.json') ?? '');
  } catch {
    return undefined;
  }
}
