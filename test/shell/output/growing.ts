// Output in memory that a test lets grow between two reads, in the form of a live capture.
import type { ByteSource } from '../../../src/capture/byte-source.ts';
import { encodeIndex } from '../../../src/capture/format.ts';
import type { Source } from '../../../src/capture/snapshot.ts';
import { countNewlines } from '../../../src/text/lines.ts';

export type Channel = 'stdout' | 'stderr';

export class GrowingOutput {
  readonly #chunks: { readonly channel: Channel; readonly bytes: Uint8Array }[] = [];
  readonly #bytes: [number, number] = [0, 0];
  readonly #lines: [number, number] = [0, 0];
  #index = '';

  append(channel: Channel, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const slot = channel === 'stderr' ? 1 : 0;
    const offset = this.#bytes[0] + this.#bytes[1];
    const lines = countNewlines(bytes);
    this.#chunks.push({ channel, bytes });
    this.#bytes[slot] += bytes.length;
    this.#lines[slot] += lines;
    const totals = { totalBytes: [...this.#bytes], totalLines: [...this.#lines] } as const;
    this.#index += encodeIndex({ offset, length: bytes.length, channel, at: 1, lines, ...totals });
  }

  stream(channel: Channel | 'all'): Buffer {
    const own = this.#chunks.filter((one) => channel === 'all' || one.channel === channel);
    return Buffer.concat(own.map(({ bytes }) => bytes));
  }

  /** As it is now; `over` says that nothing more can come. */
  capture(over = false): Source {
    const files = new Map([
      ['output.bin', this.stream('all')],
      ['index.jsonl', Buffer.from(this.#index)],
    ]);
    return captureOf((name) => bytesSource(files.get(name) ?? Buffer.alloc(0)), !over);
  }
}

/** Output of one unit again and again that grows with every look, as fast as it is read. */
export class EndlessOutput {
  readonly #unit: string;
  readonly #lines: number;
  bytesRead = 0;
  end = 0;
  #index = '';

  /** `end` and all growth in mebibytes, one record for each. */
  constructor(unit: string, end: number) {
    this.#unit = unit;
    this.#lines = unit.includes('\n') ? MIB / unit.length : 0;
    while (this.end < end) this.#grow();
  }

  #grow(): void {
    const count = this.end / MIB + 1;
    const totals = { totalBytes: [count * MIB, 0], totalLines: [count * this.#lines, 0] } as const;
    const record = { offset: this.end, length: MIB, at: 1, lines: this.#lines, ...totals };
    this.#index += encodeIndex({ ...record, channel: 'stdout' });
    this.end += MIB;
  }

  capture(): Source {
    return captureOf((name) => {
      if (name === 'index.jsonl') return bytesSource(Buffer.from(this.#index));
      if (name !== 'output.bin') return bytesSource(Buffer.alloc(0));
      this.#grow();
      return { ...bytesSource(Buffer.alloc(0)), size: this.end, read: this.#read };
    });
  }

  readonly #read = (position: number, length: number): Uint8Array => {
    this.bytesRead += Math.max(0, length);
    if (this.bytesRead > 64 * MIB) throw new Error('it reads for ever');
    const skip = position % this.#unit.length;
    return Buffer.alloc(Math.max(0, length) + skip, this.#unit).subarray(skip);
  };
}

const MIB = 1024 * 1024;

function captureOf(open: (name: string) => ByteSource, outputOpen = true): Source {
  const about = { dir: '/nowhere', meta: undefined, now: () => 0 };
  return { ...about, outputOpen, files: { open, close: () => undefined } };
}

function bytesSource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    changedAt: 0,
    read: (position, length) => bytes.subarray(position, position + Math.max(0, length)),
    close: () => undefined,
  };
}
