// How much room the packed sessions of a journal take, and how much they took plain. No key is
// needed for that.
import { statSync } from 'node:fs';
import { findSessionFiles } from '../files.ts';
import { journalSessionIds } from '../reader.ts';
import { lineState, segmentPaths } from './source.ts';

export type PackedRoom = {
  readonly sessions: number;
  readonly packedBytes: number;
  readonly plainBytes: number;
};

export function packedRoom(directory: string): PackedRoom {
  let [sessions, packedBytes, plainBytes] = [0, 0, 0];
  for (const id of journalSessionIds(directory)) {
    const files = findSessionFiles(directory, id);
    if (files === undefined) continue;
    const paths = [files.entries, files.later, files.edits];
    const segments = paths.flatMap((path) => lineState(path)?.stub?.segments ?? []);
    if (segments.length === 0) continue;
    sessions += 1;
    plainBytes += segments.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const path of paths.flatMap(segmentPaths)) {
      packedBytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    }
  }
  return { sessions, packedBytes, plainBytes };
}

export function packedJson({ sessions: count, packedBytes, plainBytes }: PackedRoom) {
  return { count, packed_bytes: packedBytes, plain_bytes: plainBytes };
}
