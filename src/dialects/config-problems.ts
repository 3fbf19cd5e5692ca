// What is wrong with the config of a dialect, in our own words and as the rest of a settings file
// is spoken of: what was expected, and what is there instead.

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type * as z from 'zod';
import { errnoOf } from '../errors.ts';
import type { ConfigProblem } from '../host/plugin.ts';
import { asObject } from '../text/json.ts';
import { printable } from '../text/printable.ts';
import { quoted } from '../text/problems.ts';

type Issue = z.core.$ZodRawIssue;
type Step = string | number;

/** Everything wrong with a config, each with the path of its key. */
export function problemsOf(schema: z.ZodType, given: unknown): readonly ConfigProblem[] {
  // What a schema words itself goes before this.
  const { error, data } = schema.safeParse(given, { error: wordsFor });
  if (error === undefined) return timeoutProblems(given, data);
  return error.issues.flatMap((issue) => {
    const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
    const { message } = issue;
    if (issue.code !== 'unrecognized_keys') return [{ path, message }];
    return issue.keys.map((key) => ({ path: [...path, key], message }));
  });
}

function wordsFor(issue: Issue): string {
  if (issue.code === 'unrecognized_keys') return 'unknown key';
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? 'is not a name';
  return `expected ${expectedBy(issue)}, found ${found(issue.input)}`;
}

function expectedBy(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return issue.values.map(String).join(' or ');
    case 'too_small':
      return issue.origin === 'string' ? 'text that is not empty' : `${issue.minimum} or more`;
    case 'too_big':
      return `${issue.maximum} or less`;
    case 'not_multiple_of':
      return `a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return issue.pattern === undefined
        ? `a text of the form ${issue.format}`
        : `a text that fits ${issue.pattern}`;
    case 'invalid_union':
      return 'one of the forms in the documentation';
    case 'invalid_element':
      return 'other items';
    default:
      return 'another value';
  }
}

const TYPES: Readonly<Partial<Record<string, string>>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of keys to values',
  record: 'a mapping of keys to values',
};

function found(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return `the text ${quoted(value)}`;
  return typeof value === 'number' ? `the number ${value}` : printable(String(value));
}

function valueAt(given: unknown, path: readonly Step[]): unknown {
  return path.reduce<unknown>((value, step) => {
    return Array.isArray(value) ? value[Number(step)] : asObject(value)?.[String(step)];
  }, given);
}

const TIMEOUTS = [
  ['default_timeout', 'max_timeout'],
  ['default_timeout_ms', 'max_timeout_ms'],
] as const;

/** A default that is named and above the maximum would never be what a command gets. */
function timeoutProblems(given: unknown, filled: unknown): ConfigProblem[] {
  return [[], ['execution']].flatMap((section) =>
    TIMEOUTS.flatMap(([name, limit]) => {
      const path = [...section, name];
      const [value, most] = [valueAt(given, path), valueAt(filled, [...section, limit])];
      if (typeof value !== 'number' || typeof most !== 'number' || value <= most) return [];
      return [{ path, message: `expected at most ${limit}, which is ${most}, found ${value}` }];
    }),
  );
}

/** Directories and programs that are named and not there; relative ones are the project's. */
export function missingPaths(given: unknown, project: string): readonly ConfigProblem[] {
  const directories = [['working_directory'], ['execution', 'working_directory']];
  const wrong = directories.flatMap((path) => {
    const value = valueAt(given, path);
    const why = typeof value === 'string' ? directoryProblem(resolve(project, value)) : undefined;
    return why === undefined ? [] : [{ path, message: why }];
  });
  const path = ['execution', 'shell'];
  const shell = valueAt(given, path);
  if (typeof shell !== 'string' || isProgram(shell, project)) return wrong;
  return [...wrong, { path, message: `there is no program ${quoted(shell)}` }];
}

function directoryProblem(path: string): string | undefined {
  try {
    if (statSync(path).isDirectory()) return undefined;
    return `${printable(path)} is not a directory`;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT') return `there is no directory ${printable(path)}`;
    return `${printable(path)} cannot be used as a directory: ${errno ?? error}`;
  }
}

function isProgram(name: string, project: string): boolean {
  const paths = name.includes('/')
    ? [resolve(project, name)]
    : (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, name));
  return paths.some((path) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false; // not there, or not to be executed
    }
  });
}
