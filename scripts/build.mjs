// Builds what is shipped: dist/ from src/ with esbuild, its d.ts files with tsc, and the runner and
// the shim for this machine with cc. Does nothing when the sources are those of the last build.
// Every file is renamed into place, chunks before the entries that import them, so that a program
// that is started meanwhile finds a whole build.
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
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { withLock } from './lock.mjs';
import { buildRunner, prebuiltPath, prebuiltShim, runnerSources } from './native.mjs';
import { pluginFiles, SKILL } from './plugin.mjs';
import { packedTable } from './policy-table.mjs';
import { buildShim, shimFiles } from './shim.mjs';
import { findProgram, say, spawnQuietly } from './tools.mjs';
import { webFiles, webSources } from './web.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const DIST = join(ROOT, 'dist');
const STAMP = join(DIST, '.build-hash');
/** The library: as it was written, so that an error shows a line that a person can read. */
const LIBRARY = { index: 'src/index.ts' };
/** What the programs load only when they need it: modules that share chunks. */
const MODULES = {
  program: 'src/cli/program.ts',
  portable: 'src/shell/portable.ts',
  'record-settings': 'src/cli/record/record-settings.ts',
  'mcp-shipped': 'src/cli/mcp-shipped.ts',
  judge: 'src/hooks/shell/judge.ts',
  'hook-record': 'src/cli/hook-record.ts',
  'hook-env': 'src/cli/hook-env.ts',
  packer: 'src/packing/worker.ts',
  'ui-worker': 'src/web/worker.ts',
  files: 'src/policies/files.ts', // a policy that a hook has not seen before
};
/** The programs themselves: one CommonJS file each, which Node starts 3 ms sooner than a module. */
const BINS = { cuff: 'src/cli/cuff.ts', derun: 'src/cli/derun.ts' };
/** Parts of a program that are loaded when they are asked for, and have to be as quick. */
const PARTS = {
  'record-list': 'src/cli/record/list.ts',
  'record-search': 'src/cli/record/search.ts',
  'trace-check': 'src/shell/trace-check.ts',
  'mcp-front': 'src/cli/mcp-front.ts',
  judging: 'src/cli/judging.ts',
  'run-journal': 'src/cli/run-journal.ts',
  'encrypt-run': 'src/cli/encrypt-run.ts',
  spool: 'src/shell/spool.ts',
  sh: 'src/cli/sh-start.ts',
  'sh-call': 'src/cli/sh.ts',
  run: 'src/cli/run.ts',
};
/** Those of them that are loaded with the code that V8 made of them before (cli/code-cache.ts). */
const CACHED = ['judging', 'sh-call'];

/** Build what is stale. `strict` also refuses d.ts files with type errors (used for packing). */
export async function build({ strict = false } = {}) {
  mkdirSync(DIST, { recursive: true });
  await withLock(join(DIST, '.lock'), async () => {
    const stamp = readStamp();
    await part(stamp, 'library', libraryHash(strict), () => buildLibrary(strict));
    await part(stamp, 'native', nativeHash(), buildNative);
    await part(stamp, 'shim', shimHash(), buildPreload);
  });
}

/** One half of the build, done only when its hash or one of its outputs is not what it was. */
async function part(stamp, name, hash, make) {
  const last = stamp[name];
  if (last?.hash === hash && last.outputs.every((file) => existsSync(join(ROOT, file)))) return;
  const outputs = (await make()).map((file) => relative(ROOT, file));
  stamp[name] = { hash, outputs };
  place(STAMP, `${JSON.stringify(stamp)}\n`);
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(STAMP, 'utf8'));
  } catch {
    return {}; // No stamp, or a damaged one: everything is stale.
  }
}

function libraryHash(strict) {
  const config = ['package-lock.json', 'tsconfig.json', 'scripts/build.mjs'];
  config.push('scripts/tsconfig.types.json', 'scripts/mcp-shims.mjs');
  config.push('scripts/plugin.mjs', 'package.json', relative(ROOT, SKILL));
  config.push('scripts/policy-table.mjs', 'scripts/web.mjs', ...webSources());
  return hashOf([...walk(join(ROOT, 'src')), ...config.map((file) => join(ROOT, file))], [strict]);
}

function shimHash() {
  const shared = ['native/trace.h', 'native/secret-words.h', 'scripts/shim.mjs'];
  const files = [...shimFiles(), ...shared.map((name) => join(ROOT, name))];
  return hashOf(files, [process.platform, process.arch, findProgram('cc') !== undefined]);
}

function nativeHash() {
  const beside = readdirSync(join(ROOT, 'native')).filter((name) => name.endsWith('.h'));
  const headers = beside.map((name) => join(ROOT, 'native', name));
  const files = [...runnerSources(), ...headers, join(ROOT, 'scripts/native.mjs')];
  // A compiler that was installed since makes a build without a runner stale.
  return hashOf(files, [process.platform, process.arch, findProgram('cc') !== undefined]);
}

function hashOf(files, facts) {
  const hash = createHash('sha256').update(JSON.stringify(facts));
  for (const file of files.filter((name) => existsSync(name)).sort()) {
    hash.update(`\0${relative(ROOT, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

const BUNDLE = {
  absWorkingDir: ROOT,
  outdir: 'dist',
  write: false,
  bundle: true,
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  metafile: true,
  legalComments: 'none', // licences.txt has them whole
  logLevel: 'silent',
};

// What pathToFileURL says, without loading it: every start of a program would pay for it.
const OWN_URL =
  'process.platform==="win32"?require("node:url").pathToFileURL(__filename).href:' +
  '"file://"+encodeURI(__filename).replace(/[?#]/g,encodeURIComponent)';

// Modules of Node that most starts do not need, and that take 0.2 to 4 ms each to load.
const LATER = /require\("node:(?:child_process|crypto|os|stream)"\)/g;

// Code that comes from a cache cannot import: the program that loads it does (cli/code-cache.ts).
const OWN_IMPORT = 'module.import||(name=>import(name))';

/** ES modules that share chunks. */
const SHARED = {
  splitting: true,
  format: 'esm',
  chunkNames: 'chunk-[hash]', // beside the entries: `../native` is the same from every file
  external: ['@lydell/node-pty', 'libsql'],
  alias: { '@modelcontextprotocol/server/_shims': join(ROOT, 'scripts/mcp-shims.mjs') },
};

async function buildLibrary(strict) {
  say('build: TypeScript');
  const { build } = await import('esbuild');
  const table = await packedTable((options) => build({ ...BUNDLE, ...options }));
  const bundle = ({ plugins = [], ...options }) =>
    build({ ...options, plugins: [...plugins, table] });
  const modules = await bundle({
    ...BUNDLE,
    ...SHARED,
    entryPoints: MODULES,
  });
  const library = await bundle({
    ...BUNDLE,
    ...SHARED,
    entryPoints: LIBRARY,
    minifySyntax: false,
    minifyWhitespace: false,
  });
  const programs = await bundle({
    ...BUNDLE,
    entryPoints: { ...BINS, ...PARTS },
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    plugins: [{ name: 'modules-stay-outside', setup: keepModulesOutside }],
    define: { 'import.meta.url': '__url' },
    banner: { js: `const __url=${OWN_URL},__import=${OWN_IMPORT};` },
  });
  const declarations = buildDeclarations(strict);
  // Entries last: whoever reads a new entry finds the chunks it names.
  const bundles = [modules, library, programs];
  const files = bundles.flatMap(({ outputFiles }) => outputFiles);
  files.sort((a, b) => rank(a.path) - rank(b.path));
  for (const file of files) placeBundle(file.path, file.text);
  const inputs = bundles.flatMap((made) => Object.keys(made.metafile.inputs));
  const web = await webFiles(build);
  for (const { path, contents } of web.files) place(path, contents);
  const licences = placeLicences([...inputs, ...web.inputs]);
  const ready = await placeReady(files);
  const made = [licences, ready, placeVerifier(), ...placePlugin()];
  const shown = [...files, ...web.files].map((file) => file.path);
  const outputs = [...shown, ...declarations, ...made];
  removeOthers(outputs);
  return outputs;
}

/** What agents install: dist/plugin is a marketplace with one plugin in it. */
function placePlugin() {
  return pluginFiles().map(([name, text]) => {
    const path = join(DIST, 'plugin', name);
    place(path, text);
    return path;
  });
}

/** For people who verify a proof without us: `cuff prove --verifier` prints it. */
function placeVerifier() {
  const path = join(DIST, 'verify.py');
  place(path, readFileSync(join(ROOT, 'src/cli/verify.py'), 'utf8'));
  return path;
}

/** What a server says before it is loaded. It is asked for it, as it was just built. */
async function placeReady(files) {
  const hash = createHash('sha256');
  for (const { contents } of files) hash.update(contents);
  const module = pathToFileURL(join(DIST, 'mcp-shipped.js'));
  const { shippedAnswers } = await import(`${module}?${Date.now()}`);
  const path = join(DIST, 'mcp-ready.json');
  place(path, `${JSON.stringify(shippedAnswers(hash.digest('hex').slice(0, 16)))}\n`);
  return path;
}

/** `import('./program.ts')` in a program stays an import, of the module or part built beside it. */
function keepModulesOutside(esbuild) {
  esbuild.onResolve({ filter: /^\./ }, (args) => {
    if (args.kind !== 'dynamic-import') return undefined;
    const file = relative(ROOT, join(args.resolveDir, args.path)).replaceAll('\\', '/');
    const part = Object.keys(PARTS).find((key) => PARTS[key] === file);
    if (part !== undefined) return { path: `./${part}.cjs`, external: true };
    const name = basename(args.path, '.ts');
    return name in MODULES ? { path: `./${name}.js`, external: true } : undefined;
  });
}

function rank(path) {
  if (basename(path).startsWith('chunk-')) return 0;
  return path.endsWith('.cjs') ? 2 : 1;
}

function placeBundle(path, text) {
  let whole = text;
  const bin = path.endsWith('.cjs');
  if (!bin && /__require ?=/.test(text)) {
    // CommonJS inside an ES module: esbuild's stand-in for `require` only works if there is one.
    const line =
      'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);';
    whole = `${line}\n${text}`;
  }
  // esbuild copies every property of what is imported from Node, each time, for the sake of a
  // default import, of which there are none.
  if (bin) whole = whole.replace(/__toESM\((require\("node:\w+"\)),? ?1?\)/g, '$1');
  if (bin) whole = whole.replace(LATER, 'new Proxy({},{get:(_,name)=>$&[name]})');
  // An import would start the loader of modules, for a file that is none.
  if (bin) whole = whole.replace(/import\(("\.\/[\w-]+\.cjs")\)/g, '(async()=>require($1))()');
  if (bin) whole = whole.replace(/\bimport\(("\.\/[\w-]+\.js"\))/g, '__import($1');
  if (CACHED.includes(basename(path, '.cjs'))) whole = asFunction(whole);
  else if (bin && !whole.startsWith('#!')) whole = `#!/usr/bin/env node\n${whole}`;
  place(path, whole, bin ? 0o755 : 0o644);
}

/** As Node makes a module of a text, so that it need not be copied for it; and its hash. */
function asFunction(text) {
  const hash = createHash('sha256').update(text).digest('hex');
  return `(function(exports,require,module,__filename,__dirname){${text}\n})\n//${hash}`;
}

/** Packages that leave out the licence of their repository, and one of the same that has it. */
const LICENCE_OF = { 'node_modules/@xterm/addon-serialize': 'node_modules/@xterm/xterm' };

/** The licences of the packages whose code is inside the bundles. */
function placeLicences(inputs) {
  const matches = inputs.map((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  const texts = [...new Set(matches)].filter(Boolean).map((folder) => {
    const from = join(ROOT, LICENCE_OF[folder] ?? folder);
    const name = readdirSync(from).find((file) => /^licen[cs]e/i.test(file));
    if (name === undefined) throw new Error(`${folder} has no licence file to pass on.`);
    const { version } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    const title = `${folder.replace(/^.*node_modules\//, '')} ${version}`;
    return `${title}\n\n${readFileSync(join(from, name), 'utf8').trim()}\n`;
  });
  const path = join(DIST, 'licences.txt');
  place(path, texts.join(`\n${'-'.repeat(80)}\n\n`));
  return path;
}

function buildDeclarations(strict) {
  if (!existsSync(join(ROOT, LIBRARY.index))) return [];
  const temp = mkdtempSync(join(DIST, '.types-'));
  try {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const args = [tsc, '-p', join(ROOT, 'scripts/tsconfig.types.json'), '--outDir', temp];
    const attempt = spawnQuietly(process.execPath, args);
    if (!attempt.ok && strict) throw new Error(`tsc refused the public types:\n${attempt.words}`);
    if (!attempt.ok) say('build: the types have errors; `npm run types` shows them');
    return publicTypes(join(temp, 'index.d.ts')).map((file) => {
      const out = join(DIST, 'types', relative(temp, file));
      place(out, readFileSync(file, 'utf8').replace(/(['"]\.{1,2}\/[^'"]*)\.ts(['"])/g, '$1.js$2'));
      return out;
    });
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** The d.ts files that the entry needs: tsc writes one for every source, the inside included. */
function publicTypes(entry) {
  const found = new Set([entry].filter((file) => existsSync(file)));
  for (const file of found) {
    for (const [, name] of readFileSync(file, 'utf8').matchAll(/['"](\.{1,2}\/[^'"]*)\.ts['"]/g)) {
      found.add(join(dirname(file), `${name}.d.ts`));
    }
  }
  return [...found];
}

function buildNative() {
  if (process.platform !== 'linux') return []; // Elsewhere runs take the portable way.
  if (runnerSources().length === 0) {
    say('build: native/ has no C source, left out');
    return [];
  }
  if (findProgram('cc') === undefined) {
    say('build: no C compiler, so runs use the portable way; install gcc for the runner');
    return [];
  }
  say('build: runner');
  return [buildRunner({ out: prebuiltPath() }).out];
}

/** A command is traced only where it builds: that is no reason to refuse the rest. */
function buildPreload() {
  if (process.platform !== 'linux' || findProgram('cc') === undefined) return [];
  say('build: shim');
  try {
    return buildShim({ out: prebuiltShim() });
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    say(`build: no tracing: ${error.message}`);
    return [];
  }
}

function place(path, content, mode = 0o644) {
  mkdirSync(dirname(path), { recursive: true });
  const temp = `${path}.${process.pid}.tmp`;
  writeFileSync(temp, content);
  chmodSync(temp, mode);
  renameSync(temp, path);
}

/** Drop what an earlier build left and this one does not have. */
function removeOthers(outputs) {
  const kept = new Set(outputs);
  for (const file of walk(DIST)) {
    if (!kept.has(file) && !relative(DIST, file).startsWith('.')) rmSync(file, { force: true });
  }
}

function walk(directory) {
  if (!existsSync(directory)) return [];
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true });
  // Node before 20.12 knows the directory of an entry under its older name.
  const pathOf = (entry) => join(entry.parentPath ?? entry.path, entry.name);
  return entries.filter((entry) => entry.isFile()).map(pathOf);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await build({ strict: process.argv.includes('--strict') });
  } catch (error) {
    say(`build: ${error.message}`);
    process.exitCode = 1;
  }
}
