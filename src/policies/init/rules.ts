// The rules of a preset for a project, group by group. A preset is a starting point for people: few
// rules that each can be read, and no rule that would need `args: any`.

import type { Preset } from './presets.ts';
import type { NodeFacts, ProjectFacts, PythonFacts, Task } from './project.ts';
import { chosenTasks } from './tasks.ts';

type PresetRule = {
  readonly pattern: string;
  readonly paths?: readonly string[];
};

export type PresetGroup = {
  readonly name: string;
  readonly description: string;
  readonly rules: readonly PresetRule[];
  /** Rules that a person may want, with the reason why they are only a comment. */
  readonly left: readonly { readonly pattern: string; readonly why: string }[];
};

export function presetGroups(preset: Preset, facts: ProjectFacts): readonly PresetGroup[] {
  const { node, python, rust, go, make, just } = facts;
  const runs = preset !== 'read-only';
  const dev = preset === 'dev';
  const groups = [
    group('reading', 'Looking at files; not at secrets', READING),
    ...(facts.git ? [group('git-reading', 'Looking at the repository', GIT_READING)] : []),
    ...(dev && facts.git ? [group('git-changes', 'Local commits; a push asks', GIT_CHANGES)] : []),
    ...(dev ? [fileChanges(facts)] : []),
    ...(runs && node !== undefined ? [nodeGroup(node, dev)] : []),
    ...(runs && python !== undefined ? [pythonGroup(python, dev)] : []),
    ...(runs && rust ? [group('rust', 'Builds and tests; `cargo add` asks', cargo(dev))] : []),
    ...(runs && go ? [group('go', 'Builds and tests; `go get` asks', goRules(dev))] : []),
    ...(runs && make !== undefined ? [taskGroup('make', makeRule, make, dev)] : []),
    ...(runs && just !== undefined ? [taskGroup('just', justRule, just, dev)] : []),
    ...(dev ? [group('local-servers', 'What runs here', ['{curl,lsof,ps} *'])] : []),
  ];
  return groups.filter(({ rules, left }) => rules.length + left.length > 0);
}

function group(name: string, description: string, patterns: readonly string[]): PresetGroup {
  return { name, description, rules: patterns.map((pattern) => ({ pattern })), left: [] };
}

const READING = [
  ...['{ls,tree,stat,file,du} *', '{cat,head,tail,nl,wc} *', '{grep,rg,find,fd} *'],
  ...['{sort,uniq,cut,tr,comm,diff} *', 'sed -n *', 'jq *', 'xargs {grep,head,ls,wc} *'],
  ...['{basename,dirname,realpath,which} *', 'echo *', 'date'],
];

const GIT_READING = [
  ...['git {status,diff,log,show,blame,grep,ls-files,rev-parse} *', 'git branch [{-a,-v,-vv}]'],
  ...['git branch --show-current', 'git stash list', 'git remote -v', 'git tag --list *'],
];

const GIT_CHANGES = [
  ...['git {add,commit,switch,fetch} *', 'git checkout -b *', 'git mv <path> <path>'],
  ...['git restore --staged *', 'git stash [{push,pop,apply}]'],
];

/** Build results, which the next build makes again. */
function fileChanges({ node, python, rust }: ProjectFacts): PresetGroup {
  const results = [
    ...['build', 'dist', 'out', 'coverage', 'tmp'],
    ...(node === undefined ? [] : ['.next', '.turbo', 'node_modules/.cache']),
    ...(python === undefined ? [] : ['.pytest_cache', '.mypy_cache', '.ruff_cache', 'htmlcov']),
    ...(rust ? ['target'] : []),
  ];
  const description = 'Making, moving and changing files; only build results are deleted';
  const made = group('files', description, [
    ...['{mkdir,touch,cp} *', 'mv <path> <path>', 'sed -i <word> <path>'],
  ]);
  const remove = { pattern: 'rm {-r,-f,-rf} <path> [<path>]', paths: results };
  return { ...made, rules: [...made.rules, remove] };
}

type TaskRule = (name: string) => readonly string[];

/** Rules for the names that say what they do; the others as comments. */
function taskRules(all: readonly Task[], rule: TaskRule, dev: boolean) {
  const { checks, servers, left } = chosenTasks(all);
  const names = dev ? [...checks, ...servers] : checks;
  return {
    names,
    patterns: names.flatMap(rule),
    left: left.map(({ name, why }) => ({ pattern: rule(name)[0] ?? '', why })),
  };
}

function taskGroup(
  name: 'make' | 'just',
  rule: TaskRule,
  all: readonly Task[],
  dev: boolean,
): PresetGroup {
  const { names, patterns, left } = taskRules(all, rule, dev);
  // Without a name both take the first; a target like `.PHONY` is none.
  const first = all[0] !== undefined && names.includes(all[0].name);
  const alone = name === 'make' ? ['make [-j<int>]'] : ['just'];
  const rules = [...(first ? alone : []), ...patterns, ...(name === 'just' ? ['just --list'] : [])];
  return { ...group(name, `What the ${name}file says that builds and checks`, rules), left };
}

const makeRule: TaskRule = (name) => [`make [-j<int>] ${name}`];
const justRule: TaskRule = (name) => [`just ${name}`];

function nodeGroup({ manager, scripts, packages }: NodeFacts, dev: boolean): PresetGroup {
  const { patterns, left } = taskRules(scripts, scriptRule(manager, dev ? ' *' : ''), dev);
  const runners = ['npx', ...(RUNNERS[manager] ?? [])];
  const tools = packages.flatMap((name) => NODE_TOOLS.get(name)?.(dev) ?? []);
  const installs = dev ? INSTALLS[manager].any : INSTALLS[manager].locked;
  const rules = [
    ...installs,
    ...patterns,
    ...runners.flatMap((runner) => tools.map((tool) => `${runner} ${tool}`)),
    ...['node --test *', 'node --check <path>', `{node,npm} {--version,-v}`, `${manager} ls *`],
  ];
  const description = 'What package.json declares; new packages and other scripts ask';
  return { ...group('node', description, [...new Set(rules)]), left };
}

/** `rest`: what may follow; nothing is known of what a script does with it. */
function scriptRule(manager: NodeFacts['manager'], rest: string): TaskRule {
  return (name) => {
    const own = name === 'test' || name === 'start' ? [`${manager} ${name}${rest}`] : [];
    if (manager === 'npm' || manager === 'bun') return [`${manager} run ${name}${rest}`, ...own];
    return [`${manager} run ${name}${rest}`, `${manager} ${name}${rest}`];
  };
}

/** What starts a tool that is installed, besides `npx`. */
const RUNNERS: { readonly [manager in NodeFacts['manager']]?: readonly string[] } = {
  pnpm: ['pnpm exec'],
};

type Installs = { readonly any: readonly string[]; readonly locked: readonly string[] };

const INSTALLS: { readonly [manager in NodeFacts['manager']]: Installs } = {
  npm: { any: ['npm install', 'npm ci'], locked: ['npm ci'] },
  pnpm: {
    any: ['pnpm install [--frozen-lockfile]'],
    locked: ['pnpm install --frozen-lockfile'],
  },
  yarn: {
    any: ['yarn', 'yarn install [{--frozen-lockfile,--immutable}]'],
    locked: ['yarn install {--frozen-lockfile,--immutable}'],
  },
  bun: { any: ['bun install [--frozen-lockfile]'], locked: ['bun install --frozen-lockfile'] },
};

type Tools = (dev: boolean) => readonly string[];

/** By the package that brings a tool: without it `npx` would fetch one of that name. */
const NODE_TOOLS: ReadonlyMap<string, Tools> = new Map<string, Tools>([
  ['typescript', () => ['tsc *']],
  ['vitest', () => ['vitest *']],
  ['jest', () => ['jest *']],
  ['mocha', () => ['mocha *']],
  ['@playwright/test', () => ['playwright test *']],
  ['stylelint', () => ['stylelint *']],
  ['next', () => ['next {build,lint} *']],
  ['vite', () => ['vite build *']],
  ['eslint', (dev) => ['eslint *', ...(dev ? ['eslint --fix *', 'eslint <path> --fix'] : [])]],
  [
    'prettier',
    (dev) => ['prettier *', ...(dev ? ['prettier {-w,--write} *', 'prettier <path> --write'] : [])],
  ],
  [
    '@biomejs/biome',
    (dev) => [
      'biome {check,ci,format,lint} *',
      ...(dev
        ? ['biome {check,format,lint} --write *', 'biome {check,format,lint} <path> --write']
        : []),
    ],
  ],
]);

function pythonGroup(python: PythonFacts, dev: boolean): PresetGroup {
  const { manager, requirements, installable, extras, django } = python;
  const formats = dev ? FORMATS : FORMATS.map((one) => `${one} --check`);
  const checks = [
    ...['pytest *', 'mypy *', 'flake8 *', 'pyright *', 'ruff check *'],
    ...formats.map((one) => `${one} *`),
    ...(dev ? ['ruff check --fix *', 'ruff check <path> --fix'] : []),
  ];
  const editable = installable ? ['.', ...extras.map((extra) => `.[${extra}]`)] : [];
  const pip = [
    ...requirements.map((file) => `install -r ${file}`),
    ...editable.map((what) => `install -e ${what}`),
    ...['list *', 'show *', 'check'],
  ];
  const rules = [
    ...(dev ? ['{python,python3} -m venv {.venv,venv}'] : []),
    ...pip.flatMap((words) => [`{pip,pip3} ${words}`, `{python,python3} -m pip ${words}`]),
    ...MANAGED[manager].installs,
    ...checks,
    ...['pytest', 'mypy', 'unittest'].map((module) => `{python,python3} -m ${module} *`),
    ...MANAGED[manager].runs.flatMap((run) => checks.map((check) => `${run} ${check}`)),
    ...(django ? DJANGO.map((words) => `{python,python3} manage.py ${words}`) : []),
    '{python,python3,pip} --version',
  ];
  return group('python', 'Declared packages, tests and checks; other packages and code ask', rules);
}

/** No star: `--pythonpath` and `--settings` say whose code runs. */
const DJANGO = [
  ...['check [--deploy]', 'showmigrations [<word>]', 'makemigrations --check'],
  ...['test [--keepdb] [--failfast] [<path>]', 'test <path> [{-v,--verbosity}] [<int>]'],
];

const FORMATS = ['ruff format', 'black', 'isort'];

type Managed = { readonly installs: readonly string[]; readonly runs: readonly string[] };

const MANAGED: { readonly [manager in PythonFacts['manager']]: Managed } = {
  pip: { installs: [], runs: [] },
  uv: { installs: ['uv sync [{--frozen,--locked}]'], runs: ['uv run'] },
  poetry: { installs: ['poetry install'], runs: ['poetry run'] },
};

function cargo(dev: boolean): readonly string[] {
  return [
    ...['cargo {build,check,test,clippy,doc,tree} *', 'cargo fetch', 'cargo nextest run *'],
    ...(dev ? ['cargo {fmt,run,bench} *', 'cargo clippy --fix *'] : ['cargo fmt --check']),
    '{cargo,rustc} --version',
  ];
}

function goRules(dev: boolean): readonly string[] {
  return [
    ...['go {build,test,vet,list,doc} *', 'go mod {download,verify}', 'go version'],
    ...['gofmt {-l,-d} *', 'golangci-lint run *'],
    ...(dev ? ['go {fmt,run} *', 'go mod tidy', 'gofmt [-l] [-s] -w <path>'] : []),
  ];
}
