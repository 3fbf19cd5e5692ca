// Bytes of output as lines, and what the index says of them. Offsets are those of output.bin, line
// numbers start at 0. A piece of a log begins where a line begins and ends where one ends, unless a
// line is longer than the piece.

export const LINE_BYTES_MAX = 32_768; // of a line, what is decoded: no screen shows more

export type LogLine = {
  readonly offset: number;
  /** With its newline; of a line whose end was not seen, what was. */
  readonly length: number;
  readonly text: string;
  /** Bytes of it that are not in `text`. */
  readonly cutBytes: number;
  /** It has no newline yet. */
  readonly open: boolean;
  readonly t: number | null;
  readonly channel: string;
};

export type Split = {
  readonly lines: readonly LogLine[];
  /** The byte behind the last line. */
  readonly end: number;
};

const NEWLINE = 10;

/** `whole`: nothing comes behind these bytes, for now. */
export function splitLines(bytes: Uint8Array, offset: number, whole: boolean): Split {
  const lines: LogLine[] = [];
  let from = 0;
  for (;;) {
    const at = bytes.indexOf(NEWLINE, from);
    if (at < 0) break;
    lines.push(lineOf(bytes, offset, from, at, false));
    from = at + 1;
  }
  // Half a line is read again with the next piece, unless it is all there is.
  if (from < bytes.length && (whole || lines.length === 0)) {
    lines.push(lineOf(bytes, offset, from, bytes.length, true));
    from = bytes.length;
  }
  return { lines, end: offset + from };
}

function lineOf(
  bytes: Uint8Array,
  offset: number,
  from: number,
  to: number,
  open: boolean,
): LogLine {
  let end = Math.min(to, from + LINE_BYTES_MAX);
  // Not in the middle of a character.
  while (end < to && end > from && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const text = new TextDecoder().decode(bytes.subarray(from, end));
  return {
    offset: offset + from,
    length: to - from + (open ? 0 : 1),
    text: end === to && text.endsWith('\r') ? text.slice(0, -1) : text,
    cutBytes: to - end,
    open,
    t: null,
    channel: 'unknown',
  };
}

export function countNewlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

type Written = {
  readonly offset: number;
  readonly length: number;
  readonly channel: string;
  readonly timestamp: string;
  readonly t: number | null;
};

/** Lines with the time and the channel of their first byte. `t0` is what `t` counts from. */
export function timed(
  lines: readonly LogLine[],
  records: readonly Written[],
  t0: number,
): LogLine[] {
  let at = 0;
  return lines.map((line) => {
    while (at < records.length && endOf(records[at]) <= line.offset) at += 1;
    const record = records[at];
    if (record === undefined || record.offset > line.offset) return line;
    const t = record.t ?? Date.parse(record.timestamp) - t0;
    return { ...line, t: Number.isFinite(t) ? t : null, channel: record.channel };
  });
}

function endOf(record: Written | undefined): number {
  return record === undefined ? 0 : record.offset + record.length;
}
