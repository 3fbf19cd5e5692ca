// The lines of a session's file as a verifier reads them: what each commits to, if it has a salt.
import { constants, isUtf8 } from 'node:buffer';
import {
  entryParts,
  linePart,
  type SaltedLine,
  saltedLineOf,
  TEXT_KEYS,
} from '../../journal/entry-parts.ts';
import {
  commitmentTo,
  ENTRY_PARTS,
  type EntryPart,
  parseSalt,
  partSalt,
  sha256,
} from '../../ledger/commitments.ts';
import { asCount, asObject, asString, type JsonObject } from '../../text/json.ts';

export type EntryLine = {
  readonly kind: 'entry';
  readonly sequence: number | undefined;
  readonly run: string | null;
  /** Null: there is nothing. Not there: the salt of the part is gone. */
  readonly commitments: Partial<Record<EntryPart, string | null>>;
  /** Parts that have no content. */
  readonly empty: ReadonlySet<EntryPart>;
  /** It has a salt, or salts of its parts. */
  readonly salted: boolean;
  /** It is what a writer of ours makes of its content. */
  readonly exact: boolean;
};

export type SessionLine = EntryLine | { readonly kind: 'unreadable' };

const NEWLINE = 0x0a;

/** Lines that have an end; a tail without one is being written, or its writer died. */
export function wholeLines(bytes: Uint8Array): Buffer[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = all.indexOf(NEWLINE); end >= 0; end = all.indexOf(NEWLINE, start)) {
    if (end > start) lines.push(all.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

export function readEntryLine(bytes: Buffer): SessionLine {
  const line = salted(bytes);
  if (line === undefined) return { kind: 'unreadable' };
  const { json, salt, exact } = line;
  const sequence = asCount(json.sequence_number);
  if (sequence === undefined) return { kind: 'unreadable' };
  const commitments: EntryLine['commitments'] = {};
  for (const { part, commitment } of saltedParts(line)) commitments[part] = commitment;
  return {
    kind: 'entry',
    sequence,
    run: asString(json.run_id) ?? null,
    commitments,
    empty: emptyParts(json),
    salted: salt !== undefined || json.salts !== undefined,
    exact,
  };
}

export type SaltedPart = {
  readonly part: EntryPart;
  /** Its own. */
  readonly salt: Uint8Array;
  /** Undefined: there is nothing. */
  readonly content: string | undefined;
  readonly commitment: string | null;
};

/** The parts of an entry. Those whose salt is gone, because they were redacted, are left out. */
export function saltedParts({ json, salt }: Pick<SaltedLine, 'json' | 'salt'>): SaltedPart[] {
  const parts = entryParts(json);
  const kept = asObject(json.salts) ?? {};
  return ENTRY_PARTS.flatMap((part, place) => {
    const own = salt === undefined ? parseSalt(asString(kept[part]) ?? '') : partSalt(salt, place);
    const content = parts[part];
    if (own === undefined) return [];
    const digest = content === undefined ? undefined : sha256(Buffer.from(content));
    const commitment = digest === undefined ? null : commitmentTo(digest, own);
    return [{ part, salt: own, content, commitment }];
  });
}

/** What a line beside the entries commits to; undefined for one without a salt. */
export function lineCommitment(bytes: Buffer): string | undefined {
  const line = salted(bytes);
  if (line?.salt === undefined) return undefined;
  return commitmentTo(sha256(Buffer.from(linePart(line.json))), partSalt(line.salt, 0));
}

function salted(bytes: Buffer): ReturnType<typeof saltedLineOf> {
  if (bytes.length > constants.MAX_STRING_LENGTH || !isUtf8(bytes)) return undefined;
  try {
    return saltedLineOf(bytes.toString('utf8'));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined; // thousands of brackets: no writer of ours
  }
}

/** What is in facts is never empty; without their salt nothing is claimed of them. */
export function emptyParts(json: JsonObject): ReadonlySet<EntryPart> {
  const none = (key: string): boolean => NOTHINGS.includes(JSON.stringify(json[key] ?? null));
  const empty = new Set<EntryPart>();
  if (json.salts !== undefined && asObject(json.salts)?.facts === undefined) empty.add('facts');
  if (TEXT_KEYS.every(none)) empty.add('text');
  if (none('stdout')) empty.add('stdout');
  if (none('stderr')) empty.add('stderr');
  return empty;
}

const NOTHINGS: readonly string[] = ['null', '""', '[]', '{}'];
