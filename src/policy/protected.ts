// Files that no rule of a policy opens: secrets, which are not read without a person's consent, and
// files that make programs do something later (start-up files, hooks, the configuration of agents
// and our own), which are not written.

import { posix } from 'node:path';
import { listOf } from './facts.ts';
import { globRegex, pathSet, type Roots } from './paths.ts';
import { wildControl, wildSecret, wildSteering } from './wildcards.ts';

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
  const secrets = pathSet(listOf('secrets'), roots);
  const controls = pathSet(listOf('controls'), roots);
  const keeps = pathSet(listOf('control-directories'), roots);
  const steers = pathSet(
    listOf('steering').map((name) => `**/${name}`),
    roots,
  );
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
      if (secret(glob) || wildSecret(glob)) return true;
      const regex = globRegex(glob, '(?:/.*)?');
      // A star alone does not cover names with a dot, and the others are too rare to ask for it.
      if (/(?:^|\/)\*$/.test(glob)) return false;
      return samples(roots).some((path) => regex.test(path));
    },
    globControl: (glob) =>
      wildControl(named(glob)) || controlSamples(roots).some((path) => leadsTo(glob, path)),
    steering: (path) => steers.has(path),
    globSteering: (glob) =>
      steers.has(glob) ||
      wildSteering(glob) ||
      (!/(?:^|\/)\*(?:\.\w+)?(?:\/|$)/.test(glob) &&
        listOf('steering').some((name) => leadsTo(glob, posix.join(roots.project, name)))),
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
  const names = listOf('controls')
    .map((glob) => glob.slice(3))
    .filter((name) => /^\.[^*?[]+$/.test(name));
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
