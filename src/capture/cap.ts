// How much of its output one capture may keep on the disk.

import { AppError } from '../errors.ts';
import { OUTPUT_BYTES_MAX } from '../limits.ts';
import { printable } from '../text/printable.ts';
import type { Env } from '../types.ts';

const NAME = 'CUFF_OUTPUT_BYTES_MAX';

/** Throws `usage` for a value that is no number of bytes. */
export function outputCap(env: Env): number {
  const named = env[NAME];
  if (named === undefined || named === '') return OUTPUT_BYTES_MAX;
  const bytes = /^\d{1,15}$/.test(named) ? Number(named) : 0;
  if (bytes > 0) return bytes;
  throw new AppError('usage', `${NAME} is '${printable(named)}', which is no number of bytes.`, {
    hint: `Set it to how many bytes a capture may keep, or unset it: then ${OUTPUT_BYTES_MAX}.`,
  });
}
