// Programs load the shim from a copy in the user's cache: whatever happens to the package, a
// command and what it starts notice nothing. Where the runner may not follow static programs, only
// the copy protects what those start, so the commands here run as an ordinary user.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { findRunner } from '../../src/run/binary.ts';
import { decodeTrace } from '../../src/trace/decode/decode.ts';
import { lacking } from '../requirements.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const LIBRARY = join('$LIB', 'libcuff-shim.so');
const PREBUILT = join('native', 'prebuilt', `linux-${process.arch}`, 'shim');
const ORDINARY = 65534;

const work = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-shim-copy-')));
chmodSync(work, 0o755);
afterAll(() => rmSync(work, { recursive: true, force: true, maxRetries: 5 }));

const runner = findRunner();
const asRoot = process.getuid?.() === 0;
const noUser = asRoot && spawnSync('setpriv', ['--version']).status !== 0;
const noShim = lacking(
  !existsSync(join(ROOT, PREBUILT)) || runner.kind === 'none' || noUser,
  'there is no prebuilt shim, or root has no setpriv to become an ordinary user',
);
const source = join(import.meta.dirname, 'programs', 'start-later.c');
const later = join(work, 'start-later');
const noStatic = lacking(
  noShim || spawnSync('cc', ['-O1', '-static', '-o', later, source]).status !== 0,
  'nothing is traced here, or no static program can be built',
);

let count = 0;

/** A package in a directory of its own, with a home for its user. */
function install(): { readonly dir: string; readonly home: string } {
  count += 1;
  const dir = join(work, `package-${count}`);
  const home = join(work, `home-${count}`);
  mkdirSync(home);
  if (asRoot) chownSync(home, ORDINARY, ORDINARY);
  cpSync(join(ROOT, PREBUILT), join(dir, PREBUILT), { recursive: true });
  cpSync(join(ROOT, 'native', 'shim', 'stubs'), join(dir, 'native', 'shim', 'stubs'));
  buildSync({
    entryPoints: [join(ROOT, 'src', 'run', 'shim.ts')],
    outfile: join(dir, 'dist', 'shim.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  return { dir, home };
}

function asUser(words: readonly string[]): readonly [string, readonly string[]] {
  const ids = [`--reuid=${ORDINARY}`, `--regid=${ORDINARY}`, '--clear-groups', '--'];
  const [first = '', ...rest] = asRoot ? ['setpriv', ...ids, ...words] : words;
  return [first, rest];
}

/** What a process of the user finds, which it says in a line of JSON. */
function found(dir: string, home: string, more = ''): readonly Record<string, string>[] {
  const text =
    `import { findShim } from ${JSON.stringify(join(dir, 'dist', 'shim.mjs'))};` +
    `import * as fs from 'node:fs';` +
    'const say = () => console.log(JSON.stringify(findShim(process.env)));' +
    `say(); ${more}`;
  const [file, args] = asUser([process.execPath, '--input-type=module', '-e', text]);
  const env = { PATH: '/usr/bin:/bin', HOME: home };
  const { stdout, stderr } = spawnSync(file, args, { env, encoding: 'utf8' });
  expect(stderr).toBe('');
  const lines = stdout.trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, string>);
}

function libraries(dir: string): string[] {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.so')).map((name) => join(dir, name));
}

const FAULTS: Readonly<Record<string, (dir: string) => void>> = {
  overwritten: (dir) => {
    for (const path of libraries(dir)) writeFileSync(path, 'no library');
  },
  'cut in the middle': (dir) => {
    for (const path of libraries(dir)) truncateSync(path, statSync(path).size / 2);
  },
  removed: (dir) => rmSync(dir, { recursive: true }),
};

describe.skipIf(noStatic)('while the shim of the package is', () => {
  it.each(Object.keys(FAULTS))('%s, what a static program starts notices nothing', async (name) => {
    const { dir, home } = install();
    const [used] = found(dir, home);
    expect(used?.dir?.startsWith(join(home, '.cache', 'cuff', 'shim-'))).toBe(true);
    const left = await runLater(home, used?.dir ?? '', () => FAULTS[name]?.(join(dir, PREBUILT)));
    expect(left).toEqual({ out: 'ready\nchild\n', err: '', code: 0, started: true });
  });
});

/** A static program waits, `meanwhile` happens, and it becomes a dynamic program. */
async function runLater(
  home: string,
  shimDir: string,
  meanwhile: () => void,
): Promise<{ readonly out: string; readonly err: string; code: number; started: boolean }> {
  const own = join(work, 'runner');
  if (runner.kind === 'native') copyFileSync(runner.path, own);
  const capture = join(home, 'capture');
  const go = join(home, 'go');
  spawnSync('mkfifo', ['-m', '666', go]);
  mkdirSync(capture);
  if (asRoot) chownSync(capture, ORDINARY, ORDINARY);
  const flags = ['--dir', capture, '--forward', '--trace', shimDir, '--trace-stamps', 'no'];
  const words = [own, 'run', 'x', ...flags, '--', later, '/bin/sh', '-c', 'echo child'];
  const [file, args] = asUser(words);
  const env = { PATH: '/usr/bin:/bin', HOME: home, GO: go };
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stderr.on('data', (piece: Buffer) => {
    err += piece;
  });
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (piece: Buffer) => {
      out += piece;
      if (out.includes('ready\n')) resolve();
    });
  });
  const closed = new Promise<number>((resolve) => {
    child.on('close', (code) => resolve(code ?? -1));
  });
  await Promise.race([ready, closed]);
  meanwhile();
  writeFileSync(go, '');
  const code = await closed;
  const { frames } = decodeTrace(readFileSync(join(capture, 'trace.bin')));
  const started = frames.some((one) => one.type === 'start' && one.argv[2] === 'echo child');
  return { out, err, code, started };
}

describe.skipIf(noShim)('the copy', () => {
  it('is used again, and made again where it was damaged or removed', () => {
    const { dir, home } = install();
    const [first] = found(dir, home);
    const copy = first?.dir ?? '';
    const whole = readFileSync(join(copy, LIBRARY));
    expect(whole.equals(readFileSync(join(dir, PREBUILT, LIBRARY)))).toBe(true);
    const made = statSync(join(copy, LIBRARY)).ino;
    expect(found(dir, home)).toEqual([first]);
    expect(statSync(join(copy, LIBRARY)).ino).toBe(made);
    for (const fault of Object.values(FAULTS)) {
      fault(copy);
      expect(found(dir, home)).toEqual([first]);
      expect(readFileSync(join(copy, LIBRARY)).equals(whole)).toBe(true);
    }
    const names = readdirSync(join(home, '.cache', 'cuff'));
    expect(names.map((name) => name.replace(/^shim-.*?(\.json)?$/, 'shim$1')).sort()).toEqual([
      'shim',
      'shim.json',
    ]);
  });

  it('stays that of a process that began before an upgrade; the next one has its own', () => {
    const { dir, home } = install();
    const library = join(dir, PREBUILT, LIBRARY);
    if (asRoot) chownSync(library, ORDINARY, ORDINARY);
    const upgrade = `fs.appendFileSync(${JSON.stringify(library)}, 'x');`;
    const remove = `fs.writeFileSync(${JSON.stringify(library)}, '');`;
    const [first, again, last] = found(dir, home, `${upgrade} say(); ${remove} say();`);
    expect([again?.dir, last?.dir]).toEqual([first?.dir, first?.dir]);
    writeFileSync(library, Buffer.from('another'));
    const [next] = found(dir, home);
    expect(next?.dir).not.toBe(first?.dir);
    expect(readFileSync(join(next?.dir ?? '', LIBRARY), 'utf8')).toBe('another');
  });

  it('is done without where there is no place for it', () => {
    const { dir } = install();
    const [shipped] = found(dir, '/dev/null/nowhere');
    expect(shipped).toEqual({ kind: 'shim', dir: join(dir, PREBUILT) });
  });
});
