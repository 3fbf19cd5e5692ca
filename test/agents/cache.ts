// The cache of the agent programs: `<cache>/cuff/agents/<name>-<version>-<hash>`, one directory for
// each pinned tarball. A directory that is there is whole: it is unpacked under another name, from
// a tarball whose hash was compared, and then renamed. A broken download goes on where it stopped.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { type AgentName, type AgentProgram, PROGRAMS } from './programs.ts';

const ATTEMPTS_MAX = 5;
const BACKOFF_MS = 2_000; // doubled after each failed attempt

export function cacheRoot(): string {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(cache, 'cuff', 'agents');
}

/** Where the unpacked package is, or will be. */
export function programDirectory(program: AgentProgram): string {
  const hash = Buffer.from(program.sha512, 'base64').toString('hex');
  const name = basename(program.package);
  return join(cacheRoot(), `${name}-${program.version}-${hash.slice(0, 16)}`);
}

/** False where the registry did not have it. */
export function isFetched(name: AgentName): boolean {
  return existsSync(programDirectory(PROGRAMS[name]));
}

/** The command line that starts the program. */
export function programCommand(name: AgentName): string[] {
  const { runtime, ...program } = PROGRAMS[name];
  const entry = entryOf(program);
  if (runtime !== undefined) return [entryOf(runtime), entry];
  return entry.endsWith('.js') ? [process.execPath, entry] : [entry];
}

function entryOf(program: AgentProgram): string {
  return join(programDirectory(program), program.entry);
}

interface FetchOptions {
  readonly say: (line: string) => void;
  /** Where the tarball is. */
  readonly urlOf?: (program: AgentProgram) => string;
  readonly backoffMs?: number;
}

/** What npm says where the registry has no such package or version. */
const ABSENT = /\bE404\b/;

/**
 * Fetches what is not there yet; throws when the registry does not give it. What the registry does
 * not have is said, and its tests are left out.
 */
export async function fetchProgram(program: AgentProgram, options: FetchOptions): Promise<void> {
  const directory = programDirectory(program);
  if (existsSync(directory)) return;
  const { say, urlOf = tarballUrl, backoffMs = BACKOFF_MS } = options;
  const tarball = `${directory}.tgz`;
  const part = `${directory}.part`;
  mkdirSync(cacheRoot(), { recursive: true });
  const began = performance.now();
  for (let attempt = 1; !existsSync(tarball); attempt += 1) {
    try {
      await download(urlOf(program), part);
      await check(part, program.sha512);
      renameSync(part, tarball);
    } catch (error) {
      if (ABSENT.test(String(error))) {
        return say(`agents: the registry has no ${program.package}@${program.version}: skipped`);
      }
      if (attempt === ATTEMPTS_MAX) throw error;
      say(`agents: ${program.package}: ${String(error)}; again`);
      await wait(backoffMs * 2 ** (attempt - 1));
    }
  }
  unpack(tarball, directory);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  say(`agents: ${program.package}@${program.version} fetched in ${seconds} s`);
}

/** npm knows which registry is configured, and asks it. */
function tarballUrl({ package: name, version }: AgentProgram): string {
  const args = ['view', `${name}@${version}`, 'dist.tarball', '--json'];
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  return JSON.parse(execFileSync('npm', args, { encoding: 'utf8', stdio }));
}

async function download(url: string, part: string): Promise<void> {
  const begin = (await stat(part).catch(() => undefined))?.size ?? 0;
  const answer = await fetch(url, { headers: begin > 0 ? { range: `bytes=${begin}-` } : {} });
  if (answer.status === 416) return; // all of it is here: the hash decides
  if (!answer.ok || answer.body === null) throw new Error(`the registry says ${answer.status}`);
  const flags = answer.status === 206 ? 'a' : 'w';
  await pipeline(Readable.fromWeb(answer.body), createWriteStream(part, { flags }));
}

/** What does not have the pinned hash is removed, so that it is not continued. */
async function check(part: string, sha512: string): Promise<void> {
  const hash = createHash('sha512');
  await pipeline(createReadStream(part), hash);
  if (hash.digest('base64') === sha512) return;
  rmSync(part);
  throw new Error('the tarball does not have the pinned hash');
}

function unpack(tarball: string, directory: string): void {
  const fresh = `${directory}.${process.pid}.new`;
  mkdirSync(fresh);
  execFileSync('tar', ['-xzf', tarball, '-C', fresh, '--strip-components=1', '--no-same-owner']);
  try {
    renameSync(fresh, directory);
  } catch (error) {
    rmSync(fresh, { recursive: true });
    if (!existsSync(directory)) throw error; // another process was faster
  }
  rmSync(tarball, { force: true });
}
