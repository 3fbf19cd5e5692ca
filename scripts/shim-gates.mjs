// Holds the shim to what makes it harmless in every process: it needs no library, takes only names
// that may be missing, gives exactly the names it hooks, uses little stack, is mapped in two pieces
// of which the second is one page, and builds with gcc and clang for x64 and arm64.
// `node scripts/shim-gates.mjs` holds all of them, and a missing compiler fails; `symbols FILE`,
// `stack [CC ARCH]` and `stubs` hold one. What is wrong is said, line by line.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { readElf } from './elf.mjs';
import { compileShim, shimFiles, shimFlags, shimSources } from './shim.mjs';
import { STUBS_FILE, stubsText } from './stub.mjs';
import { say, spawnQuietly } from './tools.mjs';

const WARNINGS = ['-Wall', '-Wextra', '-Werror'];
const MACHINES = { x64: 62, arm64: 183 };
const STACK_BYTES_MAX = 1200;
/** The constructor runs once, on the stack of a program that has just begun. */
const CONSTRUCTOR = { file: 'start.c', bytes: 6 * 1024 };
const PAGE = 4096;

const COMPILERS = [
  { cc: 'gcc', arch: 'x64' },
  { cc: 'clang', arch: 'x64' },
  { cc: 'aarch64-linux-gnu-gcc-12', arch: 'arm64' },
  { cc: 'clang --target=aarch64-linux-gnu', arch: 'arm64' },
];

/** The names the sources say they hook: HOOK and ALIAS, and what is written in assembler. */
function hookedNames() {
  const names = shimFiles()
    .filter((file) => file.endsWith('.c') && basename(file) !== 'darwin.c')
    .flatMap((file) => {
      const text = readFileSync(file, 'utf8');
      const macros = text.matchAll(/^\s*(?:HOOK|ALIAS)\(\s*[^,]+,\s*(\w+),/gm);
      const assembler = text.matchAll(/"\s*\.globl (\w+)\\n"/g);
      return [...macros, ...assembler].map(([, name]) => name);
    });
  return [...new Set(names)].sort();
}

/** What is wrong with a built shim; nothing when the list is empty. */
function symbolFaults(path, arch) {
  const elf = readElf(path);
  const given = elf.symbols.filter((one) => one.defined).map((one) => one.name);
  const hooked = hookedNames();
  const strong = elf.symbols.filter((one) => !one.defined && one.binding !== 'weak');
  const loads = elf.segments.filter((one) => one.type === 1);
  const data = loads.at(-1);
  return [
    ...elf.needed.map((name) => `needs ${name}`),
    ...strong.map((one) => `takes ${one.name}, which may be missing`),
    ...given.filter((name) => !hooked.includes(name)).map((name) => `gives ${name}`),
    ...hooked.filter((name) => !given.includes(name)).map((name) => `does not give ${name}`),
    ...(elf.machine === MACHINES[arch] ? [] : [`is for machine ${elf.machine}`]),
    ...(elf.hasTextRelocations ? ['has relocations in its code'] : []),
    ...(elf.segments.some((one) => one.type === 7) ? ['has thread-local storage'] : []),
    ...(loads.length === 2 ? [] : [`is mapped in ${loads.length} pieces`]),
    ...((data.address % PAGE) + data.memoryBytes <= PAGE ? [] : ['has more than a page of data']),
  ];
}

/** Functions that use too much stack, as gcc counts it. */
function stackFaults(cc = 'gcc', arch = process.arch) {
  const temp = mkdtempSync(join(tmpdir(), 'cuff-stack-'));
  try {
    const flags = shimFlags(arch).filter((flag) => !flag.startsWith('-Wl,') && flag !== '-shared');
    for (const source of shimSources()) {
      const out = join(temp, `${basename(source, '.c')}.o`);
      const words = [...flags, '-fstack-usage', '-c', '-o', out, source];
      const attempt = spawnQuietly(cc, words);
      if (!attempt.ok) throw new Error(`${cc} could not compile ${source}:\n${attempt.words}`);
    }
    return readdirSync(temp)
      .filter((name) => name.endsWith('.su'))
      .flatMap((name) => readFileSync(join(temp, name), 'utf8').split('\n').filter(Boolean))
      .map(stackFault)
      .filter(Boolean);
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** A line is `FILE:LINE:COLUMN:NAME <tab> BYTES <tab> static|dynamic|...`. */
function stackFault(line) {
  const [place = '', bytes, kind] = line.split('\t');
  const [file, , , name] = place.split(':');
  const limit = basename(file) === CONSTRUCTOR.file ? CONSTRUCTOR.bytes : STACK_BYTES_MAX;
  if (kind === 'dynamic') return `${name} uses as much stack as it is given`;
  return Number(bytes) > limit ? `${name} uses ${bytes} bytes of stack` : undefined;
}

/** Every compiler for every machine. */
function allFaults() {
  const temp = mkdtempSync(join(tmpdir(), 'cuff-gates-'));
  const faults = [];
  try {
    for (const { cc, arch } of COMPILERS) {
      const out = join(temp, 'shim.so');
      compileShim({ cc, arch, out, extraFlags: WARNINGS });
      faults.push(...symbolFaults(out, arch).map((fault) => `${cc}: the shim ${fault}`));
      if (cc.includes('gcc')) faults.push(...stackFaults(cc, arch).map((one) => `${cc}: ${one}`));
      say(`${cc}: the shim for ${arch} is built and looked at`);
    }
    return faults;
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

const ONE = {
  symbols: (path, arch = process.arch) => symbolFaults(path, arch),
  stack: (cc, arch) => stackFaults(cc, arch),
  stubs: () =>
    readFileSync(STUBS_FILE, 'utf8') === stubsText()
      ? []
      : ['native/shim/stubs is not what `node scripts/stub.mjs` writes'],
};

try {
  const [name, ...words] = process.argv.slice(2);
  const faults = name === undefined ? [...allFaults(), ...ONE.stubs()] : ONE[name](...words);
  for (const fault of faults) say(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
