// Where the shim is: named by CUFF_SHIM, or else in the user's cache, as a copy of the one that is
// shipped in native/prebuilt or built with `cc` from its sources. An upgrade or removal of the
// package would damage the shipped file under running commands, and what a static program starts
// then would print an error of the loader. What is found is a directory with one library per kind
// of program, which a loader reaches through `LD_PRELOAD=DIR/$LIB/libcuff-shim.so`.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeDirectories } from '../directories.ts';
import { messageOf } from '../errors.ts';
import type { Env } from '../types.ts';
import { cacheDir, fingerprint, nativeDir } from './binary.ts';
import { copyOf, type Files, layOut } from './shim-copy.ts';

export type Shim =
  | {
      readonly kind: 'shim';
      readonly dir: string;
      /** The one in the package, if no program can load the copy (a `noexec` mount). */
      readonly shipped?: string;
    }
  | { readonly kind: 'none'; readonly why: string };

const FILE = 'libcuff-shim.so';
/** The directory that musl opens under this literal name, and that every other loader looks for. */
const LITERAL = join('$LIB', FILE);

/** Which directories hold the shim itself, and which a stub of which kind. */
type Layout = { readonly shim: readonly string[]; readonly stubs: Record<string, string[]> };

const LAYOUTS: Readonly<Record<string, Layout>> = {
  x64: {
    shim: ['$LIB', 'lib64', 'lib/x86_64-linux-gnu'],
    stubs: {
      i386: ['lib', 'lib32', 'lib/i386-linux-gnu'],
      x32: ['libx32', 'lib/x86_64-linux-gnux32'],
    },
  },
  arm64: {
    shim: ['$LIB', 'lib64', 'lib', 'lib/aarch64-linux-gnu'],
    stubs: { arm: ['lib32', 'lib/arm-linux-gnueabihf', 'lib/arm-linux-gnueabi'] },
  },
};
const LOADER = '/lib64/ld-linux-x86-64.so.2';

/** Costs a few stats each time, because the copy may have been damaged or removed meanwhile. */
export function findShim(env: Env = process.env): Shim {
  const named = env.CUFF_SHIM;
  if (named === 'off') return none('CUFF_SHIM=off');
  return named ? shimIn(named, 'CUFF_SHIM: ') : locate(env);
}

function none(why: string): Shim {
  return { kind: 'none', why };
}

function shimIn(dir: string, who = ''): Shim {
  const why = whyNot(dir);
  return why === undefined ? { kind: 'shim', dir } : none(`${who}${why}`);
}

/** A loader splits LD_PRELOAD at these, and expands what begins with a dollar. */
function whyNot(dir: string): string | undefined {
  if (!dir.startsWith('/')) return `${dir} is not an absolute path`;
  if (/[: $]/.test(dir)) return `${dir} has a colon, a space or a dollar in its path`;
  if (!existsSync(join(dir, LITERAL))) return `there is no ${LITERAL} in ${dir}`;
  return undefined;
}

type Installation = {
  readonly prebuilt: string;
  readonly sources: string;
  /** The shipped library; undefined if it must be built. */
  readonly library: string | undefined;
};

/** Looked for once: the package may be removed or upgraded while this process runs. */
let installed: Installation | undefined;

function findInstallation(): Installation | undefined {
  const native = nativeDir(dirname(fileURLToPath(import.meta.url)));
  if (native === undefined) return undefined;
  const prebuilt = join(native, 'prebuilt', `linux-${process.arch}`, 'shim');
  const library = join(prebuilt, LITERAL);
  const sources = join(native, 'shim');
  return { prebuilt, sources, library: existsSync(library) ? library : undefined };
}

function locate(env: Env): Shim {
  const layout = LAYOUTS[process.arch];
  if (process.platform !== 'linux' || layout === undefined) {
    return none(`the shim does not exist for ${process.platform}-${process.arch}`);
  }
  installed ??= findInstallation();
  if (installed === undefined) return none('native/ is not in this installation');
  const { prebuilt, sources, library } = installed;
  const shipped = !libIsWide() && whyNot(prebuilt) === undefined ? prebuilt : undefined;
  // Commands of root become other users (su), who cannot enter its home. The runner of root follows
  // static programs, and looks at the shim before it gives it to what they start.
  if (process.getuid?.() === 0 && shipped !== undefined) return { kind: 'shim', dir: shipped };
  try {
    const dir = library === undefined ? built(env, sources) : copied(env, sources, library);
    const found = shimIn(dir);
    if (found.kind === 'shim') return { ...found, ...(shipped && { shipped }) };
    return shipped === undefined ? found : { kind: 'shim', dir: shipped };
  } catch (error) {
    // The cache cannot be written.
    if (shipped !== undefined) return { kind: 'shim', dir: shipped };
    const text = messageOf(error);
    return none(text.split('\n')[0] ?? text);
  }
}

/** On Arch or Nix `$LIB` of 64-bit programs is `lib`, elsewhere that of 32-bit ones. */
function libIsWide(): boolean {
  if (process.arch !== 'x64' || !existsSync(LOADER)) return false;
  return basename(dirname(realpathSync(LOADER))) === 'lib';
}

/** Tells the two layouts of one library apart. */
function suffix(): string {
  return libIsWide() ? '-lib' : '';
}

function copied(env: Env, sources: string, library: string): string {
  const at = { cache: cacheDir(env), suffix: suffix() };
  return copyOf(library, at, (content) => filesOf(sources, content));
}

let compiled: string | undefined;

/** Several first uses at once are safe: each builds in a directory of its own. */
function built(env: Env, sources: string): string {
  if (compiled !== undefined && existsSync(join(compiled, LITERAL))) return compiled;
  const cache = cacheDir(env);
  const shared = ['trace.h', 'secret-words.h'].map((name) => join('..', name));
  const key = fingerprint(sources, [...readdirSync(sources).sort(), ...shared]);
  const dir = join(cache, `shim-${key}${suffix()}`);
  compiled = dir;
  if (existsSync(join(dir, LITERAL))) return dir;
  makeDirectories(cache, 0o700);
  const temp = mkdtempSync(join(cache, 'building-'));
  try {
    const files = filesOf(sources, readFileSync(compile(sources, temp)));
    if (!existsSync(join(dir, LITERAL))) layOut(dir, files);
    return dir;
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** The files of a directory with the shim. */
function filesOf(sources: string, shim: Buffer): Files {
  const { shim: folders, stubs } = LAYOUTS[process.arch] ?? { shim: [], stubs: {} };
  const files = new Map<string, Buffer>();
  for (const line of readFileSync(join(sources, 'stubs'), 'utf8').trim().split('\n')) {
    const [name = '', hex = ''] = line.split(' ');
    const stub = Buffer.from(hex, 'hex');
    for (const folder of stubs[name] ?? []) files.set(join(folder, FILE), stub);
  }
  for (const folder of libIsWide() ? [...folders, 'lib'] : folders) {
    files.set(join(folder, FILE), shim);
  }
  return files;
}

/** Gives the library, in `dir`. */
function compile(sources: string, dir: string): string {
  const out = join(dir, FILE);
  const lines = readFileSync(join(sources, 'flags'), 'utf8').split('\n').filter(Boolean);
  const flags = lines
    .map((line) => line.split(' '))
    .filter(([first, rest]) => rest === undefined || first === process.arch)
    .map((words) => words.at(-1) ?? '');
  const inputs = readdirSync(sources).filter((name) => name.endsWith('.c'));
  const script = `-Wl,-T,${join(sources, 'shim.ld')}`;
  const paths = inputs.sort().map((name) => join(sources, name));
  const made = spawnSync('cc', [...flags, script, '-s', '-o', out, ...paths], { encoding: 'utf8' });
  if (made.status === 0) return out;
  throw new Error(made.error ? 'no C compiler (cc) and no prebuilt shim' : made.stderr);
}
