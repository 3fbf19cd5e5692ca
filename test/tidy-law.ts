// The law of the house: a folder imports only folders that stand below it, and test folders mirror
// those of `src/`. `tidy.test.ts` holds the sources to both.
import { dirname, join, normalize } from 'node:path/posix';
import type { SourceFacts } from './tidy-source.ts';

type Facts = ReadonlyMap<string, SourceFacts>;

/** Lowest first. Folders of one row do not import each other. */
const RANKS: readonly (readonly string[])[] = [
  ['ground'], // the files of src/ itself
  ['text'],
  ['age', 'bgzf'],
  ['capture', 'run', 'journal', 'trace', 'policy', 'ledger'], // the six rooms
  ['tracing', 'git'],
  ['shell'],
  ['ops'],
  ['trust'],
  ['policies'],
  ['guard'],
  ['sealing'],
  ['packing'],
  ['recorder'],
  ['host'],
  ['agent'],
  ['recordings'],
  ['hooks'],
  ['dialects'],
  ['mcp', 'library', 'web'],
  ['cli', 'index'], // the two programs, and the entry of the library
];

export const FOLDERS = RANKS.flat();

/** The files of `src/` itself. */
const GROUND = 'directories errors file-watch index limits log places types'
  .split(' ')
  .map((name) => `src/${name}.ts`);

const ROUTES_MAX = 20; // of ARCHITECTURE.md: the names of the folders answer the rest

/** Folders of tests that have no folder in `src/`. */
const TEST_FOLDERS = [
  'agents', // real agent programs, which use all of cuff
  'fixtures', // programs and modules that several tests start
  'ids', // requirements, as data
  'proofs', // which test proves which of them
  'native', // native/ lies beside src/
  'web-client', // web/ lies beside src/
];

/** Folders inside those: data, helpers and series that belong to one folder's tests. */
const DATA_FOLDERS = /^(cases|examples|fixtures|fuzz|golden|programs)$/;

export function dependencyLaw(facts: Facts): string[] {
  const complaints: string[] = [];
  for (const [file, { imports }] of inSrc(facts)) {
    const from = folderOf(file);
    if (rankOf(from) < 0) complaints.push(`${file}: ${from}/ has no rank`);
    for (const specifier of imports.filter((name) => name.startsWith('.'))) {
      const target = resolve(file, specifier);
      if (target === 'package.json') continue; // its own name and version, which any file may know
      if (!facts.has(target)) {
        complaints.push(`${file}: imports ${specifier}, which does not exist`);
      } else if (!mayImport(from, folderOf(target))) {
        complaints.push(`${file}: ${from} does not stand above ${folderOf(target)} (${target})`);
      } else if (betweenDialects(file, target)) {
        complaints.push(`${file}: one dialect does not import another (${target})`);
      }
    }
  }
  return complaints;
}

function mayImport(from: string, to: string): boolean {
  return from === to || rankOf(to) < rankOf(from);
}

function rankOf(folder: string): number {
  return RANKS.findIndex((row) => row.includes(folder));
}

function folderOf(file: string): string {
  if (file === 'src/index.ts') return 'index';
  const [, folder = '', ...rest] = file.split('/');
  return rest.length === 0 ? 'ground' : folder;
}

function betweenDialects(file: string, target: string): boolean {
  const [from, to] = [file, target].map((path) => /^src\/dialects\/(\w+)\//.exec(path)?.[1]);
  return from !== undefined && to !== undefined && from !== to;
}

/** Every folder of tests has its folder in `src/`, so that the place of a test needs no search. */
export function mirroredFolders(files: readonly string[]): string[] {
  const folders = new Set(files.filter((file) => file.startsWith('src/')).flatMap(above));
  const tests = new Set(files.filter((file) => /^test\/.*\//.test(file)).map(dirname));
  return [...tests]
    .filter((folder) => {
      const names = folder.split('/').slice(1);
      const data = names.findIndex((name, depth) => depth > 0 && DATA_FOLDERS.test(name));
      const named = data < 0 ? names : names.slice(0, data);
      return !TEST_FOLDERS.includes(names[0] ?? '') && !folders.has(join('src', ...named));
    })
    .map((folder) => `${folder}: there is no such folder in src/`);
}

/** What lies in `src/` itself stands below everything, so that each file there has to be named. */
export function hallFiles(files: readonly string[]): string[] {
  return files
    .filter((file) => dirname(file) === 'src' && !GROUND.includes(file))
    .map((file) => `${file}: belongs into a folder of src/`);
}

export function longRouting(architecture: string): string[] {
  const [, table = ''] =
    /^\|[^\n]*read first[^\n]*\n\|[-|]+\n((?:\|.*\n)*)/m.exec(architecture) ?? [];
  const rows = table.split('\n').filter(Boolean).length;
  if (rows === 0) return ['there is no routing table'];
  return rows <= ROUTES_MAX ? [] : [`the routing table has ${rows} rows, at most ${ROUTES_MAX}`];
}

function above(file: string): string[] {
  const folder = dirname(file);
  return folder === 'src' ? [folder] : [folder, ...above(folder)];
}

export function inSrc(facts: Facts): (readonly [string, SourceFacts])[] {
  return [...facts].filter(([file]) => file.startsWith('src/'));
}

export function resolve(file: string, specifier: string): string {
  return normalize(join(dirname(file), specifier));
}
