// Which programs would get what is typed into a command, or fed to it: by the words that the
// analysis finds, not by how they are written. Only a server with a policy in force loads this.

import { analyse } from '../policy/analyse/index.ts';
import { shellOf } from '../policy/analyse/shells.ts';
import { programOf } from '../policy/analyse/wrappers.ts';
import { factsOf, isListed } from '../policy/facts.ts';
import { isShell } from '../policy/programs.ts';
import type { Arg, Unit, UnitRedirect } from '../policy/unit.ts';
import { isBash, type Reader, scriptOf } from './judged-texts.ts';

/** `shell` is what reads the text of the command. `keys`: all that is typed into it. */
export function readerOf(command: string, shell = 'bash', keys = ''): Reader {
  const { units, functions, problems } = analyse(scriptOf(shell, command), ANYWHERE);
  const others = units.filter((unit) => !readsText(unit));
  const shells = [...new Set(others.flatMap(shellName))];
  if (problems.length > 0 || functions.length > 0) return { kind: 'other', name: PROGRAM, shells };
  const [first] = others;
  if (first === undefined) return { kind: 'text' };
  const [name] = shells;
  if (name !== undefined && shells.length === 1 && others.every(takesKeys)) {
    const shared = units.filter(readsText).some(takesLines) || sharesKeys(keys, name);
    return shared
      ? { kind: 'other', name: nameOf(first) ?? PROGRAM, shells }
      : { kind: 'shell', shell: name };
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
  return isListed('text-readers', nameOf(unit) ?? '');
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

/** The terminal has names, too, and `read -u 2` needs none. */
const TERMINAL = /(?:^|\/)(?:dev|proc)\/(?!null$)|^-u/;

/** With so many words they read files instead. */
const NEEDED = { always: 99, 'without-a-word': 1, 'without-two-words': 2 } as const;

/**
 * Whether it may take keys away from the shell that started it. The shell then goes on in the
 * middle of what was typed, where a quote, a comment or a here-document may have made a command
 * look like text.
 */
function takesLines(unit: Unit): boolean {
  const name = nameOf(unit) ?? '';
  const takes = isShell(name) ? 'without-a-word' : factsOf(name)?.takesLines;
  if (takes === undefined) return false;
  const given = unit.argv.slice(1).map((arg) => (arg.kind === 'literal' ? arg.value : ''));
  if (given.some((word) => TERMINAL.test(word)) || unit.redirects.some(isTerminal)) return true;
  if (unit.stdin !== 'inherited') return false;
  const options = given.filter((word) => word.startsWith('-')).length;
  // Each option may have taken a word, and `-` is the terminal.
  return given.includes('-') || given.length - options < NEEDED[takes] + options;
}

function isTerminal({ operator, effect, target }: UnitRedirect): boolean {
  if (effect === 'dup') return operator.startsWith('<');
  if (effect !== 'read' && effect !== 'readwrite') return false;
  return target?.kind !== 'literal' || TERMINAL.test(target.value);
}

/** Whether one of the lines that were typed may have got the next ones. */
function sharesKeys(keys: string, shell: string): boolean {
  const text = keys.replace(/\r\n?|[\x03\x04\x1a\x1c]/g, '\n').trimEnd();
  // What the last line runs has nothing behind it yet.
  const last = text.lastIndexOf('\n');
  if (last === -1) return false;
  const { units, problems } = analyse(text, ANYWHERE);
  if (problems.length > 0 || /\bselect\b/.test(text)) return true;
  return units.some((unit) => {
    // The same shell once more reads on as this one would.
    const again = takesKeys(unit) && shellName(unit)[0] === shell;
    return (unit.span?.from ?? 0) < last && !again && takesLines(unit);
  });
}

function isInteractive(arg: Arg): boolean {
  return arg.kind === 'literal' && arg.value === '-i';
}
