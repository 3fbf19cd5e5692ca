// What a policy for a project should know of it: its languages, tools, scripts and targets. Only
// files are read, nothing is run. The project may be anybody's, so of its files only names of a
// plain form get any further, a link or a pipe is not read, and a file that is too long or broken
// counts as one that is not there; each of these is told.

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../../directories.ts';
import { errnoOf } from '../../errors.ts';
import { asObject, asString, type JsonObject, parseObject } from '../../text/json.ts';
import { readRegular } from '../../trust/bounded-read.ts';

/** Something that a name starts, and the shell text behind it as far as the file says it. */
export type Task = { readonly name: string; readonly texts: readonly string[] };

export type NodeFacts = {
  readonly manager: 'npm' | 'pnpm' | 'yarn' | 'bun';
  readonly scripts: readonly Task[];
  /** The packages that it declares: only these are run by `npx` without being fetched. */
  readonly packages: readonly string[];
};

export type PythonFacts = {
  readonly manager: 'pip' | 'uv' | 'poetry';
  /** Files that `pip install -r` takes. */
  readonly requirements: readonly string[];
  readonly extras: readonly string[];
  /** It can be installed itself: `pip install -e .` */
  readonly installable: boolean;
  readonly django: boolean;
};

export type ProjectFacts = {
  readonly git: boolean;
  readonly node: NodeFacts | undefined;
  readonly python: PythonFacts | undefined;
  readonly rust: boolean;
  readonly go: boolean;
  readonly make: readonly Task[] | undefined;
  readonly just: readonly Task[] | undefined;
  /** Files that were left out, one clause each. */
  readonly unread: readonly string[];
};

const BYTES_MAX = 1024 * 1024; // the longest package.json of a real project has a tenth of it
const NAMES_MAX = 200; // of scripts, packages or targets
const TEXT_LENGTH_MAX = 2_000; // of a script: what is longer is read by no person

/** A name that is one plain word to every shell, and no option. */
const NAME = /^[A-Za-z0-9_][\w:.-]{0,63}$/;
const PACKAGE = /^(?:@[a-z0-9][\w.-]{0,63}\/)?[a-z0-9][\w.-]{0,63}$/;

export function projectFacts(project: string): ProjectFacts {
  const files = new ProjectFiles(project);
  const makefile = ['GNUmakefile', 'makefile', 'Makefile'].find((name) => files.has(name));
  const justfile = ['justfile', 'Justfile', '.justfile'].find((name) => files.has(name));
  return {
    git: files.has('.git'),
    node: files.has('package.json') ? nodeFacts(files) : undefined,
    python: pythonFacts(files),
    rust: files.has('Cargo.toml'),
    go: files.has('go.mod'),
    make: makefile === undefined ? undefined : targetsOf(files.text(makefile)),
    just: justfile === undefined ? undefined : recipesOf(files.text(justfile)),
    unread: files.unread,
  };
}

class ProjectFiles {
  readonly unread: string[] = [];
  readonly #project: string;
  readonly #names: ReadonlySet<string>;

  constructor(project: string) {
    this.#project = project;
    this.#names = new Set(namesIn(project));
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  named(pattern: RegExp): readonly string[] {
    return [...this.#names].filter((name) => pattern.test(name)).sort();
  }

  /** Empty for a file that cannot be read. */
  text(name: string): string {
    if (!this.has(name)) return '';
    const path = join(this.#project, name);
    try {
      if (!lstatSync(path).isFile()) return this.#leave(name, 'it is no plain file');
      const bytes = readRegular(path, BYTES_MAX);
      if (bytes === undefined) return this.#leave(name, 'it is too long');
      return bytes.toString('utf8');
    } catch (error) {
      return this.#leave(name, errnoOf(error) ?? 'it cannot be read');
    }
  }

  json(name: string): JsonObject {
    const text = this.text(name);
    const value = parseObject(text);
    if (value === undefined && text !== '') this.#leave(name, 'it is no JSON object');
    return value ?? {};
  }

  #leave(name: string, why: string): '' {
    this.unread.push(`${name}: ${why}`);
    return '';
  }
}

function nodeFacts(files: ProjectFiles): NodeFacts {
  const manifest = files.json('package.json');
  const scripts = Object.entries(asObject(manifest.scripts) ?? {});
  const text = new Map(scripts.map(([name, value]) => [name, asString(value) ?? '']));
  const around = (name: string): readonly string[] =>
    [`pre${name}`, name, `post${name}`].flatMap((one) => text.get(one) ?? []);
  const declared = ['dependencies', 'devDependencies', 'optionalDependencies'];
  const packages = declared.flatMap((key) => Object.keys(asObject(manifest[key]) ?? {}));
  return {
    manager: nodeManager(files, asString(manifest.packageManager) ?? ''),
    scripts: tasks(scripts.map(([name]) => ({ name, texts: around(name) }))),
    packages: packages.filter((name) => PACKAGE.test(name)).slice(0, NAMES_MAX),
  };
}

function nodeManager(files: ProjectFiles, declared: string): NodeFacts['manager'] {
  const named = (['npm', 'pnpm', 'yarn', 'bun'] as const).find((name) =>
    declared.startsWith(`${name}@`),
  );
  if (named !== undefined) return named;
  if (files.has('pnpm-lock.yaml')) return 'pnpm';
  if (files.has('yarn.lock')) return 'yarn';
  return files.has('bun.lock') || files.has('bun.lockb') ? 'bun' : 'npm';
}

const PYTHON_FILES = ['pyproject.toml', 'setup.py', 'setup.cfg', 'tox.ini', 'manage.py'];

function pythonFacts(files: ProjectFiles): PythonFacts | undefined {
  const requirements = files.named(/^requirements[\w.-]{0,40}\.txt$/);
  if (requirements.length === 0 && !PYTHON_FILES.some((name) => files.has(name))) return undefined;
  const text = files.text('pyproject.toml');
  const sections = [...text.matchAll(/^[ \t]*\[([\w.-]{1,80})\]/gm)].map(([, name = '']) => name);
  const poetry = sections.includes('tool.poetry') || files.has('poetry.lock');
  const uv = files.has('uv.lock') || sections.some((name) => name.startsWith('tool.uv'));
  return {
    manager: uv ? 'uv' : poetry ? 'poetry' : 'pip',
    requirements,
    extras: extrasOf(text),
    installable:
      files.has('setup.py') || sections.includes('project') || sections.includes('build-system'),
    django: files.has('manage.py'),
  };
}

/** The keys of `[project.optional-dependencies]`. */
function extrasOf(text: string): readonly string[] {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.trim() === '[project.optional-dependencies]');
  if (start < 0) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => /^[ \t]*\[[\w.-]+\][ \t]*$/.test(line));
  return rest
    .slice(0, end < 0 ? undefined : end)
    .flatMap((line) => /^[ \t]*([A-Za-z0-9][\w-]{0,40})[ \t]*=/.exec(line)?.[1] ?? [])
    .slice(0, NAMES_MAX);
}

/** The targets of a makefile that have a name of their own, with the lines of their recipes. */
function targetsOf(text: string): readonly Task[] {
  const found: { name: string; texts: string[] }[] = [];
  let open: typeof found = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('\t')) {
      for (const { texts } of open) texts.push(line.trim().replace(/^[@+-]+\s*/, ''));
      continue;
    }
    const head = /^([\w][\w .-]{0,200}?)\s*:(?![=:])/.exec(line);
    if (head === null) {
      if (line.trim() !== '' && !line.startsWith('#')) open = [];
      continue;
    }
    open = (head[1] ?? '').split(/\s+/).map((name) => ({ name, texts: [] }));
    found.push(...open);
  }
  return tasks(found);
}

function recipesOf(text: string): readonly Task[] {
  const found: { name: string; texts: string[] }[] = [];
  for (const line of text.split('\n')) {
    const head = /^@?([A-Za-z_][\w-]{0,63})(?:\s[^:]{0,200})?:(?!=)/.exec(line);
    if (head !== null) found.push({ name: head[1] ?? '', texts: [] });
    else if (/^\s/.test(line)) found.at(-1)?.texts.push(line.trim().replace(/^[@-]+\s*/, ''));
  }
  return tasks(found);
}

function tasks(all: readonly Task[]): readonly Task[] {
  return all
    .filter(({ name }) => NAME.test(name))
    .slice(0, NAMES_MAX)
    .map(({ name, texts }) => ({ name, texts: texts.map((one) => one.slice(0, TEXT_LENGTH_MAX)) }));
}
