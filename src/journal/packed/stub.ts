// The first line of a file of a session whose older lines are packed and encrypted. It names the
// segments that have them, in order, and the facts that are needed without a key: how many entries
// there are, how they ended, how their numbers follow each other, and whose they are. No word of a
// command is among them. Lines that were written since stand behind it, plain. A segment that it
// does not name is what a killed packer left, and counts for nothing.
//
//   {"cuff_packed":1,"segments":[{"name":"ID.jsonl.1.gz.age","bytes":51200}],"facts":{...}}
import { asCount, asObject, asString, type JsonObject, parseObject } from '../../text/json.ts';
import type { TallyState } from '../metadata.ts';
import type { SequenceState } from '../sequence.ts';

/** Every stub begins so, and no other line does. */
export const STUB_START = '{"cuff_packed":1,';

export type Segment = {
  /** Of the file beside the one with the stub. */
  readonly name: string;
  /** Of the plain lines in it. */
  readonly bytes: number;
};

/** In a file beside the entries, `ids` are those of the entries that have a line. */
export type PackedFacts = TallyState & {
  readonly lines: number;
  /** Those that are no entries, in a file of entries. */
  readonly damaged: number;
  readonly sequence: SequenceState;
  /** The lowest number of an entry; 0 for none. */
  readonly lowest: number;
  /** When the last command began (epoch ms). */
  readonly newestAt: number;
};

export type Stub = { readonly segments: readonly Segment[]; readonly facts: PackedFacts };

export function encodeStub({ segments, facts }: Stub): string {
  return `${JSON.stringify({ cuff_packed: 1, segments, facts })}\n`;
}

/** `base` is the name of the file that it is in. Undefined where it is none of ours. */
export function decodeStub(line: string, base: string): Stub | undefined {
  const json = line.startsWith(STUB_START) ? parseObject(line) : undefined;
  const facts = factsFrom(asObject(json?.facts));
  if (facts === undefined || !Array.isArray(json?.segments)) return undefined;
  const segments: Segment[] = [];
  for (const one of json.segments.map(asObject)) {
    const [name, bytes] = [asString(one?.name), asCount(one?.bytes)];
    // A project that brings a journal must not name files elsewhere.
    if (name === undefined || bytes === undefined || numberOf(name, base) === 0) return undefined;
    segments.push({ name, bytes });
  }
  return { segments, facts };
}

export function segmentName(base: string, number: number): string {
  return `${base}.${number}.gz.age`;
}

/** The number of a segment of the file `base`; 0 for another name. */
export function numberOf(name: string, base: string): number {
  if (!name.startsWith(`${base}.`)) return 0;
  return Number(/^\.([1-9]\d{0,8})\.gz\.age$/.exec(name.slice(base.length))?.[1] ?? 0);
}

const COUNTS = [
  'entry_count',
  'total_duration_ms',
  'commands_succeeded',
  'commands_failed',
  'commands_timed_out',
] as const;
const SEQUENCE = ['last', 'count', 'skipped', 'repeated', 'backward'] as const;
const NUMBERS = ['lines', 'damaged', 'highest', 'lowest', 'endedAt', 'newestAt'] as const;

function factsFrom(json: JsonObject | undefined): PackedFacts | undefined {
  const counts = numbers(asObject(json?.counts), COUNTS);
  const sequence = numbers(asObject(json?.sequence), SEQUENCE);
  const rest = numbers(json, NUMBERS);
  const ids: unknown = json?.ids;
  if (counts === undefined || sequence === undefined || rest === undefined) return undefined;
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string')) return undefined;
  return { ...rest, ids, counts, sequence };
}

function numbers<K extends string>(
  json: JsonObject | undefined,
  keys: readonly K[],
): Record<K, number> | undefined {
  const found = keys.map((key) => [key, asCount(json?.[key])] as const);
  if (found.some(([, value]) => value === undefined)) return undefined;
  return Object.fromEntries(found) as Record<K, number>;
}
