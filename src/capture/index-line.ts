// Lines of index.jsonl, fast. A capture can have hundreds of thousands of them, nearly all exactly
// as they are written; one expression reads those in half the time that JSON.parse and the decoder
// of the format take. Any other line is left to that decoder, which this must never disagree with.
import { asTime } from '../text/json.ts';
import type { LineFormat } from '../text/line-reader.ts';
import type { Channel } from '../types.ts';
import { decodeIndex, type IndexRecord, possible } from './format.ts';

export const INDEX_LINES: LineFormat<IndexRecord> = { decode: decodeIndex, quick: scanIndex };

const COUNT = '(0|[1-9]\\d{0,14})'; // with more digits it may not be a safe integer
const LINE = new RegExp(
  [
    `^\\{"offset":${COUNT},"length":${COUNT},"channel":"(pty|stdout|stderr)"`,
    `,"timestamp":"([^"]{19})\\.(\\d{3})Z","lines":${COUNT}`,
    `,"total_bytes":\\[${COUNT},${COUNT}\\],"total_lines":\\[${COUNT},${COUNT}\\]`,
    `(?:,"t":${COUNT})?(?:,"pid":${COUNT})?\\}$`,
  ].join(''),
);

/** Undefined for a line that is not exactly as `encodeIndex` writes it. */
export function scanIndex(bytes: Uint8Array, from: number, to: number): IndexRecord | undefined {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');
  const found = LINE.exec(line);
  const second = found === null ? undefined : secondAt(found[4] ?? '');
  if (found === null || second === undefined) return undefined;
  const record: IndexRecord & { t?: number; pid?: number } = {
    offset: Number(found[1]),
    length: Number(found[2]),
    channel: found[3] as Channel,
    at: second + Number(found[5]),
    lines: Number(found[6]),
    totalBytes: [Number(found[7]), Number(found[8])],
    totalLines: [Number(found[9]), Number(found[10])],
  };
  if (found[11] !== undefined) record.t = Number(found[11]);
  if (found[12] !== undefined) record.pid = Number(found[12]);
  return possible(record);
}

let last: { readonly text: string; readonly at: number | undefined } = { text: '', at: undefined };

/** `2026-11-15T21:38:35` as epoch milliseconds. Many lines are of one second: it is remembered. */
function secondAt(text: string): number | undefined {
  if (last.text !== text) {
    const at = asTime(`${text}.000Z`);
    // A lenient parser takes the 30th of February, and 24 o'clock.
    const exists = at !== undefined && new Date(at).toISOString().startsWith(text);
    last = { text, at: exists ? at : undefined };
  }
  return last.at;
}
