// Uses the packed tarball as a stranger would: installed into an empty project, without this
// repository, without the network and without optional packages. Both bins run, the library is
// imported, a TypeScript program compiles against its types, the plugin for agents is whole, and
// publint finds nothing.
//   node scripts/check-package.mjs TARBALL
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { pluginFiles } from './plugin.mjs';
import { say, spawnQuietly } from './tools.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const CONSUMER = join(ROOT, 'scripts/consumer');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

try {
  await main(process.argv[2]);
} catch (error) {
  say(`package: ${error.message}`);
  process.exitCode = 1;
}

async function main(tarball) {
  if (tarball === undefined) throw new Error('Name the tarball that npm pack made.');
  const project = mkdtempSync(join(tmpdir(), 'cuff-package-'));
  try {
    install(project, resolve(tarball));
    useBins(project);
    useLibrary(project);
    findPlugin(project);
    await lint(resolve(tarball));
    say('package: installs offline, both bins and the library work, the types compile');
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

function install(project, tarball) {
  const manifest = { name: 'stranger', private: true, type: 'module' };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  const flags = ['--offline', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
  must('npm install', 'npm', ['install', ...flags, tarball], { cwd: project });
}

function useBins(project) {
  const state = join(project, 'state');
  const env = { ...process.env, CUFF_STATE_ROOT: state };
  const run = (name, args) =>
    must(`${name} ${args.join(' ')}`, join(project, 'node_modules/.bin', name), args, {
      cwd: project,
      env,
    });
  const version = run('cuff', ['--version']).trim();
  if (!/^(cuff )?\d+\.\d+\.\d+$/.test(version)) throw new Error(`cuff --version: '${version}'`);
  run('derun', ['help']);
  const hi = run('derun', ['run', '--', 'echo', 'hi']);
  if (hi !== 'hi\n') throw new Error(`derun run -- echo hi printed '${hi}'`);
}

function useLibrary(project) {
  const folder = join(project, 'src');
  mkdirSync(folder);
  for (const name of ['consumer.ts', 'consumer.mjs', 'tsconfig.json']) {
    copyFileSync(join(CONSUMER, name), join(folder, name));
  }
  const env = { ...process.env, CUFF_STATE_ROOT: join(project, 'state') };
  must('import', process.execPath, [join(folder, 'consumer.mjs')], { cwd: project, env });
  must('tsc', process.execPath, [TSC, '-p', folder]);
}

/** The directory that agents install, with its dot files, which packers like to leave out. */
function findPlugin(project) {
  const folder = join(project, 'node_modules/cuff/dist/plugin');
  for (const [name, text] of pluginFiles()) {
    const path = join(folder, name);
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
      throw new Error(`dist/plugin/${name} is not in the package as the build makes it`);
    }
  }
}

async function lint(tarball) {
  const bytes = readFileSync(tarball);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
  const words = messages.map((message) => formatMessage(message, pkg));
  if (words.length > 0) throw new Error(`publint:\n${words.join('\n')}`);
}

function must(what, program, args, options = {}) {
  const attempt = spawnQuietly(program, args, options);
  if (!attempt.ok) throw new Error(`${what} failed:\n${attempt.words}`);
  return attempt.stdout;
}
