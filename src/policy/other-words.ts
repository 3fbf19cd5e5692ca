// The same command line in other words: `docker image rm x` is `docker rmi x`, `git push +main`
// pushes with force. A rule that denies one of them means the other.

import { baseName } from '../text/base-name.ts';
import { subcommandName } from './aliases.ts';
import { literalOf, wordArg as word } from './analyse/args.ts';
import type { Arg } from './unit.ts';

type Words = readonly Arg[];

export function otherWords(argv: Words): readonly Words[] {
  const [program, ...rest] = argv;
  if (program?.kind !== 'literal') return [];
  const name = baseName(program.value);
  const own = Object.hasOwn(BY_PROGRAM, name) ? BY_PROGRAM[name] : undefined;
  if (own !== undefined) return own(rest, name);
  if (/^(?:docker|podman)-compose$/.test(name)) {
    return [[word(name.replace('-compose', '')), word('compose'), ...rest]];
  }
  if (/^[bg]?(?:sd)?tar$/.test(name) && /^[a-zA-Z]+$/.test(literalOf(rest[0]))) {
    return [[program, word(`-${literalOf(rest[0])}`), ...rest.slice(1)]];
  }
  return [];
}

const BY_PROGRAM: Readonly<Record<string, (rest: Words, name: string) => readonly Words[]>> = {
  docker: container,
  podman: container,
  nerdctl: container,
  git: pushed,
  kill: signalled,
  pkill: signalled,
  killall: signalled,
  npm: lifecycle,
  yarn: installing,
  yarnpkg: installing,
  bundle: installing,
  bundler: installing,
  sudoedit: (rest) => [[word('sudo'), word('-e'), ...rest]],
  service: (rest) => [[word('systemctl'), ...rest.slice(1), ...rest.slice(0, 1)]],
  systemctl: stopped,
  init: stopped,
  telinit: stopped,
  reboot: stopped,
  poweroff: stopped,
  halt: stopped,
};

/** Subcommands that `docker` has with a noun in front, and without. */
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

function container(rest: Words, name: string): readonly Words[] {
  const said = (words: string, at: number, count: number): Words => [
    word(name),
    ...rest.slice(0, at),
    ...words.split(' ').map(word),
    ...rest.slice(at + count),
  ];
  return rest.flatMap((arg, at) => {
    const value = literalOf(arg);
    const both = `${value} ${subcommandName(name, literalOf(rest[at + 1]))}`;
    return [
      ...(value === 'compose' ? [[word(`${name}-compose`), ...rest.slice(at + 1)]] : []),
      ...(Object.hasOwn(NOUNS, value) ? [said(NOUNS[value] ?? value, at, 1)] : []),
      ...(Object.hasOwn(VERBS, both) ? [said(VERBS[both] ?? both, at, 2)] : []),
    ];
  });
}

/** `HEAD:main`, `+main` and `refs/heads/main` are `main` at the other end; `:main` deletes it. */
function pushed(rest: Words): readonly Words[] {
  const at = rest.findIndex((arg) => /^(?:push|send-pack|http-push)$/.test(literalOf(arg)));
  if (at < 0) return [];
  const behind = rest.slice(at + 1);
  const values = behind.map(literalOf);
  const more = [
    ...(values.some((one) => one.startsWith('+') || /^--mirr/.test(one)) ? ['--force'] : []),
    ...(values.some((one) => one.startsWith(':')) ? ['--delete'] : []),
  ];
  const names = behind.map((arg) => (arg.kind === 'literal' ? word(branchOf(arg.value)) : arg));
  return [[word('git'), ...rest.slice(0, at), word('push'), ...names, ...more.map(word)]];
}

function branchOf(value: string): string {
  // An option, and an address: `git@host:x`, `https://host/x`.
  if (/^-|^[\w.-]+@[\w.-]+:|:\/\//.test(value)) return value;
  return value.slice(value.lastIndexOf(':') + 1).replace(/^\+?(?:refs\/heads\/)?/, '');
}

const SIGNALS: Readonly<Record<string, string>> = {
  ...{ HUP: '1', INT: '2', QUIT: '3', ABRT: '6', KILL: '9', USR1: '10', SEGV: '11', USR2: '12' },
  ...{ PIPE: '13', ALRM: '14', TERM: '15', CONT: '18', STOP: '19', TSTP: '20' },
};

/** `-9`, `-KILL`, `-s SIGKILL`, `--signal=9`: one signal. */
function signalled(rest: Words, name: string): readonly Words[] {
  const text = rest.map(literalOf).join(' ');
  const said = /(?:^| )(?:-[sn] ?|--signal[ =]|-)([A-Za-z][A-Za-z0-9]+|\d+)(?= |$)/.exec(text)?.[1];
  const given = said?.toUpperCase().replace(/^SIG/, '') ?? '';
  const found = Object.entries(SIGNALS).find((both) => both.includes(given));
  if (found === undefined) return [];
  const [signal, number] = found;
  return [`-${number}`, `-${signal}`, `-SIG${signal}`].map((one) => [
    word(name),
    word(one),
    word('-s'),
    word(signal),
    ...rest,
  ]);
}

/** `npm run test` is `npm test`. */
function lifecycle(rest: Words, name: string): readonly Words[] {
  const at = rest.findIndex((arg) => subcommandName(name, literalOf(arg)) === 'run');
  const script = rest.findIndex((arg, index) => index > at && !literalOf(arg).startsWith('-'));
  const own = at >= 0 && /^(?:test|start|stop|restart)$/.test(literalOf(rest[script]));
  return own ? [[word(name), ...rest.slice(0, at), ...rest.slice(at + 1)]] : [];
}

/** Alone they install. */
function installing(rest: Words, name: string): readonly Words[] {
  const alone = rest.every((arg) => /^-/.test(literalOf(arg)));
  const asks = rest.some((arg) => /^(?:-[vVh]|--version|--help)$/.test(literalOf(arg)));
  return alone && !asks ? [[word(name), word('install'), ...rest]] : [];
}

const STOPS: Readonly<Record<string, string>> = { '0': 'poweroff', '6': 'reboot' };

/** All that takes the machine down is what `shutdown` does. */
function stopped(rest: Words, name: string): readonly Words[] {
  const verb = name === 'systemctl' || name.endsWith('init') ? rest.map(literalOf) : [name];
  const how = verb
    .map((one) => STOPS[one] ?? one)
    .find((one) => /^(?:reboot|poweroff|halt)$/.test(one));
  return how === undefined ? [] : [[word('shutdown')], [word(how)]];
}
