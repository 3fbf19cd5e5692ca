// A whole log, folded. It has to be read for that, so it must not be large.
import { plainText } from '../core/ansi.ts';
import { foldedRows, type LogRow } from '../core/fold.ts';
import type { LogSource } from './log.ts';

export const FOLDED_BYTES_MAX = 16_777_216;
const STEP_BYTES = 1_048_576;

export async function foldLog(log: LogSource): Promise<LogRow[]> {
  const texts: string[] = [];
  const bytes = log.bytes.value;
  for (let at = 0; at < bytes; ) {
    const piece = await log.piece(at, Math.min(bytes, at + STEP_BYTES));
    if (piece === undefined || piece.end <= at) break;
    for (const { text } of piece.lines) texts.push(plainText(text));
    at = piece.end;
  }
  return foldedRows(texts);
}
