// What is known of tools that come as node packages: compilers, linters, test runners, bundlers.
// A configuration file, a plugin or a reporter that is named on the line is code.

import type { Profile } from '../profile.ts';
import { EXEC, NET } from './common.ts';
import { TASK_RUNNERS } from './data-node-tasks.ts';

const HELP = '-h,--help -v,--version --no-color --color';

const TSC: Profile = {
  kind: 'write',
  style: 'go', // one dash or two, no clusters
  options: `--noEmit -p,--project:path -b,--build -w,--watch --init!write --pretty?word --strict
    -t,--target:word -m,--module:word --moduleResolution:word --lib:word --jsx:word --skipLibCheck
    --esModuleInterop --allowJs --checkJs --resolveJsonModule --isolatedModules --incremental
    --composite -d,--declaration --declarationMap --emitDeclarationOnly --sourceMap
    --inlineSourceMap --removeComments --noEmitOnError --outDir:output --outFile:output
    --declarationDir:output --tsBuildInfoFile:output --rootDir:path --baseUrl:path
    --generateTrace:output --generateCpuProfile:output --listFiles --listFilesOnly
    --listEmittedFiles --showConfig --traceResolution --explainFiles --diagnostics
    --extendedDiagnostics --noUnusedLocals --noUnusedParameters --noImplicitAny --strictNullChecks
    --types:word --typeRoots:path --forceConsistentCasingInFileNames --allowSyntheticDefaultImports
    --noFallthroughCasesInSwitch --noImplicitReturns --useDefineForClassFields --downlevelIteration
    --experimentalDecorators --preserveWatchOutput --force --clean!delete --verbose --dry
    --exactOptionalPropertyTypes --noUncheckedIndexedAccess --verbatimModuleSyntax --locale:word
    --allowImportingTsExtensions --all ${HELP}`,
  operands: 'source*',
};

const ESLINT: Profile = {
  kind: 'read',
  style: 'exact',
  options: `-c,--config:exec --no-config-lookup --no-eslintrc --inspect-config!net --env:word
    --ext:word --global:word --parser:exec --parser-options:word --resolve-plugins-relative-to:exec
    --plugin:exec --rule:word --rulesdir:exec --fix!write --no-fix --fix-dry-run --fix-type:word
    --ignore-path:path --no-ignore --ignore-pattern:word --stdin --stdin-filename:path --quiet
    --max-warnings:int -o,--output-file:write -f,--format:format --no-inline-config
    --report-unused-disable-directives --report-unused-disable-directives-severity:word --cache
    --cache-file:write --cache-location:write --cache-strategy:word --init!write --env-info
    --no-error-on-unmatched-pattern --exit-on-fatal-error --no-warn-ignored --pass-on-no-patterns
    --debug --print-config:path --stats --flag:word --concurrency:word ${HELP}`,
  operands: 'path*',
};

const PRETTIER: Profile = {
  kind: 'read',
  style: 'exact',
  options: `-c,--check -w,--write!write -l,--list-different --no-config --config:exec
    --config-precedence:word --no-editorconfig --find-config-path:path --ignore-path:path
    --plugin:exec --with-node-modules --no-error-on-unmatched-pattern --cache --cache-location:write
    --cache-strategy:word --ignore-unknown -u --insert-pragma --log-level:word --loglevel:word
    --require-pragma --stdin-filepath:path --support-info --file-info:path --parser:format
    --print-width:int --tab-width:int --use-tabs --no-semi --semi --single-quote
    --jsx-single-quote --quote-props:word --trailing-comma:word --no-bracket-spacing
    --bracket-same-line --arrow-parens:word --prose-wrap:word --html-whitespace-sensitivity:word
    --end-of-line:word --embedded-language-formatting:word ${HELP}`,
  operands: 'path*',
};

const VITEST_OPTIONS = `-c,--config:exec -r,--root:exec --dir:path -u,--update!write -w,--watch
  --no-watch --run -t,--testNamePattern:word --silent?word --hideSkippedTests --reporter:format
  --outputFile:write --coverage --coverage.enabled --coverage.provider:format
  --coverage.reporter:format --coverage.include:word --no-coverage --mode:word --isolate
  --no-isolate --globals --dom --pool:format --bail:int --retry:int --passWithNoTests --allowOnly
  --project:word --changed?rev --shard:word --sequence.shuffle --sequence.seed:int --testTimeout:int
  --hookTimeout:int --no-file-parallelism --fileParallelism --maxWorkers:word --minWorkers:word
  --related --logHeapUsage --no-threads --threads --typecheck --typecheck.only --exclude:word
  --environment:format --slowTestThreshold:int --disable-console-intercept --expandSnapshotDiff
  --api?word!net --ui!net --open!net --browser?word!exec --inspect?word!net --inspectBrk?word!net
  --globalSetup:exec --setupFiles:exec --includeTaskLocation --json ${HELP}`;
/** `vitest run` is what `vitest` does, once. */
const VITEST_RUN: Profile = {
  kind: 'exec',
  alike: true,
  style: 'exact',
  options: VITEST_OPTIONS,
  operands: 'path*',
};

const JEST: Profile = {
  kind: 'exec',
  style: 'exact',
  options: `--all --bail?int -b --cache --no-cache --changedFilesWithAncestor --changedSince:rev
    --ci --clearCache!delete --clearMocks --collectCoverage,--coverage --collectCoverageFrom:word
    --colors -c,--config:exec --coverageDirectory:output --coverageProvider:word
    --coverageReporters:format --debug --detectOpenHandles -e,--expand --env:exec
    --errorOnDeprecated --filter:exec --findRelatedTests --forceExit --globalSetup:exec
    --globalTeardown:exec --globals:word --haste:exec --injectGlobals --json --lastCommit
    --listTests --logHeapUsage --maxConcurrency:int -w,--maxWorkers:word --moduleDirectories:exec
    --moduleNameMapper:exec --noStackTrace --notify -o,--onlyChanged -f,--onlyFailures
    --openHandlesTimeout:int --outputFile:write --passWithNoTests --preset:exec --prettierPath:exec
    --projects:path --randomize --reporters:exec --resetMocks --resolver:exec --restoreMocks
    --rootDir:exec --roots:exec --runTestsByPath -i,--runInBand --runner:exec --seed:int
    --selectProjects:word --setupFiles:exec --setupFilesAfterEnv:exec --shard:word --showConfig
    --showSeed --silent --snapshotSerializers:exec --testEnvironment:exec --testLocationInResults
    --testMatch:word -t,--testNamePattern:word --testPathIgnorePatterns:word --testPathPattern:word
    --testPathPatterns:word --testRegex:word --testResultsProcessor:exec --testRunner:exec
    --testSequencer:exec --testTimeout:int --transform:exec -u,--updateSnapshot!write --useStderr
    --verbose --watch --watchAll --watchPlugins:exec --watchman --no-watchman ${HELP}`,
  operands: 'path*',
};

const MOCHA: Profile = {
  kind: 'exec',
  style: 'exact',
  options: `-r,--require:exec --config:exec --package:exec --file:exec --import:exec --loader:exec
    -R,--reporter:format -O,--reporter-option,--reporter-options:write -u,--ui:format
    -t,--timeout:word -s,--slow:word -g,--grep:word -f,--fgrep:word -i,--invert -b,--bail
    --recursive --exit --dry-run --retries:int -p,--parallel -j,--jobs:int --forbid-only
    --forbid-pending --full-trace --check-leaks --extension:word --ignore,--exclude:word --spec:path
    --sort -w,--watch --watch-files:word -c -C,--no-colors --diff --no-diff --inline-diffs
    --async-only -A -n,--node-option:exec ${HELP}`,
  operands: 'path*',
};

const PLAYWRIGHT_TEST: Profile = {
  kind: 'exec',
  style: 'exact',
  options: `-c,--config:exec --debug?word --fail-on-flaky-tests --forbid-only --fully-parallel
    --global-timeout:int -g,--grep:word --grep-invert:word --headed --ignore-snapshots
    -j,--workers:word --last-failed --list --max-failures:int -x --no-deps --output:delete
    --only-changed?rev --pass-with-no-tests --project:word --quiet --repeat-each:int
    --reporter:format --retries:int --shard:word --timeout:int --trace:word --tsconfig:exec --ui!net
    --ui-host:net --ui-port:net -u,--update-snapshots?word!write ${HELP}`,
  operands: 'path*',
};

const VITE = `-c,--config:exec --base:word -l,--logLevel:word --clearScreen --no-clearScreen
  -d,--debug?word -f,--filter:word -m,--mode:word --configLoader:format ${HELP}`;
const SERVE = `--host?net!net --port:int --open?net!exec --cors --strictPort --force`;

const BIOME = `--write!write --fix!write --apply!write --apply-unsafe!write --unsafe!write --staged
  --changed --since:rev --config-path:exec --max-diagnostics:word --diagnostic-level:word
  --error-on-warnings --no-errors-on-unmatched --skip-errors --colors:word --use-server --verbose
  --reporter:format --log-level:word --log-kind:word --files-ignore-unknown:word
  --formatter-enabled:word --linter-enabled:word --organize-imports-enabled:word --only:word
  --skip:word --stdin-file-path:path --files-max-size:int --vcs-enabled:word --indent-style:word
  --indent-width:int --line-width:int --quote-style:word ${HELP}`;
const BIOME_READ: Profile = { kind: 'read', style: 'exact', options: BIOME, operands: 'path*' };
const BIOME_PROFILE: Profile = {
  kind: 'read',
  style: 'exact',
  options: `--version --help --colors:word --verbose`,
  subcommands: {
    check: BIOME_READ,
    lint: BIOME_READ,
    format: BIOME_READ,
    ci: BIOME_READ,
    explain: { kind: 'read', operands: 'word' },
    rage: { kind: 'read' },
    version: { kind: 'read' },
    init: { kind: 'write' },
    migrate: { kind: 'write', options: BIOME },
  },
};

const ESBUILD: Profile = {
  kind: 'write',
  style: 'go',
  options: `--bundle --outfile:output --outdir:output --outbase:path --minify --sourcemap?word
    --platform:word --target:word --format:word --external?word --define?word --watch?word
    --splitting --metafile:write --tsconfig:path --log-level:word --jsx:word --packages:word
    --loader?word --analyze?word --serve?word!net --servedir:net --allow-overwrite!write --version
    --help --tree-shaking:word --charset:word --drop:word --keep-names --global-name:word
    --main-fields:word --conditions:word --legal-comments:word --color:word`,
  operands: 'path*',
};

/** Their configuration is code of the project; any other configuration is foreign code. */
const BUNDLER = `-c,--config:exec --mode:word -m -w,--watch --silent -o,--output-path:output
  --file:output --dir:output -d --format,-f:word --sourcemap?word --env?word --progress --json?write
  --stats?word --devtool:word --entry:path --target:word --bail --analyze --minify --clean!delete
  --dts --external:word --treeshake --no-config --name:word --input,-i:path --plugin,-p:exec
  --require,-r:exec --onSuccess:exec --node-env:word --tsconfig:path --out-dir:output ${HELP}`;
const bundler = (kind: Profile['kind']): Profile => ({
  kind,
  style: 'exact',
  options: BUNDLER,
  operands: 'path*',
});

const LINTER: Profile = {
  kind: 'read',
  style: 'exact',
  options: `--fix!write -f!write -c,--config:exec -r,--rules:exec --rulesdir:exec --plugin:exec
    --config-basedir:exec --custom-syntax:exec --custom-formatter:exec --formatter:format
    -i,--ignore:word --ignore-path:path -p -q,--quiet --silent --stdin -s -j,--json --dot -d
    --enable:word --disable:word -o,--output:write --output-file:write --max-warnings:int --cache
    --allow-empty-input --from:rev --to:rev --last -e,--edit?path -V,--verbose --strict
    -x,--extends:exec --parserPreset:exec --include:word --exclude:word --production
    --reporter:format --no-progress --dependencies --exports --files --directory:path
    --workspace:word --tsConfig:path --ignores:word --ignore-patterns:word --ignore-dirs:word
    --skip-missing --no-exit-code --max-issues:int --include-entry-exports --debug ${HELP}`,
  operands: 'path*',
};

const PRISMA_FILE = `--schema:path --config:exec ${HELP}`;

export const NODE_TOOLS: Readonly<Record<string, Profile>> = {
  tsc: TSC,
  'vue-tsc': TSC,
  eslint: ESLINT,
  prettier: PRETTIER,
  vitest: {
    kind: 'exec',
    style: 'exact',
    options: VITEST_OPTIONS,
    operands: 'path*',
    subcommands: {
      run: VITEST_RUN,
      watch: VITEST_RUN,
      dev: VITEST_RUN,
      related: VITEST_RUN,
      list: { ...VITEST_RUN, options: `--json?write ${VITEST_OPTIONS}` },
      bench: VITEST_RUN,
      init: { kind: 'write', operands: 'write*' },
    },
  },
  jest: JEST,
  mocha: MOCHA,
  ava: { ...MOCHA, options: `--match:word -m:word --serial -s --verbose --tap ${HELP}` },
  tap: { ...MOCHA, options: `--bail -b --grep:word --timeout:int --reporter,-R:format ${HELP}` },
  playwright: {
    kind: 'exec',
    style: 'exact',
    options: '-V,--version -h,--help',
    subcommands: {
      test: PLAYWRIGHT_TEST,
      install: { kind: 'net', options: '--dry-run --list', operands: 'word*' },
      'show-report': { kind: 'net', operands: 'path?' },
      'merge-reports': { kind: 'write', options: '--reporter:format', operands: 'path?' },
      codegen: NET,
      open: NET,
      screenshot: NET,
    },
  },
  vite: {
    kind: 'net',
    style: 'exact',
    options: `${SERVE} ${VITE}`,
    subcommands: {
      build: {
        kind: 'write',
        style: 'exact',
        options: `--target:word --outDir:fresh --assetsDir:word --ssr?path --sourcemap?word
          --minify?word --manifest?word --emptyOutDir!delete -w,--watch ${VITE}`,
        operands: 'path?',
      },
      dev: { kind: 'net', style: 'exact', options: `${SERVE} ${VITE}`, operands: 'path?' },
      serve: { kind: 'net', style: 'exact', options: `${SERVE} ${VITE}`, operands: 'path?' },
      preview: { kind: 'net', style: 'exact', options: `${SERVE} ${VITE}`, operands: 'path?' },
      optimize: { kind: 'write', style: 'exact', options: VITE, operands: 'path?' },
    },
  },
  next: {
    kind: 'net',
    style: 'exact',
    options: HELP,
    subcommands: {
      build: {
        kind: 'exec',
        style: 'exact',
        options: `-d,--debug --no-lint --profile --turbo --turbopack --no-mangling ${HELP}`,
        operands: 'path?',
      },
      lint: { ...ESLINT, options: `-d,--dir:path --strict ${ESLINT.options ?? ''}` },
      dev: { kind: 'net', options: '-p,--port:int --turbo --turbopack', operands: 'path?' },
      start: { kind: 'net', options: '-p,--port:int', operands: 'path?' },
      info: { kind: 'read' },
      telemetry: { kind: 'config', operands: 'config*' },
    },
  },
  webpack: {
    ...bundler('exec'),
    subcommands: {
      build: bundler('exec'),
      watch: bundler('exec'),
      serve: NET,
      // They load what they are told to, or fetch what makes new projects.
      ...Object.fromEntries(
        ['configtest', 't', 'init', 'create', 'new', 'c', 'n', 'loader', 'l', 'plugin', 'p'].map(
          (name) => [name, EXEC],
        ),
      ),
    },
  },
  rollup: bundler('exec'),
  tsup: bundler('exec'),
  esbuild: ESBUILD,
  biome: BIOME_PROFILE,
  '@biomejs/biome': BIOME_PROFILE,
  ...TASK_RUNNERS,
  stylelint: LINTER,
  markdownlint: LINTER,
  // A preset and a formatter are modules.
  commitlint: {
    ...LINTER,
    options: `-p,--parser-preset:exec -o,--format:exec ${LINTER.options ?? ''}`,
  },
  knip: LINTER,
  depcheck: LINTER,
  c8: {
    kind: 'exec',
    style: 'first',
    options: `-r,--reporter:format --reports-dir,-o:output --temp-directory:delete --all -a
      --include,-n:word --exclude,-x:word --check-coverage --lines:int --functions:int
      --branches:int --statements:int --per-file --silent -s --src:path --skip-full --clean
      -c,--config:exec ${HELP}`,
    operands: 'nodebin',
  },
  nyc: {
    kind: 'exec',
    style: 'first',
    options: `-r,--reporter:format --report-dir:output -t,--temp-dir:delete -a,--all
      -n,--include:word -x,--exclude:word --check-coverage --lines:int --functions:int
      --branches:int --statements:int -s,--silent --clean --require,-i:exec --nycrc-path:exec
      --cwd:exec ${HELP}`,
    operands: 'nodebin',
  },
  'cross-env': { kind: 'exec', style: 'none', operands: 'assignment* nodebin' },
  rimraf: { kind: 'delete', style: 'exact', options: `-g,--glob ${HELP}`, operands: 'delete*' },
  husky: { kind: 'config', style: 'none', operands: 'config*' },
  changeset: {
    kind: 'write',
    options: HELP,
    deeds: { 'published 3': 'publish' },
    subcommands: {
      add: { kind: 'write', options: '--empty --open!exec' },
      status: { kind: 'read', options: '--verbose --since:rev -o,--output:write' },
      version: { kind: 'write', options: '--ignore:word --snapshot?word' },
      tag: { kind: 'write' },
      publish: NET,
      init: { kind: 'write' },
    },
  },
  prisma: {
    kind: 'exec',
    options: HELP,
    deeds: {
      'deleted 3': 'migrate reset; db push --force-reset',
      'deleted 2': 'db push --accept-data-loss',
      'published 2': 'migrate deploy',
    },
    subcommands: {
      generate: { kind: 'exec', options: `--generator:word --watch ${PRISMA_FILE}` },
      validate: { kind: 'read', options: PRISMA_FILE },
      format: { kind: 'write', options: `--check ${PRISMA_FILE}` },
      version: { kind: 'read' },
      migrate: { kind: 'delete', operands: 'delete*', style: 'none' },
      db: { kind: 'delete', operands: 'delete*', style: 'none' },
      studio: NET,
      init: { kind: 'write' },
    },
  },
  'drizzle-kit': {
    kind: 'exec',
    options: HELP,
    subcommands: {
      generate: { kind: 'write', options: `--config:exec --name:word --custom` },
      check: { kind: 'read', options: '--config:exec' },
      push: { kind: 'delete', operands: 'delete*', style: 'none' },
      migrate: { kind: 'delete', operands: 'delete*', style: 'none' },
      drop: { kind: 'delete', operands: 'delete*', style: 'none' },
      studio: NET,
    },
  },
  concurrently: EXEC,
  'npm-run-all': { kind: 'exec', options: '-p,--parallel -s,--serial', operands: 'script*' },
  'run-s': { kind: 'exec', operands: 'script*' },
  'run-p': { kind: 'exec', operands: 'script*' },
  nodemon: EXEC,
  pm2: EXEC,
  serve: NET,
  'http-server': NET,
  storybook: {
    kind: 'net',
    options: HELP,
    subcommands: {
      build: { kind: 'write', options: '-o,--output-dir:fresh -c,--config-dir:exec --quiet' },
      dev: { kind: 'net', options: '-p,--port:int --ci --no-open' },
    },
  },
};
