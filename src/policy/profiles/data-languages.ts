// What is known of ruby, PHP, perl, lua, elixir and zig: a script is code, a package has a name.

import type { Deeds, Profile } from '../profile.ts';
import { CONFIG, EXEC, NET } from './common.ts';

const HELP = '-h,--help -v,--version';

/** Interpreters: a script is code; only what they say of themselves is not. */
const interpreter = (options: string): Profile => ({
  kind: 'exec',
  style: 'first',
  options,
  operands: 'exec word*',
});

const RSPEC = `-I:exec -r,--require:exec -O,--options:exec --order:word --seed:int -b,--backtrace
  --fail-fast?int --no-fail-fast --failure-exit-code:int --dry-run -f,--format:format -o,--out:write
  --force-color --no-color --color -p,--profile?int -w,--warnings -P,--pattern:paths
  --exclude-pattern:word -e,--example:word -E,--example-matches:word -t,--tag:word --only-failures
  -n,--next-failure --bisect?word --default-path:path ${HELP}`;

export const CODE_LINTER: Profile = {
  kind: 'read',
  options: `-a,--autocorrect!write -A,--autocorrect-all!write --fix!write -x!write
    --format,-f:format --only:word --except:word -D,--display-cop-names -l,--lint -P,--parallel
    --cache:word --cache-root:write --fail-level:word --fail-fast -c,--config:exec -r,--require:exec
    -o,--out:write --plugin:exec --auto-gen-config!write --init!write --stdin:path
    -L,--list-target-files --force-exclusion --server!exec -d,--debug -S,--display-style-guide -E -V
    ${HELP}`,
  operands: 'path*',
};

const BUNDLE: Profile = {
  kind: 'exec',
  options: `--verbose --no-color ${HELP}`,
  subcommands: {
    exec: { kind: 'exec', style: 'first', options: '--keep-file-descriptors', operands: 'program' },
    install: {
      kind: 'exec',
      options: `-j,--jobs:int --quiet --retry:int --local --frozen --deployment --without:word
        --with:word --path:write --gemfile:exec --prefer-local --redownload`,
    },
    update: { kind: 'exec', options: '-a,--all --conservative --patch', operands: 'package*' },
    add: { kind: 'exec', options: '-v,--version:word --group:word', operands: 'package*' },
    remove: { kind: 'write', operands: 'package*' },
    check: { kind: 'read', options: '--dry-run' },
    list: { kind: 'read', options: '--name-only --paths' },
    show: { kind: 'read', options: '--paths', operands: 'word?' },
    info: { kind: 'read', options: '--path', operands: 'word' },
    outdated: { kind: 'net', options: '--strict --parseable --groups', operands: 'word*' },
    lock: { kind: 'net', options: '--update?word --add-platform:word' },
    config: CONFIG,
    clean: { kind: 'delete', options: '--force --dry-run' },
    open: EXEC,
    console: EXEC,
  },
};

const COMPOSER = `-q,--quiet -v,-vv,-vvv,--verbose -n,--no-interaction --ansi --no-ansi --profile
  --no-plugins --no-scripts -d,--working-dir:exec --no-cache --dev --no-dev --prefer-dist
  --prefer-source -o,--optimize-autoloader --dry-run --no-progress -W,--with-all-dependencies
  --ignore-platform-reqs --ignore-platform-req:word -h,--help -V,--version`;
const composer = (kind: Profile['kind'], operands: string, more = ''): Profile => ({
  kind,
  options: `${more} ${COMPOSER}`,
  operands,
});
/** `vendor/name` is how its packages are called. */
const COMPOSER_PROFILE: Profile = {
  kind: 'read',
  options: COMPOSER,
  subcommands: {
    install: composer('exec', ''),
    update: composer('exec', 'word*', '--lock --with:word --no-install'),
    require: composer('exec', 'word*', '--no-update --fixed'),
    remove: composer('exec', 'word*', '--no-update'),
    show: composer('read', 'word*', '-i -t,--tree -l,--latest -o --outdated -D,--direct -f:word'),
    outdated: composer('net', 'word*', '-D,--direct -f:word'),
    validate: composer('read', 'path?', '--strict --no-check-all'),
    'dump-autoload': composer('write', '', '-a --classmap-authoritative'),
    run: composer('exec', 'script passed*', '-l,--list --timeout:int'),
    'run-script': composer('exec', 'script passed*', '-l,--list --timeout:int'),
    test: composer('exec', 'passed*'),
    audit: composer('net', '', '-f,--format:word --locked'),
    why: composer('read', 'word*'),
    diagnose: composer('net', ''),
    exec: EXEC,
    'create-project': EXEC,
    global: EXEC,
    config: CONFIG,
    'self-update': CONFIG,
  },
};

const MIX: Profile = {
  kind: 'exec',
  style: 'exact',
  options: HELP,
  subcommands: {
    test: {
      kind: 'exec',
      style: 'exact',
      options: `--only:word --exclude:word --include:word --failed --stale --trace --cover
        --seed:int --max-failures:int --slowest:int --color --no-color --warnings-as-errors
        --partitions:int`,
      operands: 'path*',
    },
    compile: { kind: 'exec', options: '--warnings-as-errors --force --all-warnings' },
    format: { kind: 'write', options: '--check-formatted --dry-run', operands: 'path*' },
    credo: { kind: 'read', options: '--strict', operands: 'path*' },
    dialyzer: { kind: 'exec', options: '--format:word' },
    'deps.get': { kind: 'net', options: '--only:word' },
    'deps.compile': { kind: 'exec', operands: 'word*' },
    deps: { kind: 'read' },
    help: { kind: 'read', operands: 'word?' },
    run: EXEC,
    cmd: EXEC,
    eval: EXEC,
  },
};

const ZIG_BUILD = `-Doptimize?word -Dtarget?word --summary:word -j?int --verbose -h,--help -D?exec`;

/** Both take one dash or two, and `@file` for more options. */
const CLANG_TOOLS: Readonly<Record<string, Profile>> = {
  'clang-format': {
    kind: 'read',
    style: 'go',
    options: `-i!write -style:format -fallback-style:format -n -dry-run -Werror -Wno-error:word
      -assume-filename:path -lines:word -offset:int -length:int -cursor:int -sort-includes
      -dump-config -output-replacements-xml -ferror-limit:int -verbose -version -help -h`,
    operands: 'source*',
  },
  // A configuration can have arguments for the compiler in it, and so plugins.
  'clang-tidy': {
    kind: 'read',
    style: 'go',
    options: `-checks:word -warnings-as-errors:word -header-filter:word -line-filter:word -p:path
      -quiet -list-checks -explain-config -dump-config -verify-config -use-color -system-headers
      -format-style:format -fix!write -fix-errors!write -fix-notes!write -export-fixes:write
      -load:exec -config:exec -config-file:exec -extra-arg:exec -extra-arg-before:exec
      -vfsoverlay:exec -store-check-profile:write -enable-check-profile -version -help -h`,
    operands: 'source*',
    behindDashes: 'exec',
  },
};

const DROPS_DATABASE: Deeds = {
  'deleted 3': '** db:drop*; ** db:reset*; ** db:migrate:reset; ** db:purge*; ** db:truncate_all',
};

export const LANGUAGES: Readonly<Record<string, Profile>> = {
  ...CLANG_TOOLS,
  rake: {
    kind: 'exec',
    deeds: { ...DROPS_DATABASE, 'published 3': 'release' },
    options: `-T,--tasks?word -P,--prereqs -n,--dry-run -q,--quiet -s,--silent -t,--trace?word
      -v,--verbose -V,--version -m,--multitask -j,--jobs?int -A,--all -D,--describe?word
      -W,--where?word -f,--rakefile:exec -r,--require:exec -e,--execute:exec -p,--execute-print:exec
      -E,--execute-continue:exec -I,--libdir:exec -R,--rakelibdir:exec -C,--directory:exec
      -g,--system!exec -h,--help`,
    operands: 'task*',
  },
  bundle: BUNDLE,
  gem: {
    kind: 'read',
    options: HELP,
    deeds: { 'published 3': 'push; yank', 'published 2': 'owner' },
    subcommands: {
      list: { kind: 'read', options: '-l,--local -d,--details -a,--all', operands: 'word*' },
      info: { kind: 'read', operands: 'word' },
      which: { kind: 'read', operands: 'word' },
      env: { kind: 'read', operands: 'word?' },
      search: { kind: 'net', operands: 'word' },
      install: { kind: 'exec', options: '-v,--version:word --no-document', operands: 'package*' },
      update: { kind: 'exec', operands: 'package*' },
      uninstall: { kind: 'delete', options: '-x -a -v:word', operands: 'package*' },
      push: NET,
      exec: EXEC,
      build: { kind: 'exec', operands: 'path' },
    },
  },
  rspec: { kind: 'exec', options: RSPEC, operands: 'path*' },
  rubocop: CODE_LINTER,
  standardrb: CODE_LINTER,
  ruby: interpreter('-v,--version --version -h,--help -e:exec -c -w -W?word -r:exec -I:exec'),
  irb: EXEC,
  rails: { ...EXEC, deeds: DROPS_DATABASE },
  php: {
    ...interpreter(
      '-v,--version -i,--info!secret -m,--modules --ini -h,--help -r:exec -l,--syntax-check:path',
    ),
    deeds: {
      'deleted 3': `artisan migrate:fresh; artisan migrate:refresh; artisan migrate:reset;
        artisan db:wipe`,
    },
  },
  perl: interpreter('-v -V -e:exec -E:exec -c -w -M:exec -m:exec -I:exec'),
  lua: interpreter('-v -e:exec -l:exec'),
  luac: { kind: 'write', options: '-p -l -s -v -o:output', operands: 'path*' },
  elixir: interpreter('-v,--version -h,--help -e,--eval:exec -r:exec'),
  iex: EXEC,
  Rscript: interpreter('--version --help -e:exec --vanilla'),
  composer: COMPOSER_PROFILE,
  phpunit: {
    kind: 'exec',
    style: 'exact',
    options: `--filter:word --testsuite:word --group:word --exclude-group:word --stop-on-failure
      --stop-on-error --colors?word --testdox --no-coverage --list-tests --verbose -v --debug
      --order-by:word --no-progress --bootstrap:exec -c,--configuration:exec --no-configuration
      --coverage-text?write --coverage-html:write --coverage-clover:write --log-junit:write
      --include-path:exec -d:exec --extension:exec --version -h,--help`,
    operands: 'path*',
  },
  phpstan: {
    kind: 'read',
    options: HELP,
    subcommands: {
      analyse: {
        kind: 'exec',
        options: `-l,--level:word --no-progress --memory-limit:word --error-format:format --debug
          -c,--configuration:exec -a,--autoload-file:exec --generate-baseline?write --xdebug`,
        operands: 'path*',
      },
    },
  },
  mix: { ...MIX, deeds: { 'published 3': 'hex.publish', 'deleted 3': 'ecto.drop; ecto.reset' } },
  zig: {
    kind: 'exec',
    style: 'exact',
    subcommands: {
      build: { kind: 'exec', style: 'exact', options: ZIG_BUILD, operands: 'script*' },
      test: {
        kind: 'exec',
        style: 'exact',
        options: '--test-filter:word -O:word',
        operands: 'path',
      },
      fmt: { kind: 'write', style: 'exact', options: '--check --stdin', operands: 'path*' },
      version: { kind: 'read' },
      env: { kind: 'read' },
      run: EXEC,
    },
  },
};
