// A capture and a chunk as commands show them: words for tables, and the shapes of `--json`, which
// use the names of the files they come from.

import {
  type Capture,
  type CaptureSummary,
  cutBytes,
  missingBytes,
  type OutputPiece,
  unreadNote,
} from '../shell/captures.ts';
import { isoTime } from '../text/dates.ts';
import { missingText } from '../text/missing.ts';
import { formatSize } from '../text/size.ts';
import { type Column, table } from '../text/table.ts';
import { paint, say, terminalWidth } from './output.ts';

type Summary = Pick<
  CaptureSummary,
  'meta' | 'final' | 'state' | 'outputOpen' | 'pinned' | 'reason'
>;

/** The exit code, the signal, or nothing while there is neither. */
export function exitText({ final }: Pick<Summary, 'final'>): string {
  const outcome = final?.outcome;
  if (outcome?.kind === 'exited') return String(outcome.code);
  if (outcome?.kind === 'signaled') return outcome.signal;
  return '-';
}

/** `exited, open` has survivors that may still print. */
export function stateText({ state, final, outputOpen, pinned }: Summary): string {
  const open = final !== undefined && outputOpen ? ['open'] : [];
  return [state, ...open, ...(pinned ? ['pinned'] : [])].join(', ');
}

/** On stderr, because stdout is the output itself and cannot show a gap. */
export function sayMissing(capture: Capture): void {
  const { bytes, reasons } = missingBytes(capture);
  if (bytes > 0) {
    say(`${missingText(bytes)}: they were printed, but not stored (${reasons.join(', ')}).`);
  }
  const unread = unreadNote(capture);
  if (unread !== undefined) say(`${unread}.`);
}

/** The size of the output, and how much of it is missing or may be. */
export function sizeText(capture: CaptureSummary): string {
  const { outputBytes, final } = capture;
  const lost = (final?.lostBytes ?? 0) + cutBytes(capture, outputBytes);
  const gone = [
    ...(lost === 0 ? [] : [`${formatSize(lost)} missing`]),
    ...(unreadNote(capture) === undefined ? [] : ['end may be missing']),
  ];
  return `${formatSize(outputBytes)}${gone.length === 0 ? '' : ` (${gone.join(', ')})`}`;
}

/** Bytes may be anything, so `data` is base64. */
export function chunkJson({ chunk, bytes }: OutputPiece): Readonly<Record<string, unknown>> {
  return {
    offset: chunk.offset,
    length: chunk.length,
    channel: chunk.channel,
    timestamp: chunk.at === 0 ? null : isoTime(chunk.at),
    ...(chunk.pid === undefined ? {} : { pid: chunk.pid }),
    data: Buffer.from(bytes).toString('base64'),
  };
}

/** As wide as the terminal, with a dim head. */
export function shownTable(columns: readonly Column[], rows: readonly string[][]): string {
  return table(columns, rows, { ...terminalWidth(), styleHead: (text) => paint('dim', text) });
}
