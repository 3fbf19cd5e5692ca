// Files of a project that decide what an allowed command runs: the manifests and build files of the
// programs that rules name, the scripts that they start, and installed code, which no person reads
// when it changes. A policy of version 2 lets agents write nearly all files of a project; about
// these a person is asked first.

import { posix } from 'node:path';
import { baseName } from '../text/base-name.ts';
import { factsOf } from './facts.ts';
import { environmentOf, globRegex, pathSet, type Roots } from './paths.ts';
import { literalText, type WordPattern } from './pattern.ts';
import type { LoadedPolicy } from './policy.ts';
import { isOwnPath, isShell, plainName } from './programs.ts';
import { variantsOf } from './rules.ts';

export type RunFiles = {
  readonly has: (path: string) => boolean;
  /** Whether a glob, absolute, could be the name of one. */
  readonly glob: (glob: string) => boolean;
  /** Whether it is one only as a program that a rule names by its path, and no named script. */
  readonly program: (path: string) => boolean;
};

/** Whatever the rules are: programs load them, and `git status` shows none of them. */
const INSTALLED = [
  ...['node_modules/*', 'site-packages/*', 'dist-packages/*', '__pycache__/*', '*.pyc', '*.pyo'],
  ...['.venv/*', 'venv/*', '.tox/*', '.nox/*', '.yarn/*', '.bundle/*', '.mvn/*', '.gradle/*'],
  ...['.pnpmfile.cjs', '.bazelrc', '.bazelversion', '.sqliterc', '.psqlrc', '.ruby-version'],
  // The first file of what git takes for a repository.
  ...['HEAD', 'commondir', 'gitdir'],
];

const NODE = [
  ...['package.json', 'pnpm-workspace.yaml', 'lerna.json', 'nx.json', 'turbo.json', 'project.json'],
  ...['*.config.*', '.*rc', '.*rc.*', 'gulpfile.*', 'Gruntfile.*', 'bunfig.toml', 'package.yaml'],
  // Where packages are fetched from, and what an installation builds.
  ...['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock*'],
  ...['binding.gyp', 'vitest.workspace.*'],
];
const PYTHON = [
  ...['pyproject.toml', 'setup.py', 'setup.cfg', 'conftest.py', 'pytest.ini', '.pytest.ini'],
  ...['tox.ini', 'noxfile.py', 'mypy.ini', '.pylintrc', 'pylintrc', '.coveragerc', 'Pipfile'],
  ...['requirements*.txt', 'uv.toml', 'pdm.toml', 'poetry.toml', 'tasks.py', 'fabfile.py'],
  ...['pytest.toml', '.pytest.toml', '.mypy.ini', '.flake8', 'uv.lock', 'poetry.lock', 'pdm.lock'],
  // It may be the path of an interpreter.
  ...['Pipfile.lock', '.python-version'],
];
const MAKE = ['Makefile', 'makefile', 'GNUmakefile', '*.mk', 'Makefile.*', 'Kbuild'];
const JAVA = [
  ...['pom.xml', 'mvnw', 'gradlew', '*.gradle', '*.gradle.kts', 'gradle.properties'],
  ...['gradle/wrapper', 'buildSrc', 'build.xml', 'build.sbt', 'build.sc', 'project.clj'],
];
const CARGO = ['Makefile.toml', '.clippy.toml', '.config/nextest.toml'];
const RUBY = ['Gemfile*', 'gems.*', 'Rakefile', '*.rake', '*.gemspec', '.rspec', 'spec_helper.rb'];

/** Which files a program that a rule names reads to know what it runs. */
const MANIFESTS: readonly (readonly [programs: string, files: readonly string[]])[] = [
  ['npm pnpm yarn bun npx pnpx bunx corepack turbo nx lerna rush node-gyp vitest vite', NODE],
  ['jest mocha ava karma tap c8 nyc playwright cypress eslint prettier biome stylelint', NODE],
  ['webpack rollup parcel esbuild tsup next nuxt astro remix svelte-kit ng vue-cli', NODE],
  ['gulp grunt tsc tsx ts-node swc babel storybook lint-staged commitlint xo', NODE],
  ['deno', ['deno.json', 'deno.jsonc', 'import_map.json', ...NODE]],
  ['pytest py.test python python3 tox nox invoke inv fab pip pip3 pipx uv uvx poetry', PYTHON],
  ['hatch pdm pipenv flit twine mypy pylint flake8 ruff coverage sphinx-build pre-commit', PYTHON],
  ['make gmake bmake remake', MAKE],
  ['cmake ctest cpack', ['CMakeLists.txt', '*.cmake', 'CMakePresets.json', ...MAKE]],
  ['meson ninja', ['meson.build', 'meson_options.txt', 'build.ninja']],
  ['bazel bazelisk', ['BUILD', 'BUILD.bazel', 'WORKSPACE*', 'MODULE.bazel', '*.bzl']],
  ['cargo', ['Cargo.toml', 'build.rs', 'rust-toolchain*', 'clippy.toml', ...CARGO]],
  ['go', ['go.mod', 'go.work']],
  ['mage', ['magefile.go', 'magefiles']],
  ['golangci-lint', ['.golangci.*']],
  ['goreleaser', ['.goreleaser.*']],
  ['mvn mvnw gradle gradlew ant sbt mill lein', JAVA],
  ['rake bundle ruby rspec rails gem', RUBY],
  ['just', ['justfile', 'Justfile', '.justfile', '*.just']],
  ['task', ['Taskfile.*']],
  ['dotnet msbuild', ['*.csproj', '*.fsproj', '*.vbproj', '*.sln', '*.props', '*.targets']],
  ['mix', ['mix.exs']],
  ['stack cabal', ['stack.yaml', '*.cabal', 'Setup.hs', 'cabal.project']],
  ['composer php phpunit', ['composer.json', 'phpunit.xml*']],
  ['swift', ['Package.swift']],
  ['zig', ['build.zig', 'build.zig.zon']],
  ['scons', ['SConstruct', 'SConscript']],
  ['docker podman docker-compose', ['Dockerfile*', '*.Dockerfile', '*compose*.y*ml']],
  ['terraform tofu', ['*.tf', '*.tf.json']],
  ['ansible-playbook ansible', ['ansible.cfg']],
  ['git', ['lefthook.y*ml', '.lefthook.y*ml', '.lintstagedrc*', 'lint-staged.config.*']],
  ['latexmk', ['latexmkrc', '.latexmkrc']],
  ['flutter dart', ['pubspec.yaml']],
  ['configure autoreconf automake', ['configure', 'configure.ac', '*.am', '*.in']],
];

export function runFilesOf(policies: readonly LoadedPolicy[], roots: Roots): RunFiles {
  let known: RunFiles | undefined;
  // Only what writes asks for them, and a policy may have hundreds of rules.
  const files = (): RunFiles => {
    known ??= compiled(policies, roots);
    return known;
  };
  return {
    has: (path) => files().has(path),
    glob: (glob) => files().glob(glob),
    program: (path) => files().program(path),
  };
}

function compiled(policies: readonly LoadedPolicy[], roots: Roots): RunFiles {
  const second = policies.some(({ policy }) => policy.version === 2);
  const rules = second ? allowedWords(policies) : [];
  const read = namesIn(rules, (words) => [
    ...manifestsOf(words),
    ...scriptsOf(words),
    ...modulesOf(words),
  ]);
  const programs = namesIn(rules, ownPrograms);
  const names = [...(second ? INSTALLED : []), ...read];
  const scripts = pathSet([...names.map(anyPlace), ...environmentsIn(policies)], roots).has;
  const own = pathSet([...programs].map(anyPlace), roots).has;
  const has = (path: string): boolean => scripts(path) || own(path);
  const plain = [...names, ...programs].filter((name) => !/[*?[{]/.test(name)).map(baseName);
  return {
    has,
    glob: (glob) => {
      const regex = globRegex(posix.basename(glob));
      return has(glob) || plain.some((name) => regex.test(name));
    },
    program: (path) => own(path) && !scripts(path) && !posix.basename(path).includes('.'),
  };
}

function anyPlace(name: string): string {
  return `**/${name}`;
}

/** What trusted programs are made of, and the place that another environment could take. */
function environmentsIn(policies: readonly LoadedPolicy[]): readonly string[] {
  return policies.flatMap(({ policy }) => policy.programs.map(environmentOf));
}

type Words = readonly WordPattern[];

function allowedWords(policies: readonly LoadedPolicy[]): readonly Words[] {
  const rules = policies.flatMap(({ policy }) => policy.policies.flatMap((one) => one.commands));
  return rules
    .filter(({ decision }) => decision === 'allow')
    .flatMap((rule) => variantsOf(rule).map(({ words }) => words));
}

/** Relative to any directory: a rule does not say where its command runs. */
function namesIn(
  rules: readonly Words[],
  namesOf: (words: Words) => readonly string[],
): ReadonlySet<string> {
  return new Set(rules.flatMap(namesOf));
}

const FILES = new Map(
  MANIFESTS.flatMap(([programs, files]) => programs.split(' ').map((name) => [name, files])),
);

/** Also of programs behind others: `uv run pytest`, `python3 -m tox`. */
function manifestsOf(words: readonly WordPattern[]): readonly string[] {
  return words.flatMap((word) => {
    const name = baseName(literalText(word));
    return FILES.get(name) ?? FILES.get(plainName(name)) ?? [];
  });
}

/** `./run.sh`, `bin/tool`. */
function ownPrograms([first]: readonly WordPattern[]): readonly string[] {
  const program = literalText(first);
  return isOwnPath(program) ? anywhere(program) : [];
}

/** `bash scripts/all.sh`, `node build.mjs`, `./tool config.lua`. */
function scriptsOf(words: readonly WordPattern[]): readonly string[] {
  const [first, ...rest] = words;
  const program = literalText(first);
  const name = plainName(program);
  const shell = isShell(name) || /^(?:source|\.)$/.test(program);
  const runs = shell || factsOf(name)?.interpreter !== undefined || isOwnPath(program);
  if (!runs) return [];
  // Behind these are modules and tests, or what the code in the words works on.
  const code = shell || name === 'python' ? CODE_BEHIND_C : CODE_BEHIND_E;
  const texts = rest.map(literalText);
  if (texts.some((text) => /^(?:-m|--test)$/.test(text) || code.test(text))) return [];
  const scripts = rest.map(pathOf);
  return scripts.filter((path) => /[./]/.test(path)).flatMap(anywhere);
}

/**
 * `python3 -m pip` runs `pip.py` of the directory where it runs, before what is installed. Modules
 * of the project itself are what agents work on.
 */
function modulesOf([program, ...words]: readonly WordPattern[]): readonly string[] {
  if (plainName(literalText(program)) !== 'python') return [];
  const name = literalText(words[words.findIndex((word) => literalText(word) === '-m') + 1]);
  if (!FILES.has(name) && !/^(?:unittest|venv)$/.test(name)) return [];
  return ['.py', '/__init__.py', '/__main__.py'].map((end) => `${name}${end}`);
}

const CODE_BEHIND_C = /^-[a-zA-Z]*c$/;
const CODE_BEHIND_E = /^-[a-zA-Z]*e$/;

/** The word, or for one with holes the directory it begins with. */
function pathOf(word: WordPattern): string {
  if (word.kind !== 'partial') return literalText(word);
  return word.lead.includes('/') ? `${posix.dirname(`${word.lead}x`)}/*` : '';
}

function anywhere(path: string): readonly string[] {
  const value = path.replace(/^-[^=]*=/, '');
  if (/^-|\/$/.test(value) || DATA.test(value)) return [];
  const name = posix.normalize(value).replace(/^(?:\.\.?\/|\/|~\/)+/, '');
  return name === '' || name === '.' || name === '*' ? [] : [name];
}

/** Not what a script runs, but what it is given. */
const DATA = /\.(?:md|txt|json|jsonl|csv|tsv|log|html|xml|svg|png|jpe?g|gif|pdf|lock)$|^https?:/i;
