// The output of a run that is in no file, in the form of a capture: what is kept of it, in the
// order it came. What was not kept is missing at the end.
import type { ByteSource } from '../../capture/byte-source.ts';
import { encodeIndex } from '../../capture/format.ts';
import type { Source } from '../../capture/snapshot.ts';
import { countNewlines } from '../../text/lines.ts';
import type { MemoryOutput } from '../run.ts';

export function memorySource({ pieces }: MemoryOutput): Source {
  const [bytesSoFar, linesSoFar] = [
    { stdout: 0, stderr: 0 },
    { stdout: 0, stderr: 0 },
  ];
  let offset = 0;
  const index = pieces.map(({ channel, bytes }) => {
    const lines = countNewlines(bytes);
    bytesSoFar[channel] += bytes.length;
    linesSoFar[channel] += lines;
    const record = encodeIndex({
      ...{ offset, length: bytes.length, channel, at: 0, lines },
      totalBytes: [bytesSoFar.stdout, bytesSoFar.stderr],
      totalLines: [linesSoFar.stdout, linesSoFar.stderr],
    });
    offset += bytes.length;
    return record;
  });
  const files = new Map([
    ['output.bin', Buffer.concat(pieces.map(({ bytes }) => bytes))],
    ['index.jsonl', Buffer.from(index.join(''))],
  ]);
  const open = (name: string): ByteSource => sourceOf(files.get(name) ?? new Uint8Array());
  const about = { dir: '', meta: undefined, outputOpen: false, now: () => 0 };
  return { ...about, files: { open, close: () => undefined } };
}

function sourceOf(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    changedAt: 0,
    read: (position, length) => bytes.subarray(position, position + Math.max(0, length)),
    close: () => undefined,
  };
}
