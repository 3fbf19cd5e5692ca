// Lines that look like errors in a part of a stream, for answers that leave that part out. Only so
// much is searched, at both ends of the part; what was not searched is said.

import { type Source, withSnapshot } from '../../capture/snapshot.ts';
import { newlinesBefore, type Stream, streamPieces } from '../../capture/stream.ts';
import { type ErrorLines, ErrorPick } from '../../text/error-lines.ts';
import { sanitize } from '../../text/sanitize.ts';
import { decodeUtf8 } from '../../text/utf8.ts';
import { lineStart } from './page.ts';
import { type Whole, wholeOf } from './piece.ts';

const END_BYTES_MAX = 4 * 1024 * 1024; // of each end of the part: some 100 ms
const LINE_LENGTH_MAX = 65_536; // of a line, what is held

export type Suspects = ErrorLines & {
  /** Bytes in the middle of the part that were not looked at. */
  readonly unsearchedBytes: number;
};

/** `lastLine` included. */
export type LineRange = { readonly firstLine: number; readonly lastLine: number };

export function suspectsIn(capture: Source, stream: Stream, range: LineRange): Suspects {
  const { firstLine, lastLine } = range;
  return withSnapshot(capture, (snapshot) => {
    const whole = wholeOf(snapshot, stream, capture.outputOpen);
    const from = lineStart(whole, firstLine);
    const to = Math.max(from, lineStart(whole, lastLine + 1));
    const pick = new ErrorPick();
    const unsearchedBytes = Math.max(0, to - from - 2 * END_BYTES_MAX);
    if (unsearchedBytes === 0) search(whole, from, to, pick);
    else {
      search(whole, from, from + END_BYTES_MAX, pick);
      search(whole, to - END_BYTES_MAX, to, pick);
    }
    return { ...pick.result, unsearchedBytes };
  });
}

function search(
  { snapshot, stream, hole }: Whole,
  from: number,
  to: number,
  pick: ErrorPick,
): void {
  const spans =
    hole === undefined || hole.to <= from || hole.from >= to
      ? [{ from, to }]
      : [
          { from, to: hole.from },
          { from: hole.to, to },
        ];
  for (const span of spans) {
    let number = newlinesBefore(snapshot, stream, span.from) + 1;
    const decoder = new TextDecoder(); // a character may lie in two pieces
    let rest = '';
    for (const piece of streamPieces(snapshot, stream, span.from, Math.max(span.from, span.to))) {
      const texts = (rest + decoder.decode(piece, { stream: true })).split('\n');
      rest = (texts.pop() ?? '').slice(0, LINE_LENGTH_MAX);
      for (const text of texts) {
        pick.add(number, plain(text));
        number += 1;
      }
    }
    if (rest !== '') pick.add(number, plain(rest));
  }
}

/** Without escape sequences, and as it was seen last. */
function plain(text: string): string {
  if (!/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(text)) return text;
  return decodeUtf8(sanitize(Buffer.from(text), { cr: 'overwrite', broken: 'replace' }));
}
