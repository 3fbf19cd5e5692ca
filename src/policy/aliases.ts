// Other names of the same thing: a rule that denies `npm install` means `npm i`, too, and one about
// `sed` means `gsed`.

import { baseName, plainName } from './programs.ts';
import type { Arg } from './unit.ts';

const NPM: Readonly<Record<string, string>> = {
  ...named('install', 'i in ins inst insta instal isnt isnta isntal isntall add it install-test'),
  ...named('ci', 'clean-install ic install-clean isntall-clean cit install-ci-test'),
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
};

const DOCKER: Readonly<Record<string, string>> = {
  ...named('rm', 'remove'),
  ...named('ls', 'list'),
};

const ALIASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  npm: NPM,
  pnpm: NPM,
  git: named('add', 'stage'),
  docker: DOCKER,
  podman: DOCKER,
  nerdctl: DOCKER,
  helm: { ...named('uninstall', 'delete del un'), ...named('list', 'ls') },
  brew: { ...named('uninstall', 'rm remove'), ...named('list', 'ls') },
  dnf: { ...named('remove', 'erase rm'), ...named('upgrade', 'update up') },
  composer: { ...named('update', 'u upgrade'), ...named('install', 'i'), ...named('require', 'r') },
  bun: { ...named('install', 'i'), ...named('add', 'a'), ...named('remove', 'rm') },
  gh: { ...named('create', 'new'), ...named('list', 'ls') },
  cargo: {
    ...named('build', 'b'),
    ...named('check', 'c'),
    ...named('test', 't'),
    ...named('run', 'r'),
    ...named('doc', 'd'),
    ...named('remove', 'rm'),
  },
};

function named(name: string, others: string): Readonly<Record<string, string>> {
  return Object.fromEntries(others.split(' ').map((other) => [other, name]));
}

/** Those of npm that change something; it takes the beginning of a name for the name. */
const NPM_COMMANDS = `access adduser audit cache config dedupe deprecate dist-tag edit exec explore
  init install link login logout owner pack profile prune publish rebuild restart run-script set
  shrinkwrap start stop team test token uninstall unpublish update version`.split(/\s+/);
const SHORTENED_MIN = 3; // what is shorter is a name of its own

/** The name that stands for all of them. */
export function subcommandName(program: string, given: string): string {
  const aliases = Object.hasOwn(ALIASES, program) ? ALIASES[program] : undefined;
  if (aliases !== undefined && Object.hasOwn(aliases, given)) return aliases[given] ?? given;
  // `0777` is `777`.
  if (program === 'chmod') return given.replace(/^0+(?=[0-7]{3})/, '');
  if (program !== 'npm' || given.length < SHORTENED_MIN) return given;
  const [begun, ...more] = NPM_COMMANDS.filter((name) => name.startsWith(given));
  const whole = more.length === 0 ? (begun ?? given) : given;
  return NPM[whole] ?? whole;
}

const SAME: readonly (readonly string[])[] = [
  ['apt', 'apt-get', 'aptitude'],
  ['mysql', 'mariadb'],
  ['terraform', 'tofu'],
  ['tar', 'bsdtar', 'gtar'],
  ['dnf', 'yum'],
];

/** Whether a rule about the first is about the second: versions and GNU's own names count alike. */
export function programNames(wanted: string, name: string): boolean {
  if (wanted === name || `g${wanted}` === name) return true;
  if (SAME.some((names) => names.includes(wanted) && names.includes(name))) return true;
  const [one, other] = [plainName(wanted), plainName(name)];
  return one !== '' && (one === other || (one === 'node' && other === 'nodejs'));
}

/** What `docker` has in two ways: with a noun in front, and without. */
const NOUNS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    `attach commit cp create diff exec export kill logs pause port rename restart rm run start stats
    stop top unpause update wait`
      .split(/\s+/)
      .map((verb) => [verb, `container ${verb}`]),
  ),
  ...Object.fromEntries(
    'build history import load pull push save tag'
      .split(' ')
      .map((verb) => [verb, `image ${verb}`]),
  ),
  ps: 'container ls',
  images: 'image ls',
  rmi: 'image rm',
};
const VERBS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(NOUNS).map(([verb, both]) => [both, verb])),
  'container ps': 'ps',
  'buildx b': 'build',
};

export function saysInTwoWays(program: string): boolean {
  return /^(?:docker|podman|nerdctl)$/.test(program);
}

/** The same command line in other words: `docker image rm x` is `docker rmi x`. */
export function otherWords(argv: readonly Arg[]): readonly (readonly Arg[])[] {
  const [program, ...rest] = argv;
  if (program?.kind !== 'literal') return [];
  const name = baseName(program.value);
  const values = rest.map((arg) => (arg.kind === 'literal' ? arg.value : ''));
  const said = (words: string, at: number, count: number): readonly Arg[] => [
    program,
    ...rest.slice(0, at),
    ...words.split(' ').map(literalArg),
    ...rest.slice(at + count),
  ];
  if (/^(?:docker|podman)-compose$/.test(name)) {
    return [[literalArg(name.replace('-compose', '')), literalArg('compose'), ...rest]];
  }
  if (/^[bg]?(?:sd)?tar$/.test(name) && /^[a-zA-Z]+$/.test(values[0] ?? '')) {
    return [said(`-${values[0]}`, 0, 1)];
  }
  if (!saysInTwoWays(name)) return [];
  return values.flatMap((value, at) => {
    const both = `${value} ${subcommandName(name, values[at + 1] ?? '')}`;
    const compose = [literalArg(`${name}-compose`), ...rest.slice(at + 1)];
    return [
      ...(value === 'compose' ? [compose] : []),
      ...(Object.hasOwn(NOUNS, value) ? [said(NOUNS[value] ?? value, at, 1)] : []),
      ...(Object.hasOwn(VERBS, both) ? [said(VERBS[both] ?? both, at, 2)] : []),
    ];
  });
}

function literalArg(value: string): Arg {
  return { kind: 'literal', value, source: value, span: undefined };
}
