// A packed capture as it was before, so that its bytes can be written over; the packer packs it
// again. Where a file is there plain and packed, the plain one counts, so at every moment all bytes
// are there; the packed one goes.

import { join } from 'node:path';
import { pieces } from '../../capture/byte-source.ts';
import { PACKABLE } from '../../capture/format.ts';
import { PACKED, packedIn, packedNames } from '../../capture/open-source.ts';
import { type PackOps, syncDirectory, TEMP, write, writeAll } from '../../capture/packed/pack.ts';
import { hasIn } from '../../capture/paths.ts';

/** Throws the error of the system call, and `capture_damaged`; what was packed stays then. */
export function unpackCapture(dir: string, io: PackOps): void {
  for (const name of PACKABLE) {
    const packed = packedNames(name).filter((one) => hasIn(dir, one));
    if (packed.length === 0) continue;
    if (!hasIn(dir, name)) unpackFile(dir, name, io);
    for (const one of packed) io.unlinkSync(join(dir, one));
    syncDirectory(dir, io);
  }
}

function unpackFile(dir: string, name: string, io: PackOps): void {
  const source = packedIn(dir, `${name}${PACKED}`);
  if (source === undefined) return;
  try {
    write(dir, name, io, (fd) => {
      for (const piece of pieces(source, 0, source.size)) writeAll(fd, piece, io);
    });
    io.renameSync(join(dir, `${name}${TEMP}`), join(dir, name));
    syncDirectory(dir, io);
  } finally {
    source.close();
  }
}
