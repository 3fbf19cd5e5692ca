// The same thing in other words: `npm i` is `npm install`, `gsed` is `sed`, `docker image rm x` is
// `docker rmi x`, and `git push +main` pushes with force. A rule that denies one of them means the
// other. Names stand in the records of programs; what no table can say is here.

import { baseName } from '../text/base-name.ts';
import { literalOf, wordArg as word } from './analyse/args.ts';
import { factsOf } from './facts.ts';
import { plainName } from './programs.ts';
import type { Arg } from './unit.ts';

const SHORTENED_MIN = 3; // what is shorter is a name of its own

/** The name that stands for all of them. */
export function subcommandName(program: string, given: string): string {
  const { aliases = {}, shortened } = factsOf(program) ?? {};
  if (Object.hasOwn(aliases, given)) return aliases[given] ?? given;
  if (program === 'chmod') return modeName(given);
  if (shortened === undefined || given.length < SHORTENED_MIN) return given;
  const names = shortened.split(' ');
  const [begun, ...more] = names.filter((name) => name.startsWith(given));
  const whole = more.length === 0 ? (begun ?? given) : given;
  return aliases[whole] ?? whole;
}

/** `0777`, `a+rwx` and `ugo=rwx` are `777`. */
function modeName(given: string): string {
  const all = /^(?:a|[ugo]{3})[+=]([rwx]{3})$/.exec(given)?.[1];
  if (all !== undefined && new Set(all).size === 3) return '777';
  return given.replace(/^=?0*(?=[0-7]{3})/, '');
}

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
  const kind = factsOf(plain)?.of ?? plain;
  if (kinds.size >= KINDS_MAX) kinds.clear();
  kinds.set(name, kind);
  return kind;
}

/** `deploy.sh` is a script of its own, not `deploy`. */
const SCRIPT = /\.(?:[bz]?a?sh|py|rb|pl|php|lua|[cm]?[jt]s)$/;

type Words = readonly Arg[];

export function otherWords(argv: Words): readonly Words[] {
  const [program, ...rest] = argv;
  if (program?.kind !== 'literal') return [];
  const name = baseName(program.value);
  const { sameAs } = factsOf(name) ?? {};
  if (sameAs !== undefined) return container(rest, name, Object.entries(sameAs));
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

/** `same`: subcommands that it has with a noun in front, and without. */
function container(
  rest: Words,
  name: string,
  same: readonly (readonly [string, string])[],
): readonly Words[] {
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
      ...same.flatMap(([one, other]) => {
        if (one === value) return [said(other, at, 1)];
        if (one === both) return [said(other, at, 2)];
        return other === both ? [said(one, at, 2)] : [];
      }),
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
