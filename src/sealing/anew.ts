// Another ledger in the place of one that cannot be signed any more: its key is gone, or what was
// signed is not what is there. The old one is kept beside it, because it still is evidence.

import * as fs from 'node:fs';
import { sealDir } from './place.ts';

/** Where the old ledger is now. Throws the error of the system call. */
export function setAside(stateRoot: string, now: number): string {
  const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  const aside = `${sealDir(stateRoot)}-until-${stamp}`;
  fs.renameSync(sealDir(stateRoot), aside);
  return aside;
}
