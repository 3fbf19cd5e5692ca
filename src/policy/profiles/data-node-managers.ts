// What is known of the package managers of node besides npm, and of what runs the programs of
// packages. A name that is no command of theirs is a script of the project, or else a program:
// pnpm and bun look for it where the system has its own, so that a rule has to name it.

import type { Deeds, Profile } from '../profile.ts';
import { each } from './common.ts';

export const NPX: Profile = {
  kind: 'exec',
  style: 'first',
  options: `-c,--call:exec -p,--package:exec -y,--yes!net --no,--no-install -q,--quiet
    --ignore-existing!net -w,--workspace:path --workspaces --include-workspace-root -v,--version
    -h,--help --shell:exec --node-arg,-n:exec --userconfig:config!config --registry:config!config
    --prefix:exec --cache:config!config --node-options:exec --script-shell:exec`,
  operands: 'nodebin',
};

const PNPM_OPTIONS = `-r,--recursive -w,--workspace-root --filter,-F:word --filter-prod:word
  --silent -s --reporter:word --aggregate-output --stream --parallel --no-bail --if-present --color
  --no-color --frozen-lockfile --no-frozen-lockfile --immutable
  --immutable-cache --fix!write --prefer-frozen-lockfile --offline
  --prefer-offline --lockfile-only --ignore-scripts -D,--save-dev,--dev -P,--save-prod,--prod
  -O,--save-optional -E,--save-exact --save-peer --no-optional --workspace --depth:int --json --long
  --parseable --no-lockfile --shamefully-hoist --strict-peer-dependencies --ignore-workspace
  -g,--global!config -C,--dir:exec --store-dir:config!config --registry:config!config
  --config:config!config --script-shell:exec --shell-mode,-c!exec --shell-emulator --force!delete
  --use-node-version:exec --reporter-hide-prefix --no-reporter-hide-prefix --loglevel:word -v
  --version -h,--help --resume-from:word --report-summary --audit-level:word --fix-lockfile -L
  --latest -i,--interactive`;
const PNPM_INSTALL: Profile = { kind: 'exec', options: PNPM_OPTIONS, operands: 'package*' };
const PNPM_ASK: Profile = { kind: 'read', options: PNPM_OPTIONS, operands: 'word*' };
const PNPM_CONFIG: Profile = { kind: 'config', options: PNPM_OPTIONS, operands: 'config*' };
const PNPM_NET: Profile = { kind: 'net', options: PNPM_OPTIONS, operands: 'net*' };
/** Behind its name all words are for the script, also those with a dash. */
const PNPM_SCRIPT: Profile = {
  kind: 'exec',
  style: 'first',
  options: PNPM_OPTIONS,
  operands: 'script passed*',
  behindDashes: 'word',
};
const PNPM_EXEC: Profile = {
  kind: 'exec',
  style: 'first',
  options: PNPM_OPTIONS,
  operands: 'nodebin',
};
const PNPM_ONE: Profile = { ...PNPM_SCRIPT, style: 'none', operands: 'passed*' };
const RUNS: Profile = { kind: 'exec', operands: 'exec*' };

const BOTH_COMMANDS: Readonly<Record<string, Profile>> = {
  ...each('install i add update up upgrade import rebuild rb fetch dedupe ci', PNPM_INSTALL),
  ...each('list ls ll why outdated audit licenses root bin help', PNPM_ASK),
  ...each('info view', { ...PNPM_ASK, operands: 'package word*' }),
  ...each('config set link unlink ln setup env login logout token', PNPM_CONFIG),
  ...each('server store self-update approve-builds patch', PNPM_CONFIG),
  ...each('publish npm tag owner team deploy', PNPM_NET),
  ...each('remove rm uninstall prune', { ...PNPM_INSTALL, kind: 'write' }),
  ...each('run run-script', PNPM_SCRIPT),
  ...each('test t start', PNPM_ONE),
  exec: PNPM_EXEC,
  dlx: { ...PNPM_EXEC, options: `--package:exec ${PNPM_OPTIONS}`, operands: 'nodebin' },
  ...each('create node', RUNS),
  init: { kind: 'write', options: '-y,--yes -p,--private -w,--workspace', operands: 'exec*' },
  pack: { kind: 'write', options: `--pack-destination:output -o,--out:output ${PNPM_OPTIONS}` },
};

const YARN_COMMANDS: Readonly<Record<string, Profile>> = {
  ...BOTH_COMMANDS,
  ...each('versions check workspace-info', PNPM_ASK),
  ...each('global plugin policies unplug', PNPM_CONFIG),
  'upgrade-interactive': PNPM_INSTALL,
  ...each('run run-script', { ...PNPM_SCRIPT, operands: 'runnable passed*' }),
  // Behind the name of the workspace any command of yarn can stand.
  workspace: { kind: 'exec', style: 'none', operands: 'word fallback passed*' },
  workspaces: {
    kind: 'exec',
    options: PNPM_OPTIONS,
    subcommands: { ...each('info list', PNPM_ASK), ...each('foreach run', RUNS) },
  },
};

const BUN_SCRIPT = `--watch --hot --silent -b,--bun --smol --no-install --filter:word -F:word
  -e,--eval:exec -p,--print:exec -r,--preload,--import:exec -c,--config:exec --cwd:exec
  --env-file:exec --inspect?word!net --define,-d:exec -l,--loader:exec --if-present
  --elide-lines:int -v,--version --revision -h,--help`;
const BUN_TEST = `--timeout:int --update-snapshots,-u --rerun-each:int --only --todo --coverage
  --coverage-reporter:word --coverage-dir:output --bail?int -t,--test-name-pattern:word
  --reporter:word --reporter-outfile:write ${BUN_SCRIPT}`;
const BUN: Profile = {
  kind: 'exec',
  style: 'first',
  options: BUN_SCRIPT,
  operands: 'fallback passed*',
  subcommands: {
    run: { kind: 'exec', style: 'first', options: BUN_SCRIPT, operands: 'runnable passed*' },
    test: { kind: 'exec', style: 'exact', options: BUN_TEST, operands: 'path*' },
    install: { ...PNPM_INSTALL, options: `-p,--production -y,--yarn ${PNPM_OPTIONS}` },
    i: PNPM_INSTALL,
    add: { ...PNPM_INSTALL, options: `-d --dev --optional --exact ${PNPM_OPTIONS}` },
    a: PNPM_INSTALL,
    remove: PNPM_INSTALL,
    rm: PNPM_INSTALL,
    update: PNPM_INSTALL,
    outdated: PNPM_ASK,
    x: NPX,
    exec: { kind: 'exec', operands: 'exec*', style: 'none' },
    create: { kind: 'exec', operands: 'exec*', style: 'none' },
    init: { kind: 'write', options: '-y,--yes', operands: 'output?' },
    link: PNPM_CONFIG,
    publish: PNPM_NET,
    upgrade: PNPM_CONFIG,
    repl: { kind: 'exec', operands: 'exec*' },
    pm: { kind: 'read', subcommands: { ls: PNPM_ASK, bin: PNPM_ASK, hash: PNPM_ASK } },
    build: {
      kind: 'write',
      style: 'exact',
      options: `--outdir:output --outfile:output --target:word --format:word --minify
        --sourcemap?word --splitting --watch --external:word --compile --production --plugin:exec
        --define:exec`,
      operands: 'path*',
    },
  },
};

const PUBLISHES: Deeds = { 'published 3': 'publish' };

export const MANAGERS: Readonly<Record<string, Profile>> = {
  pnpm: {
    kind: 'exec',
    style: 'first',
    options: PNPM_OPTIONS,
    operands: 'fallback passed*',
    subcommands: BOTH_COMMANDS,
    deeds: PUBLISHES,
  },
  yarn: {
    kind: 'exec',
    style: 'first',
    options: `--cwd:exec --modules-folder:exec --production --non-interactive ${PNPM_OPTIONS}`,
    operands: 'fallback passed*',
    subcommands: YARN_COMMANDS,
    deeds: { 'published 3': 'publish; npm publish; workspace * publish; workspace * npm publish' },
  },
  bun: { ...BUN, deeds: PUBLISHES },
};
