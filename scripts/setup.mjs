// Makes a clean clone ready: Node's version, packages, system programs, build. Uses only what Node
// brings along, because it runs before anything is installed. Says nothing when there is nothing
// to do; a second start costs a few hashes. `--dev` also looks for what only the tests need.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';
import { findProgram, say, spawnQuietly } from './tools.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const MODULES = join(ROOT, 'node_modules');
const NODE_MAJOR_MIN = 20;

/**
 * Program, the Debian packages that bring it, and what is lost without it. Where the packages bring
 * none, `file` is what is looked for. `arch` is for what other machines neither have nor need.
 */
const PROGRAMS = [
  { name: 'cc', packages: ['gcc', 'libc6-dev'], dev: false, lost: 'the native runner' },
  { name: 'bash', packages: ['bash'], dev: true, lost: 'tests of shell commands' },
  { name: 'zsh', packages: ['zsh'], dev: true, lost: 'tests with zsh' },
  { name: 'git', packages: ['git'], dev: true, lost: 'tests with git' },
  { name: 'python3', packages: ['python3'], dev: true, lost: 'tests with Python' },
  { name: 'tmux', packages: ['tmux'], dev: true, lost: 'tests in a real terminal' },
  { name: 'vim', packages: ['vim'], dev: true, lost: 'tests with vim' },
  { name: 'less', packages: ['less'], dev: true, lost: 'tests with less' },
  { name: 'top', packages: ['procps'], dev: true, lost: 'tests with top' },
  { name: 'script', packages: ['bsdutils'], dev: true, lost: 'comparisons with script' },
  { name: 'clang', packages: ['clang'], dev: true, lost: 'the second compiler' },
  { name: 'c++', packages: ['g++'], dev: true, lost: 'tests with C++ programs' },
  { name: 'make', packages: ['make'], dev: true, lost: 'tests with make' },
  { name: 'musl-gcc', packages: ['musl-tools'], dev: true, lost: 'the musl build' },
  { name: 'llvm-readobj', packages: ['llvm'], dev: true, lost: 'tests of the shim for macOS' },
  { name: 'strace', packages: ['strace'], dev: true, lost: 'tests with strace' },
  { name: 'gdb', packages: ['gdb'], dev: true, lost: 'tests with gdb' },
  { name: 'valgrind', packages: ['valgrind', 'libc6-dbg'], dev: true, lost: 'tests with valgrind' },
  { name: 'fakeroot', packages: ['fakeroot'], dev: true, lost: 'tests with fakeroot' },
  { name: 'bgzip', packages: ['tabix'], dev: true, lost: 'tests with bgzip' },
  { name: 'bear', packages: ['bear'], dev: true, lost: 'comparisons with Bear' },
  { name: 'go', packages: ['golang-go'], dev: true, lost: 'tests with Go programs' },
  { name: 'bwrap', packages: ['bubblewrap'], dev: true, lost: 'tests of the sandbox' },
  { name: 'age', packages: ['age'], dev: true, lost: 'tests with age' },
  { name: 'ssh-keygen', packages: ['openssh-client'], dev: true, lost: 'tests with ssh keys' },
  { name: 'openssl', packages: ['openssl'], dev: true, lost: 'checks of signatures by openssl' },
  { name: 'sudo', packages: ['sudo'], dev: true, lost: 'tests with sudo' },
  { name: 'chromium', packages: ['chromium'], dev: true, lost: 'tests of the page in a browser' },
  {
    name: 'qemu-aarch64',
    packages: ['qemu-user'],
    dev: true,
    arch: 'x64',
    lost: 'the shim run for arm64',
  },
  {
    name: 'aarch64-linux-gnu-gcc-12',
    packages: ['gcc-12-aarch64-linux-gnu'],
    dev: true,
    arch: 'x64',
    lost: 'the shim built for arm64',
  },
  {
    name: 'libc for arm64',
    file: '/usr/aarch64-linux-gnu/lib/crt1.o',
    packages: ['libc6-dev-arm64-cross'],
    dev: true,
    arch: 'x64',
    lost: 'the shim run for arm64',
  },
  {
    name: 'libc for i386',
    file: '/usr/lib32/crt1.o',
    packages: ['libc6-dev-i386'],
    dev: true,
    arch: 'x64',
    lost: 'tests with 32-bit programs',
  },
  {
    name: 'gcc for i386',
    file: '/usr/lib/gcc/x86_64-linux-gnu/12/32/libgcc.a',
    packages: ['lib32gcc-12-dev'],
    dev: true,
    arch: 'x64',
    lost: 'tests with 32-bit programs',
  },
];

try {
  await main(process.argv.includes('--dev'));
} catch (error) {
  say(`setup: ${error.message}`);
  process.exitCode = 1;
}

async function main(dev) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < NODE_MAJOR_MIN) {
    throw new Error(`Node ${NODE_MAJOR_MIN} or newer is needed; this is ${process.version}.`);
  }
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  await withLock(join(ROOT, 'dist', '.setup-lock'), async () => {
    installModules();
    installPrograms(dev);
  });
  const { build } = await import('./build.mjs');
  await build();
}

function installModules() {
  const lock = readFileSync(join(ROOT, 'package-lock.json'));
  const stamp = join(MODULES, '.cuff-lock');
  const facts = `${process.platform}-${process.arch}`;
  const hash = createHash('sha256').update(facts).update(lock).digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return;
  if (!installedMatches(JSON.parse(lock.toString()))) {
    say('setup: npm ci');
    // No install scripts: nothing here needs one, and a script is code nobody reviewed.
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    // `npm pack --dry-run` hands its own settings down, and these packages must be there.
    const env = { ...process.env, npm_config_dry_run: undefined };
    const options = { cwd: ROOT, env, shell: process.platform === 'win32' };
    const attempt = spawnQuietly(npm, args, options);
    if (!attempt.ok) throw new Error(`npm ci failed:\n${attempt.words}`);
  }
  writeFileSync(stamp, hash);
}

/**
 * Whether somebody's own `npm ci` already installed what the lock says. npm keeps its own account
 * of what is installed; optional packages are left out of the comparison, platforms differ in them.
 */
function installedMatches(lock) {
  let installed;
  try {
    installed = JSON.parse(readFileSync(join(MODULES, '.package-lock.json'), 'utf8')).packages;
  } catch {
    return false; // Nothing installed, or not by npm.
  }
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (path === '' || wanted.optional || wanted.devOptional) return true;
    return installed[path]?.version === wanted.version && existsSync(join(ROOT, path));
  });
}

function installPrograms(dev) {
  // The list names Debian packages; on other systems the tests skip what they cannot find.
  if (process.platform !== 'linux') return;
  const wanted = PROGRAMS.filter((one) => dev || !one.dev).filter(
    (one) => one.arch === undefined || one.arch === process.arch,
  );
  const missing = () => wanted.filter((one) => !isInstalled(one));
  if (missing().length > 0) aptInstall(missing());
  const left = missing();
  if (left.length === 0) return;
  const names = left.map((one) => one.name).join(', ');
  const words =
    `missing: ${names} (without: ${left.map((one) => one.lost).join(', ')}). ` +
    `Install with: apt-get install ${packagesOf(left).join(' ')}`;
  if (process.env.CI === 'true') throw new Error(words);
  say(`setup: ${words}`);
}

function isInstalled({ name, file }) {
  return file === undefined ? findProgram(name) !== undefined : existsSync(file);
}

function packagesOf(programs) {
  return programs.flatMap((one) => one.packages);
}

function aptInstall(programs) {
  if (process.getuid?.() !== 0 || findProgram('apt-get') === undefined) return;
  const packages = packagesOf(programs);
  say(`setup: apt-get install ${packages.join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const steps = [['update'], ['install', '-y', '--no-install-recommends', ...packages]];
  for (const args of steps) {
    const attempt = spawnQuietly('apt-get', args, { env });
    if (attempt.ok) continue;
    say(`setup: apt-get ${args[0]} failed: ${attempt.words.split('\n').at(-1)}`);
  }
}
