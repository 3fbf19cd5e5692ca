// What is known of node and its package managers. A script of the project is a name; whatever comes
// from elsewhere, or is given as text, is code.

import type { Profile } from '../profile.ts';
import { MANAGERS, NPX } from './data-node-managers.ts';
import { NODE_TOOLS } from './data-node-tools.ts';

/** `--script-shell`, `--node-options`, `--prefix` and their like decide what runs and where. */
const NPM = `-w,--workspace:path --workspaces -ws -iwr --include-workspace-root --if-present
  -s,--silent -q,--quiet -d,--verbose -dd -ddd --loglevel:word --json --long -l --parseable -p
  --color?word --no-color --progress --no-progress --no-fund --fund --no-audit --audit --offline
  --prefer-offline --prefer-online --no-update-notifier --dry-run --depth:int --all -a
  --omit:word --include:word --only:word --production --dev --no-optional --timing --unicode
  --registry:config!config --userconfig:config!config --globalconfig:config!config
  --prefix,-C:exec --script-shell:exec --shell:exec --node-options:exec --cache:config!config
  -g,--global!config --location:config!config --ignore-scripts --no-ignore-scripts!exec
  --foreground-scripts --scripts-prepend-node-path --git:exec --editor:exec --viewer:exec
  --proxy:net --https-proxy:net --noproxy:word --cafile:config --ca:config --strict-ssl!config
  --no-strict-ssl!config --init-module:exec --onload-script:exec --https-proxy:net --otp:word
  -h,--help -v,--version --call,-c:exec --package:exec --node-gyp:exec --python:exec`;

const NPM_INSTALL: Profile = {
  kind: 'exec',
  options: `-S,--save -D,--save-dev -O,--save-optional --save-peer --save-prod -P --no-save
    -E,--save-exact -B,--save-bundle --no-package-lock --package-lock --package-lock-only
    --legacy-peer-deps --strict-peer-deps --install-links --install-strategy:word --no-bin-links
    --force!delete -f!delete --prefer-dedupe --legacy-bundling --global-style --cpu:word --os:word
    --libc:word --engine-strict ${NPM}`,
  operands: 'package*',
};
const NPM_SCRIPT: Profile = {
  kind: 'exec',
  options: NPM,
  operands: 'script passed*',
  behindDashes: 'word',
};
const NPM_ONE_SCRIPT: Profile = { ...NPM_SCRIPT, operands: 'passed*' };
const NPM_ASK: Profile = { kind: 'read', options: NPM, operands: 'word*' };
const NPM_ASK_NET: Profile = { kind: 'net', options: NPM, operands: 'word*' };
const NPM_ASK_ONE: Profile = { ...NPM_ASK_NET, operands: 'package word*' };
const NPM_NET: Profile = { kind: 'net', options: NPM, operands: 'net*' };
const NPM_CONFIG: Profile = { kind: 'config', options: NPM, operands: 'config*' };
const NPM_EXEC: Profile = { kind: 'exec', style: 'first', options: NPM, operands: 'nodebin' };
const NPM_REMOVE: Profile = {
  kind: 'write',
  options: `-S,--save -D,--save-dev --no-save ${NPM}`,
  operands: 'package*',
};

const NPM_COMMANDS: Readonly<Record<string, Profile>> = {
  install: NPM_INSTALL,
  i: NPM_INSTALL,
  add: NPM_INSTALL,
  ci: { ...NPM_INSTALL, operands: '' },
  'clean-install': { ...NPM_INSTALL, operands: '' },
  update: NPM_INSTALL,
  up: NPM_INSTALL,
  upgrade: NPM_INSTALL,
  dedupe: { ...NPM_INSTALL, operands: '' },
  rebuild: NPM_INSTALL,
  'install-test': NPM_INSTALL,
  it: NPM_INSTALL,
  test: NPM_ONE_SCRIPT,
  t: NPM_ONE_SCRIPT,
  tst: NPM_ONE_SCRIPT,
  start: NPM_ONE_SCRIPT,
  stop: NPM_ONE_SCRIPT,
  restart: NPM_ONE_SCRIPT,
  run: NPM_SCRIPT,
  'run-script': NPM_SCRIPT,
  uninstall: NPM_REMOVE,
  remove: NPM_REMOVE,
  rm: NPM_REMOVE,
  un: NPM_REMOVE,
  prune: { ...NPM_REMOVE, kind: 'write' },
  ls: NPM_ASK,
  list: NPM_ASK,
  ll: NPM_ASK,
  la: NPM_ASK,
  why: NPM_ASK,
  explain: NPM_ASK,
  root: NPM_ASK,
  prefix: NPM_ASK,
  bin: NPM_ASK,
  help: NPM_ASK,
  // With a name it opens a browser.
  fund: { ...NPM_ASK, operands: '' },
  query: NPM_ASK,
  version: { kind: 'write', bare: 'read', options: NPM, operands: 'write' },
  outdated: NPM_ASK_NET,
  view: NPM_ASK_ONE,
  info: NPM_ASK_ONE,
  show: NPM_ASK_ONE,
  v: NPM_ASK_ONE,
  search: NPM_ASK_NET,
  ping: NPM_ASK_NET,
  doctor: NPM_ASK_NET,
  whoami: NPM_ASK_NET,
  audit: {
    kind: 'net',
    options: `--audit-level:word --force!write ${NPM}`,
    subcommands: { fix: NPM_INSTALL, signatures: { kind: 'net', options: NPM } },
  },
  // With a name it fetches that.
  pack: { kind: 'write', options: `--pack-destination:output ${NPM}` },
  pkg: {
    kind: 'write',
    options: NPM,
    subcommands: {
      get: NPM_ASK,
      set: { kind: 'write', options: NPM, operands: 'write*' },
      delete: { kind: 'write', options: NPM, operands: 'write*' },
      fix: { kind: 'write', options: NPM },
    },
  },
  config: {
    kind: 'config',
    options: NPM,
    subcommands: {
      get: NPM_ASK,
      list: NPM_ASK,
      ls: NPM_ASK,
      set: NPM_CONFIG,
      delete: NPM_CONFIG,
      edit: { kind: 'exec', options: NPM, operands: 'exec*' },
    },
  },
  get: NPM_ASK,
  set: NPM_CONFIG,
  cache: {
    kind: 'write',
    options: NPM,
    subcommands: {
      ls: NPM_ASK,
      verify: { kind: 'write', options: NPM },
      clean: { kind: 'delete', options: `--force -f ${NPM}`, operands: 'word*' },
      add: { kind: 'net', options: NPM, operands: 'package*' },
    },
  },
  link: { kind: 'config', options: NPM, operands: 'config*' },
  unlink: NPM_CONFIG,
  exec: NPM_EXEC,
  x: NPM_EXEC,
  init: { kind: 'exec', options: `-y,--yes ${NPM}`, operands: 'exec*' },
  create: { kind: 'exec', options: NPM, operands: 'exec*' },
  publish: NPM_NET,
  unpublish: NPM_NET,
  deprecate: NPM_NET,
  'dist-tag': NPM_NET,
  owner: NPM_NET,
  access: NPM_NET,
  team: NPM_NET,
  org: NPM_NET,
  token: NPM_CONFIG,
  login: NPM_CONFIG,
  logout: NPM_CONFIG,
  adduser: NPM_CONFIG,
  profile: NPM_CONFIG,
  completion: NPM_ASK,
  shrinkwrap: { kind: 'write', options: NPM },
};

/** A script is code, whatever its path is. */
const SCRIPT_RUNNER = `-e,--eval:exec -p,--print:exec -r,--require:exec --import:exec --loader:exec
  --experimental-loader:exec -i,--interactive!exec -c,--check -v,--version -h,--help --no-warnings
  --trace-warnings --trace-deprecation --trace-uncaught --enable-source-maps --stack-trace-limit:int
  --max-old-space-size:int --expose-gc --preserve-symlinks --input-type:word --watch
  --test --test-only --test-name-pattern:word --test-reporter:format --test-timeout:int
  --test-concurrency:int --experimental-strip-types --experimental-test-coverage
  --env-file:exec --inspect?word!net --inspect-brk?word!net --cpu-prof!write --heap-prof!write
  --v8-options --unhandled-rejections:word --throw-deprecation --no-deprecation
  --run:script -C,--conditions:word --icu-data-dir:exec --openssl-config:exec --snapshot-blob:exec
  --build-snapshot!exec --redirect-warnings:write --report-dir:write --diagnostic-dir:write`;

export const NODE: Readonly<Record<string, Profile>> = {
  ...NODE_TOOLS,
  node: {
    kind: 'exec',
    style: 'first',
    options: SCRIPT_RUNNER,
    operands: 'exec word*',
    operandsWith: { '--check': 'path', '--test': 'path*' },
  },
  tsx: { kind: 'exec', style: 'first', options: SCRIPT_RUNNER, operands: 'exec word*' },
  'ts-node': {
    kind: 'exec',
    style: 'first',
    options: `-C,--compiler:exec -P,--project:exec -O,--compilerOptions:exec ${SCRIPT_RUNNER}`,
    operands: 'exec word*',
  },
  npm: {
    kind: 'read',
    style: 'gnu',
    options: NPM,
    subcommands: NPM_COMMANDS,
    deeds: {
      'published 3': 'publish; unpublish; deprecate; dist-tag add; dist-tag rm; owner add',
      'secret 2': 'token create; config get *_authToken',
    },
  },
  npx: NPX,
  bunx: NPX,
  pnpx: NPX,
  ...MANAGERS,
  deno: {
    kind: 'exec',
    bare: 'read',
    style: 'exact',
    options: '-V,--version -h,--help -q,--quiet -L,--log-level:word',
    deeds: { 'published 3': 'publish', 'published 2': 'deploy' },
    subcommands: {
      fmt: { kind: 'write', style: 'exact', options: '--check --ext:word', operands: 'path*' },
      lint: { kind: 'read', style: 'exact', options: '--json --fix!write', operands: 'path*' },
      check: { kind: 'read', style: 'exact', options: '--all --remote!net', operands: 'path*' },
      info: { kind: 'read', style: 'exact', options: '--json', operands: 'path*' },
      doc: { kind: 'read', style: 'exact', options: '--json --html!write', operands: 'path*' },
      test: {
        kind: 'exec',
        style: 'exact',
        options: '--filter:word --fail-fast --no-check --quiet --coverage?output --watch',
        operands: 'path*',
      },
      task: { kind: 'exec', options: '-q,--quiet', operands: 'script passed*' },
      run: { kind: 'exec', style: 'none', operands: 'exec*' },
      eval: { kind: 'exec', style: 'none', operands: 'exec*' },
      install: { kind: 'exec', style: 'none', operands: 'exec*' },
      compile: { kind: 'exec', style: 'none', operands: 'exec*' },
    },
  },
  corepack: {
    kind: 'config',
    options: '-v,--version -h,--help',
    subcommands: {
      enable: { kind: 'config', operands: 'word*' },
      disable: { kind: 'config', operands: 'word*' },
      prepare: { kind: 'net', options: '--activate', operands: 'package*' },
      use: { kind: 'net', operands: 'package' },
      up: { kind: 'net' },
      install: { kind: 'net' },
    },
  },
};
