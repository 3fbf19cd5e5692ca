// A trace with other bytes in its words: frames of which bytes were changed get a check that holds.

import { CHECK_AT, frameCheck, wholeFrames } from './decode.ts';
import { HEADER_BYTES } from './format.ts';

/** `after` has the length of `before`, and is changed. */
export function holdFrames(before: Buffer, after: Buffer): void {
  for (const [at, length] of wholeFrames(before, HEADER_BYTES)) {
    const frame = after.subarray(at, at + length);
    frame.writeUInt32LE(frameCheck(frame), CHECK_AT);
  }
}
