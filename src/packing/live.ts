// Where captures are while their run goes on: `encryption.live: memory` of the user's own settings
// puts them below $XDG_RUNTIME_DIR, until they are encrypted. Without a place in memory they are on
// the disk as always, and that is said.
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { LivePlace } from '../capture/live-place.ts';
import { isPrivateDir } from '../capture/paths.ts';
import { isAppError, messageOf } from '../errors.ts';
import { sha256 } from '../text/hash.ts';
import { formatSize } from '../text/size.ts';
import type { Env, Log } from '../types.ts';
import { encryptionSettings } from './recipients.ts';

const BYTES_MAX = 64 * 1024 * 1024; // of one capture
const PART_OF_ROOM = 4; // other programs need the memory, too
const BYTES_MIN = 1024 * 1024; // less than that would hold no capture
const [TMPFS, RAMFS] = [0x01021994, 0x858458f6]; // statfs(2)

const PLAIN_MS = 1_000; // what users change in their settings counts that soon

const PLAIN: LivePlace = { kind: 'plain' };

/** For one run of this state root. Never throws. */
export function livePlace(stateRoot: string, cwd: string, env: Env): LivePlace {
  try {
    const { live, recipients } = encryptionSettings(cwd, env);
    if (live !== 'memory') return PLAIN;
    if (recipients.length === 0) return plain('there are no encryption.recipients');
  } catch (error) {
    if (!isAppError(error)) throw error;
    return plain(messageOf(error));
  }
  const memory = memoryOf(stateRoot, env);
  if (memory === undefined) return plain('XDG_RUNTIME_DIR names no directory of yours alone');
  let stat: fs.StatsFs;
  try {
    stat = fs.statfsSync(join(memory, '..', '..'));
  } catch (error) {
    return plain(messageOf(error));
  }
  if (![TMPFS, RAMFS].includes(stat.type)) return plain('XDG_RUNTIME_DIR is not in memory');
  const room = Math.floor((stat.bavail * stat.bsize) / PART_OF_ROOM);
  if (room < BYTES_MIN) return plain(`a quarter of its free room is ${formatSize(room)}`);
  const root = join(memory, randomBytes(8).toString('hex'));
  return { kind: 'memory', root, outputBytesMax: Math.min(BYTES_MAX, room) };
}

type LiveOptions = {
  readonly stateRoot: string;
  readonly cwd: string;
  readonly env: Env;
  readonly log: Log;
};

/** For the runs of a server: the settings are read once a second, and a trouble is logged once. */
export function livePlaces({ stateRoot, cwd, env, log }: LiveOptions): () => LivePlace {
  let [said, plainUntil] = ['', 0];
  return () => {
    if (performance.now() < plainUntil) return PLAIN;
    const place = livePlace(stateRoot, cwd, env);
    if (place.kind === 'plain') plainUntil = performance.now() + PLAIN_MS;
    const why = place.kind === 'plain' ? (place.why ?? '') : '';
    if (why !== said) log('warn', 'Captures are not in memory', { error: why || null });
    said = why;
    return place;
  };
}

/** Where captures of this state root are in memory; undefined where there is none for this user. */
export function memoryOf(stateRoot: string, env: Env): string | undefined {
  const runtime = env.XDG_RUNTIME_DIR ?? '';
  if (!isAbsolute(runtime) || !isPrivateDir(runtime)) return undefined;
  return join(runtime, 'cuff', sha256(resolve(stateRoot)).slice(0, 16));
}

function plain(why: string): LivePlace {
  return { kind: 'plain', why: `its capture is on the disk while it runs: ${why}` };
}
