// What the engine asks about a program: whether it needs no rule, hides what it starts, shows the
// environment, or is a shell.

import { baseName } from '../text/base-name.ts';
import { shellKind } from '../text/shells.ts';
import { mayWrap } from './analyse/wrappers.ts';
import { hasTrait } from './facts.ts';
import type { Arg, Unit } from './unit.ts';

const SYSTEM_DIRECTORIES = /^(?:\/usr)?(?:\/local)?\/s?bin\//;

/** `/usr/bin/git` is `git`; `./git` is not. */
export function programName(value: string): string {
  return value.replace(SYSTEM_DIRECTORIES, '');
}

/** Whether it may run without a rule. */
export function needsNoRule({ argv }: Unit): boolean {
  const [first, ...rest] = argv;
  if (first?.kind !== 'literal') return false;
  // Without a name they show what there is: `declare -x` all that is exported.
  if (hasTrait(first.value, 'declares')) return rest.some(namesVariable) && rest.every(declares);
  // `set` alone shows every variable there is.
  if (first.value === 'set') return rest.length > 0 && rest.every(isLiteral);
  return hasTrait(first.value, 'steers');
}

function isLiteral({ kind }: Arg): boolean {
  return kind === 'literal';
}

function namesVariable(arg: Arg): boolean {
  return /^[A-Za-z_]\w*(?:\+?=|$)/.test(arg.kind === 'literal' ? arg.value : arg.source);
}

function declares(arg: Arg): boolean {
  return namesVariable(arg) || (arg.kind === 'literal' && /^-[aAgilrux]+$/.test(arg.value));
}

/** Filters that read variables, or other files. */
const JQ_ENVIRONMENT = new RegExp(
  [
    '(?:^|[^.\\w$"])(?:env|strenv|envsubst|import|include|load\\w*)\\b',
    // Some versions take white space and comments behind the sign.
    '\\$(?:\\s|#[^\\n]*\\n)*ENV\\b',
    // To yq these are code: `eval("en" + "v(X)")`.
    '\\b(?:eval|system)\\s*\\(',
  ].join('|'),
);

const FILTER_LENGTH_MAX = 8_192; // a longer filter is not searched

/** Whether a filter of jq would. */
export function readsEnvironment(filter: string): boolean {
  return filter.length > FILTER_LENGTH_MAX || JQ_ENVIRONMENT.test(filter);
}

/** Whether it prints the environment, or what is set in the shell. */
export function showsEnvironment({ argv }: Unit): boolean {
  const [first, ...rest] = argv;
  const name = first?.kind === 'literal' ? programName(first.value) : '';
  if (hasTrait(name, 'shows-environment')) return true;
  const words = rest.flatMap((arg) => (arg.kind === 'literal' ? [arg.value] : []));
  if (/^[jy]q$/.test(name)) return words.some(readsEnvironment);
  if (/^[gmn]?awk$/.test(name)) return words.some((word) => word.includes('ENVIRON'));
  if (hasTrait(name, 'manager')) return words.includes('env');
  return name === 'set' || hasTrait(name, 'declares') ? !rest.some(namesVariable) : false;
}

/** It runs a command as another user, on another machine or unseen: it needs its own rule. */
export function isOpaque(program: string): boolean {
  return hasTrait(baseName(program), 'opaque');
}

/** A wrapper that could not be opened, because what it runs is only known then: `nohup $x`. */
export function isClosed([first, ...rest]: readonly Arg[]): boolean {
  const name = first?.kind === 'literal' ? baseName(first.value) : '';
  return mayWrap(name) && rest.some(({ kind }) => kind !== 'literal');
}

/** It prints where a program is, for another command to use: `cp $(which rm) x`. */
export function tellsPrograms(program: string): boolean {
  return hasTrait(baseName(program), 'finds-programs');
}

export function isShell(program: string): boolean {
  return shellKind(plainName(program)) !== undefined;
}

/** `./git`, `bin/git`: a program by its path, outside of the system's directories. */
export function isOwnPath(value: string): boolean {
  return programName(value).includes('/');
}

/** `python3.12`, `perl5.34`, `vim.tiny` are what they are without that. */
export function plainName(value: string): string {
  let name = baseName(value);
  // One after the other: all at once can be done in too many ways.
  while (name.length < NAME_LENGTH_MAX) {
    const shorter = name.replace(/(?:-?\d[\w.]*|\.(?:tiny|basic|nox|exe)|-(?:static|dbg))$/, '');
    if (shorter === name) break;
    name = shorter;
  }
  return name;
}

/** No program is called that. */
const NAME_LENGTH_MAX = 256;

/** What a person says to questions of agents and takes back, and what makes the rules. */
const ANSWERS = ['approve', 'approvals', 'revoke', 'changes', 'init'];

/** `cuff policy approve`, also by `npx` or its path: an agent may not answer itself. */
export function approvesItself(argv: readonly Arg[]): boolean {
  const words = argv.map((arg) => (arg.kind === 'literal' ? baseName(arg.value) : ''));
  const ours = words.findIndex((word) => /^(?:cuff|derun)(?:\.[cm]?js)?$/.test(word));
  return (
    ours >= 0 && words.includes('policy', ours) && ANSWERS.some((one) => words.includes(one, ours))
  );
}
