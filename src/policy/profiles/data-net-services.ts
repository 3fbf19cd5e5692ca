// Profiles of the command lines of hosting and cloud services: gh, glab, aws and their like.
// Looking is `read`, although it asks a server; what changes something there is `net`, and what
// changes accounts or shows tokens is `config`. Subcommands that are not listed are not known.

import type { Deeds, Profile } from '../profile.ts';
import { each, type Profiles } from './common.ts';

// A filter can print the environment, `--web` starts a browser.
const GH_LOOK: Profile = {
  kind: 'read',
  style: 'exact',
  options: `-q,--jq:jq -w,--web!exec --hostname:word!net
    -R,--repo:repo --json:word -t,--template:word -L,--limit:int -s,--state:word -l,--label:word
    -a,--assignee:word -A,--author:word -B,--base:word -H,--head:word -b,--branch:word
    -S,--search:word
    -c,--comments --comments -m,--milestone:word --name-only --patch --color:word -d,--draft
    --app:word
    -e,--event:word -u,--user:word --status:word --workflow:word --commit:word --created:word
    --required --watch --interval:int -i --fail-fast --log --log-failed -j,--job:word --attempt:int
    -v,--verbose --exit-status --archived --fork --source --language:word --topic:word
    --visibility:word --owner:word --sort:word --order:word --match:word --exclude-drafts
    --exclude-pre-releases --key:word -h,--help`,
  operands: 'endpoint*',
};

const GH_CHANGE: Profile = {
  kind: 'net',
  style: 'exact',
  options: `-w,--web!exec -e,--editor!exec -F,--body-file:path!secret --recover:path
    -T,--template:path
    -R,--repo:repo -t,--title:word -b,--body:word -B,--base:word -H,--head:word -d,--draft -f,--fill
    --fill-first --fill-verbose -l,--label:word -a,--assignee:word -r,--reviewer:word
    -m,--milestone:word -p,--project:word --no-maintainer-edit --dry-run --add-label:word
    --remove-label:word --add-assignee:word --add-reviewer:word -c,--comment -i --undo -h,--help`,
  operands: 'endpoint*',
};

/** What cannot be taken back, or gives code a way in. */
const GH_FINAL: Profile = {
  kind: 'delete',
  style: 'exact',
  options: `-R,--repo:repo -s,--squash -m,--merge -r,--rebase -d,--delete-branch!delete --auto
    --admin!config
    -t,--subject:word -b,--body:word -c,--comment:word --reason:word -y,--yes -h,--help`,
  operands: 'word*',
};

const CONFIG: Profile = { kind: 'config', operands: 'config*' };
const RUNS: Profile = { kind: 'exec', operands: 'exec*' };

const GH: Profile = {
  kind: 'net',
  bare: 'read',
  style: 'exact',
  options: '--version -h,--help -R,--repo:repo',
  deeds: {
    'deleted 3': 'repo delete; release delete; api --method=DELETE',
    'deleted 2': 'issue delete; run delete; gist delete; secret delete; cache delete; label delete',
    'published 3': 'release create; release upload; pr merge; repo edit --visibility',
    'published 2': 'workflow run; secret set; variable set',
    'published 1': `pr create; pr comment; pr edit; pr close; pr review; issue create;
      issue comment; issue edit; issue close; gist create; gist edit; repo create; repo edit;
      repo fork;
      api --method !--method=GET; api --field !--method; api --raw-field !--method; api --input`,
    'secret 2': 'auth token; auth status --show-token',
  },
  subcommands: {
    pr: {
      kind: 'net',
      style: 'exact',
      options: '-R,--repo:repo',
      subcommands: {
        ...each('view list ls diff status checks', GH_LOOK),
        ...each('create new comment edit review ready', GH_CHANGE),
        ...each('merge close reopen lock unlock', GH_FINAL),
        checkout: {
          kind: 'write',
          style: 'exact',
          options:
            '-R,--repo:repo -b,--branch:word --detach -f,--force!delete --recurse-submodules!exec',
          operands: 'endpoint',
        },
      },
    },
    issue: {
      kind: 'net',
      style: 'exact',
      options: '-R,--repo:repo',
      subcommands: {
        ...each('view list ls status', GH_LOOK),
        ...each('create new comment edit', GH_CHANGE),
        ...each('close reopen delete transfer lock unlock pin unpin develop', GH_FINAL),
      },
    },
    repo: {
      kind: 'net',
      subcommands: {
        ...each('view list', GH_LOOK),
        ...each('delete archive rename edit create fork sync clone deploy-key', GH_FINAL),
      },
    },
    run: {
      kind: 'net',
      subcommands: {
        ...each('view list ls watch', GH_LOOK),
        ...each('rerun cancel delete', GH_FINAL),
        download: { kind: 'write', style: 'exact', options: '-D,--dir:output -n,--name:word' },
      },
    },
    workflow: {
      kind: 'net',
      subcommands: { ...each('view list ls', GH_LOOK), ...each('run enable disable', GH_FINAL) },
    },
    release: {
      kind: 'net',
      subcommands: {
        ...each('view list ls', GH_LOOK),
        ...each('create edit upload delete download', GH_FINAL),
      },
    },
    label: { kind: 'net', subcommands: { list: GH_LOOK, ...each('create edit delete', GH_FINAL) } },
    search: { kind: 'read', subcommands: each('prs issues repos code commits', GH_LOOK) },
    status: GH_LOOK,
    auth: {
      kind: 'config',
      subcommands: {
        status: {
          kind: 'read',
          style: 'exact',
          options: '-t,--show-token!secret -h,--hostname:word!net -a,--active',
        },
        ...each('token login logout refresh setup-git switch', CONFIG),
      },
    },
    api: {
      kind: 'read',
      style: 'exact',
      // Fields make it a POST; a header or a method can do anything.
      options: `-X,--method:word!net -f,--raw-field:word!net -F,--field:word!net --input:path!net
        -H,--header:word!net --hostname:word!net -p,--preview:word -q,--jq:jq
        -t,--template:word --cache:word -i,--include --paginate --slurp --silent --verbose
        -h,--help`,
      operands: 'endpoint',
    },
    browse: RUNS,
    codespace: RUNS,
    extension: RUNS,
    alias: RUNS,
    ...each('config secret variable gpg-key ssh-key gist cache ruleset project', CONFIG),
  },
};

const GLAB_NOUN: Profile = {
  kind: 'net',
  subcommands: {
    ...each('view list ls diff show status', GH_LOOK),
    ...each('create new note update', GH_CHANGE),
    ...each('merge close reopen delete approve', GH_FINAL),
  },
};

/** aws, gcloud and az take options of their own everywhere; those that send elsewhere are told. */
const CLOUD_LOOK: Profile = {
  kind: 'read',
  style: 'exact',
  options: `--endpoint-url:config --profile:config --no-verify-ssl!config --ca-bundle:config
    --cli-input-json:word!config --account:config --configuration:config
    --impersonate-service-account:config
    --region:plain --output:format -o:format --query:plain --format:plain --filter:plain --limit:int
    --max-items:int --page-size:int --project:plain --zone:plain --no-paginate --no-cli-pager
    --human-readable
    --recursive --summarize -g,--resource-group:plain -n,--name:plain --subscription:plain`,
  operands: 'format*',
};

const AWS: Profile = {
  kind: 'net',
  deeds: {
    'deleted 3': `s3 rm; s3 rb; s3 sync --delete; * delete-*; * terminate-*; * batch-delete-*;
      * deregister-*; * purge-*; * destroy-*; * schedule-key-deletion`,
    'published 2': 'cloudformation deploy; * update-function-code; ecs update-service; * publish',
    'sent 2': 's3 cp * s3://*; s3 mv * s3://*; s3 sync * s3://*; s3api put-object',
    'secret 2': `secretsmanager get-secret-value; secretsmanager batch-get-secret-value;
      ssm get-parameter* --with-decryption; configure export-credentials; ecr get-login-password;
      sts get-session-token; sts assume-role`,
  },
  style: 'exact',
  options: `--endpoint-url:config --profile:config --no-verify-ssl!config --region:word
    --output:format
    --no-cli-pager --version`,
  subcommands: {
    sts: { kind: 'net', subcommands: { 'get-caller-identity': CLOUD_LOOK } },
    s3: { kind: 'net', subcommands: { ls: { ...CLOUD_LOOK, operands: 'word' } } },
    ec2: {
      kind: 'net',
      subcommands: each(
        'describe-instances describe-regions describe-vpcs describe-subnets describe-images',
        CLOUD_LOOK,
      ),
    },
    logs: {
      kind: 'net',
      subcommands: each('describe-log-groups describe-log-streams', CLOUD_LOOK),
    },
    configure: { kind: 'config', operands: 'config*' },
  },
};

const GCLOUD: Profile = {
  kind: 'net',
  deeds: {
    'deleted 3': '** delete; storage rm; secrets versions destroy',
    'published 2': '** deploy; builds submit; app deploy',
    'sent 2': 'storage cp ** gs://*; storage rsync * gs://*; storage mv * gs://*',
    'secret 2': `** secrets versions access; auth ** print-access-token;
      auth print-identity-token; iam service-accounts keys create`,
  },
  style: 'exact',
  options: '--version --project:word --account:config --configuration:config',
  subcommands: {
    version: CLOUD_LOOK,
    info: { kind: 'config' },
    projects: { kind: 'net', subcommands: each('list describe', CLOUD_LOOK) },
    compute: {
      kind: 'net',
      subcommands: { instances: { kind: 'net', subcommands: each('list describe', CLOUD_LOOK) } },
    },
    ...each('auth config secrets', CONFIG),
  },
};

const AZ: Profile = {
  kind: 'net',
  deeds: {
    'deleted 3': '** delete; ** purge; ** delete-batch',
    'published 2': 'webapp up; webapp deploy; ** deployment create; acr build',
    'sent 2': 'storage blob upload; storage blob upload-batch; storage blob sync',
    'secret 2': `keyvault secret show; keyvault secret download; account get-access-token;
      ** keys list; ** show-connection-string`,
  },
  style: 'exact',
  options: '--version',
  subcommands: {
    version: CLOUD_LOOK,
    group: { kind: 'net', subcommands: each('list show', CLOUD_LOOK) },
    vm: { kind: 'net', subcommands: each('list show', CLOUD_LOOK) },
    ...each('login logout keyvault configure', CONFIG),
    rest: CONFIG,
  },
};

/** Tools that upload the project to a server: only `--version` is inert. */
const DEPLOYS: Profile = {
  kind: 'exec',
  style: 'exact',
  options: '-v,--version --version -h,--help',
  operands: 'exec*',
};

function deploys(names: string, deeds: Deeds): Profiles {
  return each(names, { ...DEPLOYS, deeds });
}

export const SERVICES: Profiles = {
  gh: GH,
  hub: DEPLOYS,
  glab: {
    kind: 'net',
    bare: 'read',
    style: 'exact',
    options: '--version -h,--help',
    subcommands: {
      mr: GLAB_NOUN,
      issue: GLAB_NOUN,
      ci: { kind: 'net', subcommands: each('list status view', GH_LOOK) },
      auth: CONFIG,
      config: CONFIG,
      alias: RUNS,
    },
  },
  aws: AWS,
  gcloud: GCLOUD,
  az: AZ,
  ...deploys('netlify', { 'published 2': 'deploy', 'deleted 3': 'sites:delete' }),
  ...deploys('wrangler', {
    'published 2': 'deploy; publish; pages deploy; versions deploy',
    'deleted 3': 'delete; ** delete; d1 delete',
  }),
  // Without a word it deploys.
  ...deploys('vercel', {
    'published 2': 'deploy; --prod',
    'deleted 3': 'remove; rm; ** rm',
    'secret 2': 'env pull',
  }),
  ...deploys('firebase', { 'published 2': 'deploy', 'deleted 3': '*:delete; *:disable' }),
  ...deploys('railway', { 'published 2': 'up; deploy', 'deleted 3': 'delete; down' }),
  ...deploys('supabase', {
    'published 2': 'db push; functions deploy',
    'deleted 3': 'db reset; projects delete; functions delete',
  }),
  ...deploys('heroku', {
    'deleted 3': 'apps:destroy; pg:reset; addons:destroy; ** destroy',
    'published 2': 'container:release; releases:rollback',
    'secret 2': 'config; config:get; auth:token',
  }),
  ...deploys('doctl', { 'deleted 3': '** delete', 'published 2': '** create-deployment' }),
  ...deploys('fly flyctl', {
    'published 2': 'deploy',
    'deleted 3': '** destroy; ** delete',
  }),
};
