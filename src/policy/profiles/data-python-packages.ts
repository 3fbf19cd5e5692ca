// What is known of the package managers and the rarer tools of python. A requirement that is a
// path, a url or comes from another index is foreign code.

import type { Deeds, Profile } from '../profile.ts';
import { CONFIG, EXEC, each, NET } from './common.ts';

const HELP = '-h,--help --version';

const PIP_OPTIONS = `--debug --isolated --require-virtualenv --python:exec -v,--verbose -V,--version
  -q,--quiet --log:write --no-input --keyring-provider:exec --proxy:net --retries:int --timeout:int
  --exists-action:word --trusted-host:net --cert:config --client-cert:config --cache-dir:write
  --no-cache-dir --disable-pip-version-check --no-color --no-python-version-warning
  --use-feature:word --use-deprecated:word -h,--help`;
const PIP_INDEX = `-i,--index-url,--pypi-url:exec --extra-index-url:exec --no-index
  -f,--find-links:exec`;
const PIP_INSTALL: Profile = {
  kind: 'exec',
  options: `-r,--requirement:path -c,--constraint:path --no-deps --pre -e,--editable:package
    --dry-run -t,--target:write --platform:word --python-version:word --implementation:word
    --abi:word --user --root:write --prefix:write --src:write -U,--upgrade --upgrade-strategy:word
    --force-reinstall -I,--ignore-installed --ignore-requires-python --no-build-isolation
    --use-pep517 --check-build-dependencies --break-system-packages!config -C,--config-settings:exec
    --global-option:exec --install-option:exec --compile --no-compile --no-warn-script-location
    --no-warn-conflicts --no-binary:word --only-binary:word --prefer-binary --require-hashes
    --progress-bar:word --root-user-action:word --report:write --no-clean --group:format
    ${PIP_INDEX} ${PIP_OPTIONS}`,
  operands: 'package*',
};
const PIP: Profile = {
  kind: 'read',
  options: PIP_OPTIONS,
  subcommands: {
    install: PIP_INSTALL,
    download: { ...PIP_INSTALL, options: `-d,--dest:output ${PIP_INSTALL.options ?? ''}` },
    wheel: { ...PIP_INSTALL, options: `-w,--wheel-dir:output ${PIP_INSTALL.options ?? ''}` },
    uninstall: {
      kind: 'delete',
      options: `-r,--requirement:path -y,--yes --break-system-packages ${PIP_OPTIONS}`,
      operands: 'package*',
    },
    list: {
      kind: 'read',
      options: `-o,--outdated -u,--uptodate -e,--editable -l,--local --user --path:path --pre
        --format:word --not-required --exclude-editable --include-editable --exclude:word
        ${PIP_INDEX} ${PIP_OPTIONS}`,
    },
    show: { kind: 'read', options: `-f,--files ${PIP_OPTIONS}`, operands: 'word*' },
    freeze: {
      kind: 'read',
      options: `-r,--requirement:path -l,--local --user --path:path --all --exclude-editable
        --exclude:word ${PIP_OPTIONS}`,
    },
    check: { kind: 'read', options: PIP_OPTIONS },
    inspect: { kind: 'read', options: `--local --user ${PIP_OPTIONS}` },
    hash: { kind: 'read', options: `-a,--algorithm:word ${PIP_OPTIONS}`, operands: 'path*' },
    debug: { kind: 'read', options: PIP_OPTIONS },
    help: { kind: 'read', operands: 'word?' },
    index: {
      kind: 'net',
      options: PIP_OPTIONS,
      subcommands: {
        versions: {
          kind: 'net',
          options: `--pre ${PIP_INDEX} ${PIP_OPTIONS}`,
          operands: 'package',
        },
      },
    },
    cache: {
      kind: 'read',
      options: PIP_OPTIONS,
      subcommands: {
        dir: { kind: 'read' },
        info: { kind: 'read' },
        list: { kind: 'read', options: '--format:word', operands: 'word?' },
        remove: { kind: 'delete', operands: 'word' },
        purge: { kind: 'delete' },
      },
    },
    config: {
      kind: 'config',
      options: PIP_OPTIONS,
      subcommands: {
        list: { kind: 'read' },
        debug: { kind: 'read' },
        get: { kind: 'read', operands: 'word' },
        set: CONFIG,
        unset: CONFIG,
        edit: EXEC,
      },
    },
  },
};

const UV = `-n,--no-cache --cache-dir:write -p,--python:exec --managed-python --no-managed-python
  --no-python-downloads --offline -q,--quiet -v,--verbose --color:word --native-tls --no-progress
  --no-config --config-file:exec --directory:exec --project:exec --allow-insecure-host:net
  -h,--help -V,--version --default-index:exec --index:exec -i,--index-url:exec
  --extra-index-url:exec -f,--find-links:exec --no-index --frozen --locked --isolated --active
  --all-extras --extra:word --no-extra:word --no-dev --dev --only-dev --group:word --no-group:word
  --only-group:word --all-groups --no-default-groups --no-sync --no-editable --exact -U,--upgrade
  -P,--upgrade-package:package --reinstall --reinstall-package:package --resolution:word
  --prerelease:word --exclude-newer:word --no-build --no-build-package:word --no-binary
  --no-binary-package:word --link-mode:word --all-packages --package:word --no-project --dry-run
  --no-install-project --no-install-workspace --compile-bytecode --inexact --no-env-file
  --env-file:exec --index-strategy:word --keyring-provider:exec --config-setting:exec
  --no-build-isolation --refresh --check --system!config --break-system-packages!config`;
const uv = (kind: Profile['kind'], operands: string, more = ''): Profile => ({
  kind,
  style: 'exact',
  options: `${more} ${UV}`,
  operands,
});
const UV_PIP_INSTALL = uv(
  'exec',
  'package*',
  `-r,--requirement:path -e,--editable:package -c,--constraint:path --no-deps --user --pre --strict
    -t,--target:write --prefix:write --overrides:path --require-hashes`,
);
const UV_PROFILE: Profile = {
  kind: 'read',
  style: 'exact',
  options: UV,
  subcommands: {
    run: {
      kind: 'exec',
      style: 'first',
      options: `-m,--module:module -s,--script!exec --gui-script!exec --with:exec
        --with-editable:exec --with-requirements:exec -w:exec ${UV}`,
      operands: 'program',
    },
    sync: uv('exec', ''),
    lock: uv('exec', ''),
    add: uv(
      'exec',
      'package*',
      `-r,--requirements:path --optional:word --editable --raw --bounds:word
      --branch:word --tag:word --rev:word --script:path --raw-sources --workspace`,
    ),
    remove: uv('exec', 'package*', '--optional:word --script:path'),
    venv: uv('write', 'output?', '--seed --clear!delete --prompt:word --system-site-packages'),
    init: uv('write', 'output?', '--name:word --lib --app --bare --no-readme --no-workspace'),
    tree: uv('read', '', '-d,--depth:int --prune:word --invert --no-dedupe --outdated'),
    export: uv('read', '', '--format:word -o,--output-file:write --no-hashes --no-header'),
    version: uv('read', '', '--short --output-format:word'),
    build: uv('exec', 'path?', '-o,--out-dir:output --sdist --wheel --no-build-logs'),
    publish: NET,
    python: {
      kind: 'net',
      style: 'exact',
      options: UV,
      subcommands: {
        // One by its path is started, to find out about it.
        list: uv('read', 'triple?', '--only-installed --all-versions'),
        find: uv('read', 'triple?'),
        dir: uv('read', ''),
        install: uv('net', 'triple*'),
        uninstall: uv('delete', 'word*'),
        pin: uv('write', 'triple?'),
      },
    },
    tool: {
      kind: 'exec',
      style: 'exact',
      options: UV,
      subcommands: {
        list: uv('read', ''),
        dir: uv('read', ''),
        run: { ...EXEC, options: UV },
        install: uv('exec', 'exec*'),
        uninstall: uv('delete', 'word*'),
        upgrade: uv('exec', 'package*'),
      },
    },
    pip: {
      kind: 'exec',
      style: 'exact',
      options: UV,
      subcommands: {
        install: UV_PIP_INSTALL,
        sync: uv('exec', 'path*'),
        compile: uv('write', 'path*', '-o,--output-file:output --no-header --universal'),
        uninstall: uv('delete', 'package*', '-y,--yes'),
        list: uv('read', '', '--format:word --outdated -e,--editable --exclude:word'),
        show: uv('read', 'word*', '--files'),
        freeze: uv('read', ''),
        check: uv('read', ''),
        tree: uv('read', '', '-d,--depth:int --invert'),
      },
    },
    cache: {
      kind: 'delete',
      style: 'exact',
      options: UV,
      subcommands: { dir: uv('read', ''), clean: uv('delete', 'word*'), prune: uv('delete', '') },
    },
    self: CONFIG,
    auth: CONFIG,
  },
};

const POETRY = `-q,--quiet -v,-vv,-vvv,--verbose -n,--no-interaction --no-ansi --ansi --no-plugins
  --no-cache -P,--project:exec -C,--directory:exec -h,--help -V,--version`;
const poetry = (kind: Profile['kind'], operands: string, more = ''): Profile => ({
  kind,
  options: `${more} ${POETRY}`,
  operands,
});
const POETRY_PROFILE: Profile = {
  kind: 'read',
  options: POETRY,
  subcommands: {
    install: poetry(
      'exec',
      '',
      `--sync --no-root --no-directory --dry-run -E,--extras:word
      --all-extras --only:word --with:word --without:word --only-root --compile`,
    ),
    sync: poetry('exec', '', '--no-root --with:word --without:word'),
    update: poetry('exec', 'package*', '--dry-run --lock --with:word --without:word --sync'),
    lock: poetry('exec', '', '--no-update --regenerate --check'),
    add: poetry(
      'exec',
      'package*',
      `-G,--group:word -D,--dev -E,--extras:word --optional
      --python:word --platform:word --source:exec --allow-prereleases --dry-run --lock -e!exec`,
    ),
    remove: poetry('exec', 'package*', '-G,--group:word -D,--dev --dry-run --lock'),
    run: { kind: 'exec', style: 'first', options: POETRY, operands: 'program' },
    show: poetry(
      'read',
      'word*',
      `-t,--tree -l,--latest -o,--outdated -a,--all --with:word
      --without:word --only:word -T,--top-level --why --format:word`,
    ),
    check: poetry('read', '', '--lock --strict'),
    version: poetry('write', 'word?', '-s,--short --dry-run'),
    build: poetry('exec', '', '-f,--format:word -o,--output:output --clean!delete'),
    env: {
      kind: 'read',
      options: POETRY,
      subcommands: {
        info: poetry('read', '', '-p,--path -e,--executable'),
        list: poetry('read', '', '--full-path'),
        use: poetry('exec', 'exec'),
        remove: poetry('delete', 'word*', '--all'),
      },
    },
    export: poetry('read', '', '-f,--format:word -o,--output:write --without-hashes --with:word'),
    search: poetry('net', 'word*'),
    shell: EXEC,
    publish: NET,
    config: CONFIG,
    source: CONFIG,
    self: CONFIG,
  },
};

const TOX_OPTIONS = `-e:paths -q,--quiet -v,--verbose -r,--recreate -l,--listenvs
  -a,--listenvs-all -p,--parallel?word -o,--parallel-live --notest --skip-pkg-install -n
  -s,--session:word -k:word --list --list-sessions -R --no-install -c,--conf,--config:exec
  -x,--override:exec --workdir:write --root:exec --noxfile:exec --force-python:exec -P:exec
  --sitepackages --tags,-t:word --reuse-existing-virtualenvs --develop --result-json:write ${HELP}`;
const tests = (options: string): Profile => ({
  kind: 'exec',
  options: `${options} ${TOX_OPTIONS}`,
  operands: 'word*',
  behindDashes: 'word',
});
const TOX: Profile = {
  ...tests('-f:word'),
  // Its other commands run the tests, or say which there are.
  subcommands: each('exec e devenv d quickstart q', EXEC),
};
const CONDA: Profile = {
  kind: 'read',
  options: '-V,--version -h,--help',
  subcommands: {
    list: { kind: 'read', options: '-n,--name:word --json --export', operands: 'word?' },
    info: { kind: 'read', options: '-e,--envs --json -a,--all' },
    search: { kind: 'net', options: '--json', operands: 'package*' },
    env: { kind: 'exec', subcommands: { list: { kind: 'read', options: '--json' } } },
    install: { kind: 'exec', options: '-n,--name:word -y,--yes', operands: 'package*' },
    update: { kind: 'exec', options: '-n,--name:word -y,--yes --all', operands: 'package*' },
    create: { kind: 'exec', options: '-n,--name:word -y,--yes', operands: 'package*' },
    remove: { kind: 'delete', options: '-n,--name:word -y,--yes --all', operands: 'package*' },
    run: { kind: 'exec', style: 'first', options: '-n,--name:word', operands: 'program' },
    config: CONFIG,
    activate: CONFIG,
    init: CONFIG,
  },
};

const PUBLISHES: Deeds = { 'published 3': 'publish' };

export const PYTHON_PACKAGES: Readonly<Record<string, Profile>> = {
  pip: PIP,
  pip3: PIP,
  uv: { ...UV_PROFILE, deeds: PUBLISHES },
  uvx: EXEC,
  pipx: EXEC,
  poetry: { ...POETRY_PROFILE, deeds: PUBLISHES },
  pipenv: {
    kind: 'read',
    options: HELP,
    subcommands: {
      install: { kind: 'exec', options: '-d,--dev --deploy --system', operands: 'package*' },
      sync: { kind: 'exec', options: '-d,--dev' },
      lock: { kind: 'exec' },
      graph: { kind: 'read', options: '--json --json-tree --reverse' },
      run: { kind: 'exec', style: 'first', operands: 'program' },
      uninstall: { kind: 'delete', operands: 'package*' },
      shell: EXEC,
    },
  },
  tox: TOX,
  // To nox `-f` is the file with the sessions.
  nox: tests('-f:exec'),
  'pre-commit': {
    kind: 'exec',
    options: HELP,
    subcommands: {
      run: {
        kind: 'exec',
        options: `-a,--all-files --files -v,--verbose --show-diff-on-failure --hook-stage:word
          --from-ref:rev --to-ref:rev -c,--config:exec --color:word`,
        operands: 'path*',
      },
      'validate-config': { kind: 'read', operands: 'path*' },
      install: CONFIG,
      uninstall: CONFIG,
      autoupdate: { kind: 'net', options: '--freeze --repo:word --bleeding-edge' },
      clean: { kind: 'delete' },
    },
  },
  hatch: {
    kind: 'exec',
    deeds: PUBLISHES,
    options: HELP,
    subcommands: {
      test: { kind: 'exec', options: '-a,--all -c,--cover -p,--parallel', operands: 'testid*' },
      build: { kind: 'exec', options: '-t,--target:word -c,--clean', operands: 'output?' },
      fmt: { kind: 'write', options: '--check -l,--linter -f,--formatter', operands: 'passed*' },
      version: { kind: 'write', operands: 'word?' },
      env: { kind: 'read', subcommands: { show: { kind: 'read' }, find: { kind: 'read' } } },
      run: { kind: 'exec', style: 'first', operands: 'program' },
      publish: NET,
    },
  },
  build: {
    kind: 'exec',
    options: `-s,--sdist -w,--wheel -o,--outdir:output -x,--skip-dependency-check -n,--no-isolation
      -C,--config-setting:exec --installer:word -v,--verbose ${HELP}`,
    operands: 'path?',
  },
  conda: CONDA,
  mamba: CONDA,
  micromamba: CONDA,
  jupyter: EXEC,
  alembic: {
    kind: 'exec',
    options: '-c,--config:exec -n,--name:word -x:word --raiseerr --version -h,--help',
    deeds: { 'deleted 2': 'downgrade !--sql' },
    subcommands: {
      current: { kind: 'exec', options: '-v,--verbose' },
      history: { kind: 'exec', options: '-r:word -v,--verbose -i,--indicate-current' },
      heads: { kind: 'exec', options: '-v,--verbose' },
      check: { kind: 'exec' },
      revision: { kind: 'write', options: '-m,--message:word --autogenerate --head:word' },
      upgrade: { kind: 'delete', options: '--sql', operands: 'word' },
      downgrade: { kind: 'delete', options: '--sql', operands: 'word' },
    },
  },
  twine: {
    kind: 'net',
    deeds: { 'published 3': 'upload' },
    options: HELP,
    subcommands: { check: { kind: 'read', options: '--strict', operands: 'path*' }, upload: NET },
  },
  'sphinx-build': {
    kind: 'write',
    options: `-M:builder -b:word -a -E -j,--jobs:word -n -W --keep-going -q -Q -T -v -N -t:word
      -d:output -w:write -c:exec -D:exec -A:word -C ${HELP}`,
    operands: 'path output path*',
  },
  gunicorn: NET,
  uvicorn: NET,
  flask: EXEC,
  celery: EXEC,
  'django-admin': { ...EXEC, deeds: { 'deleted 3': 'flush; reset_db' } },
};
