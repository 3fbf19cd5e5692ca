// Profiles of what builds and keeps infrastructure: terraform, helm, ansible and the checkers of
// their files. Containers and clusters are in data-ops-docker.ts and data-ops-kube.ts.

import type { Deeds, Profile } from '../profile.ts';
import { each, type Profiles } from './common.ts';
import { DOCKER } from './data-ops-docker.ts';
import { KUBE } from './data-ops-kube.ts';

const RUNS: Profile = {
  kind: 'exec',
  style: 'exact',
  options: '--version --help',
  operands: 'exec*',
};

const PLAN_OPTIONS = `-out:write -var:word -var-file:path -generate-config-out:write -state:path
  -backend-config:config -plugin-dir:exec -destroy!delete -target:word -replace:word -refresh-only
  -refresh?word -input?word -lock?word -lock-timeout:word -parallelism:int -compact-warnings
  -detailed-exitcode -no-color -json -concise`;

function terraform(options: string, operands = ''): Profile {
  return { kind: 'read', style: 'go', options, operands };
}

/** Providers are programs: what starts them with the project's files runs code. */
const TERRAFORM: Profile = {
  kind: 'exec',
  style: 'go',
  options: '-chdir:path -version -v -help -h',
  deeds: {
    'deleted 3': 'destroy; apply -destroy; state rm; workspace delete',
    'published 3': 'apply',
    'secret 1': 'output -json; output -raw; show -json; state pull',
  },
  subcommands: {
    version: terraform('-json'),
    fmt: {
      kind: 'write',
      style: 'go',
      options: '-check -diff -list?word -write?word -recursive -no-color',
      operands: 'output*',
    },
    validate: terraform('-json -no-color -no-tests -test-directory:path', 'path'),
    show: terraform('-json!secret -no-color', 'path'),
    // By name, or as JSON, it shows what is hidden otherwise.
    output: terraform('-json!secret -raw!secret -no-color -state:path', 'config'),
    graph: terraform('-type:word -plan:path -draw-cycles', 'path'),
    providers: {
      kind: 'read',
      style: 'go',
      options: '-no-color',
      subcommands: {
        schema: terraform('-json'),
        lock: { kind: 'net', style: 'go', operands: 'word*' },
        mirror: { kind: 'net', style: 'go', operands: 'output' },
      },
    },
    state: {
      kind: 'config',
      subcommands: {
        list: terraform('-state:path -id:word', 'word*'),
        show: terraform('-state:path -no-color', 'word'),
        pull: { kind: 'config' },
        push: { kind: 'config', operands: 'config*' },
        mv: { kind: 'config', operands: 'config*' },
        rm: { kind: 'delete', operands: 'delete*' },
      },
    },
    workspace: {
      kind: 'config',
      subcommands: {
        ...each('list show', terraform('-no-color', 'path')),
        ...each('select new', { kind: 'config', operands: 'word*' }),
        delete: { kind: 'delete', operands: 'delete*' },
      },
    },
    plan: { kind: 'exec', style: 'go', options: PLAN_OPTIONS },
    test: { kind: 'exec', style: 'go', options: `-filter:path -verbose ${PLAN_OPTIONS}` },
    init: {
      kind: 'exec',
      style: 'go',
      options: `-backend-config:config -from-module:exec -plugin-dir:exec -migrate-state!config
        -force-copy!config -reconfigure!config -upgrade!net -backend?word -input?word -get?word
        -lockfile:word -no-color`,
    },
    get: { kind: 'net', style: 'go', options: '-update -no-color' },
    apply: {
      kind: 'delete',
      style: 'go',
      options: `-auto-approve!delete -backup:write -state-out:write ${PLAN_OPTIONS}`,
      operands: 'path',
    },
    destroy: { kind: 'delete', style: 'go', options: `-auto-approve!delete ${PLAN_OPTIONS}` },
    ...each('import taint untaint force-unlock refresh login logout', {
      kind: 'config',
      style: 'go',
      operands: 'config*',
    }),
    console: { kind: 'exec', style: 'go' },
  },
};

const HELM_OPTIONS = `--post-renderer:exec --post-renderer-args:exec --kubeconfig:config
  --kube-context:word!config --kube-apiserver:config --kube-token:word!secret --kube-as-user:config
  --kube-ca-file:config --kube-insecure-skip-tls-verify!config --registry-config:config
  --repository-config:config --repository-cache:config --insecure-skip-tls-verify!config
  --repo:url --username:word!secret --password:word!secret --cert-file:path!secret
  --key-file:path!secret --ca-file:path --plain-http!config --pass-credentials!secret
  -f,--values:path --set:word --set-string:word --set-json:word --set-literal:word
  --set-file:word!secret
  -n,--namespace:word --version:word --debug --devel -o,--output:format`;

function helm(options: string, operands: string, kind: Profile['kind'] = 'read'): Profile {
  return { kind, style: 'exact', options: `${options} ${HELM_OPTIONS}`, operands };
}

const HELM: Profile = {
  kind: 'net',
  bare: 'read',
  style: 'exact',
  options: HELM_OPTIONS,
  deeds: {
    'deleted 3': 'uninstall; delete',
    'published 2': 'install; upgrade; rollback; push',
    'secret 1': 'get values; get all',
  },
  subcommands: {
    template: helm(
      `--output-dir:write -s,--show-only:word --name-template:word --include-crds --skip-tests
      --kube-version:word -a,--api-versions:word --release-name --validate!net --is-upgrade
      --no-hooks
      --dependency-update!net -g,--generate-name --dry-run?word`,
      'path*',
    ),
    lint: helm('--strict --with-subcharts --quiet --kube-version:word', 'path*'),
    ...each(
      'list ls',
      helm('-A,--all-namespaces -a,--all -q,--short --filter:word --failed --deployed -m:int', ''),
    ),
    status: helm('--show-desc --show-resources --revision:int', 'word'),
    history: helm('--max:int', 'word'),
    get: {
      kind: 'read',
      subcommands: {
        ...each('manifest notes hooks', helm('--revision:int', 'word')),
        // Values are where the passwords are.
        ...each('values all', { kind: 'config', operands: 'config*' }),
      },
    },
    show: { kind: 'read', subcommands: each('chart values readme crds all', helm('', 'path')) },
    search: { kind: 'read', subcommands: { repo: helm('-l,--versions -r,--regexp', 'word*') } },
    version: helm('--short --template:word', ''),
    env: { kind: 'config' },
    dependency: {
      kind: 'net',
      subcommands: { list: helm('', 'path'), ...each('build update', helm('', 'path', 'net')) },
    },
    create: helm('-p,--starter:path', 'output', 'write'),
    package: helm(
      '-d,--destination:output --sign!secret --key:word --keyring:path',
      'path*',
      'write',
    ),
    ...each(
      'install upgrade rollback',
      helm('--wait --atomic --timeout:word -i', 'word path', 'config'),
    ),
    ...each('uninstall delete', { kind: 'delete', operands: 'delete*' }),
    ...each('repo registry pull push plugin', { kind: 'config', operands: 'config*' }),
  },
};

const CHECKERS: Profiles = {
  yamllint: {
    kind: 'read',
    options: `-c,--config-file:path -d,--config-data:word -f,--format:word -s,--strict --no-warnings
      --list-files -v,--version -h,--help`,
    operands: 'path*',
  },
  hadolint: {
    kind: 'read',
    style: 'exact',
    options: `-c,--config:path --no-fail --no-color -f,--format:word -t,--failure-threshold:word
      --ignore:word --error:word --warning:word --info:word --style:word --trusted-registry:word
      --require-label:word --strict-labels --file-path-in-report:word -V,--verbose -v,--version -h`,
    operands: 'path*',
  },
  // It starts shellcheck and pyflakes, by these names unless it is told others.
  actionlint: {
    kind: 'read',
    style: 'go',
    options: `-shellcheck:exec -pyflakes:exec -init-config!write -config-file:path -ignore:word
      -format:word -color -no-color -oneline -verbose -debug -stdin-filename:word -version`,
    operands: 'path*',
  },
  tflint: {
    kind: 'exec',
    style: 'exact',
    options: `--init!exec --fix!write --chdir:path -c,--config:path --var:word --var-file:path
      -f,--format:format --recursive --filter:word --only:word --enable-rule:word
      --disable-rule:word
      --minimum-failure-severity:word --no-color --force --version -v`,
  },
  trivy: {
    kind: 'net',
    style: 'exact',
    options: '--version -h,--help',
    subcommands: each('fs filesystem config', {
      kind: 'net',
      style: 'exact',
      options: `-c,--config:config --config-policy:exec --config-data:path --ignore-policy:path
        --server:config --db-repository:config --cache-dir:write -o,--output:write
        -t,--template:word
        --token:word!secret --insecure!config --module-dir:exec -f,--format:format
        -s,--severity:word
        --scanners:word --exit-code:int --ignore-unfixed -q,--quiet --ignorefile:path
        --skip-dirs:word --skip-files:word --no-progress --timeout:word`,
      operands: 'path',
    }),
  },
  'ansible-lint': {
    kind: 'exec',
    options: `--fix?word!write -r:exec -R!exec -c,--config-file:config --offline -q -v -p
      -f,--format:word
      -x,--skip-list:word -w,--warn-list:word -t,--tags:word -L -T --strict --version --help`,
    operands: 'path*',
  },
};

/** Playbooks, machines and clouds: what they do is in files that we do not read. */
const RUNNERS: Profiles = {
  ...each(
    'ansible ansible-galaxy ansible-console ansible-pull packer k3d k9s skaffold tilt lima',
    RUNS,
  ),
  ...runs('ansible-playbook', { 'published 2': '** !--check !--syntax-check !--list-tasks' }),
  ...runs('ansible-vault', { 'secret 2': 'view; decrypt' }),
  ...runs('vagrant', { 'deleted 3': 'destroy' }),
  ...runs('minikube multipass', { 'deleted 3': 'delete; purge' }),
  ...runs('pulumi', {
    'deleted 3': 'destroy; stack rm; state delete',
    'published 3': 'up; update',
    'secret 1': 'config --show-secrets; stack output --show-secrets',
  }),
  ...runs('cdk', { 'deleted 3': 'destroy', 'published 2': 'deploy' }),
  ...runs('sam', { 'deleted 3': 'delete', 'published 2': 'deploy' }),
  ...runs('serverless', { 'deleted 3': 'remove', 'published 2': 'deploy' }),
};

function runs(names: string, deeds: Deeds): Profiles {
  return each(names, { ...RUNS, deeds });
}

export const OPS: Profiles = {
  terraform: TERRAFORM,
  tofu: TERRAFORM,
  helm: HELM,
  ...CHECKERS,
  ...RUNNERS,
  ...DOCKER,
  ...KUBE,
};
