// Profiles of the command lines of hosting and cloud services: gh, glab, aws and their like.
// Looking is `read`, although it asks a server; what changes something there is `net`, and what
// changes accounts or shows tokens is `config`. Subcommands that are not listed are not known.

import type { Profile } from '../profile.ts';
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
  ...each('heroku vercel netlify fly flyctl wrangler railway supabase firebase doctl', DEPLOYS),
};
