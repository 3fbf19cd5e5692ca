// The programs of the hard cases, compiled once per change of their sources into a cache under the
// temporary directory. A program that cannot be built here takes its cases with it, with a reason.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const SOURCES = join(import.meta.dirname, 'programs');
const LANES = 3;
const KEPT_MS = 24 * 3_600_000;

/** `$O` is the file to make; commands run in the directory of the sources. */
const BUILDS: Readonly<Record<string, string>> = {
  bare: 'cc -O1 bare.c -o $O',
  say: 'cc -O1 say.c -o $O',
  'say-clang': 'clang -O2 -fno-plt say.c -o $O',
  'say-static': 'cc -O1 -static say.c -o $O',
  'say-static-pie': 'cc -O1 -static-pie say.c -o $O',
  'say-musl': 'musl-gcc -O1 say.c -o $O',
  'say-musl-static': 'musl-gcc -O1 -static say.c -o $O',
  // The headers of the kernel are the same for both word sizes and lie with the bigger one.
  'say-32': 'cc -O1 -m32 -idirafter /usr/include/x86_64-linux-gnu say.c -o $O',
  'say-32-static': 'cc -O1 -m32 -static -idirafter /usr/include/x86_64-linux-gnu say.c -o $O',
  'say-relro': 'cc -O1 -Wl,-z,now,-z,relro -fcf-protection=full say.c -o $O',
  'say-lazy': 'cc -O1 -no-pie -Wl,-z,lazy,-z,norelro say.c -o $O',
  'say-go': 'CGO_ENABLED=0 go build -o $O say.go',
  'say-cgo': 'CGO_ENABLED=1 go build -o $O say.go cgo.go',
  helper: 'cc -O1 helper.c -o $O',
  start: 'cc -O1 -pthread start.c -o $O',
  'start-static': 'cc -O1 -static -pthread start.c -o $O',
  'start-musl':
    'musl-gcc -O1 -idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu ' +
    '-pthread start.c -o $O',
  waits: 'cc -O1 -pthread waits.c -o $O',
  'waits-musl': 'musl-gcc -O1 -pthread waits.c -o $O',
  'waits-static': 'cc -O1 -static -pthread waits.c -o $O',
  threads: 'cc -O1 -pthread threads.c -o $O',
  'threads-musl': 'musl-gcc -O1 -pthread threads.c -o $O',
  'threads-static': 'cc -O1 -static -pthread threads.c -o $O',
  odd: 'cc -O1 -pthread odd.c -o $O',
  'odd-static': 'cc -O1 -static -pthread odd.c -o $O',
  raw: 'cc -O1 raw.c -o $O',
  'raw-alone': 'cc -O1 -DALONE -nostdlib -static -fno-stack-protector raw.c -o $O',
  'hook.so': 'cc -O1 -shared -fPIC hook.c -o $O -ldl',
  'leak-asan': 'cc -g -O1 -fsanitize=address leak.c -o $O',
  'leak-lsan': 'cc -g -O1 -fsanitize=leak leak.c -o $O',
  'leak-ubsan': 'cc -g -O1 -fsanitize=undefined,address leak.c -o $O',
};

export type Programs = {
  readonly dir: string;
  /** Why a program is not there, by its name. */
  readonly missing: Readonly<Record<string, string>>;
};

export async function buildPrograms(): Promise<Programs> {
  const hash = createHash('sha256').update(JSON.stringify(BUILDS));
  for (const name of readdirSync(SOURCES).sort()) hash.update(readFileSync(join(SOURCES, name)));
  const uid = process.getuid?.() ?? 0;
  const dir = join(tmpdir(), `cuff-trace-programs-${uid}-${hash.digest('hex').slice(0, 16)}`);
  if (!existsSync(join(dir, 'missing.json'))) {
    removeOld(dirname(dir), `cuff-trace-programs-${uid}-`);
    await buildAll(dir);
  }
  return { dir, missing: JSON.parse(readFileSync(join(dir, 'missing.json'), 'utf8')) };
}

/** Programs of sources that have changed since; another test may still be using yesterday's. */
function removeOld(parent: string, prefix: string): void {
  for (const name of readdirSync(parent).filter((one) => one.startsWith(prefix))) {
    const { mtimeMs } = statSync(join(parent, name), { throwIfNoEntry: false }) ?? {};
    if (mtimeMs === undefined || Date.now() - mtimeMs < KEPT_MS) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}

/** Whoever is first puts the whole directory in place; another one's work is thrown away. */
async function buildAll(dir: string): Promise<void> {
  const temp = mkdtempSync(`${dir}-`);
  const missing: Record<string, string> = {};
  const left = Object.entries(BUILDS);
  mkdirSync(join(temp, 'go-cache'));
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [name, command] = next;
      const why = await build(command, temp, name);
      if (why !== undefined) missing[name] = why;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  rmSync(join(temp, 'go-cache'), { recursive: true, force: true });
  writeFileSync(join(temp, 'missing.json'), JSON.stringify(missing));
  chmodSync(temp, 0o755); // other users run these programs, too
  try {
    renameSync(temp, dir);
  } catch (error) {
    rmSync(temp, { recursive: true, force: true });
    if (!existsSync(join(dir, 'missing.json'))) throw error;
  }
}

function build(command: string, dir: string, name: string): Promise<string | undefined> {
  const env = {
    ...process.env,
    O: join(dir, name),
    GOCACHE: join(dir, 'go-cache'),
    GO111MODULE: 'off',
  };
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], {
      cwd: SOURCES,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const pieces: Buffer[] = [];
    child.stderr.on('data', (piece: Buffer) => pieces.push(piece));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(undefined);
      else resolve(Buffer.concat(pieces).toString().trim().split('\n')[0] ?? `exit status ${code}`);
    });
  });
}

const found = new Map<string, boolean>();

/** Whether there is such a program on the way that the cases have. */
export function hasTool(name: string, path: string): boolean {
  const known = found.get(name);
  if (known !== undefined) return known;
  const env = { PATH: path };
  const there = spawnSync('sh', ['-c', 'command -v -- "$1"', 'sh', name], { env }).status === 0;
  found.set(name, there);
  return there;
}
