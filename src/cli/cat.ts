// `cuff cat`: a capture byte for byte, both streams in the order they came or one of them. What is
// not there because it could not be stored is said on stderr, for bytes alone cannot say it.

import { type Capture, captureNamed, pieces, storeOf, streamChannel } from '../reading.ts';
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
  warn(capture, options);
  if (!options.json) {
    for (const bytes of streamChannel(capture, channel)) await put(bytes);
    return;
  }
  for (const piece of pieces(capture, 0)) {
    const own = piece.chunk.channel === 'stderr' ? 'stderr' : 'stdout';
    if (channel === 'all' || channel === own) await putJson(chunkJson(piece));
  }
}

function warn(capture: Capture, { stderr }: Options): void {
  sayMissing(capture);
  if (stderr && nothingIn(capture)) {
    say('Nothing came as stderr. What printed both streams to one place has them as stdout.');
  }
}

function nothingIn(capture: Capture): boolean {
  for (const _ of streamChannel(capture, 'stderr')) return false;
  return true;
}
