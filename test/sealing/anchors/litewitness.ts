// litewitness, a witness that others wrote: the pinned package of Debian, unpacked and not
// installed, in the cache for test programs. It comes from the mirror that apt is set up with.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { until } from '../../cli/helper.ts';

const PINNED = {
  version: '0.9.0-6',
  path: 'pool/main/t/torchwood/torchwood_0.9.0-6_amd64.deb',
  sha256: '1b5791fccfb96dac2609cb66aa727839ac4eca2db2d7b14e5882f5fa9c35fcb2',
};
const FETCH_MS_MAX = 60_000; // 18 MB

/** The directory of its programs; undefined where it cannot be had. */
export async function fetchLitewitness(): Promise<string | undefined> {
  if (`${process.platform}-${process.arch}` !== 'linux-x64') return undefined;
  const { version, sha256 } = PINNED;
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'cuff', 'programs');
  const directory = join(cache, `torchwood-${version}-${sha256.slice(0, 16)}`);
  const programs = join(directory, 'usr', 'bin');
  if (fs.existsSync(programs)) return programs;
  const bytes = await pinnedBytes();
  if (bytes === undefined) return undefined;
  const draft = `${directory}.${process.pid}`;
  fs.mkdirSync(draft, { recursive: true });
  fs.writeFileSync(`${draft}.deb`, bytes);
  execFileSync('dpkg-deb', ['-x', `${draft}.deb`, draft]);
  fs.rmSync(`${draft}.deb`);
  fs.renameSync(draft, directory);
  return programs;
}

async function pinnedBytes(): Promise<Buffer | undefined> {
  for (const mirror of mirrors()) {
    try {
      const signal = AbortSignal.timeout(FETCH_MS_MAX);
      const answer = await fetch(new URL(PINNED.path, mirror), { signal });
      const bytes = Buffer.from(await answer.arrayBuffer());
      const hash = createHash('sha256').update(bytes).digest('hex');
      if (answer.ok && hash === PINNED.sha256) return bytes;
    } catch {
      // The next mirror may have it, and the test says when none has.
    }
  }
  return undefined;
}

function mirrors(): readonly string[] {
  try {
    const args = ['indextargets', '--format', '$(REPO_URI)'];
    const out = execFileSync('apt-get', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return [...new Set(out.split('\n').filter((line) => /^https?:.*\/debian\/$/.test(line)))];
  } catch {
    return []; // a system without apt
  }
}

export type LiveWitness = {
  readonly address: string;
  readonly vkey: string;
  /** Trusts the key of this ledger from now on. */
  readonly trust: (vkey: string) => void;
};

/** Ends with the test. Its key is in an agent of its own. */
export async function startLitewitness(programs: string, dir: string): Promise<LiveWitness> {
  const [socket, key, db] = ['agent.sock', 'key', 'witness.db'].map((name) => join(dir, name));
  if (socket === undefined || key === undefined || db === undefined) throw new Error('no paths');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const agent = started('ssh-agent', ['-D', '-a', socket]);
  await once(createInterface({ input: agent.stdout }), 'line'); // it says where it listens
  execFileSync('ssh-add', ['-q', key], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
  const print = execFileSync('ssh-keygen', ['-lf', `${key}.pub`], { encoding: 'utf8' }).split(' ');
  const how = ['-db', db, '-key', print[1] ?? '', '-ssh-agent', socket, '-listen', '127.0.0.1:0'];
  const witness = started(join(programs, 'litewitness'), ['-name', 'witness.example/w', ...how]);
  let vkey = '';
  for await (const line of createInterface({ input: witness.stderr })) {
    vkey = / vkey=(\S+)/.exec(line)?.[1] ?? vkey;
    if (line.includes('msg=listening')) break;
  }
  const trust = (log: string): void => {
    const origin = log.split('+')[0] ?? '';
    const control = (...args: string[]) =>
      execFileSync(join(programs, 'witnessctl'), args, { stdio: 'ignore' });
    control('add-log', '-db', db, '-origin', origin);
    control('add-key', '-db', db, '-origin', origin, '-key', log);
  };
  const port = () => portOf(witness.pid ?? 0);
  await until(() => port() !== undefined, 'the witness listens');
  return { address: `http://127.0.0.1:${port()}/`, vkey, trust };
}

function started(program: string, args: readonly string[]) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return child;
}

/** It says that it listens before it does, and not where; the kernel knows. */
function portOf(pid: number): number | undefined {
  const fds = fs.readdirSync(`/proc/${pid}/fd`).map((fd) => openedAs(`/proc/${pid}/fd/${fd}`));
  for (const line of fs.readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n')) {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    if (state === '0A' && fds.includes(`socket:[${inode}]`)) {
      return Number.parseInt(local.split(':')[1] ?? '', 16);
    }
  }
  return undefined;
}

function openedAs(fd: string): string | undefined {
  try {
    return fs.readlinkSync(fd);
  } catch {
    return undefined; // closed meanwhile
  }
}
