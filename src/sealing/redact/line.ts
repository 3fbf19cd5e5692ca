// Lines of a journal without what was taken out of them: pure functions on what they say.

import { type SaltedLine, TEXT_KEYS } from '../../journal/entry-parts.ts';
import { base64url } from '../../ledger/base64.ts';
import { ENTRY_PARTS, type EntryPart, partSalt } from '../../ledger/commitments.ts';
import { asObject, asString, asStrings, type JsonObject } from '../../text/json.ts';
import { emptyParts } from '../verify/lines.ts';

/** Parts that the line has something in. */
export function heldParts(json: JsonObject): readonly EntryPart[] {
  const empty = emptyParts(json);
  return ENTRY_PARTS.filter((part) => !empty.has(part));
}

/** What a key may have in the place of what was taken out; others go. */
const NOTHING: JsonObject = {
  command: '',
  description: null,
  environment: null,
  process_list: null,
  failed_process_list: null,
};

/**
 * The line of an entry without these parts, and with salts for the others alone. Facts name the
 * entry and cannot go: `masked` makes of each of their values what stays of it.
 */
export function lineWithout(
  { json, salt }: SaltedLine,
  parts: readonly EntryPart[],
  masked: (value: unknown) => unknown = (value) => value,
): string {
  const kept: [string, unknown][] = [];
  for (const [key, value] of Object.entries(json)) {
    if (MARKS.includes(key)) continue;
    const part = partOf(key);
    if (!parts.includes(part)) kept.push([key, value]);
    else if (part === 'facts') kept.push([key, NAMES.includes(key) ? value : masked(value)]);
    else if (part !== 'text') kept.push([key, null]);
    else if (key in NOTHING) kept.push([key, NOTHING[key]]);
  }
  const before = asStrings(json.redacted) ?? [];
  const redacted = ENTRY_PARTS.filter((part) => parts.includes(part) || before.includes(part));
  const salts = keptSalts(json, salt, parts);
  return JSON.stringify({ ...Object.fromEntries(kept), redacted, ...(salts && { salts }) });
}

const MARKS = ['salt', 'salts', 'redacted'];
/** Without these no reader finds the entry. */
const NAMES = ['entry_id', 'session_id', 'sequence_number', 'timestamp', 'run_id'];

export function partOf(key: string): EntryPart {
  if (key === 'stdout' || key === 'stderr') return key;
  return TEXT_KEYS.includes(key) ? 'text' : 'facts';
}

/** Undefined for a line that was never sealed. */
function keptSalts(
  json: JsonObject,
  salt: Uint8Array | undefined,
  parts: readonly EntryPart[],
): JsonObject | undefined {
  const stored = asObject(json.salts);
  if (salt === undefined && stored === undefined) return undefined;
  const salts = ENTRY_PARTS.map((part, place) => [
    part,
    salt === undefined ? asString(stored?.[part]) : base64url(partSalt(salt, place)),
  ]);
  return Object.fromEntries(
    salts.filter(([part, own]) => own !== undefined && !parts.some((one) => one === part)),
  );
}

/** A line beside the entries as it stays: without its salt, so nothing can be shown of it. */
export function unsalted(json: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([key]) => !MARKS.includes(key)));
}

/** Every string in a value, in lists and objects, too. */
export function eachString(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => eachString(one, change));
  const object = asObject(value);
  if (object === undefined) return value;
  const pairs = Object.entries(object).map(([key, one]) => [key, eachString(one, change)] as const);
  return Object.fromEntries(pairs);
}
