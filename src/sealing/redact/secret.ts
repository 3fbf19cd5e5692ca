// One secret, wherever it was recorded: entries and the lines beside them, captures, and every
// other file of the state root and of the journals. Of entries the parts that have it go; elsewhere
// its bytes are written over. The ledger itself cannot be changed: what is in there is named.

import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { captureDir } from '../../capture/paths.ts';
import { captureIds, openCapture, type Store } from '../../capture/store.ts';
import { isAppError } from '../../errors.ts';
import { findSessionFiles } from '../../journal/files.ts';
import { journalSessionIds } from '../../journal/reader.ts';
import { ENTRY_PARTS, type EntryPart } from '../../ledger/commitments.ts';
import type { JsonObject } from '../../text/json.ts';
import type { OneSecret, Range } from '../../text/secrets/one-secret.ts';
import { sealDir } from '../place.ts';
import {
  type CapturePlan,
  findInCapture,
  isLiveCapture,
  type RedactedCapture,
  redactCapture,
} from './capture.ts';
import { checkReadable, recipientTexts } from './encrypted.ts';
import { eachString, partOf } from './line.ts';
import { overwriteBytes } from './overwrite.ts';
import { type RedactContext, saidBefore } from './said.ts';
import { secretRanges, secretRangesIn } from './secret-ranges.ts';
import {
  findInSession,
  isLive,
  type RedactedLine,
  redactSession,
  type SessionPlan,
} from './session.ts';

export type SecretPlace =
  | {
      readonly kind: 'session';
      readonly directory: string;
      readonly session: string;
      readonly lines: readonly RedactedLine[];
      readonly live: boolean;
    }
  | {
      readonly kind: 'capture';
      readonly id: string;
      readonly found: RedactedCapture;
      readonly live: boolean;
    }
  | { readonly kind: 'file'; readonly path: string; readonly ranges: readonly Range[] }
  /** Derived from the journal: made anew. */
  | { readonly kind: 'catalog'; readonly directory: string }
  /** A file of the ledger. */
  | { readonly kind: 'ledger'; readonly path: string };

type Search = Pick<RedactContext, 'store'> & {
  /** Of journals. */
  readonly directories: readonly string[];
  /** Told of a session that no identity here reads. */
  readonly locked?: (session: string) => void;
};

export function findSecret(secret: OneSecret, search: Search): readonly SecretPlace[] {
  const { store, directories } = search;
  // A redaction that was cut off may have left nothing to find, and a capture to be sealed anew.
  const cutOff = saidBefore(store.root).unfinished;
  return [
    ...directories.flatMap((directory) => inJournal(directory, secret, search)),
    ...captureIds(store).flatMap((id) => inCapture(id, secret, search, cutOff.has(id))),
    ...filesBelow(store.root, [...directories, sealDir(store.root)])
      .filter((path) => !isOfCapture(path, store.root))
      .flatMap((path) => inFile(path, secret)),
    ...filesBelow(sealDir(store.root), [])
      .filter((path) => secretRanges(path, secret).length > 0)
      .map((path): SecretPlace => ({ kind: 'ledger', path })),
  ];
}

/** The catalog is left to the caller. Rejects as the redactions of sessions and captures do. */
export async function redactPlace(
  place: SecretPlace,
  secret: OneSecret,
  context: RedactContext,
): Promise<void> {
  if (place.kind === 'session') {
    await redactSession(place.directory, place.session, sessionPlan(secret), context);
  } else if (place.kind === 'capture') {
    await redactCapture(place.id, capturePlan(secret), context);
  } else if (place.kind === 'file') overwriteBytes(place.path, place.ranges);
}

function inJournal(directory: string, secret: OneSecret, search: Search): SecretPlace[] {
  const sessions = journalSessionIds(directory).flatMap((session): SecretPlace[] => {
    const lines = readable(session, search, () =>
      findInSession(directory, session, sessionPlan(secret)),
    );
    if (lines === undefined || lines.length === 0) return [];
    return [
      { kind: 'session', directory, session, lines, live: isLive(directory, session, search) },
    ];
  });
  const files = [join(directory, 'sessions'), directory].flatMap((folder) =>
    filesIn(folder).filter((path) => OURS.test(basename(path))),
  );
  const catalog = files.filter((path) => CATALOG.test(basename(path)));
  const found = catalog.some((path) => secretRanges(path, secret).length > 0);
  const handled = new Set(
    journalSessionIds(directory).flatMap((id) => {
      const { entries, later, edits } = findSessionFiles(directory, id) ?? {};
      return [entries, later, edits];
    }),
  );
  const others = files.filter((path) => !CATALOG.test(basename(path)) && !handled.has(path));
  return [
    ...sessions,
    ...others.flatMap((path) => inFile(path, secret)),
    ...(found || (sessions.length > 0 && catalog.length > 0)
      ? [{ kind: 'catalog', directory } as const]
      : []),
  ];
}

function readable<T>(session: string, { locked }: Search, find: () => T): T | undefined {
  try {
    return find();
  } catch (error) {
    if (!isAppError(error) || error.code !== 'decryption_failed') throw error;
    locked?.(session);
    return undefined;
  }
}

/** A journal may be in a folder with other files. */
const OURS = /\.(?:jsonl|meta\.json|tmp|list)$|^index\.json$|^catalog\.db/;
const CATALOG = /^catalog\.db/;

function inFile(path: string, secret: OneSecret): SecretPlace[] {
  const ranges = secretRanges(path, secret);
  return ranges.length === 0 ? [] : [{ kind: 'file', path, ranges }];
}

export type ClosedCaptures = {
  readonly captures: number;
  /** For whom they are encrypted, as far as they say. */
  readonly recipients: readonly string[];
};

/** Encrypted captures that cannot be read here. */
export function closedCaptures({ store }: Pick<Search, 'store'>): ClosedCaptures {
  const closed = captureIds(store)
    .map((id) => captureDir(store.root, id))
    .filter((dir) => !isReadable(dir, store));
  return {
    captures: closed.length,
    recipients: [...new Set(closed.flatMap(recipientTexts))],
  };
}

function isReadable(dir: string, { decrypt }: Store): boolean {
  try {
    checkReadable({ dir, decrypt });
    return true;
  } catch (error) {
    if (!isAppError(error)) throw error;
    return false;
  }
}

function inCapture(id: string, secret: OneSecret, search: Search, cutOff: boolean): SecretPlace[] {
  const { store } = search;
  const others = filesIn(captureDir(store.root, id)).filter((path) => !HANDLED.test(path));
  const places = others.flatMap((path) => inFile(path, secret));
  try {
    const capture = openCapture(store, id);
    const found = findInCapture(capture, capturePlan(secret));
    const all = found ?? (cutOff ? { ranges: [], files: [] } : undefined);
    if (all === undefined) return places;
    return [{ kind: 'capture', id, found: all, live: isLiveCapture(capture, search) }, ...places];
  } catch (error) {
    if (!isAppError(error)) throw error;
    return places; // no capture, only a directory like that of one
  }
}

const HANDLED = /\/(?:output\.bin|(?:meta|final)\.json|events\.jsonl|trace\.bin)$|\.(?:gzi?|age)$/;

function isOfCapture(path: string, root: string): boolean {
  return path.startsWith(join(root, 'sessions', '/'));
}

function sessionPlan(secret: OneSecret): SessionPlan {
  const has = (value: unknown): boolean => {
    let found = false;
    eachString(value, (text) => {
      found ||= secret.isIn(text);
      return text;
    });
    return found;
  };
  const masked = (value: unknown): unknown => eachString(value, (text) => secret.masked(text));
  return {
    parts: (json, bytes) => {
      if (secret.rangesIn(bytes.toString('latin1')).length === 0) return [];
      const parts = new Set<EntryPart>();
      for (const [key, value] of Object.entries(json)) if (has(value)) parts.add(partOf(key));
      return ENTRY_PARTS.filter((part) => parts.has(part));
    },
    masked,
    damaged: (bytes) => {
      const ranges = secret.rangesIn(bytes.toString('latin1'));
      return ranges.length === 0 ? undefined : secret.maskedBytes(bytes, ranges);
    },
    beside: (_, json) => (has(json) ? (masked(json) as JsonObject) : undefined),
  };
}

function capturePlan(secret: OneSecret): CapturePlan {
  const mask = (text: string): string => secret.masked(text);
  return {
    words: (json) => {
      const changed = eachString(json, mask) as JsonObject;
      return JSON.stringify(changed) === JSON.stringify(json) ? json : changed;
    },
    damaged: mask,
    ranges: (source) => secretRangesIn(source, secret),
    trace: 'ranges',
  };
}

/** Regular files, no links; none of these directories is entered. */
function filesBelow(folder: string, without: readonly string[]): string[] {
  if (without.includes(folder)) return [];
  return entriesOf(folder).flatMap((one) => {
    const path = join(folder, one.name);
    if (one.isDirectory()) return filesBelow(path, without);
    return one.isFile() ? [path] : [];
  });
}

function filesIn(folder: string): string[] {
  return entriesOf(folder)
    .filter((one) => one.isFile())
    .map(({ name }) => join(folder, name));
}

function entriesOf(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // not there, or not ours to read
  }
}
