// How a client starts this program: as `cuff` if a shell would find this one under that name, else
// with the paths of this machine.

import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { ServerCommand } from './clients.ts';

export type FoundServer = ServerCommand & {
  /** A remark for people who share the file. */
  readonly note: string | undefined;
};

export function findServer(
  env: { readonly [name: string]: string | undefined },
  script: string,
): FoundServer {
  const self = realPath(script);
  const found = (env.PATH ?? '')
    .split(delimiter)
    // npm puts this one there for a moment only.
    .filter((directory) => directory !== '' && !/node_modules[\\/]\.bin[\\/]?$/.test(directory))
    .map((directory) => realPath(join(directory, 'cuff')))
    .find((path) => path !== undefined);
  if (found !== undefined && found === self) {
    return { command: 'cuff', args: ['mcp'], note: undefined };
  }
  return {
    command: process.execPath,
    args: [self ?? script, 'mcp'],
    note: 'cuff is not on the PATH, so the file names paths of this machine.',
  };
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined; // nothing there
  }
}
