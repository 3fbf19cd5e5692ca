// Rules as a policy: grouped by the family of their program, each group by descending frequency,
// ties by pattern.

import { type CommandRule, EMPTY_POLICY, type Policy, type PolicyGroup } from '../policy.ts';
import { compare } from './evidence.ts';
import type { NEEDS } from './surroundings.ts';

export type RuleDraft = {
  readonly pattern: string;
  readonly program: string;
  readonly frequency: number;
  readonly tests?: CommandRule['tests'];
};

export type Surroundings = Readonly<Record<(typeof NEEDS)[number], readonly string[]>>;

const NO_TESTS: CommandRule['tests'] = { match: [], not_match: [] };

export function policyOf(rules: readonly RuleDraft[], around: Surroundings): Policy {
  const { cwd, read, redirects, env, network } = around;
  const scopes = { ...EMPTY_POLICY.scopes, cwd, read };
  return { ...EMPTY_POLICY, policies: groupsOf(rules), scopes, redirects, env, network };
}

function groupsOf(rules: readonly RuleDraft[]): readonly PolicyGroup[] {
  const members = new Map<string, RuleDraft[]>(FAMILIES.map(({ name }) => [name, []]));
  for (const rule of rules) members.get((BY_PROGRAM.get(rule.program) ?? OTHER).name)?.push(rule);
  return FAMILIES.flatMap(({ name, description }) => {
    const own = members.get(name) ?? [];
    if (own.length === 0) return [];
    own.sort((a, b) => b.frequency - a.frequency || compare(a.pattern, b.pattern));
    return [{ name, description, commands: own.map(ruleOf) }];
  });
}

export function ruleOf({ pattern, frequency, tests = NO_TESTS }: RuleDraft): CommandRule {
  return {
    pattern,
    frequency,
    decision: 'allow',
    reason: undefined,
    paths: undefined,
    args: 'inert',
    stdin: undefined,
    tests,
  };
}

// Which programs belong together, and in which order the groups stand. The first names and
// descriptions are those of seed 000.

type Family = {
  readonly name: string;
  readonly description: string;
  readonly programs: readonly string[];
};

function family(name: string, description: string, programs: string): Family {
  return { name, description, programs: programs.split(/\s+/) };
}

const OTHER = family('other-commands', 'Other commands', '');

const FAMILIES: readonly Family[] = [
  family('git-operations', 'Git version control commands', 'git'),
  family('github-commands', 'GitHub and GitLab command line', 'gh glab hub'),
  family(
    'npm-commands',
    'Node.js package manager commands',
    'npm npx pnpm pnpx yarn bun bunx corepack',
  ),
  family(
    'node-commands',
    'Node.js programs, tests and linters',
    'node deno tsx ts-node tsc eslint prettier vitest jest mocha biome webpack vite rollup ' +
      'esbuild turbo nx playwright cypress markdownlint stylelint',
  ),
  family(
    'python-commands',
    'Python programs, tests and packages',
    'python python3 pip pip3 pipx uv uvx poetry pdm hatch pytest ruff mypy black isort flake8 ' +
      'pylint pyright tox nox coverage',
  ),
  family('rust-commands', 'Rust builds and tests', 'cargo rustc rustup rustfmt'),
  family('go-commands', 'Go builds and tests', 'go gofmt goimports golangci-lint staticcheck'),
  family(
    'build-commands',
    'Build tools',
    'make cmake ctest ninja meson bazel gradle ./gradlew mvn ./mvnw ant gcc g++ clang clang++ cc ' +
      'dotnet swift javac java ruby bundle rake rspec php composer mix elixir',
  ),
  family('docker-commands', 'Containers', 'docker docker-compose podman buildah'),
  family('kubernetes-commands', 'Kubernetes clusters', 'kubectl helm kustomize k9s minikube kind'),
  family(
    'infrastructure-commands',
    'Infrastructure and deployment',
    'terraform tofu terragrunt ansible ansible-playbook aws gcloud az pulumi yamllint',
  ),
  family(
    'file-operations',
    'File viewing and listing',
    'ls cat head tail less more wc tree stat file du df readlink realpath basename dirname nl ' +
      'bat exa eza xxd hexdump od strings',
  ),
  family(
    'search-commands',
    'Searching files and text',
    'grep egrep fgrep rg find fd ag ack locate',
  ),
  family(
    'text-processing',
    'Text processing',
    'sed awk gawk sort uniq cut tr jq yq diff cmp comm column paste join fold tac rev shuf seq ' +
      'md5sum sha256sum sha1sum base64 xargs tee',
  ),
  family(
    'file-changes',
    'Creating, changing and removing files',
    'mkdir touch cp mv rm rmdir ln chmod chown install truncate tar zip unzip gzip gunzip patch',
  ),
  family('network-commands', 'Network', 'curl wget ssh scp rsync ping dig nslookup host nc'),
  family(
    'system-commands',
    'Shell and system information',
    'echo printf pwd date whoami id uname hostname env printenv which type ps top free uptime ' +
      'sleep kill lsof ss netstat test [',
  ),
  OTHER,
];

const BY_PROGRAM: ReadonlyMap<string, Family> = new Map(
  FAMILIES.flatMap((one) => one.programs.map((program) => [program, one] as const)),
);
