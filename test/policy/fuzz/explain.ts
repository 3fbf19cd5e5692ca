// Holds what a real bash did against what `analyse` said of the text. Something done is explained
// by one of these, and by nothing else:
//   1. the analysis has a problem: the command is not judged by its text at all;
//   2. a unit whose words can be the ones that were executed, in a directory it may run in;
//   3. a unit whose program is not known;
//   4. for a wrapper (`env`, `xargs`, `bash -c`): a unit that is reached through it;
//   5. a unit that runs code which is not in the text (`runsUnseen`), or that sets a variable by
//      which a shell runs code (`STEERING`): both need a rule.
// A file that was written needs a redirection to it; a variable that a program got needs somebody
// who assigned it.
import { basename, resolve } from 'node:path/posix';
import type { Analysis, Arg, Unit } from '../../../src/policy/unit.ts';
import { type Execution, JAIL_CWD, type Outcome } from './jail.ts';

/** They run code out of a file or out of their input, if they are not given it in a word. */
const SHELLS = new Set(['bash', 'sh', 'dash']);
/** They run what is in their words, which is only known when all words are. */
const OPENED = new Set([
  ...['eval', 'trap', 'xargs', 'find', 'env', 'exec', 'command', 'builtin', 'nice', 'nohup'],
  ...['timeout', 'setsid', 'stdbuf'],
]);
/** Builtins that run code, or change what a name means, by one of their options. */
const BY_OPTION = new Set(['mapfile', 'readarray', 'complete', 'compgen', 'enable', 'hash']);
const STEERING = new Set(['PS4', 'BASH_ENV', 'ENV', 'PROMPT_COMMAND', 'SHELLOPTS', 'BASHOPTS']);
/** They set variables whose names are among their words. */
const SETTERS = new Set([
  ...['export', 'declare', 'typeset', 'readonly', 'local', 'read', 'printf', 'mapfile', 'set'],
  ...['readarray', 'getopts', 'unset', 'wait', 'env', 'let', 'source', '.', 'eval'],
]);

/** What is neither reported nor flagged, one sentence each. Empty: all is explained. */
export function unexplained(analysis: Analysis, outcome: Outcome): string[] {
  if (analysis.problems.length > 0) return [];
  const { units } = analysis;
  if (units.some((unit) => unit.argv[0] !== undefined && unit.argv[0].kind !== 'literal'))
    return [];
  if (units.some(steers)) return [];
  const hidden = units.some(runsUnseen);
  const pathIsSet = units.some((unit) => sets(unit, 'PATH', undefined));
  const complaints: string[] = [];
  for (const one of outcome.executions) {
    if (!hidden && !units.some((unit) => explains(unit, one, pathIsSet))) {
      complaints.push(`executed ${JSON.stringify(one.argv)} (${one.path}) in ${one.cwd}`);
    }
    for (const name of [...one.env.keys(), ...one.unset]) {
      if (hidden || units.some((unit) => sets(unit, name, one.env.get(name)))) continue;
      complaints.push(`gave ${name}=${one.env.get(name)} to ${JSON.stringify(one.argv)}`);
    }
  }
  for (const file of outcome.written) {
    if (hidden || units.some((unit) => writes(unit, file))) continue;
    complaints.push(`wrote ${file}`);
  }
  return complaints;
}

function nameOf(unit: Unit): string {
  const first = unit.argv[0];
  return first?.kind === 'literal' ? basename(first.value) : '';
}

function runsUnseen(unit: Unit): boolean {
  const name = nameOf(unit);
  const words = unit.argv.slice(1);
  const literal = words.every(({ kind }) => kind === 'literal');
  const hasOption = words.some(({ source }) => /^-\w*[Cpf]/.test(source));
  if (BY_OPTION.has(name)) return hasOption || !literal;
  if (OPENED.has(name)) return !literal;
  if (name === 'source' || name === '.') return true; // to them `-c` is a word like any other
  // Behind the name of a file `-c` is a word for what is in it.
  const file = words.findIndex(({ source }) => !/^[-+]/.test(source));
  const options = file === -1 ? words : words.slice(0, file);
  return SHELLS.has(name) && !(literal && options.some(({ source }) => /^-\w*c/.test(source)));
}

function steers(unit: Unit): boolean {
  return unit.assigned.some(({ name }) => STEERING.has(name));
}

function explains(unit: Unit, one: Execution, pathIsSet: boolean): boolean {
  if (unit.via.some((wrapper) => wrapper.split(' ')[0] === basename(one.path))) return true;
  const [program, ...words] = unit.argv;
  if (program?.kind !== 'literal') return false;
  if (unit.cwds !== undefined && !unit.cwds.some((cwd) => inJail(cwd) === one.cwd)) return false;
  if (!isProgram(program.value, one, pathIsSet)) return false;
  return fits(words, one.argv.slice(1));
}

function isProgram(name: string, one: Execution, pathIsSet: boolean): boolean {
  if (name.includes('/')) return resolve(one.cwd, name) === resolve(one.cwd, one.path);
  if (basename(one.path) !== name) return false;
  // A search that was led elsewhere is explained by who set the variable.
  return one.path === `/bin/${name}` || one.path === name || pathIsSet;
}

/** Whether the words of a unit can have become these. */
export function fits(words: readonly Arg[], argv: readonly string[]): boolean {
  const [word, ...rest] = words;
  if (word === undefined) return argv.length === 0;
  const [first, ...others] = argv;
  if (word.kind === 'literal') return first === word.value && fits(rest, others);
  if (word.kind === 'unknown' && word.one) {
    return first?.startsWith(word.prefix) === true && fits(rest, others);
  }
  // Any number; a glob at least one, and all of them begin as it does.
  const none = word.kind === 'unknown' && word.prefix === '';
  if (none && fits(rest, argv)) return true;
  for (let count = 1; count <= argv.length; count += 1) {
    const taken = argv[count - 1] ?? '';
    if (count === 1 && !taken.startsWith(word.prefix)) return false;
    if (word.kind === 'glob' && !matches(word, taken)) return false;
    if (fits(rest, argv.slice(count))) return true;
  }
  return false;
}

/** Loosely: what stands behind a bracket can be anything. Without a match it is the pattern. */
function matches({ pattern, prefix }: { pattern: string; prefix: string }, name: string): boolean {
  if (!name.startsWith(prefix)) return false;
  let made = '';
  for (const [token] of pattern.replace(/\/+/g, '/').matchAll(/\\?[\s\S]/g)) {
    if (token === '/') {
      made += '/+'; // as many as it likes
      continue;
    }
    if (token === '[') {
      made += '.*';
      break;
    }
    const wild = token === '*' ? '.*' : token === '?' ? '.{1,2}' : undefined;
    made += wild ?? token.replace(/^\\([\s\S])$/, '$1').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  }
  return new RegExp(`^${made}$`, 's').test(name) || name === pattern.replace(/\\([\s\S])/g, '$1');
}

function sets(unit: Unit, name: string, value: string | undefined): boolean {
  if (unit.assigned.some((one) => assigns(one, name, value))) return true;
  return SETTERS.has(nameOf(unit)) || unit.via.some((wrapper) => /^(env|exec)\b/.test(wrapper));
}

function assigns(one: Unit['assigned'][number], name: string, value: string | undefined): boolean {
  return (
    one.name === name && (one.value === undefined || value === undefined || one.value === value)
  );
}

function writes(unit: Unit, file: string): boolean {
  // Options of these write, and are seen as words.
  if (['find', 'history'].includes(nameOf(unit))) return true;
  return unit.redirects.some(({ effect, target }) => {
    if (effect === 'read' || effect === 'dup' || effect === 'text') return false;
    const cwds = unit.cwds ?? [JAIL_CWD];
    if (target?.kind !== 'literal') {
      if (target === undefined) return false;
      const up = /^\.\.(?:\/|$)/.test(target.prefix);
      return up
        ? cwds.some((cwd) => file.startsWith(inJail(resolve(cwd, target.prefix))))
        : begins(file, target.prefix.replace(/\/+/g, '/'));
    }
    if (unit.cwds === undefined && !target.value.startsWith('/')) {
      return basename(file) === basename(target.value);
    }
    return cwds.some((cwd) => inJail(resolve(cwd, target.value)) === file);
  });
}

/** A prefix may end inside of `/tmp`, which is a link, or of `..`. */
function begins(file: string, whole: string): boolean {
  const prefix = whole.replace(/(^|\/)\.{1,2}$/, '$1');
  const linked = file.replace(/^\/w\/t(?=\/|$)/, '/tmp');
  return file.includes(inJail(prefix)) || linked.startsWith(prefix);
}

/** `/tmp` is a link in the jail. */
function inJail(path: string): string {
  return path.replace(/^\/tmp(?=\/|$)/, '/w/t');
}
