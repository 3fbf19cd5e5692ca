// What stays readable of lines that are packed: see `stub.ts`.
import { asString, parseObject } from '../../text/json.ts';
import { entriesIn, type LineDamage, linesIn } from '../entry-lines.ts';
import { Tally } from '../metadata.ts';
import { SequenceCheck } from '../sequence.ts';
import type { LineSource } from './source.ts';
import type { PackedFacts } from './stub.ts';

/** What the lines of a file are. */
export type LineKind = 'entries' | 'later' | 'edits';

/** Of lines behind those of `before`, from `from` on. Closes the source. */
export function factsOf(
  source: LineSource,
  from: number,
  kind: LineKind,
  before: PackedFacts | undefined,
): PackedFacts {
  if (kind !== 'entries') return besideFacts(source, from, before);
  const sequence = new SequenceCheck(0, before?.sequence);
  const damage: LineDamage = { lines: 0, sequence };
  const tally = new Tally(before);
  let { lines = 0, newestAt = 0, lowest = 0 } = before ?? {};
  for (const { entry } of entriesIn(source, from, damage)) {
    tally.add(entry);
    lines += 1;
    newestAt = Math.max(newestAt, Date.parse(entry.timestamp));
    lowest = lowest === 0 ? entry.sequence_number : Math.min(lowest, entry.sequence_number);
  }
  return {
    lines: lines + damage.lines,
    damaged: (before?.damaged ?? 0) + damage.lines,
    ids: [...tally.runIds],
    counts: tally.counts,
    sequence: sequence.state,
    highest: tally.sequence,
    lowest,
    newestAt,
    endedAt: Math.max(0, Math.round(tally.endedAt)),
  };
}

function besideFacts(
  source: LineSource,
  from: number,
  before: PackedFacts | undefined,
): PackedFacts {
  const ids = new Set(before?.ids);
  let lines = before?.lines ?? 0;
  for (const { bytes } of linesIn(source, from)) {
    lines += 1;
    const id = asString(parseObject(bytes.toString('utf8'))?.entry_id);
    if (id !== undefined) ids.add(id);
  }
  const { counts } = new Tally();
  const { state: sequence } = new SequenceCheck(0);
  const none = { highest: 0, lowest: 0, endedAt: 0, newestAt: 0 };
  return { lines, damaged: 0, ids: [...ids], counts, sequence, ...none };
}
