// What `semantic` adds to what was seen: commands of the same effect. An effect class is a list of
// commands that do the same kind of thing; when enough of it was seen, the rest of it says nothing
// new about what the agent may do. Only what the profiles know well is listed, and nothing that
// shows secrets, changes another machine or runs what is not the project's own.

import { readCall } from '../profiles/index.ts';
import type { Arg } from '../unit.ts';
import type { Tally } from './tally.ts';

type EffectClass = {
  /** So many different members must have been seen. */
  readonly seenMin: number;
  /** `git add` is it with any arguments, `git checkout -b` with more behind, `=date` as it is. */
  readonly members: readonly string[];
};

export type Member = {
  readonly head: string;
  /** Words that stand behind the head. */
  readonly fixed: readonly string[];
  /** More may follow. */
  readonly open: boolean;
};

function each(before: string, words: string, behind = ''): readonly string[] {
  return words.split(/\s+/).map((word) => `${before}${word}${behind}`);
}

const NODE_CHECKS = 'tsc eslint prettier vitest jest mocha biome markdownlint stylelint';
const PYTHON_CHECKS = 'pytest mypy black isort flake8 pylint pyright';
const VERSIONED = 'node npm npx pnpm python python3 pip cargo rustc git docker uv ruff tsc';

const CLASSES: readonly EffectClass[] = [
  // Reads the files of the project, or says what there is.
  {
    seenMin: 2,
    members: [
      ...each('', 'ls cat head tail wc grep rg find sort uniq cut tr nl tree diff stat file du'),
      ...each(
        '',
        'basename dirname realpath jq sed cmp comm column tac rev fold paste echo printf',
      ),
      ...each('', '=pwd date which =whoami uname'),
      ...each('=', VERSIONED, ' --version'),
      ...['=go version', '=node -v', '=npm -v'],
    ],
  },
  // Builds and checks the project with its own tools. Whoever may run the tests of a project may
  // run its code: by which tool makes no difference.
  {
    seenMin: 3,
    members: [
      ...['npm test', 'npm run', ...each('pnpm ', 'test run'), 'npx vitest run', 'vitest run'],
      ...each('npx ', NODE_CHECKS),
      ...each('npx biome ', 'check lint format'),
      ...each('', NODE_CHECKS),
      ...each('', PYTHON_CHECKS),
      ...each('', 'python python3', ' -m pytest'),
      ...each('', 'python python3', ' -m mypy'),
      ...each('uv run ', PYTHON_CHECKS),
      ...['ruff check', 'ruff format', 'uv run ruff check', 'uv run ruff format'],
      ...each('cargo ', 'build check test clippy fmt doc tree'),
      ...each('go ', 'build test vet list fmt'),
      ...each('', 'gofmt golangci-lint yamllint shellcheck'),
      'golangci-lint run',
    ],
  },
  // Writes what the agent works on: files of the project, and its local repository.
  {
    seenMin: 2,
    members: [...['git add', 'git commit', 'git checkout -b', 'git switch -c', 'mkdir']],
  },
  // Fetches what the project declares, and nothing that is named on the way.
  {
    seenMin: 2,
    members: [
      ...each('=npm ', 'install ci'),
      ...['=pnpm install', '=yarn install', '=uv sync', '=poetry install', '=cargo fetch'],
      ...each('=go mod ', 'tidy download'),
    ],
  },
];

/** What programs have to say without changing anything. */
const READS: Readonly<Record<string, readonly string[]>> = {
  git: [
    ...each('', 'status log diff show blame grep ls-files ls-tree rev-parse rev-list describe'),
    ...each('', 'shortlog cat-file merge-base for-each-ref check-ignore name-rev count-objects'),
    ...['stash list', 'stash show', 'worktree list', 'submodule status', 'reflog show'],
    ...['=branch', '=branch --show-current', '=branch -a', '=branch -v', '=branch -vv'],
    ...['=remote', '=remote -v', '=tag', '=branch --list', '=tag --list'],
  ],
  npm: each('', 'ls list outdated explain why'),
  pnpm: each('', 'ls list why'),
  yarn: each('', 'list why'),
  pip: each('', 'list show freeze check'),
  uv: ['tree', 'pip list', 'pip show'],
  cargo: each('', 'tree metadata'),
  go: ['list', 'doc', 'mod graph', 'mod why', 'mod verify'],
  gh: [
    ...each('pr ', 'view list diff status checks'),
    ...[...each('issue ', 'view list status'), ...each('run ', 'list view'), 'repo view'],
  ],
  docker: [
    ...each('', 'ps images logs version info stats top port'),
    ...each('compose ', 'ps logs images ls top version'),
  ],
  kubectl: [
    ...each('get ', 'pods pod po nodes node deployments deployment deploy services service svc'),
    ...each(
      'get ',
      'namespaces ns ingress jobs cronjobs events statefulsets daemonsets hpa pvc pv',
    ),
    ...[
      'describe',
      'logs',
      'top pods',
      'top nodes',
      'rollout status',
      'rollout history',
      'version',
    ],
  ],
  terraform: ['=validate', '=fmt -check', '=plan', '=version', 'providers'],
  helm: each('', 'list template lint status version'),
};

const READS_SEEN_MIN = 2;

/** Members of the classes that were seen often enough. */
export function closureOf(tally: Tally, minFrequency: number): readonly Member[] {
  const enough = (members: readonly Member[], seenMin: number): boolean => {
    const counts = members.map((member) => countOf(member, tally)).filter((count) => count > 0);
    const total = counts.reduce((sum, count) => sum + count, 0);
    return counts.length >= seenMin && total >= minFrequency;
  };
  const closed = CLASSES.map(({ members, seenMin }) => ({
    members: members.flatMap(memberOf),
    seenMin,
  })).flatMap(({ members, seenMin }) => (enough(members, seenMin) ? members : []));
  const reads = readMembers();
  // Reading is one effect; of which programs, what was seen says.
  const used = new Set([...tally.heads.values()].map(({ head }) => head.words[0]));
  const open = enough([...reads.values()].flat(), READS_SEEN_MIN);
  const read = [...reads].filter(([program]) => open && used.has(program));
  return [...closed, ...read.flatMap(([, members]) => members)];
}

function readMembers(): ReadonlyMap<string, readonly Member[]> {
  return new Map(
    Object.entries(READS).map(([program, words]) => {
      const texts = words.map((word) =>
        word.startsWith('=') ? `=${program} ${word.slice(1)}` : `${program} ${word}`,
      );
      return [program, texts.flatMap(memberOf)];
    }),
  );
}

function countOf({ head, fixed, open }: Member, { heads }: Tally): number {
  let total = 0;
  for (const [{ tail }, { count }] of heads.get(head)?.shapes ?? []) {
    if (!open && tail.length !== fixed.length) continue;
    if (fixed.every((word, at) => tail[at] === word)) total += count;
  }
  return total;
}

/** None for what has no profile: `*` behind it would only ask. */
function memberOf(text: string): readonly Member[] {
  const open = !text.startsWith('=');
  const words = text.replace(/^=/, '').split(' ');
  const call = readCall(words.map(literal));
  if (call === undefined || call.parts.some(({ effect }) => effect !== undefined)) return [];
  const end = Math.max(0, call.inner ?? 0, ...call.subcommands) + 1;
  return [{ head: words.slice(0, end).join(' '), fixed: words.slice(end), open }];
}

function literal(value: string): Arg {
  return { kind: 'literal', value, source: value, span: undefined };
}
