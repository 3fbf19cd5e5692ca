// One at a time between processes: a file that names its holder. A holder that died, or that has
// held on for longer than any build takes, is not waited for.
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { say } from './tools.mjs';

const POLL_MS = 100;
const HELD_MS_MAX = 15 * 60_000; // longer than the slowest `npm ci` we would wait for

export async function withLock(path, work) {
  const mine = `${path}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    await acquire(path, mine);
    try {
      return await work();
    } finally {
      rmSync(path, { force: true });
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

async function acquire(path, mine) {
  let told = false;
  while (!linked(mine, path)) {
    const holder = liveHolder(path);
    if (holder === undefined) {
      rmSync(path, { force: true });
      continue;
    }
    if (!told) say(`waiting for another set-up (pid ${holder})`);
    told = true;
    await pause(POLL_MS);
  }
}

/** A link is made whole or not at all, so a lock never exists without its holder's pid. */
function linked(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function liveHolder(path) {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    if (Date.now() - statSync(path).mtimeMs > HELD_MS_MAX) return undefined;
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    // EPERM is somebody else's live process. Anything else: the file or its holder is gone.
    return error.code === 'EPERM' ? 'of another user' : undefined;
  }
}
