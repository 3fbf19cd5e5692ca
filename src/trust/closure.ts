// Every file that loading some modules reads: what they import or require by a literal name, and
// what that imports, also in node_modules, with the package.json files that decide where a name
// leads. Where a name could lead to several files all of them count, because Node decides by
// conditions that only it knows. What is named at run time only is not here, and is not loaded.

import { statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../errors.ts';
import { realOf } from '../places.ts';
import { asObject, asString, type JsonObject, parseObject } from '../text/json.ts';
import { printable } from '../text/printable.ts';
import { hashOf } from './list.ts';
import { contentOf } from './settings.ts';

const FILES_MAX = 20_000;
const BYTES_MAX = 512 * 1024 * 1024;

/** The hash of each file, by its real path. Throws `usage` when there are too many. */
export function importClosure(entries: readonly string[]): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  const queue = entries.flatMap(asFile);
  const packages = new Map<string, JsonObject | undefined>();
  let bytesLeft = BYTES_MAX;
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (found.has(file)) continue;
    const bytes = contentOf(file, bytesLeft);
    if (bytes === undefined || found.size >= FILES_MAX) throw tooMany(file);
    bytesLeft -= bytes.length;
    found.set(file, hashOf(bytes));
    queue.push(...packageFiles(file));
    if (!CODE.test(file)) continue;
    const text = new TextDecoder().decode(bytes);
    for (const name of namesIn(text)) queue.push(...leadsTo(name, file, packages));
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const CODE = /(?:^|\/)[^./]+$|\.[cm]?[jt]sx?$/;

function tooMany(file: string): AppError {
  const limits = `${FILES_MAX} files or ${BYTES_MAX / 1024 / 1024} MiB`;
  return new AppError('usage', `The modules load more than ${limits}: ${printable(file)}.`, {
    hint: 'Bundle the module into one file, and trust that.',
  });
}

/** Without comments in between: those are taken out first. */
const IMPORTED = /\b(?:from|import|require(?:\.resolve)?)\s*\(?\s*(["'`])([^"'`\n$]{1,1000})\1/g;
const COMMENT = /\/\*[^*]{0,200}\*\//g;
/** A name that starts with a dot may be handed to any function that loads it. */
const RELATIVE = /(["'`])(\.{1,2}\/[^"'`\n$]{1,1000})\1/g;

function namesIn(text: string): ReadonlySet<string> {
  const plain = text.replace(COMMENT, '');
  const matches = [text, plain].flatMap((one) => [...one.matchAll(IMPORTED)]);
  matches.push(...text.matchAll(RELATIVE));
  return new Set(matches.map(([, , name = '']) => name));
}

type Packages = Map<string, JsonObject | undefined>;

/** The files that a name in `file` may mean: none, one or several. */
function leadsTo(name: string, file: string, packages: Packages): readonly string[] {
  if (isBuiltin(name) || name.startsWith('data:')) return [];
  if (name.startsWith('file:')) return pathOf(name).flatMap(asFile);
  if (name.startsWith('.') || isAbsolute(name)) return anyFile(resolve(dirname(file), clean(name)));
  if (name.startsWith('#')) return privateName(name, file, packages);
  return packageName(name, file, packages);
}

function pathOf(url: string): readonly string[] {
  try {
    return [fileURLToPath(url)];
  } catch {
    return []; // no file of this machine
  }
}

/** Without what an import may append to get a fresh copy. */
function clean(name: string): string {
  return name.replace(/[?#].*$/, '');
}

const ENDINGS = ['', '.js', '.json', '.node', '.cjs', '.mjs', '.ts', '.cts', '.mts'];

/** As `require` looks for it, which is wider than what `import` finds. */
function anyFile(path: string): readonly string[] {
  const main = asString(parsed(join(path, 'package.json'))?.main);
  const folders = [join(path, 'index'), ...(main === undefined ? [] : [join(path, main)])];
  return [path, ...folders, ...(main === undefined ? [] : [join(path, main, 'index')])].flatMap(
    (one) => ENDINGS.flatMap((ending) => asFile(one + ending)),
  );
}

function asFile(path: string): readonly string[] {
  try {
    return statSync(path).isFile() ? [realOf(path)] : [];
  } catch {
    return []; // there is none
  }
}

/** The nearest package.json says what kind of module a file is. */
function packageFiles(file: string): readonly string[] {
  const folder = packageFolder(dirname(file));
  return folder === undefined ? [] : asFile(join(folder, 'package.json'));
}

function packageFolder(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (asFile(join(folder, 'package.json')).length > 0) return folder;
    if (folder === dirname(folder) || folder.endsWith('/node_modules')) return undefined;
  }
}

function privateName(name: string, file: string, packages: Packages): readonly string[] {
  const folder = packageFolder(dirname(file));
  if (folder === undefined) return [];
  const targets = targetsOf(asObject(read(folder, packages)?.imports), name);
  return targets.flatMap((target) =>
    target.startsWith('#') ? [] : leadsTo(target, join(folder, 'package.json'), packages),
  );
}

function packageName(name: string, file: string, packages: Packages): readonly string[] {
  const [, own = '', rest = ''] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(name) ?? [];
  const self = packageFolder(dirname(file));
  const found: string[] = [];
  if (self !== undefined && read(self, packages)?.name === own) {
    found.push(...inPackage(self, rest, packages));
  }
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', own);
    const files = inPackage(candidate, rest, packages);
    if (files.length > 0) return [...found, ...files];
    if (folder === dirname(folder)) return found;
  }
}

function inPackage(folder: string, rest: string, packages: Packages): readonly string[] {
  const described = read(folder, packages);
  const exported = described?.exports;
  if (exported === undefined || exported === null) return anyFile(join(folder, rest));
  const map = asObject(exported);
  const bySubpath = map !== undefined && Object.keys(map).some((key) => key.startsWith('.'));
  const targets = targetsOf(bySubpath ? map : { '.': exported }, `.${rest}`);
  return targets.flatMap((target) => asFile(resolve(folder, target)));
}

/** Whatever the conditions are. */
function targetsOf(map: JsonObject | undefined, name: string): readonly string[] {
  return Object.entries(map ?? {}).flatMap(([key, value]) => {
    const [before = '', after] = key.split('*');
    if (after === undefined) return key === name ? leaves(value) : [];
    const matches = name.startsWith(before) && name.endsWith(after);
    const middle = name.slice(before.length, name.length - after.length);
    return matches ? leaves(value).map((leaf) => leaf.replaceAll('*', middle)) : [];
  });
}

function leaves(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(leaves);
  return Object.values(asObject(value) ?? {}).flatMap(leaves);
}

function read(folder: string, packages: Packages): JsonObject | undefined {
  const path = join(folder, 'package.json');
  if (!packages.has(path)) packages.set(path, parsed(path));
  return packages.get(path);
}

function parsed(path: string): JsonObject | undefined {
  const bytes = contentOf(path, 4 * 1024 * 1024);
  return bytes === undefined ? undefined : parseObject(new TextDecoder().decode(bytes));
}
