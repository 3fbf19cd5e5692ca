// Small things the scripts share: finding programs, running them quietly, and speaking. Words go
// to stderr, so that stdout stays for data.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export function say(words) {
  process.stderr.write(`${words}\n`);
}

/** The first executable of that name on PATH, or undefined. */
export function findProgram(name, path = process.env.PATH ?? '') {
  for (const directory of path.split(delimiter)) {
    const file = join(directory, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this directory; the next one may have it.
    }
  }
  return undefined;
}

/** Run to the end; the words are only for when it failed. */
export function spawnQuietly(program, args, options = {}) {
  const result = spawnSync(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
  const words = [result.error?.message, result.stdout, result.stderr].filter(Boolean).join('\n');
  return { ok: result.status === 0, words: words.trim(), stdout: result.stdout ?? '' };
}
