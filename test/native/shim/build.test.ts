// Where the shim comes from: shipped, or made on demand, whole and in one place however many ask at
// once; and what is in it, which the gates hold.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { findShim } from '../../../src/run/shim.ts';
import { lacking } from '../../requirements.ts';
import { shimDir, work } from './helper.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const LIBRARY = join('$LIB', 'libcuff-shim.so');

/** An installation in a directory of its own, without anything prebuilt. */
function install(name: string): string {
  const dir = join(work, name);
  cpSync(join(ROOT, 'native', 'shim'), join(dir, 'native', 'shim'), { recursive: true });
  for (const header of ['trace.h', 'secret-words.h']) {
    cpSync(join(ROOT, 'native', header), join(dir, 'native', header));
  }
  buildSync({
    entryPoints: [join(ROOT, 'src', 'run', 'shim.ts')],
    outfile: join(dir, 'dist', 'shim.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  return dir;
}

type Found = { kind: string; dir?: string; why?: string };

/** Asks an installation, in a process of its own. */
async function ask(dir: string, env: Record<string, string> = {}): Promise<Found> {
  const url = JSON.stringify(join(dir, 'dist', 'shim.mjs'));
  const text =
    `const { findShim } = await import(${url});` +
    'process.stdout.write(JSON.stringify(findShim(process.env)))';
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
    env: { PATH: process.env.PATH ?? '', HOME: join(dir, 'home'), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let answer = '';
  for await (const piece of child.stdout) answer += String(piece);
  return JSON.parse(answer) as Found;
}

describe('on demand', () => {
  it('eight first uses at once find one shim, whole', async () => {
    const dir = install('eight');
    const answers = await Promise.all(Array.from({ length: 8 }, () => useAtOnce(dir)));
    const found = answers[0];
    expect(answers).toEqual(Array.from({ length: 8 }, () => found));
    const cache = join(dir, 'home', '.cache', 'cuff');
    expect(readdirSync(cache)).toHaveLength(1); // nothing half-made stays
    expect(found?.dir).toBe(join(cache, readdirSync(cache)[0] ?? ''));
  });

  async function useAtOnce(dir: string): Promise<Found> {
    const found = await ask(dir);
    expect(found.kind).toBe('shim');
    expect(statSync(join(found.dir ?? '', LIBRARY)).size).toBeGreaterThan(10_000);
    const run = spawnSync('/bin/true', {
      env: { LD_PRELOAD: `${found.dir}/$LIB/libcuff-shim.so` },
      encoding: 'utf8',
    });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    return found;
  }

  it('without a compiler it says so', async () => {
    const dir = install('no-compiler');
    expect(await ask(dir, { PATH: '/nonexistent' })).toEqual({
      kind: 'none',
      why: 'no C compiler (cc) and no prebuilt shim',
    });
    expect(readdirSync(join(dir, 'home', '.cache', 'cuff'))).toEqual([]);
  });

  it('what is shipped is copied, unless a loader could not read the path of the copy', async () => {
    const plain = install('shipped');
    const prebuilt = join('native', 'prebuilt', `linux-${process.arch}`, 'shim');
    const shipped = join(plain, prebuilt);
    cpSync(shimDir, shipped, { recursive: true });
    const { dir = '' } = await ask(plain, { PATH: '' });
    // Programs that root starts may become another user's, who cannot enter its home.
    const copies = join(plain, 'home', '.cache', 'cuff', 'shim-');
    expect(dir.startsWith(process.getuid?.() === 0 ? shipped : copies)).toBe(true);
    const unreadable = { PATH: '', XDG_CACHE_HOME: join(work, 'a cache') };
    expect(await ask(plain, unreadable)).toEqual({ kind: 'shim', dir: shipped });
    const spaced = install('with a space');
    cpSync(shimDir, join(spaced, prebuilt), { recursive: true });
    const XDG_CACHE_HOME = join(work, 'cache');
    const found = await ask(spaced, { PATH: '', XDG_CACHE_HOME });
    expect(found.dir?.startsWith(join(XDG_CACHE_HOME, 'cuff', 'shim-'))).toBe(true);
    const copied = readFileSync(join(found.dir ?? '', LIBRARY));
    expect(copied.equals(readFileSync(join(shimDir, LIBRARY)))).toBe(true);
    const nowhere = await ask(spaced, unreadable);
    expect(nowhere).toMatchObject({
      kind: 'none',
      why: expect.stringContaining('a colon, a space or a dollar'),
    });
  });
});

describe('CUFF_SHIM', () => {
  it('names a directory, or turns tracing off', () => {
    expect(findShim({ CUFF_SHIM: shimDir })).toEqual({ kind: 'shim', dir: shimDir });
    expect(findShim({ CUFF_SHIM: 'off' })).toEqual({ kind: 'none', why: 'CUFF_SHIM=off' });
  });

  it.each([
    ['relative', 'is not an absolute path'],
    ['/a b', 'a colon, a space or a dollar'],
    ['/a:b', 'a colon, a space or a dollar'],
    ['/a$LIB', 'a colon, a space or a dollar'],
    ['/nonexistent', 'there is no $LIB/libcuff-shim.so'],
  ])('%s is refused with a reason', (dir, why) => {
    expect(findShim({ CUFF_SHIM: dir })).toMatchObject({
      kind: 'none',
      why: expect.stringContaining(why),
    });
  });
});

describe('what is built', () => {
  it('has a library for every kind of program, and no links', () => {
    mkdirSync(work, { recursive: true });
    const files = readdirSync(shimDir, { recursive: true, withFileTypes: true });
    expect(files.some((file) => file.isSymbolicLink())).toBe(false);
    expect(existsSync(join(shimDir, LIBRARY))).toBe(true);
    for (const file of files.filter((one) => one.isFile())) {
      expect(statSync(join(file.parentPath ?? file.path, file.name)).size).toBeGreaterThan(0);
    }
  });

  it('needs no library, takes only names that may be missing, and gives exactly its hooks', () => {
    expect(faults('symbols', join(shimDir, LIBRARY))).toEqual([]);
    // A gate that cannot fail is none: the libc breaks every rule.
    const libc = spawnSync('sh', ['-c', 'ldd /bin/true | grep -o "/.*libc.so.6"'], {
      encoding: 'utf8',
    });
    const broken = faults('symbols', libc.stdout.trim());
    expect(broken.length).toBeGreaterThan(100);
    expect(broken).toContain('gives malloc');
    expect(broken.some((line) => /^is mapped in \d pieces$/.test(line))).toBe(true);
  });

  it.skipIf(lacking(spawnSync('gcc', ['--version']).status !== 0, 'only gcc counts the stack'))(
    'no hook uses much stack',
    () => {
      expect(faults('stack')).toEqual([]);
    },
  );

  const noClang = lacking(spawnSync('clang', ['--version']).status !== 0, 'clang is not installed');
  it.skipIf(noClang).each(['arm64-apple-macos11', 'x86_64-apple-macos11'])(
    'every source compiles for %s without a warning; it is not run there',
    (target) => {
      const sources = join(ROOT, 'native', 'shim');
      const names = readdirSync(sources).filter((name) => name.endsWith('.c'));
      const flags = '-std=c11 -O1 -Wall -Wextra -Werror -ffreestanding -fsyntax-only'.split(' ');
      const words = [`--target=${target}`, ...flags, '-include', 'darwin-sys.h', ...names];
      const made = spawnSync('clang', words, { cwd: sources, encoding: 'utf8' });
      expect(made).toMatchObject({ status: 0, stderr: '' });
    },
  );

  it('the stubs are those that their script makes', () => {
    expect(faults('stubs')).toEqual([]);
  });
});

/** What a gate says is wrong. */
function faults(...words: readonly string[]): readonly string[] {
  const script = join(ROOT, 'scripts', 'shim-gates.mjs');
  const made = spawnSync(process.execPath, [script, ...words], { encoding: 'utf8' });
  return made.stderr.split('\n').filter(Boolean);
}
