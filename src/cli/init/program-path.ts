// Where a program of a client is, if it is installed.

import { statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Env } from '../../types.ts';

/** Where a shell would find the program. */
export function programPath(name: string, env: Env): string | undefined {
  return (env.PATH ?? '')
    .split(delimiter)
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, name))
    .find(isFile);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false; // not there, or in a directory that we may not look into
  }
}
