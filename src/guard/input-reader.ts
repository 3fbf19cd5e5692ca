// Which programs would get what is typed into a command, or fed to it: by the words that the
// analysis finds, not by how they are written. Only a server with a policy in force loads this.

import { analyse } from '../policy/analyse/index.ts';
import { shellOf } from '../policy/analyse/shells.ts';
import { programOf } from '../policy/analyse/wrappers.ts';
import type { Arg, Unit } from '../policy/unit.ts';
import { isBash, type Reader, scriptOf } from './judged-texts.ts';

/** They do nothing with their input but read it as text, or do not read it. */
const TEXT_READERS = new Set(
  (
    'cat read wc head tail sort grep uniq cut tr nl ' +
    'echo printf sleep true false : test [ pwd cd'
  ).split(' '),
);

/** `shell` is what reads the text of the command. */
export function readerOf(command: string, shell = 'bash'): Reader {
  const { units, functions, problems } = analyse(scriptOf(shell, command), ANYWHERE);
  const others = units.filter((unit) => !readsText(unit));
  const shells = [...new Set(others.flatMap(shellName))];
  if (problems.length > 0 || functions.length > 0) return { kind: 'other', name: PROGRAM, shells };
  const [first] = others;
  if (first === undefined) return { kind: 'text' };
  const [name] = shells;
  if (name !== undefined && shells.length === 1 && others.every(takesKeys)) {
    return { kind: 'shell', shell: name };
  }
  return { kind: 'other', name: nameOf(first) ?? PROGRAM, shells };
}

const PROGRAM = 'program';

// No name of a program depends on where it runs.
const ANYWHERE = { cwd: '/', home: '/' };

function nameOf({ argv }: Unit): string | undefined {
  return programOf(argv[0]);
}

function readsText(unit: Unit): boolean {
  if (unit.argv.length === 0) return true;
  return TEXT_READERS.has(nameOf(unit) ?? '');
}

/** Also of those that are behind `sudo`, or get their input from a pipe. */
function shellName(unit: Unit): readonly string[] {
  const name = nameOf(unit);
  if (name === undefined || shellOf(unit.argv) === undefined) return [];
  return [isBash(name) ? 'bash' : name];
}

/** A shell that is on the terminal itself, and starts as such a shell does. */
function takesKeys({ argv, stdin, behind, redirects }: Unit): boolean {
  if (stdin !== 'inherited' || behind !== undefined || redirects.length > 0) return false;
  // On a terminal it is interactive anyway.
  const shell = shellOf(argv.filter((arg) => !isInteractive(arg)));
  return shell?.kind === 'input' && shell.understood;
}

function isInteractive(arg: Arg): boolean {
  return arg.kind === 'literal' && arg.value === '-i';
}
