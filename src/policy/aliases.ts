// Other names of the same thing: a rule that denies `npm install` means `npm i`, too, and one about
// `sed` means `gsed`.

import { plainName } from './programs.ts';

const NPM: Readonly<Record<string, string>> = {
  ...named('install', 'i in ins inst insta instal isnt isnta isntal isntall add'),
  ...named('ci', 'clean-install ic install-clean isntall-clean'),
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

const ALIASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  npm: NPM,
  pnpm: NPM,
  git: named('add', 'stage'),
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
  const begun = NPM_COMMANDS.filter((name) => name.startsWith(given));
  const shortened = program === 'npm' && given.length >= SHORTENED_MIN && begun.length === 1;
  const word = shortened ? (begun[0] ?? given) : given;
  return aliases !== undefined && Object.hasOwn(aliases, word) ? (aliases[word] ?? word) : word;
}

/** Whether a rule about the first is about the second: versions and GNU's own names count alike. */
export function programNames(wanted: string, name: string): boolean {
  if (wanted === name || `g${wanted}` === name) return true;
  const [one, other] = [plainName(wanted), plainName(name)];
  return one !== '' && (one === other || (one === 'node' && other === 'nodejs'));
}
