// Compiles native/*.c into one runner (scripts/shim.mjs builds the shim). The only place that knows
// its compiler flags. The result appears under its name in one rename, so that a run that starts
// meanwhile finds the old runner or the new one and never half of one.
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { say, spawnQuietly } from './tools.mjs';

const NATIVE = join(dirname(fileURLToPath(import.meta.url)), '..', 'native');
const FLAGS = ['-std=c11', '-O3', '-Wall', '-Wextra', '-Werror', '-pthread'];

/** Where a packaged or a freshly built runner lies for this machine. */
export function prebuiltPath(platform = process.platform, arch = process.arch) {
  return join(NATIVE, 'prebuilt', `${platform}-${arch}`, 'runner');
}

/** The directory of the shim, beside the runner. */
export function prebuiltShim(platform = process.platform, arch = process.arch) {
  return join(NATIVE, 'prebuilt', `${platform}-${arch}`, 'shim');
}

export function runnerSources() {
  if (!existsSync(NATIVE)) return [];
  const names = readdirSync(NATIVE).filter((name) => name.endsWith('.c'));
  return names.sort().map((name) => join(NATIVE, name));
}

/**
 * Build the runner with `cc` into `out`. Linked statically where the libc has static libraries (one
 * binary for glibc and musl systems, and no loader at start), unless `link` is 'dynamic'.
 * Throws with the compiler's words when it does not compile.
 */
export function buildRunner({
  cc = 'cc',
  out = prebuiltPath(),
  extraFlags = [],
  link = 'static',
  strip = true,
} = {}) {
  const sources = runnerSources();
  if (sources.length === 0) throw new Error('native/ has no C source.');
  mkdirSync(dirname(out), { recursive: true });
  const temp = `${out}.${process.pid}.tmp`;
  const compile = (flags) =>
    spawnQuietly(cc, [
      ...FLAGS,
      ...flags,
      ...(strip ? ['-s'] : []),
      ...extraFlags,
      '-o',
      temp,
      ...sources,
    ]);
  try {
    // A failed static link says nothing about the source, so only the last attempt's words count.
    const linked = link === 'static' && compile(['-static']).ok;
    const attempt = linked ? { ok: true, words: '' } : compile([]);
    if (!attempt.ok) throw new Error(`${cc} could not build the runner:\n${attempt.words}`);
    chmodSync(temp, 0o755);
    renameSync(temp, out);
    return { out, linked: linked ? 'static' : 'dynamic' };
  } finally {
    rmSync(temp, { force: true });
  }
}

/** Compile every source alone, without linking: only the warnings matter, and they are errors. */
function checkWarnings(cc, extraFlags = []) {
  for (const source of runnerSources()) {
    const attempt = spawnQuietly(cc, [...FLAGS, ...extraFlags, '-c', '-o', '/dev/null', source]);
    if (!attempt.ok) throw new Error(`${cc} is not content:\n${attempt.words}`);
  }
}

// `node scripts/native.mjs CC...`: hold the sources against several compilers.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    for (const cc of process.argv.slice(2)) {
      checkWarnings(cc);
      say(`${cc}: no warnings`);
    }
  } catch (error) {
    say(error.message);
    process.exitCode = 1;
  }
}
