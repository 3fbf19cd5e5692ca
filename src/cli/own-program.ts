// The file that other programs start to reach this one: what `bin` of the package names.

import { realpathSync } from 'node:fs';

export function ownProgram(): string {
  return realpathSync(process.argv[1] ?? '');
}
