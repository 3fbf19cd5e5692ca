// Output that goes to no file: the head of each stream in memory, and how much there was.

import type { Channel } from '../types.ts';

export type MemoryPiece = {
  readonly channel: 'stdout' | 'stderr';
  readonly bytes: Uint8Array;
};

export class Memory {
  readonly #bytesMax: number;
  readonly #pieces: MemoryPiece[] = [];
  readonly totals = { stdout: 0, stderr: 0 };

  /** Keeps at most `bytesMax` of each stream. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(channel: Channel, bytes: Uint8Array): void {
    const stream = channel === 'stderr' ? 'stderr' : 'stdout';
    const room = Math.max(0, this.#bytesMax - this.totals[stream]);
    this.totals[stream] += bytes.length;
    if (room === 0) return;
    // A copy: a slice would hold on to the whole buffer it was read into.
    const kept = Uint8Array.prototype.slice.call(bytes, 0, room);
    this.#pieces.push({ channel: stream, bytes: kept });
  }

  /** What is kept, in the order it came. */
  get pieces(): readonly MemoryPiece[] {
    return this.#pieces;
  }

  stdout(): Uint8Array {
    return this.#of('stdout');
  }

  stderr(): Uint8Array {
    return this.#of('stderr');
  }

  #of(stream: MemoryPiece['channel']): Uint8Array {
    const own = this.#pieces.filter(({ channel }) => channel === stream);
    return Buffer.concat(own.map(({ bytes }) => bytes));
  }
}
