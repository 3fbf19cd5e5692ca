// What a list shows of a session besides its metadata: the last command, how many were refused, how
// many of its runs are pinned. It stands in the entries, so it is read for the sessions that are
// shown, and kept as long as their file is the same.

import { statSync } from 'node:fs';
import { adoptedInto } from '../capture/entry-marks.ts';
import { captureDir, hasIn } from '../capture/paths.ts';
import { captureIds, readState } from '../capture/store.ts';
import { errnoOf } from '../errors.ts';
import { decodeEntry } from '../journal/entry.ts';
import { entriesOf } from '../journal/entry-lines.ts';
import { findSessionFiles } from '../journal/files.ts';
import { readAllLines } from '../journal/packed/source.ts';
import type { Store } from '../shell/captures.ts';
import type { Entry } from '../types.ts';
import type { SessionRow } from './api.ts';
import { outcomeOf } from './outcome.ts';

type Extras = Pick<SessionRow, 'commands_refused' | 'last_command'>;

const BYTES_MAX = 4 * 1024 * 1024; // of a file that is read for a list
const KEPT_MAX = 5_000;
const PINS_MS = 5_000; // between two looks for pins

const NOTHING: Extras = { commands_refused: 0, last_command: null };

export class RowExtras {
  readonly #store: Store;
  readonly #kept = new Map<string, Extras & { readonly print: string }>();
  #pins: ReadonlyMap<string, number> = new Map();
  #pinsAt = Number.NEGATIVE_INFINITY;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Of all parts of a session together. */
  of(directory: string, ids: readonly string[]): Extras {
    const all = ids.map((id) => this.#read(directory, id));
    const refused = all.map((one) => one.commands_refused);
    const last = all.flatMap((one) => one.last_command ?? []);
    last.sort((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp));
    return {
      commands_refused: refused.includes(null)
        ? null
        : refused.reduce<number>((sum, one) => sum + (one ?? 0), 0),
      last_command: last[0] ?? null,
    };
  }

  /** How many runs of a session are pinned. */
  pinned(ids: readonly string[]): number {
    const now = this.#store.now();
    if (Math.abs(now - this.#pinsAt) >= PINS_MS) {
      this.#pinsAt = now;
      this.#pins = pinsBySession(this.#store);
    }
    return ids.reduce((sum, id) => sum + (this.#pins.get(id) ?? 0), 0);
  }

  forgetPins(): void {
    this.#pinsAt = Number.NEGATIVE_INFINITY;
  }

  #read(directory: string, id: string): Extras {
    const path = findSessionFiles(directory, id)?.entries;
    const stat = path && statSync(path, { throwIfNoEntry: false });
    if (path === undefined || !stat) return NOTHING;
    const print = `${stat.size} ${stat.mtimeMs}`;
    const key = `${directory}\0${id}`;
    const known = this.#kept.get(key);
    if (known?.print === print) return known;
    const extras = extrasIn(path, stat.size);
    this.#kept.delete(key);
    this.#kept.set(key, { ...extras, print });
    const [oldest] = this.#kept.size > KEPT_MAX ? this.#kept.keys() : [];
    if (oldest !== undefined) this.#kept.delete(oldest);
    return extras;
  }
}

const UNKNOWN: Extras = { commands_refused: null, last_command: null };

function extrasIn(path: string, size: number): Extras {
  if (size > BYTES_MAX) return UNKNOWN;
  let bytes: Buffer | undefined;
  try {
    bytes = readAllLines(path);
  } catch (error) {
    if (errnoOf(error) !== 'decryption_failed') throw error;
    return UNKNOWN; // encrypted for others
  }
  if (bytes === undefined) return NOTHING; // gone meanwhile, or not ours to read
  const maybe = REFUSED.some((words) => bytes.includes(words));
  let refused = 0;
  if (maybe) {
    for (const { entry } of entriesOf(path, 0, { lines: 0 })) {
      if (outcomeOf(entry) === 'refused') refused += 1;
    }
  }
  return { commands_refused: refused, last_command: lastOf(lastEntry(bytes, path)) };
}

/** One of them is in the line of every refused command. */
const REFUSED = ['"end_reason":"denied"', '"mode":"enforce"'];

function lastEntry(bytes: Buffer, path: string): Entry | undefined {
  const end = bytes.lastIndexOf('\n');
  const start = end < 0 ? -1 : bytes.lastIndexOf('\n', end - 1);
  const line = end < 0 ? undefined : decodeEntry(bytes.toString('utf8', start + 1, end));
  if (line !== undefined) return line;
  let last: Entry | undefined; // the last line is damaged
  for (const { entry } of entriesOf(path, 0, { lines: 0 })) last = entry;
  return last;
}

function lastOf(entry: Entry | undefined): Extras['last_command'] {
  if (entry === undefined) return null;
  const { command, timestamp } = entry;
  return { command, timestamp, outcome: outcomeOf(entry) };
}

function pinsBySession(store: Store): ReadonlyMap<string, number> {
  const pins = new Map<string, number>();
  for (const id of captureIds(store)) {
    const dir = captureDir(store.root, id);
    if (!hasIn(dir, 'pinned')) continue;
    const session = adoptedInto(dir) ?? readState(dir).meta?.journal?.sessionId;
    if (session) pins.set(session, (pins.get(session) ?? 0) + 1);
  }
  return pins;
}
