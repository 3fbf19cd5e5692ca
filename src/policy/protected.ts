// Files that no rule of a policy opens: secrets, which are not read without a person's consent, and
// files that make programs do something later (start-up files, hooks, the configuration of agents
// and our own), which are not written.

import { posix } from 'node:path';
import { globRegex, pathSet, type Roots } from './paths.ts';

const SECRETS = [
  ...['~/.ssh', '~/.aws', '~/.azure', '~/.gnupg', '~/.kube', '~/.password-store', '~/.docker'],
  ...['~/.config/gh', '~/.config/gcloud', '~/.config/op', '~/.local/share/keyrings', '~/.m2'],
  ...['~/.cargo/credentials', '~/.cargo/credentials.toml', '~/.gem/credentials', '~/.npmrc'],
  ...['~/.config/containers', '~/.config/rclone', '~/.config/hub', '~/.config/anthropic'],
  ...['~/.netrc', '~/.pypirc', '~/.pgpass', '~/.my.cnf', '~/.git-credentials', '~/.vault-token'],
  ...['~/.*_history', '~/.viminfo', '~/.mozilla', '~/.config/google-chrome', '~/.thunderbird'],
  ...['~/.claude.json', '~/.claude/.credentials.json', '~/.codex/auth.json', '~/.terraform.d'],
  ...['**/.netrc', '**/_netrc', '**/.npmrc', '**/.pypirc', '**/.pgpass', '**/.git-credentials'],
  ...['**/.git/config', '**/.htpasswd', '**/.dockercfg', '**/.ssh/**', '**/.aws/**'],
  ...['**/.kube/**', '**/.docker/config.json', '**/.gnupg/**', '**/.vault-token', '**/auth.json'],
  ...['**/kubeconfig', '**/kubeconfig.yaml', '**/kubeconfig.yml', '**/*.kubeconfig'],
  ...['**/.terraformrc', '**/*.tfrc.json'],
  ...['**/.env*', '**/*.env', '**/.dev.vars', '**/.git/credentials', '**/.git/modules/**/config'],
  ...['**/id_rsa*', '**/id_dsa*', '**/id_ecdsa*', '**/id_ed25519*', '**/*.pem', '**/*.key'],
  ...['**/*.p12', '**/*.pfx', '**/*.jks', '**/*.keystore', '**/*.kdbx', '**/*.ppk', '**/*.gpg'],
  ...['**/*credentials*.json', '**/service-account*.json', '**/serviceAccount*.json'],
  ...['**/client_secret*.json', '**/*-adminsdk*.json', '**/*-key.json', '**/*.p8', '**/*.ovpn'],
  ...['**/*.tfstate', '**/*.tfstate.backup', '**/terraform.tfvars', '**/*.auto.tfvars'],
  ...['**/.*_history', '**/.my.cnf', '**/.mylogin.cnf', '**/.boto', '**/.s3cfg', '**/rclone.conf'],
  ...['**/.cargo/credentials*', '**/.gem/credentials', '**/.azure/**', '**/.gnupg', '**/secring.*'],
  ...['**/.vault_pass*', '**/vault-pass*', '**/wp-config.php', '**/local.settings.json'],
  ...['/etc/shadow*', '/etc/gshadow*', '/etc/sudoers*', '/etc/ssh', '/etc/ssl/private'],
  ...['/proc/*/environ', '/proc/*/mem', '/proc/*/task/*/environ', '/proc/*/fd', '/proc/*/root'],
  ...['/proc/kcore', '/dev/mem', '/dev/kmem', '/run/secrets', '/var/run/secrets'],
];

/** No path is longer; a pattern may be, and is not looked at. */
const LENGTH_MAX = 4_096;

/** Called by what is in it, unless it is code: `src/secrets/` is a directory like others. */
const TELLING = new RegExp(
  [
    '/\\.(?:token|secret|password|credential|api[_-]?key)s?$',
    // `tokens.json` are the colours of a design.
    '/\\.?tokens\\.(?:txt|csv)$',
    [
      '/\\.?(?:token|secrets?|passwords?|credentials?|api[_-]?keys?)',
      '\\.(?:txt|json|ya?ml|toml|ini|cfg|conf|csv|xml|properties)$',
    ].join(''),
  ].join('|'),
  'i',
);

/** One of them is in every name that tells: to ask for them first is quicker. */
const TELLING_WORDS = ['token', 'secret', 'password', 'credential', 'api'];

function isTelling(path: string): boolean {
  const small = path.toLowerCase();
  return TELLING_WORDS.some((word) => small.includes(word)) && TELLING.test(path);
}

/** Examples are published, so they hold no secrets. */
const EXAMPLES = /[._-](?:example|sample|template|dist|defaults?|schema)$/i;

/** By their names, wherever they are. */
const CONTROLS = [
  // Configuration of cuff, and of other programs that decide what an agent may do.
  ...['**/.cuff', '**/.claude', '**/.codex', '**/.cursor', '**/.gemini', '**/.opencode'],
  ...['**/.mcp.json', '**/opencode.json', '**/opencode.jsonc', '**/.aider*', '**/.continue'],
  ...['**/.windsurf', '**/.roo', '**/.cline', '**/.kiro', '**/.agents', '**/.qwen', '**/.pi'],
  ...['**/.copilot', '**/.github/hooks'],
  // Git alone writes it: `commondir`, `config.worktree` and a file of that name lead to hooks, too.
  '**/.git',
  // Captures on their way out of a sandbox.
  '**/.cuff/spool',
  // Files that programs run by themselves.
  ...['**/.gitmodules', '**/.gitattributes', '**/.husky', '**/.envrc', '**/.direnv'],
  ...['**/.vscode', '**/.idea', '**/.devcontainer', '**/.npmrc', '**/.yarnrc*', '**/.pnp.*'],
  ...[
    '**/sitecustomize.py',
    '**/usercustomize.py',
    '**/*.pth',
    '**/.pre-commit-config.yaml',
    '**/.pre-commit-config.yml',
  ],
  ...['**/.bashrc', '**/.bash_profile', '**/.bash_login', '**/.bash_logout', '**/.bash_aliases'],
  ...['**/.profile', '**/.zshrc', '**/.zshenv', '**/.zprofile', '**/.zlogin', '**/.kshrc'],
  ...['**/.inputrc', '**/.vimrc', '**/.exrc', '**/.emacs', '**/.gdbinit', '**/.lldbinit'],
  ...['**/.gitconfig', '**/.tmux.conf', '**/.screenrc', '**/.curlrc', '**/.wgetrc', '**/.pdbrc'],
  ...['**/node_modules/.bin', '**/.venv/bin', '**/venv/bin'],
  ...['**/.pythonrc*', '**/.irbrc', '**/.Rprofile', '**/.cargo/config*', '**/authorized_keys'],
];

/** Where the system, or the person, keeps what programs are and do. */
const CONTROL_DIRECTORIES = [
  ...['~/.*', '~/bin', '~/Library/LaunchAgents', '~/go/bin', '~/.cargo/bin', '~/node_modules'],
  ...['/bin', '/boot', '/dev', '/etc', '/lib', '/lib32', '/lib64', '/opt', '/proc', '/root/.*'],
  ...['/sbin', '/sys', '/usr', '/var/spool', '/var/lib', '/var/run', '/run', '/srv'],
  ...['/Library', '/System', '/Applications', '/private/etc'],
];

/** Files of a project that tell agents what to do, or that a program or a server runs later. */
const STEERING = [
  ...['CLAUDE.md', 'CLAUDE.local.md', 'AGENTS.md', 'AGENTS.override.md', 'GEMINI.md', 'QWEN.md'],
  ...['.cursorrules', '.clinerules', '.windsurfrules', '.roorules', '.goosehints', 'mcp.json'],
  ...['.gitlab-ci.yml', '.circleci'],
  ...['.github/workflows', '.github/actions', '.github/hooks', '.github/instructions'],
  ...['.github/copilot', '.github/copilot-instructions.md', 'Jenkinsfile'],
  ...['.opencode.json', 'crush.json', '.crush.json', 'CRUSH.md', 'WARP.md', '.rules', '.zed'],
  ...['.continuerules', '.junie', '.amazonq', '.augment', '.trae', '.kilocode', '.factory'],
  // Other services that run what a push brings.
  ...['.travis.yml', '.drone.yml', '.woodpecker', '.woodpecker.yml', '.buildkite', '.semaphore'],
  ...['.gitea', '.forgejo', '.teamcity', 'azure-pipelines.yml', 'bitbucket-pipelines.yml'],
  ...['appveyor.yml', '.appveyor.yml', 'cloudbuild.yaml', 'cloudbuild.yml'],
  // Programs load these before what they were asked for.
  ...['.mvn', '.pnpmfile.cjs', '.pnpmfile.mjs', '.bazelrc', '.bundle/config', '.yarn/releases'],
  ...[
    '.yarn/plugins',
    '.sqliterc',
    '.psqlrc',
    '.latexmkrc',
    '.nvimrc',
    '.nvim.lua',
    '.pryrc',
    '.Renviron',
  ],
  ...[
    '.ghci',
    '.ocamlinit',
    '.gnuplot',
    '.octaverc',
    '.sbtopts',
    '.jvmopts',
    '.hgrc',
    '.dir-locals.el',
    '*.code-workspace',
    '.hg/hgrc',
    '.gradle/init.gradle',
  ],
  ...['gradle/wrapper/gradle-wrapper.properties', 'gradle/wrapper/gradle-wrapper.jar'],
  // Hooks of git, and of directories that are entered.
  ...[
    'lefthook.yml',
    '.lefthook.yml',
    'lefthook.yaml',
    '.overcommit.yml',
    '.huskyrc*',
    'mise.toml',
  ],
  ...['.mise.toml', '.config/mise', '.autoenv', '.lintstagedrc*'],
].map((name) => `**/${name}`);

/** Every user may write these, and they keep nothing. */
const SINKS = /^\/dev\/(?:null|zero|full|stdout|stderr|tty|fd\/\d+)$/;

export function isSink(path: string): boolean {
  return SINKS.test(path);
}

export type Protection = {
  /** Whether reading it would show a secret. */
  readonly secret: (path: string) => boolean;
  /** Whether it must not be written. */
  readonly control: (path: string) => boolean;
  /** Whether a glob, absolute, could be the name of a secret or lead into one. */
  readonly globSecret: (glob: string) => boolean;
  /** Whether a glob, absolute, could be the name of what must not be written, or lead into it. */
  readonly globControl: (glob: string) => boolean;
  /** Whether a person has to agree before it is written. */
  readonly steering: (path: string) => boolean;
  /** Whether a glob, absolute, names one of these; `*` and `*.md` mean others. */
  readonly globSteering: (glob: string) => boolean;
  /** Whether the project or the home directory would go with it. */
  readonly inside: (path: string) => boolean;
};

export type Openings = {
  /** Globs that policies protect besides: neither read nor written. */
  readonly more: readonly string[];
  /** Directories of the system that a trusted policy lets commands write. */
  readonly opened: readonly string[];
  /** In the state root, where nothing else is for commands to write. */
  readonly scratch?: string | undefined;
  /** Directories that only we write: grants are kept there. */
  readonly kept?: readonly string[] | undefined;
};

export function protectedPaths(roots: Roots, openings: Openings): Protection {
  const { more, opened, scratch, kept = [] } = openings;
  const ours = pathSet(kept, roots);
  const extra = pathSet(more, roots);
  const secrets = pathSet(SECRETS, roots);
  const controls = pathSet(CONTROLS, roots);
  const keeps = pathSet(CONTROL_DIRECTORIES, roots);
  const steers = pathSet(STEERING, roots);
  // A project below a place that is protected as a whole can be worked in.
  const workplaces = [roots.project, ...(scratch === undefined ? [] : [scratch])];
  const open = pathSet([...workplaces, ...opened], roots);
  const named = (path: string): string => insideOf(path, workplaces);
  const secret = (path: string): boolean =>
    path.length > LENGTH_MAX ||
    extra.has(path) ||
    ((secrets.has(path) || isTelling(path)) && !EXAMPLES.test(path));
  return {
    secret,
    control: (path) =>
      !isSink(path) &&
      (secret(path) ||
        ours.has(path) ||
        controls.has(named(path)) ||
        (keeps.has(path) && !open.has(path))),
    globSecret: (glob) => {
      if (secret(glob)) return true;
      const regex = globRegex(glob, '(?:/.*)?');
      // A star alone does not cover names with a dot, and the others are too rare to ask for it.
      if (/(?:^|\/)\*$/.test(glob)) return false;
      return samples(roots).some((path) => regex.test(path));
    },
    globControl: (glob) => controlSamples(roots).some((path) => leadsTo(glob, path)),
    steering: (path) => steers.has(path),
    globSteering: (glob) =>
      steers.has(glob) ||
      (!/(?:^|\/)\*(?:\.\w+)?$/.test(glob) &&
        STEERING.some((name) => leadsTo(glob, posix.join(roots.project, name.slice(3))))),
    inside: (path) =>
      [roots.project, roots.home].some((one) => one === path || one.startsWith(`${path}/`)),
  };
}

/** Name by name, as bash does it: a wildcard does not match a dot at the start of a name. */
function leadsTo(glob: string, path: string): boolean {
  const [globs, names] = [glob.split('/'), path.split('/')];
  return names.every((name, at) => {
    const one = globs[at];
    if (one === undefined || (name.startsWith('.') && !/^\\?\./.test(one))) return false;
    return globRegex(one).test(name);
  });
}

/** Hidden ones with a plain name, where they usually are. `*` and `*.json` mean others. */
function controlSamples({ project, home }: Roots): readonly string[] {
  const names = CONTROLS.map((glob) => glob.slice(3)).filter((name) => /^\.[^*?[]+$/.test(name));
  return names.flatMap((name) => [project, home].map((one) => posix.join(one, name)));
}

/** A path of the project as if the project were at the top: where it lies says nothing of it. */
function insideOf(path: string, workplaces: readonly string[]): string {
  const found = workplaces.find((place) => place !== '/' && path.startsWith(`${place}/`));
  return found === undefined ? path : path.slice(found.length);
}

/** Names that globs are tried with; others are known by their usual ending. */
const SAMPLE_NAMES = [
  ...['.env', '.env.local', '.env.production', '.npmrc', '.netrc', '.git-credentials', '.pypirc'],
  ...['id_rsa', 'id_ed25519', '.ssh/id_rsa', '.aws/credentials', '.git/config'],
  // By their ends alone.
  ...['\u0001.key', '\u0001.pem'],
];

function samples({ project, home }: Roots): readonly string[] {
  const around = [project, posix.join(project, 'config'), home];
  const inside = around.flatMap((one) => SAMPLE_NAMES.map((name) => posix.join(one, name)));
  return [...inside, '/etc/shadow', '/proc/self/environ', '/proc/1/environ'];
}
