// Commands that do the same kind of thing, for `semantic`. Each is written as a rule would be:
// `git add` is it with any inert arguments, `git checkout -b` with more behind, `=date` as it is.
// Only what the profiles know well is listed, and nothing that shows secrets, deletes, changes
// another machine or runs what is not the project's own.

export type EffectClass = {
  /** So many different members must have been seen. */
  readonly seenMin: number;
  readonly members: readonly string[];
  /** More members, each only if its program was seen. */
  readonly used?: readonly string[];
};

function each(before: string, words: string, behind = ''): readonly string[] {
  return words.split(/\s+/).map((word) => `${before}${word}${behind}`);
}

const NODE_CHECKS = 'tsc eslint prettier vitest jest mocha biome markdownlint stylelint';
const PYTHON_CHECKS = 'pytest mypy black isort flake8 pylint pyright';
const VERSIONED =
  'node npm npx pnpm yarn bun python python3 pip cargo rustc git docker uv ruff tsc';
function nodeChecks(run: string): readonly string[] {
  const biome = each(`${run}biome `, 'check lint format');
  return [...each(run, NODE_CHECKS), ...biome, `${run}vitest run`];
}

function pythonChecks(run: string): readonly string[] {
  return [...each(run, PYTHON_CHECKS), ...each(`${run}ruff `, 'check format')];
}

/** Names of scripts that build and check a project. */
const SCRIPTS = 'build lint typecheck format check';

const READING: EffectClass = {
  seenMin: 2,
  members: [
    ...each('', 'ls cat head tail wc grep egrep rg find fd sort uniq cut tr nl tree diff stat'),
    ...each('', 'file basename dirname realpath readlink jq yq sed awk cmp comm column tac rev'),
    'fold',
    ...each('', 'paste join echo printf seq du df xxd od hexdump strings md5sum sha1sum sha256sum'),
    ...each('', 'cksum base64 zcat zgrep nm objdump readelf size xmllint'),
    ...each('', '=pwd date which =whoami id uname free uptime nproc ps pgrep lsof ss netstat'),
    ...each('', 'python python3', ' -m json.tool'),
    ...each('=', VERSIONED, ' --version'),
    ...['=go version', '=node -v', '=npm -v', '=gcc --version', '=make --version'],
    ...['tar tf', 'tar tzf', 'tar -tf', 'tar -tzf', 'unzip -l'],
  ],
};

// Running a project's tests runs its code, whichever tool does it.
const CHECKING: EffectClass = {
  seenMin: 3,
  members: [
    ...['npm test', 'npm start', 'npm run', ...each('pnpm ', 'test run'), 'node --test'],
    ...[...nodeChecks('npx '), ...nodeChecks('')],
    ...[...pythonChecks('uv run '), ...pythonChecks('')],
    ...each('', 'python python3', ' -m pytest'),
    ...each('', 'python python3', ' -m mypy'),
    ...each('', 'python python3', ' -m unittest'),
    ...each('cargo ', 'build check test clippy fmt doc tree bench'),
    ...each('go ', 'build test vet list fmt'),
    ...each('', 'gofmt golangci-lint yamllint shellcheck'),
    ...['golangci-lint run', '=make', ...each('=make ', 'test check lint build')],
  ],
  used: [
    ...['npx playwright test', 'npx next lint', 'npx next build', 'npx vite build'],
    'npx turbo run',
    ...[...nodeChecks('pnpm exec '), ...pythonChecks('poetry run ')],
    ...each('pnpm -r ', 'test run'),
    ...each('pnpm --filter * ', 'test run'),
    ...['pnpm start', ...each('=pnpm ', SCRIPTS), ...each('=pnpm -r ', SCRIPTS)],
    ...['yarn test', 'yarn run', ...each('=yarn ', SCRIPTS), 'bun test', 'bun run'],
    ...['uv run python -m pytest', 'coverage run -m pytest', 'coverage report', 'tox', 'nox'],
    ...['cargo nextest run', 'staticcheck', 'hadolint', 'actionlint', 'rspec', 'bundle exec rspec'],
    ...['ctest', 'cmake --build', '=mvn test', '=mvn verify', 'gradle test', 'mix test'],
    ...[...each('dotnet ', 'build test'), ...each('swift ', 'build test')],
    ...each('deno ', 'test lint'),
  ],
};

/** The files of the project, and its local repository; none of it is lost. */
const WRITING: EffectClass = {
  seenMin: 2,
  members: [
    ...['git add', 'git commit', 'git checkout -b', 'git switch', 'git switch -c'],
    ...['mkdir', 'touch'],
    ...['git stash push', '=git stash', '=git stash pop', '=git stash apply'],
  ],
};

/** Fetches what the project declares, and nothing that is named on the way. */
const FETCHING: EffectClass = {
  seenMin: 2,
  members: [
    ...['=npm install', '=npm ci', '=npm ci --ignore-scripts', '=npm install --ignore-scripts'],
    ...['=pnpm install', '=yarn install', '=uv sync', '=poetry install', '=cargo fetch'],
    ...each('=go mod ', 'tidy download'),
  ],
  used: [
    ...['=pnpm install --frozen-lockfile', '=yarn', '=yarn install --frozen-lockfile'],
    ...['=bun install', '=uv sync --frozen', '=bundle install', '=composer install'],
    ...['=pip install -r requirements.txt', '=pip install -e .'],
    ...['=git fetch', '=git fetch origin', '=git fetch --all', '=git fetch --prune'],
    ...['=git fetch --all --prune', '=git pull', '=git pull --ff-only', '=git pull --rebase'],
    ...['=git submodule update --init', '=git submodule update --init --recursive'],
  ],
};

export const CLASSES: readonly EffectClass[] = [READING, CHECKING, WRITING, FETCHING];

/** They only look, but what they show may be a secret: not because others look, too. */
export const REVEALING: ReadonlySet<string> = new Set([
  ...['docker inspect', 'docker compose config', 'git config', 'git var', 'journalctl', 'dmesg'],
  ...['terraform show', 'terraform output', 'kubectl get', 'kubectl describe', 'npm config'],
  ...['redis-cli', 'gh api', 'gh auth', 'gh secret', 'aws', 'gcloud', 'az', 'vault', 'psql'],
]);

const KUBE_SHOWN =
  'pods pod po nodes node deployments deployment deploy services service svc namespaces ns ' +
  'ingress jobs job cronjobs events statefulsets daemonsets replicasets rs endpoints hpa pvc pv';

/** Subcommands that only read. */
export const READS: Readonly<Record<string, readonly string[]>> = {
  git: [
    ...each('', 'status log diff show blame grep ls-files ls-tree rev-parse rev-list describe'),
    ...each('', 'shortlog cat-file merge-base for-each-ref check-ignore name-rev count-objects'),
    ...each('', 'show-ref diff-tree range-diff cherry reflog'),
    ...['stash list', 'stash show', 'worktree list', 'submodule status', 'bisect log'],
    ...['=branch', '=branch --show-current', '=branch -a', '=branch -v', '=branch -vv'],
    ...['branch --list', 'tag --list', 'tag -l', '=tag', '=remote', '=remote -v', 'remote get-url'],
    ...each('=clean ', '-n -nd'),
  ],
  npm: [
    ...each('', 'ls list outdated explain why view info'),
    ...['=audit', '=audit --omit=dev', '=audit --production', 'pkg get', '=config get registry'],
    ...['=pack --dry-run'],
  ],
  pnpm: each('', 'ls list why outdated'),
  yarn: each('', 'list why'),
  pip: each('', 'list show freeze check'),
  uv: ['tree', ...each('pip ', 'list show freeze check')],
  poetry: each('', 'show check'),
  cargo: [...each('', 'tree metadata'), '=package --list'],
  rustup: ['show', 'component list', 'toolchain list', 'target list'],
  go: ['list', 'doc', 'env', 'mod graph', 'mod why', 'mod verify'],
  gh: [
    ...each('pr ', 'view list diff status checks'),
    ...[...each('issue ', 'view list status'), ...each('run ', 'list view watch'), 'repo view'],
    ...[...each('workflow ', 'list view'), ...each('release ', 'list view'), 'label list'],
  ],
  docker: [
    ...each('', 'ps images logs version info stats top port history'),
    ...each('compose ', 'ps logs images ls top version'),
    ...['system df', 'network ls', 'volume ls'],
  ],
  kubectl: [
    ...each('get ', KUBE_SHOWN),
    ...['describe', 'logs', 'top pods', 'top nodes', 'rollout status', 'rollout history'],
    ...['version', 'explain', 'api-resources', '=config current-context', 'config get-contexts'],
  ],
  terraform: [
    ...['=validate', '=fmt -check', '=fmt -check -recursive', '=plan', '=version', 'providers'],
    'state list',
  ],
  helm: each('', 'list template lint status version'),
  systemctl: each('', 'status list-units is-active'),
  xargs: each('', 'grep rg wc ls cat head tail file stat basename dirname'),
};
