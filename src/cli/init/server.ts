// How a client starts this program: as `cuff` if a shell would find this one under that name, else
// with the paths of this machine.

import { realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Env } from '../../types.ts';
import type { ServerCommand } from './clients.ts';

export type FoundServer = ServerCommand & {
  /** A remark for people who share the file. */
  readonly note: string | undefined;
};

export function findServer(env: Env, script: string): FoundServer {
  const self = realPath(script);
  const found = programsOf(env, 'cuff')
    .map(realPath)
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

/** Where a shell would look for it. */
function programsOf(env: Env, name: string): string[] {
  return (
    (env.PATH ?? '')
      .split(delimiter)
      // npm puts this one there for a moment only.
      .filter(
        (directory) => isAbsolute(directory) && !/node_modules[\\/]\.bin[\\/]?$/.test(directory),
      )
      .map((directory) => join(directory, name))
  );
}

/**
 * This program, as a hook names it: with the path under which a shell would find it, which stays
 * the same when a new version is installed, or else with its own.
 */
export function ownPath(env: Env, script: string): string {
  const self = realPath(script) ?? script;
  const named = programsOf(env, 'cuff').find((path) => realPath(path) === self);
  return named ?? self;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined; // nothing there
  }
}
