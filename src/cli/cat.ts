// `cuff cat`: a capture byte for byte, both streams in the order they came or one of them. What is
// not there because it could not be stored, or is of no known stream, is said on stderr, for bytes
// alone cannot say it.

import { type Capture, captureNamed, storeOf } from '../shell/captures.ts';
import { OutputReader } from '../shell/output/reader.ts';
import { counted } from '../text/plural.ts';
import type { Channel } from '../types.ts';
import { put, putJson, say } from './output.ts';
import { chunkJson, sayMissing } from './show.ts';

type Options = {
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly json?: boolean;
};

export async function cat(part: string, options: Options): Promise<void> {
  const capture = captureNamed(storeOf(process.env), part);
  const channel = options.stderr ? 'stderr' : options.stdout ? 'stdout' : 'all';
  const output = OutputReader.of(capture);
  sayMissing(capture);
  const unknown = channel === 'all' ? 0 : output.unknownBytes();
  if (unknown > 0) sayLeftOut(capture, unknown);
  else if (options.stderr && output.head('stderr', 1).length === 0) {
    say('Nothing came as stderr. What printed both streams to one place has them as stdout.');
  }
  if (!options.json && unknown === 0) {
    for (const bytes of output.stream(channel)) await put(bytes);
    return;
  }
  for (const piece of output.pieces(0)) {
    if (channel !== 'all' && streamOf(piece.chunk.channel) !== channel) continue;
    await (options.json ? putJson(chunkJson(piece)) : put(piece.bytes));
  }
}

/** The output of a terminal counts as stdout. Bytes without a record may be of either stream. */
function streamOf(channel: Channel): 'stdout' | 'stderr' | undefined {
  if (channel === 'unknown') return undefined;
  return channel === 'stderr' ? 'stderr' : 'stdout';
}

function sayLeftOut({ id }: Capture, bytes: number): void {
  const count = counted(bytes, 'byte is', 'bytes are');
  say(`${count} left out: of which stream is not known. \`cuff cat ${id}\` shows everything.`);
}
