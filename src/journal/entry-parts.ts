// The parts of a line that a ledger commits to one by one, so that each can be shown or erased
// without the others. The salt that the commitments are made with is the last key of the line:
// `"salt":"<22 characters base64url>"`. Of an entry:
//   facts   the JSON of the line without the keys below and without the salt
//   text    the JSON of the keys of TEXT_KEYS that the line has, in the order of the line
//   stdout  the bytes of the string; undefined where the key is null
//   stderr  likewise
// All that may hold a secret stands outside `facts`. A line from which parts were taken out names
// them in the key `redacted`, and has the salts of the others, `"salts":{PART:SALT}`, in the place
// of the salt: from that the commitments to what is gone could be guessed. Neither key is in a
// part. Another line (later output, an edit) is one
// part: its JSON without the salt. JSON is what JSON.stringify makes of the parsed line; a line
// that our writer wrote is that already, and `exact` says so.

import { type JsonObject, parseObject } from '../text/json.ts';

/** Bytes of a salt. */
export const SALT_BYTES = 16;

export const TEXT_KEYS: readonly string[] = [
  'command',
  'description',
  'environment',
  'process_list',
  'failed_process_list',
  'survivors',
  'shell_text',
];

const SALT_KEYS: readonly string[] = ['salt', 'salts', 'redacted'];
const OWN_PART_KEYS: readonly string[] = ['stdout', 'stderr'];

export type EntryParts = {
  readonly facts: string;
  readonly text: string;
  readonly stdout: string | undefined;
  readonly stderr: string | undefined;
};

/** A line with its salt as the last key. `line` ends in `}` and has no `\n`. */
export function saltedLine(line: string, salt: Uint8Array): string {
  return `${line.slice(0, -1)},"salt":"${Buffer.from(salt).toString('base64url')}"}`;
}

/** The parts of an entry as its line has it, parsed or about to be encoded. */
export function entryParts(json: object): EntryParts {
  const facts: [string, unknown][] = [];
  const text: [string, unknown][] = [];
  for (const pair of Object.entries(json)) {
    const [key] = pair;
    if (TEXT_KEYS.includes(key)) text.push(pair);
    else if (!SALT_KEYS.includes(key) && !OWN_PART_KEYS.includes(key)) facts.push(pair);
  }
  const { stdout, stderr } = json as { readonly stdout?: unknown; readonly stderr?: unknown };
  return {
    facts: JSON.stringify(Object.fromEntries(facts)),
    text: JSON.stringify(Object.fromEntries(text)),
    stdout: typeof stdout === 'string' ? stdout : undefined,
    stderr: typeof stderr === 'string' ? stderr : undefined,
  };
}

/** The one part of another line. */
export function linePart(json: object): string {
  const kept = Object.entries(json).filter(([key]) => !SALT_KEYS.includes(key));
  return JSON.stringify(Object.fromEntries(kept));
}

export type SaltedLine = {
  readonly json: JsonObject;
  /** Undefined for a line of before there was a ledger, and for one whose salt was taken out. */
  readonly salt: Uint8Array | undefined;
  /** The line is what our writer makes of its content: no space, key or escape is another. */
  readonly exact: boolean;
};

/** `line` without its `\n`; undefined for what is no object. */
export function saltedLineOf(line: string): SaltedLine | undefined {
  const json = parseObject(line);
  if (json === undefined) return undefined;
  return { json, salt: saltOf(json.salt), exact: JSON.stringify(json) === line };
}

function saltOf(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'string') return undefined;
  const bytes = Buffer.from(value, 'base64url');
  // Decoding passes over what is no base64; such a text would be another line with the same salt.
  const exact = bytes.length === SALT_BYTES && bytes.toString('base64url') === value;
  return exact ? bytes : undefined;
}
