// Other names of the same thing: a rule that denies `npm install` means `npm i`, too, and one about
// `sed` means `gsed`. Whole lines in other words are in other-words.ts.

import { plainName } from './programs.ts';

type Names = Readonly<Record<string, string>>;

const NPM = once(() => ({
  ...named('install', 'i in ins inst insta instal isnt isnta isntal isntall add it install-test'),
  ...named('ci', 'clean-install ic install-clean isntall-clean'),
  ...named('ci', 'cit install-ci-test clean-install-test sit'),
  ...named('run', 'run-script rum urn'),
  ...named('test', 't tst'),
  ...named('uninstall', 'un unlink remove rm r'),
  ...named('update', 'up upgrade udpate'),
  ...named('exec', 'x'),
  ...named('config', 'c'),
  ...named('link', 'ln'),
  ...named('list', 'ls la ll'),
  ...named('view', 'v info show'),
  ...named('init', 'create innit'),
}));

const DOCKER = once(() => ({
  ...named('rm', 'remove'),
  ...named('ls', 'list'),
}));

/** Made when a command asks for its program: most ask for none of them. */
const ALIASES: Readonly<Record<string, () => Names>> = {
  npm: NPM,
  pnpm: NPM,
  git: once(() => named('add', 'stage')),
  docker: DOCKER,
  podman: DOCKER,
  nerdctl: DOCKER,
  helm: once(() => ({ ...named('uninstall', 'delete del un'), ...named('list', 'ls') })),
  brew: once(() => ({
    ...named('uninstall', 'rm remove'),
    ...named('list', 'ls'),
    instal: 'install',
  })),
  gem: once(() => named('install', 'i')),
  bundle: once(() => named('install', 'i')),
  dnf: once(() => ({ ...named('remove', 'erase rm'), ...named('upgrade', 'update up') })),
  composer: once(() => ({
    ...named('update', 'u upgrade'),
    ...named('install', 'i'),
    ...named('require', 'r'),
  })),
  bun: once(() => ({ ...named('install', 'i'), ...named('add', 'a'), ...named('remove', 'rm') })),
  gh: once(() => ({ ...named('create', 'new'), ...named('list', 'ls') })),
  cargo: once(() => ({
    ...named('build', 'b'),
    ...named('check', 'c'),
    ...named('test', 't'),
    ...named('run', 'r'),
    ...named('doc', 'd'),
    ...named('remove', 'rm'),
  })),
};

function once(make: () => Names): () => Names {
  let made: Names | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function named(name: string, others: string): Names {
  return Object.fromEntries(others.split(' ').map((other) => [other, name]));
}

/** Those that change something, of programs that take the beginning of a name for the name. */
const SHORTENED: Readonly<Record<string, readonly string[]>> = {
  npm: `access adduser audit cache config dedupe deprecate dist-tag edit exec explore init install
    link login logout owner pack profile prune publish rebuild restart run-script set shrinkwrap
    start stop team test token uninstall unpublish update version`.split(/\s+/),
  gem: 'build cleanup exec install owner pristine push signin uninstall update yank'.split(' '),
  composer: `archive bump clear-cache config create-project dump-autoload exec global init install
    reinstall remove require run-script self-update update`.split(/\s+/),
};
const SHORTENED_MIN = 3; // what is shorter is a name of its own

/** The name that stands for all of them. */
export function subcommandName(program: string, given: string): string {
  const aliases = Object.hasOwn(ALIASES, program) ? ALIASES[program]?.() : undefined;
  if (aliases !== undefined && Object.hasOwn(aliases, given)) return aliases[given] ?? given;
  if (program === 'chmod') return modeName(given);
  const names = Object.hasOwn(SHORTENED, program) ? SHORTENED[program] : undefined;
  if (names === undefined || given.length < SHORTENED_MIN) return given;
  const [begun, ...more] = names.filter((name) => name.startsWith(given));
  const whole = more.length === 0 ? (begun ?? given) : given;
  return aliases?.[whole] ?? whole;
}

/** `0777`, `a+rwx` and `ugo=rwx` are `777`. */
function modeName(given: string): string {
  const all = /^(?:a|[ugo]{3})[+=]([rwx]{3})$/.exec(given)?.[1];
  if (all !== undefined && new Set(all).size === 3) return '777';
  return given.replace(/^=?0*(?=[0-7]{3})/, '');
}

const SAME: readonly (readonly string[])[] = [
  ['apt', 'apt-get', 'aptitude'],
  ['mysql', 'mariadb'],
  ['terraform', 'tofu'],
  ['tar', 'bsdtar', 'gtar'],
  ['dnf', 'yum'],
  ['make', 'bmake'],
  ['python', 'py'],
  ['ssh', 'slogin'],
  ['sudo', 'sudo-rs'],
  ['yarn', 'yarnpkg'],
  ['bundle', 'bundler'],
  ['vim', 'vi', 'rvim', 'gvim', 'vimdiff', 'view', 'rview', 'ex'],
];

/**
 * Whether a rule about the first is about the second: versions, GNU's own names and what a system
 * puts behind a dot (`nc.openbsd`, `mkfs.ext4`) count alike, as do letters, which some disks do not
 * tell apart.
 */
export function programNames(rule: string, given: string): boolean {
  const [wanted, name] = [rule.toLowerCase(), given.toLowerCase()];
  if (wanted === name || `g${wanted}` === name) return true;
  if (name.startsWith(`${wanted}.`) && !SCRIPT.test(name)) return true;
  const [one, other] = [kindOf(wanted), kindOf(name)];
  return one !== '' && (one === other || (one === 'node' && other === 'nodejs'));
}

const KINDS_MAX = 1_000;
const kinds = new Map<string, string>();

/** One name for all that are alike; every rule asks for that of every program. */
function kindOf(name: string): string {
  const known = kinds.get(name);
  if (known !== undefined) return known;
  const plain = plainName(name);
  const kind = SAME.find((names) => names.includes(plain))?.[0] ?? plain;
  if (kinds.size >= KINDS_MAX) kinds.clear();
  kinds.set(name, kind);
  return kind;
}

/** `deploy.sh` is a script of its own, not `deploy`. */
const SCRIPT = /\.(?:[bz]?a?sh|py|rb|pl|php|lua|[cm]?[jt]s)$/;
