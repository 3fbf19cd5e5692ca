// How a new key of a ledger becomes known to a reader who has an old one: a checkpoint that the old
// key signed, over leaves among which one names the new key. The notes are kept, each with a `\0`
// behind it, which no note can have.

import { DISK, type Disk } from '../journal/files.ts';
import { openForAppending, readSmall, sealFile, shortWrite } from './place.ts';

export async function appendIntroduction(
  stateRoot: string,
  note: string,
  disk: Disk = DISK,
): Promise<void> {
  const path = sealFile(stateRoot, 'introductions');
  // What a crash left of one stays by itself.
  const torn = (readSmall(path) ?? '\0').endsWith('\0') ? '' : '\0';
  const fd = openForAppending(path, disk);
  try {
    const bytes = Buffer.from(`${torn}${note}\0`);
    if (disk.writeSync(fd, bytes) < bytes.length) throw shortWrite(path);
    await disk.sync(fd);
  } finally {
    disk.closeSync(fd);
  }
}

export function introductionsIn(text: string): readonly string[] {
  return text.split('\0').filter((note) => note !== '');
}
