// Profiles of kubectl and its like. Looking is fine but for secrets, which is why `get` knows the
// kinds of things by name; whom it talks to, and as whom, is configuration.

import type { Profile } from '../profile.ts';
import { each, type Profiles } from './common.ts';

/** In front of the subcommand or behind it. */
const EVERYWHERE = `--kubeconfig:config --context:config --cluster:config --user:config --as:config
  --as-group:config --as-uid:config --token:word!secret -s,--server:config --username:config
  --password:word!secret --client-key:path!secret --client-certificate:path!secret
  --certificate-authority:config --insecure-skip-tls-verify!config --tls-server-name:config
  --cache-dir:write --profile:word --profile-output:write --kuberc:config --log-dir:write
  --log-file:write -n,--namespace:word --request-timeout:word --match-server-version -v:int --v:int
  --warnings-as-errors -h,--help`;

function kube(kind: Profile['kind'], options: string, operands = ''): Profile {
  return { kind, style: 'exact', options: `${options} ${EVERYWHERE}`, operands };
}

// Templates come from files, too: only plain names of formats.
const GET = kube(
  'read',
  `--raw:word!secret -A,--all-namespaces -l,--selector:word --field-selector:word -o,--output:view
  --sort-by:word -w,--watch --watch-only --show-labels --show-kind -L,--label-columns:word
  --no-headers --chunk-size:int --ignore-not-found --output-watch-events --show-managed-fields
  --subresource:word --server-print`,
  'word*',
);

/** Whatever holds no secrets, in all its spellings. */
export const KUBE_THINGS = `all pod pods po deployment deployments deploy deployment.apps
  deployments.apps replicaset replicasets rs
  statefulset statefulsets sts daemonset daemonsets ds job jobs cronjob
  cronjobs cj service services svc endpoints ep endpointslices ingress ingresses ing ingressclass
  ingressclasses networkpolicy networkpolicies netpol node nodes no namespace namespaces ns event
  events ev persistentvolume persistentvolumes pv persistentvolumeclaim persistentvolumeclaims pvc
  storageclass storageclasses sc horizontalpodautoscaler horizontalpodautoscalers hpa pdb
  poddisruptionbudgets serviceaccount serviceaccounts sa role roles rolebinding rolebindings
  clusterrole clusterroles clusterrolebinding clusterrolebindings resourcequota resourcequotas
  quota limitrange limitranges limits crd crds customresourcedefinitions apiservices priorityclass
  priorityclasses pc leases csr componentstatuses cs pods,svc pod,svc pods,services
  deploy,svc pods,deployments pods,svc,deploy deployments,services po,svc`;

const CHANGE = kube(
  'config',
  `-f,--filename:path -k,--kustomize:path -R,--recursive --dry-run?word -o,--output:format
  --server-side --force!delete --prune!delete --validate?word --wait?word --timeout:word
  -l,--selector:word --field-manager:word --overwrite --record --type:word -p,--patch:word
  --replicas:int --image:word --all`,
  'word*',
);

const DELETE = kube(
  'delete',
  '-f,--filename:path -k:path -l:word --all!delete --force!delete',
  'delete*',
);

const RUNS: Profile = {
  ...kube(
    'exec',
    '-i,--stdin -t,--tty -c,--container:word -q --image:exec --overrides:exec',
    'exec*',
  ),
  style: 'first',
  behindDashes: 'exec',
};

const KUSTOMIZE = `--enable-helm!exec --helm-command:exec --enable-exec!exec
  --enable-alpha-plugins!exec -o,--output:write --load-restrictor:word!config`;

const KUBECTL: Profile = {
  kind: 'config',
  deeds: {
    'deleted 3': 'delete; drain',
    'published 3': 'apply; create; replace; patch; scale',
    'published 2': 'edit; set; rollout restart; rollout undo; autoscale; expose',
    'secret 2': `get secret* --output; get *,secret* --output; config view --raw`,
    'secret 1': 'get secret*; get *,secret*; describe secret*; create token',
  },
  bare: 'read',
  style: 'exact',
  options: EVERYWHERE,
  subcommands: {
    get: {
      kind: 'read',
      style: 'exact',
      options: GET.options ?? '',
      operands: 'thing*',
      subcommands: each(KUBE_THINGS, GET),
    },
    describe: kube(
      'read',
      '-f,--filename:path -R -A,--all-namespaces -l,--selector:word --show-events --chunk-size:int',
      'word*',
    ),
    logs: kube(
      'read',
      `-f,--follow --tail:int --since:word --since-time:word -c,--container:word --all-containers
      --all-pods -l,--selector:word -p,--previous --timestamps --prefix --limit-bytes:int
      --max-log-requests:int --ignore-errors --pod-running-timeout:word
      --insecure-skip-tls-verify-backend!config`,
      'word*',
    ),
    explain: kube('read', '--recursive --api-version:word --output:format', 'word'),
    'api-resources': kube(
      'read',
      '--namespaced --api-group:word --verbs:word -o:format --no-headers --sort-by:word --cached',
    ),
    'api-versions': kube('read', ''),
    version: kube('read', '--client --short -o,--output:format'),
    'cluster-info': { ...kube('read', ''), subcommands: { dump: { kind: 'config' } } },
    top: {
      kind: 'read',
      subcommands: each(
        'pod pods po node nodes no',
        kube(
          'read',
          '-A,--all-namespaces -l:word --containers --no-headers --sort-by:word --sum',
          'word',
        ),
      ),
    },
    events: kube('read', '-A,--all-namespaces --for:word --types:word -w,--watch -o:format'),
    auth: {
      kind: 'config',
      subcommands: {
        'can-i': kube(
          'read',
          '--list -A,--all-namespaces -q,--quiet --no-headers --subresource:word',
          'word*',
        ),
        whoami: kube('read', '-o,--output:format'),
      },
    },
    config: {
      kind: 'config',
      subcommands: {
        view: kube('read', '--raw!secret --flatten!secret --minify --merge -o,--output:format'),
        'current-context': kube('read', ''),
        'get-contexts': kube('read', '-o,--output:format --no-headers', 'word*'),
        'get-clusters': kube('read', ''),
        ...each(
          'set-context use-context use set set-cluster set-credentials unset',
          kube('config', '', 'config*'),
        ),
        ...each('delete-context delete-cluster delete-user', DELETE),
      },
    },
    // What compares is a program that KUBECTL_EXTERNAL_DIFF can name.
    diff: kube(
      'read',
      '-f,--filename:path -k,--kustomize:path!exec -R,--recursive --prune -l:word --server-side',
    ),
    kustomize: kube('read', KUSTOMIZE, 'kustomization'),
    rollout: {
      kind: 'config',
      subcommands: {
        ...each(
          'status history',
          kube('read', '-w,--watch --timeout:word --revision:int -f:path', 'word*'),
        ),
        ...each('restart undo pause resume', CHANGE),
      },
    },
    ...each(
      'apply create replace patch scale autoscale label annotate set taint expose wait',
      CHANGE,
    ),
    ...each('cordon uncordon certificate', CHANGE),
    ...each('delete drain', DELETE),
    ...each('exec run attach debug', RUNS),
    edit: { ...CHANGE, kind: 'exec', operands: 'exec*' },
    ...each('port-forward proxy', kube('config', '--address:config', 'config*')),
    cp: kube('delete', '-c,--container:word --retries:int', 'output*'),
    plugin: { kind: 'exec', subcommands: { list: kube('read', '--name-only') } },
    completion: kube('read', '', 'word'),
    options: kube('read', ''),
    help: kube('read', '', 'word*'),
  },
};

export const KUBE: Profiles = {
  kubectl: KUBECTL,
  oc: { kind: 'exec', options: '--version', operands: 'exec*' },
  kubectx: { kind: 'config', options: '-c,--current -h,--help', operands: 'config*', bare: 'read' },
  kubens: { kind: 'config', options: '-c,--current -h,--help', operands: 'config*', bare: 'read' },
  kustomize: {
    kind: 'exec',
    style: 'exact',
    subcommands: {
      version: { kind: 'read' },
      build: {
        kind: 'read',
        style: 'exact',
        options: `-e,--env:word!secret --mount:exec --network!net ${KUSTOMIZE}`,
        operands: 'kustomization',
      },
    },
  },
  kind: {
    kind: 'exec',
    style: 'exact',
    options: '-q,--quiet -v,--verbosity:int --version',
    subcommands: {
      version: { kind: 'read' },
      get: {
        kind: 'read',
        subcommands: {
          ...each('clusters nodes', { kind: 'read', style: 'exact', options: '--name:word -A' }),
          kubeconfig: { kind: 'config' },
        },
      },
      create: { kind: 'exec', operands: 'exec*' },
      delete: { kind: 'delete', operands: 'delete*' },
      load: { kind: 'exec', operands: 'exec*' },
    },
  },
};
