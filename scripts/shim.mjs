// Builds the shim, and lays it out as the loaders look for it:
// `LD_PRELOAD=DIR/$LIB/libcuff-shim.so`, where glibc puts its own library directory for `$LIB`, and
// musl takes it literally. 32-bit programs find an object that does nothing. No links: npm pack
// drops them. src/run/shim.ts does the same on demand in an installed package; both read
// native/shim/flags and native/shim/stubs.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { say, spawnQuietly } from './tools.mjs';

const SHIM = join(dirname(fileURLToPath(import.meta.url)), '..', 'native', 'shim');
const FILE = 'libcuff-shim.so';

/** Which directory holds what. Where 64-bit programs have `lib`, src/run/shim.ts lays out anew. */
const LAYOUTS = {
  x64: {
    shim: ['$LIB', 'lib64', 'lib/x86_64-linux-gnu'],
    i386: ['lib', 'lib32', 'lib/i386-linux-gnu'],
    x32: ['libx32', 'lib/x86_64-linux-gnux32'],
  },
  arm64: {
    shim: ['$LIB', 'lib64', 'lib', 'lib/aarch64-linux-gnu'],
    arm: ['lib32', 'lib/arm-linux-gnueabihf', 'lib/arm-linux-gnueabi'],
  },
};

export function shimSources() {
  if (!existsSync(SHIM)) return [];
  const names = readdirSync(SHIM).filter((name) => name.endsWith('.c'));
  return names.sort().map((name) => join(SHIM, name));
}

/** Everything that a built shim depends on. */
export function shimFiles() {
  if (!existsSync(SHIM)) return [];
  return readdirSync(SHIM).map((name) => join(SHIM, name));
}

/** The flags for one machine: a line of the file may begin with the machine it is for. */
export function shimFlags(arch = process.arch) {
  const lines = readFileSync(join(SHIM, 'flags'), 'utf8').split('\n').filter(Boolean);
  const words = lines.map((line) => line.split(' '));
  return words
    .filter(([first, rest]) => rest === undefined || first === arch)
    .map((all) => all.at(-1));
}

/** Compile the shim into the file `out`. `cc` may have words: `clang --target=...`. */
export function compileShim({ cc = 'cc', arch = process.arch, out, extraFlags = [] }) {
  const [program, ...words] = cc.split(' ');
  const script = `-Wl,-T,${join(SHIM, 'shim.ld')}`;
  const flags = [...words, ...shimFlags(arch), ...extraFlags, script, '-s', '-o', out];
  const attempt = spawnQuietly(program, [...flags, ...shimSources()]);
  if (!attempt.ok) throw new Error(`${cc} could not build the shim:\n${attempt.words}`);
}

/** Build into the directory `out`; gives the files. Each appears whole, by a rename. */
export function buildShim({ cc = 'cc', arch = process.arch, out }) {
  const layout = LAYOUTS[arch];
  if (layout === undefined) return [];
  const temp = mkdtempSync(join(tmpdir(), 'cuff-shim-'));
  try {
    const built = join(temp, FILE);
    compileShim({ cc, arch, out: built });
    const contents = { shim: readFileSync(built), ...stubs() };
    return Object.entries(layout).flatMap(([kind, folders]) =>
      folders.map((folder) => place(join(out, folder, FILE), contents[kind])),
    );
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

function stubs() {
  const lines = readFileSync(join(SHIM, 'stubs'), 'utf8').trim().split('\n');
  return Object.fromEntries(
    lines.map((line) => line.split(' ')).map(([name, hex]) => [name, Buffer.from(hex, 'hex')]),
  );
}

function place(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  const temp = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temp, content);
    chmodSync(temp, 0o755);
    renameSync(temp, path);
    return path;
  } finally {
    rmSync(temp, { force: true });
  }
}

// `node scripts/shim.mjs CC ARCH DIRECTORY`: for another machine.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [cc, arch, out] = process.argv.slice(2);
  try {
    buildShim({ cc, arch, out });
  } catch (error) {
    say(error.message);
    process.exitCode = 1;
  }
}
