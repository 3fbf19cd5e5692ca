// Opens an address in the user's browser. What a program is started with is seen by every user of
// the machine, and the address has a code in it: the browser is given a file of this user alone,
// which leads there, and which is removed when the code was used or is too old.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { stateRoot } from '../capture/paths.ts';
import { makeDirectories } from '../directories.ts';
import type { Env } from '../types.ts';

const KEPT_MS = 60_000; // as long as the code is good

/** Returns what removes the file; undefined: there is no browser to start. */
export function openBrowser(address: string, env: Env): (() => void) | undefined {
  const program = programFor(env);
  if (program === undefined) return undefined;
  let file: string;
  try {
    file = redirectFile(address, env);
  } catch {
    return undefined; // no place for it: the address that is printed leads there, too
  }
  const remove = (): void => fs.rmSync(file, { force: true });
  const timer = setTimeout(remove, KEPT_MS).unref();
  process.once('exit', remove);
  start(program, file);
  return () => {
    clearTimeout(timer);
    remove();
  };
}

function programFor(env: Env): string | undefined {
  if (process.platform === 'darwin') return 'open';
  if (process.platform !== 'linux') return undefined;
  return env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined;
}

function redirectFile(address: string, env: Env): string {
  const runtime = env.XDG_RUNTIME_DIR;
  const directory = runtime && isAbsolute(runtime) ? runtime : stateRoot(env);
  makeDirectories(directory, 0o700);
  const file = join(directory, `cuff-ui-${randomBytes(8).toString('hex')}.html`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = fs.constants;
  const fd = fs.openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    // The address is ours, and has neither quotes nor angles in it.
    fs.writeSync(fd, `<!doctype html><meta http-equiv="refresh" content="0; url=${address}">\n`);
  } finally {
    fs.closeSync(fd);
  }
  return file;
}

function start(program: string, file: string): void {
  const child: ChildProcess = spawn(program, [file], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined); // no such program: the address is printed, too
  child.unref();
}
