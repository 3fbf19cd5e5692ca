// What is known of python and its tools. `python -m pytest` is read as `pytest`; code on the line,
// scripts and modules that are not listed are code.

import type { Profile } from '../profile.ts';
import { EXEC } from './common.ts';
import { PYTHON_PACKAGES } from './data-python-packages.ts';

const HELP = '-h,--help --version';

const PYTHON_PROGRAM: Profile = {
  kind: 'exec',
  style: 'first',
  options: `-c:exec -m:module -i!exec -V,--version -VV -h,--help --help-all --help-env -u -B -b -bb
    -O -OO -q -s -S -E -I -P -v -d -W:format -X:format -x --check-hash-based-pycs:word`,
  operands: 'exec word*',
  deeds: { 'deleted 3': '*manage.py flush; *manage.py reset_db' },
};

const PYTEST: Profile = {
  kind: 'exec',
  options: `-k:word -m:word --markers -x,--exitfirst --fixtures,--funcargs --fixtures-per-test
    --pdb!exec --pdbcls:exec --trace!exec --capture:word -s --runxfail --lf,--last-failed
    --ff,--failed-first --nf,--new-first --cache-show?word --cache-clear
    --lfnf,--last-failed-no-failures:word --sw,--stepwise --sw-skip,--stepwise-skip --durations:int
    --durations-min:word -v,--verbose --no-header --no-summary --verbosity:int -q,--quiet -r:word
    --disable-warnings --disable-pytest-warnings -l,--showlocals --no-showlocals --tb:word
    --xfail-tb --show-capture:word --full-trace --color:word --code-highlight:word --pastebin:net
    --junit-xml,--junitxml:output --junit-prefix,--junitprefix:word -W,--pythonwarnings:filter
    --maxfail:int --strict-config --strict-markers --strict -c,--config-file:exec
    --continue-on-collection-errors --rootdir:exec --collect-only,--co --pyargs!exec --ignore:path
    --ignore-glob:word --deselect:word --confcutdir:exec --noconftest --keep-duplicates
    --collect-in-virtualenv --import-mode:word --doctest-modules --doctest-report:word
    --doctest-glob:word --doctest-ignore-import-errors --doctest-continue-on-failure
    --basetemp:delete -V,--version -h,--help -p:plugin --trace-config --debug?write!write
    -o,--override-ini:exec --assert:word --setup-only --setup-show --setup-plan --log-level:word
    --log-format:word --log-date-format:word --log-cli-level:word --log-cli-format:word
    --log-file:write --log-file-mode:word --log-file-level:word --log-auto-indent:word
    --log-disable:word -n,--numprocesses:word --dist:word --maxprocesses:int --cov?path
    --cov-report:report --cov-config:exec --no-cov --no-cov-on-fail --cov-append --cov-branch
    --cov-fail-under:int --cov-context:word --timeout:int --timeout-method:word --reruns:int
    --reruns-delay:int --asyncio-mode:word --benchmark-only --benchmark-skip --snapshot-update!write
    --ds:exec --dc:exec --reuse-db --create-db --nomigrations --randomly-seed:word --html:output
    --self-contained-html --json-report --json-report-file:output -f,--looponfail --tx:exec
    --rsyncdir:exec --pspec --headed --browser:word --no-migrations`,
  operands: 'testid*',
};

const UNITTEST: Profile = {
  kind: 'exec',
  options: `-v,--verbose -q,--quiet --locals -f,--failfast -c,--catch -b,--buffer -k:word
    --durations:int -s,--start-directory:path -p,--pattern:word -t,--top-level-directory:path
    ${HELP}`,
  operands: 'path*',
};

const MYPY: Profile = {
  kind: 'read',
  options: `-v,--verbose -V,--version -h,--help --strict --no-strict-optional --strict-optional
    --config-file:exec --warn-unused-configs --no-namespace-packages --namespace-packages
    --ignore-missing-imports --follow-imports:word --explicit-package-bases --no-site-packages
    --python-executable:exec --python-version:word --platform:word --always-true:word
    --always-false:word --disallow-any-expr --disallow-untyped-calls --disallow-untyped-defs
    --disallow-incomplete-defs --check-untyped-defs --disallow-untyped-decorators
    --implicit-optional --no-implicit-optional --warn-redundant-casts --warn-unused-ignores
    --warn-no-return --warn-return-any --warn-unreachable --ignore-errors --allow-untyped-globals
    --allow-redefinition --implicit-reexport --no-implicit-reexport --strict-equality
    --disable-error-code:word --enable-error-code:word --show-error-context --show-column-numbers
    --show-error-end --hide-error-codes --show-error-codes --pretty --no-pretty
    --no-color-output --color-output --no-error-summary --error-summary --show-absolute-path
    --no-incremental --incremental --cache-dir:write --sqlite-cache --cache-fine-grained
    --skip-version-check --skip-cache-mtime-checks --pdb!exec --show-traceback --tb
    --raise-exceptions --custom-typing-module:word --custom-typeshed-dir:path --warn-incomplete-stub
    --shadow-file:path --any-exprs-report:write --cobertura-xml-report:write --html-report:write
    --linecount-report:write --linecoverage-report:write --lineprecision-report:write
    --txt-report:write --xml-report:write --xslt-html-report:write --xslt-txt-report:write
    --junit-xml:write --find-occurrences:word --scripts-are-modules --install-types!exec
    --non-interactive -O,--output:word -m,--module:word -p,--package:word -c,--command:exec
    --exclude:word --local-partial-types --no-silence-site-packages`,
  operands: 'source*',
};

const RUFF_OPTIONS = `--config:exec --isolated -v,--verbose -q,--quiet -s,--silent -n,--no-cache
  --cache-dir:write --color:word --respect-gitignore --no-respect-gitignore --force-exclude
  --no-force-exclude --exclude:word --extend-exclude:word --preview --no-preview
  --stdin-filename:path --target-version:word --line-length:int --extension:word ${HELP}`;
const RUFF_CHECK = `--fix!write --no-fix --unsafe-fixes!write --no-unsafe-fixes --show-fixes
  --no-show-fixes --diff -w,--watch --fix-only!write --no-fix-only --ignore-noqa
  --output-format:word -o,--output-file:write --select:word --ignore:word --extend-select:word
  --extend-ignore:word --per-file-ignores:word --extend-per-file-ignores:word --fixable:word
  --unfixable:word --extend-fixable:word --statistics --add-noqa?word!write --show-files
  --show-settings -e,--exit-zero --exit-non-zero-on-fix --show-source ${RUFF_OPTIONS}`;
const RUFF: Profile = {
  kind: 'read',
  style: 'exact',
  options: RUFF_OPTIONS,
  subcommands: {
    check: { kind: 'read', style: 'exact', options: RUFF_CHECK, operands: 'path*' },
    format: {
      kind: 'write',
      style: 'exact',
      options: `--check --diff --range:word --output-format:word ${RUFF_OPTIONS}`,
      operands: 'path*',
    },
    rule: { kind: 'read', options: '--all --output-format:word', operands: 'word?' },
    config: { kind: 'read', options: '--output-format:word', operands: 'word?' },
    linter: { kind: 'read', options: '--output-format:word' },
    clean: { kind: 'delete', options: RUFF_OPTIONS },
    version: { kind: 'read', options: '--output-format:word' },
    server: EXEC,
    analyze: { kind: 'read', subcommands: { graph: { kind: 'read', operands: 'path*' } } },
  },
};

const BLACK: Profile = {
  kind: 'write',
  options: `-c,--code:word -l,--line-length:int -t,--target-version:word --pyi --ipynb --preview
    --unstable --enable-unstable-feature:word -S,--skip-string-normalization
    -C,--skip-magic-trailing-comma --check --diff --color --no-color --line-ranges:word --fast
    --safe --required-version:word --include:word --exclude:word --extend-exclude:word
    --force-exclude:word --stdin-filename:path -W,--workers:int -q,--quiet -v,--verbose
    --config:exec --python-cell-magics:word --no-cache ${HELP}`,
  operands: 'path*',
};

const ISORT: Profile = {
  kind: 'write',
  options: `-c,--check-only,--check -d,--diff --df -q,--quiet -v,--verbose -V --profile:word
    -l,--line-length:int --settings-path,--sp,--settings-file:exec --config-root:exec
    --src:path --skip:word --skip-glob:word --sg:word --filter-files --gitignore --stdout --atomic
    --force-sort-within-sections --jobs,-j:int --show-config --show-files --only-modified --om
    --float-to-top --combine-as --multi-line:word -m:word --color ${HELP}`,
  operands: 'path*',
};

const FLAKE8: Profile = {
  kind: 'read',
  options: `-v,--verbose -q,--quiet --count --color:word --exclude:word --extend-exclude:word
    --filename:word --stdin-display-name:word --format:word --hang-closing --ignore:word
    --extend-ignore:word --per-file-ignores:word --max-line-length:int --max-doc-length:int
    --indent-size:int --select:word --extend-select:word --disable-noqa --show-source
    --no-show-source --statistics --exit-zero -j,--jobs:word --max-complexity:int --benchmark
    --output-file:write --tee --append-config:exec --config:exec --isolated --enable-extensions:exec
    --require-plugins:word --bug-report --doctests --builtins:word ${HELP}`,
  operands: 'path*',
};

const PYLINT: Profile = {
  kind: 'read',
  options: `--rcfile:exec --load-plugins:exec --init-hook:exec --output-format,-f:format
    --output:write -E,--errors-only --disable,-d:word --enable,-e:word -j,--jobs:int --score:word
    -s:word --reports,-r:word --msg-template:word --max-line-length:int --recursive:word
    --ignore:word --ignore-patterns:word --ignore-paths:word --fail-under:word --fail-on:word
    --exit-zero --list-msgs --list-msgs-enabled --help-msg:word -v,--verbose --good-names:word
    --py-version:word --persistent:word --clear-cache-post-run:word --from-stdin ${HELP}`,
  operands: 'path*',
};

const PYRIGHT: Profile = {
  kind: 'read',
  style: 'exact',
  options: `--createstub:write --dependencies --ignoreexternal --level:word --outputjson
    -p,--project:path --pythonplatform:word --pythonpath:exec --pythonversion:word --skipunannotated
    --stats -t,--typeshedpath:path --threads?int -v,--venvpath:exec --verbose --verifytypes:word
    --warnings -w,--watch ${HELP}`,
  operands: 'path*',
};

const COVERAGE: Profile = {
  kind: 'exec',
  options: HELP,
  subcommands: {
    // What it runs is a script or a module.
    run: {
      kind: 'exec',
      style: 'first',
      options: `-a,--append --branch --concurrency:word --context:word --data-file:output
        --include:word --omit:word -p,--parallel-mode -L,--pylib --source:word --timid
        -m:module --rcfile:exec`,
      operands: 'exec*',
    },
    report: {
      kind: 'read',
      options: `-m,--show-missing --skip-covered --skip-empty --include:word --omit:word --sort:word
        --fail-under:word --format:word --precision:int -i --contexts:word --data-file:path
        --rcfile:exec -q,--quiet`,
      operands: 'path*',
    },
    html: { kind: 'write', options: '-d,--directory:output --skip-covered --rcfile:exec -q' },
    xml: { kind: 'write', options: '-o:output --rcfile:exec -q' },
    json: { kind: 'write', options: '-o:output --pretty-print --rcfile:exec -q' },
    lcov: { kind: 'write', options: '-o:output --rcfile:exec -q' },
    combine: { kind: 'write', options: '-a,--append --keep -q', operands: 'path*' },
    annotate: { kind: 'write', options: '-d,--directory:output', operands: 'path*' },
    debug: { kind: 'read', operands: 'word' },
    erase: { kind: 'delete', options: '--rcfile:exec' },
  },
};

const VENV: Profile = {
  kind: 'write',
  options: `--system-site-packages --symlinks --copies --clear!delete --upgrade --without-pip
    --prompt:word --upgrade-deps --without-scm-ignore-files -p,--python:exec --no-download
    -q,--quiet -v,--verbose --seeder:word ${HELP}`,
  operands: 'output*',
};

const TOOLS: Readonly<Record<string, Profile>> = {
  pytest: PYTEST,
  'py.test': PYTEST,
  mypy: MYPY,
  dmypy: { kind: 'exec', operands: 'exec*', style: 'none' },
  ruff: RUFF,
  black: BLACK,
  isort: ISORT,
  flake8: FLAKE8,
  pylint: PYLINT,
  pyright: PYRIGHT,
  basedpyright: PYRIGHT,
  coverage: COVERAGE,
  virtualenv: VENV,
  ...PYTHON_PACKAGES,
};

/** What `python -m` is known to run, by the name of the module. */
export const PYTHON_MODULES: Readonly<Record<string, Profile>> = {
  ...Object.fromEntries(
    ['pytest', 'mypy', 'ruff', 'black', 'isort', 'flake8', 'pylint', 'coverage', 'pip', 'build']
      .concat(['virtualenv', 'tox', 'nox', 'pre_commit', 'twine', 'uv', 'poetry'])
      .flatMap((name) => {
        const profile = TOOLS[name.replace('_', '-')];
        return profile === undefined ? [] : [[name, profile] as const];
      }),
  ),
  unittest: UNITTEST,
  venv: VENV,
  'json.tool': {
    kind: 'read',
    options: '--sort-keys --no-ensure-ascii --json-lines --indent:int --tab --no-indent --compact',
    operands: 'path write?',
  },
  compileall: {
    kind: 'write',
    options: '-l -f -q -b -r:int -x:word -j,--workers:int -o:int --invalidation-mode:word -i:path',
    operands: 'output*',
  },
  py_compile: { kind: 'write', options: '-q,--quiet', operands: 'output*' },
  tabnanny: { kind: 'read', options: '-v -q', operands: 'path*' },
  tokenize: { kind: 'read', options: '-e,--exact', operands: 'path?' },
  ast: { kind: 'read', options: '-m,--mode:word -a -i:int --no-type-comments', operands: 'path?' },
  dis: { kind: 'read', options: '-C -O', operands: 'path?' },
  site: { kind: 'read', options: '--user-base --user-site' },
  sysconfig: { kind: 'read' },
  platform: { kind: 'read', operands: 'word*' },
  calendar: { kind: 'read', operands: 'word*' },
  this: { kind: 'read' },
  'http.server': { kind: 'net', style: 'none', operands: 'net*' },
  timeit: EXEC,
  pdb: EXEC,
  cProfile: EXEC,
  profile: EXEC,
  trace: EXEC,
  runpy: EXEC,
  code: EXEC,
  ensurepip: { kind: 'exec', options: '--upgrade -U --user --default-pip --root:exec -v' },
};

export const PYTHON: Readonly<Record<string, Profile>> = {
  ...Object.fromEntries(
    ['python', 'python2', 'python3', 'pypy', 'pypy3']
      .concat(['6', '7', '8', '9', '10', '11', '12', '13', '14'].map((minor) => `python3.${minor}`))
      .map((name) => [name, PYTHON_PROGRAM]),
  ),
  ipython: { ...PYTHON_PROGRAM, options: '-c:exec --version -h,--help' },
  ...TOOLS,
};
