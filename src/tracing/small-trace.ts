// The processes of a capture, where its trace is small enough to be looked at beside the work.

import * as fs from 'node:fs';
import { openIn } from '../capture/paths.ts';
import { AppError, errnoOf } from '../errors.ts';
import { decodeTrace } from '../trace/decode/decode.ts';
import type { Process } from '../trace/processes/process.ts';
import { buildProcesses } from '../trace/processes/processes.ts';
import { countProcesses } from './count.ts';

const WHOLE_BYTES_MAX = 512 * 1024; // more than a thousand processes

export type SmallTrace =
  | { readonly kind: 'whole'; readonly processes: readonly Process[] }
  | { readonly kind: 'counted'; readonly count: number };

/** The last one that was read. The entry and the answer of a command are about the same. */
let last: { readonly dir: string; readonly size: number; readonly trace: SmallTrace } | undefined;

/** Undefined where there is none, or none that can be read. */
export function smallTrace(dir: string): SmallTrace | undefined {
  let fd: number | undefined;
  try {
    fd = openIn(dir, 'trace.bin', fs.constants.O_RDONLY);
    const { size } = fs.fstatSync(fd);
    // It only ever grows.
    if (last?.dir === dir && last.size === size) return last.trace;
    const trace = readSmall(fd, size);
    last = trace && { dir, size, trace };
    return trace;
  } catch (error) {
    // It could not be made, was removed, or something else is in its place.
    if (errnoOf(error) === undefined && !(error instanceof AppError)) throw error;
    return undefined;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

function readSmall(fd: number, size: number): SmallTrace | undefined {
  if (size > WHOLE_BYTES_MAX) return { kind: 'counted', count: countProcesses(fd) };
  const bytes = Buffer.allocUnsafe(size);
  const { header, frames } = decodeTrace(bytes.subarray(0, fs.readSync(fd, bytes)), 'processes');
  if (header === undefined) return undefined;
  return { kind: 'whole', processes: buildProcesses(frames, header).processes };
}
