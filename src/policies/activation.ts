// The activation script of a Python environment (`.venv/bin/activate`), known by its content: with
// its own paths and its prompt taken out, it has to be one of the templates of venv, virtualenv or
// uv, character for character. Those put the programs of the environment first and change nothing
// else that matters; any other script may do anything.

import * as fs from 'node:fs';
import { basename, dirname } from 'node:path';
import { sha256 } from '../text/hash.ts';
import { literalRegex } from '../text/regex.ts';
import { readAtMost } from '../trust/bounded-read.ts';
import { TEMPLATES } from './activation-templates.ts';

const BYTES_MAX = 16_384; // the longest template has less than a third

/** The directory whose programs come first; undefined: it is no such script, or another one. */
export function activationOf(script: string, real: (path: string) => string): string | undefined {
  const directory = dirname(script);
  if (basename(script) !== 'activate' || basename(directory) !== 'bin') return undefined;
  const text = textOf(script);
  if (text === undefined) return undefined;
  // It was made for the directory by one of its names.
  const homes = [...new Set([dirname(directory), real(dirname(directory))])];
  return homes.some((home) => TEMPLATES.has(templateId(text, home))) ? directory : undefined;
}

function textOf(path: string): string | undefined {
  const { O_RDONLY, O_NONBLOCK = 0 } = fs.constants;
  try {
    const fd = fs.openSync(path, O_RDONLY | O_NONBLOCK);
    try {
      if (!fs.fstatSync(fd).isFile()) return undefined;
      return readAtMost(fd, BYTES_MAX)?.toString('latin1');
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return undefined; // not there, or not to be read
  }
}

/** Of the text without what is its own; an empty one for what no template would become. */
function templateId(text: string, home: string): string {
  if (text.includes(OWN) || !/^[\w./@+-]+$/.test(home)) return '';
  return sha256(withoutOwn(text, home)).slice(0, ID_LENGTH);
}

const ID_LENGTH = 32; // hexadecimal digits: 128 bits

/** Stands for what is different in each environment. */
const OWN = '\u0001';

/**
 * Each value is taken out together with its quotes, and only where it can hold no code: a quote
 * that is left open would make code of what follows.
 */
function withoutOwn(text: string, home: string): string {
  const quoted = [`"${literalRegex(home)}"`, `'${literalRegex(home)}'`, literalRegex(home)];
  return text
    .replace(new RegExp(quoted.join('|'), 'g'), OWN)
    .replace(new RegExp(`^(\\s*VIRTUAL_ENV_PROMPT=)(?:${PROMPT})$`, 'gm'), `$1${OWN}`)
    .replace(new RegExp(`^(\\s*PS1=)(?:${SHOWN.join('|')})$`, 'gm'), `$1${OWN}`)
    .replace(/\[ (?:"x[\w.+ ()-]*"|"x"[\w.+-]+|"x"'[\w.+ ()-]*') != x \]/g, `[ ${OWN} ]`)
    .replace(new RegExp(`\\[ (?:${LIBRARY}) != "" \\]`, 'g'), `[ ${OWN} ]`)
    .replace(new RegExp(`^(\\s*T(?:CL|K)_LIBRARY=)(?:${LIBRARY})$`, 'gm'), `$1${OWN}`);
}

const PROMPT = `"[\\w.+ ()-]*"|'[\\w.+ ()-]*'|[\\w.+-]*`;

/** Of Tcl and Tk: where only the person, or the system, puts files. */
const LIBRARY = `''|/(?:usr|opt|root|home/[\\w.-]+/\\.\\w+)/[\\w./+-]*`;

const END = '\\$\\{PS1:?-\\}"';
const SHOWN = [
  `"[\\w.+ ()-]*${END}`,
  `"\\("[\\w.+-]*"\\) ${END}`,
  `"\\("'[\\w.+ ()-]*'"\\) ${END}`,
  `'[\\w.+ ()-]*'"${END}`,
];
