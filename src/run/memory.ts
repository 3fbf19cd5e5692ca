// Output that goes to no file: the head of each stream in memory, and how much there was.

import type { Channel } from '../types.ts';

export class Memory {
  readonly #bytesMax: number;
  readonly #pieces: { stdout: Uint8Array[]; stderr: Uint8Array[] } = { stdout: [], stderr: [] };
  readonly totals = { stdout: 0, stderr: 0 };

  /** Keeps at most `bytesMax` of each stream. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(channel: Channel, bytes: Uint8Array): void {
    const stream = channel === 'stderr' ? 'stderr' : 'stdout';
    const room = Math.max(0, this.#bytesMax - this.totals[stream]);
    this.totals[stream] += bytes.length;
    // A copy: a slice would hold on to the whole buffer it was read into.
    if (room > 0) this.#pieces[stream].push(Uint8Array.prototype.slice.call(bytes, 0, room));
  }

  stdout(): Uint8Array {
    return Buffer.concat(this.#pieces.stdout);
  }

  stderr(): Uint8Array {
    return Buffer.concat(this.#pieces.stderr);
  }
}
