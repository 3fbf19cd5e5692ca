// The output of a run that is in no file, in the form of a capture: the kept head of stdout, then
// that of stderr. Their order is not known, and neither is what was not kept.
import type { ByteSource } from '../../capture/byte-source.ts';
import { encodeIndex, type IndexRecord } from '../../capture/format.ts';
import type { Source } from '../../capture/snapshot.ts';
import { countNewlines } from '../../text/lines.ts';
import type { MemoryOutput } from '../run.ts';

export function memorySource(memory: MemoryOutput): Source {
  const [stdout, stderr] = [memory.stdout(), memory.stderr()];
  const lines = [countNewlines(stdout), countNewlines(stderr)] as const;
  const records: IndexRecord[] = [
    {
      offset: 0,
      length: stdout.length,
      channel: 'stdout',
      at: 0,
      lines: lines[0],
      totalBytes: [stdout.length, 0],
      totalLines: [lines[0], 0],
    },
    {
      offset: stdout.length,
      length: stderr.length,
      channel: 'stderr',
      at: 0,
      lines: lines[1],
      totalBytes: [stdout.length, stderr.length],
      totalLines: lines,
    },
  ];
  const index = records.filter(({ length }) => length > 0).map(encodeIndex);
  const files = new Map([
    ['output.bin', Buffer.concat([stdout, stderr])],
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
