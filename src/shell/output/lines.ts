// The clean lines of a stream with the numbers they have in it, some at a time, on both sides of
// what is not kept. Of a long line only the start is given; a line that was written over is given
// as it was seen last. What is not text has no lines.
import { readOutput } from '../../capture/reader.ts';
import { type Source, withSnapshot } from '../../capture/snapshot.ts';
import { newlinesBefore } from '../../capture/stream.ts';
import { looksBinary } from '../../text/binary.ts';
import { sanitize } from '../../text/sanitize.ts';
import { decodeUtf8 } from '../../text/utf8.ts';
import { Feed } from './feed.ts';

const LINE_LENGTH_MAX = 65_536;
const READ_BYTES = 65_536;

export type Channel = 'stdout' | 'stderr';

/** `number` from 1. */
export type Line = { readonly number: number; readonly text: string };

export function* cleanLines(capture: Source, stream: Channel): Generator<readonly Line[]> {
  const feed = new Feed({ broken: 'replace' }, stream);
  let lines = new LineSplitter(1);
  for (let over = false; !over; ) {
    const read = readOutput(capture, feed.cursor, READ_BYTES, stream);
    if (feed.cursor === 0 && looksBinary(read.chunks[0]?.bytes ?? new Uint8Array())) return;
    over = read.eof;
    for (const part of over ? [...feed.push(read), ...feed.end()] : feed.push(read)) {
      if (part.kind === 'bytes') yield lines.push(part.bytes);
      else {
        yield lines.end();
        const behind = (): number =>
          withSnapshot(capture, (snapshot) => newlinesBefore(snapshot, stream, part.hole.to));
        lines = new LineSplitter(behind() + 1);
      }
    }
  }
  yield lines.end();
}

class LineSplitter {
  #rest = '';
  #number: number;

  constructor(first: number) {
    this.#number = first;
  }

  push(clean: Uint8Array): Line[] {
    const texts = decodeUtf8(clean).split('\n');
    const unfinished = texts.pop() ?? '';
    const lines = texts.map((one, i) => this.#line(i === 0 ? this.#rest + one : one));
    const rest = lines.length === 0 ? this.#rest + unfinished : unfinished;
    this.#rest = rest.slice(0, LINE_LENGTH_MAX);
    return lines;
  }

  end(): Line[] {
    return this.#rest === '' ? [] : [this.#line(this.#rest)];
  }

  #line(text: string): Line {
    const kept = text.length > LINE_LENGTH_MAX ? text.slice(0, LINE_LENGTH_MAX) : text;
    const number = this.#number;
    this.#number += 1;
    return { number, text: kept.includes('\r') ? lastWritten(kept) : kept };
  }
}

/** What is left to see of a line that was written over. */
function lastWritten(text: string): string {
  return decodeUtf8(sanitize(Buffer.from(text), { cr: 'overwrite' }));
}
