// Holds the dependencies to their law: exact versions, a lock that is complete for every platform,
// and nothing that runs code while a user installs us.
//   node scripts/check-deps.mjs [FOLDER]
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { say, spawnQuietly } from './tools.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = resolve(process.argv[2] ?? join(HERE, '..'));
const KINDS = ['dependencies', 'optionalDependencies', 'devDependencies'];
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare'];

const read = (name) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
const found = complaints(read('package.json'), read('package-lock.json'));
const ci = ['ci', '--dry-run', '--ignore-scripts', '--no-audit', '--no-fund'];
const attempt = spawnQuietly('npm', ci, { cwd: ROOT });
if (!attempt.ok) found.push(`npm ci --dry-run: ${attempt.words}`);
for (const words of found) say(words);
if (found.length > 0) process.exitCode = 1;
else say('dependencies: exact, complete, no install scripts at run time');

function complaints(manifest, lock) {
  return [
    ...unpinned(manifest),
    ...outOfStep(manifest, lock),
    ...installScripts(manifest, lock),
    ...holes(lock),
  ];
}

function unpinned(manifest) {
  const all = KINDS.flatMap((kind) => Object.entries(manifest[kind] ?? {}));
  return [...all, ...Object.entries(manifest.overrides ?? {})]
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([name, version]) => `${name}: '${version}' is not an exact version`);
}

function outOfStep(manifest, lock) {
  const root = lock.packages[''] ?? {};
  return KINDS.filter(
    (kind) => JSON.stringify(sorted(manifest[kind])) !== JSON.stringify(sorted(root[kind])),
  ).map((kind) => `package-lock.json: its ${kind} are not those of package.json`);
}

function sorted(record = {}) {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

function installScripts(manifest, lock) {
  const own = INSTALL_SCRIPTS.filter((name) => manifest.scripts?.[name] !== undefined);
  const theirs = Object.entries(lock.packages)
    .filter(([path, one]) => path !== '' && !one.dev && one.hasInstallScript)
    .map(([path]) => `${path}: a runtime dependency with an install script`);
  return [...own.map((name) => `package.json: has the install script '${name}'`), ...theirs];
}

/** Every package has its checksum, and every platform package that one may need is in the lock. */
function holes(lock) {
  const paths = Object.keys(lock.packages).filter((path) => path !== '');
  const unsigned = paths.filter((path) => !lock.packages[path].integrity);
  const missing = paths.flatMap((path) => {
    const { dependencies, optionalDependencies } = lock.packages[path];
    return Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !resolves(lock, path, name))
      .map((name) => `${path}: needs ${name}, which is not in the lock`);
  });
  return [...unsigned.map((path) => `${path}: has no checksum in the lock`), ...missing];
}

/** As Node looks it up: in the package's own node_modules, then outwards. */
function resolves(lock, from, name) {
  let path = from;
  for (;;) {
    if (lock.packages[`${path}${path === '' ? '' : '/'}node_modules/${name}`]) return true;
    if (path === '') return false;
    path = path.slice(0, Math.max(0, path.lastIndexOf('node_modules/') - 1));
  }
}
