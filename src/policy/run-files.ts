// Files of a project that decide what an allowed command runs: the manifests and build files of the
// programs that rules name, the scripts that they start, and installed code, which no person reads
// when it changes. A policy of version 2 lets agents write nearly all files of a project; about
// these a person is asked first.

import { posix } from 'node:path';
import { baseName } from '../text/base-name.ts';
import { factsOf, listOf } from './facts.ts';
import { environmentOf, globRegex, pathSet, type Roots } from './paths.ts';
import { literalText, type WordPattern } from './pattern.ts';
import type { LoadedPolicy } from './policy.ts';
import { isOwnPath, isShell, plainName } from './programs.ts';
import { variantsOf } from './rules.ts';

export type RunFiles = {
  readonly has: (path: string) => boolean;
  /** Whether a glob, absolute, could be the name of one. */
  readonly glob: (glob: string) => boolean;
  /** Whether it is one only as a program that a rule names by its path, and no named script. */
  readonly program: (path: string) => boolean;
};

export function runFilesOf(policies: readonly LoadedPolicy[], roots: Roots): RunFiles {
  let known: RunFiles | undefined;
  // Only what writes asks for them, and a policy may have hundreds of rules.
  const files = (): RunFiles => {
    known ??= compiled(policies, roots);
    return known;
  };
  return {
    has: (path) => files().has(path),
    glob: (glob) => files().glob(glob),
    program: (path) => files().program(path),
  };
}

function compiled(policies: readonly LoadedPolicy[], roots: Roots): RunFiles {
  const second = policies.some(({ policy }) => policy.version === 2);
  const rules = second ? allowedWords(policies) : [];
  const read = namesIn(rules, (words) => [
    ...manifestsIn(words),
    ...scriptsOf(words),
    ...modulesOf(words),
  ]);
  const programs = namesIn(rules, ownPrograms);
  const names = [...(second ? listOf('installed') : []), ...read];
  const scripts = pathSet([...names.map(anyPlace), ...environmentsIn(policies)], roots).has;
  const own = pathSet([...programs].map(anyPlace), roots).has;
  const has = (path: string): boolean => scripts(path) || own(path);
  const plain = [...names, ...programs].filter((name) => !/[*?[{]/.test(name)).map(baseName);
  return {
    has,
    glob: (glob) => {
      const regex = globRegex(posix.basename(glob));
      return has(glob) || plain.some((name) => regex.test(name));
    },
    program: (path) => own(path) && !scripts(path) && !posix.basename(path).includes('.'),
  };
}

function anyPlace(name: string): string {
  return `**/${name}`;
}

/** What trusted programs are made of, and the place that another environment could take. */
function environmentsIn(policies: readonly LoadedPolicy[]): readonly string[] {
  return policies.flatMap(({ policy }) => policy.programs.map(environmentOf));
}

type Words = readonly WordPattern[];

function allowedWords(policies: readonly LoadedPolicy[]): readonly Words[] {
  const rules = policies.flatMap(({ policy }) => policy.policies.flatMap((one) => one.commands));
  return rules
    .filter(({ decision }) => decision === 'allow')
    .flatMap((rule) => variantsOf(rule).map(({ words }) => words));
}

/** Relative to any directory: a rule does not say where its command runs. */
function namesIn(
  rules: readonly Words[],
  namesOf: (words: Words) => readonly string[],
): ReadonlySet<string> {
  return new Set(rules.flatMap(namesOf));
}

/** The files that a program reads to know what it runs; undefined: it is not known for any. */
function manifestsOf(program: string): readonly string[] | undefined {
  const names = factsOf(program)?.manifests?.split(' ');
  return names?.flatMap((name) =>
    name.startsWith('of:') ? (manifestsOf(name.slice('of:'.length)) ?? []) : [name],
  );
}

/** Also of programs behind others: `uv run pytest`, `python3 -m tox`. */
function manifestsIn(words: readonly WordPattern[]): readonly string[] {
  return words.flatMap((word) => {
    const name = baseName(literalText(word));
    return manifestsOf(name) ?? manifestsOf(plainName(name)) ?? [];
  });
}

/** `./run.sh`, `bin/tool`. */
function ownPrograms([first]: readonly WordPattern[]): readonly string[] {
  const program = literalText(first);
  return isOwnPath(program) ? anywhere(program) : [];
}

/** `bash scripts/all.sh`, `node build.mjs`, `./tool config.lua`. */
function scriptsOf(words: readonly WordPattern[]): readonly string[] {
  const [first, ...rest] = words;
  const program = literalText(first);
  const name = plainName(program);
  const shell = isShell(name) || /^(?:source|\.)$/.test(program);
  const runs = shell || factsOf(name)?.interpreter !== undefined || isOwnPath(program);
  if (!runs) return [];
  // Behind these are modules and tests, or what the code in the words works on.
  const code = shell || name === 'python' ? CODE_BEHIND_C : CODE_BEHIND_E;
  const texts = rest.map(literalText);
  if (texts.some((text) => /^(?:-m|--test)$/.test(text) || code.test(text))) return [];
  const scripts = rest.map(pathOf);
  return scripts.filter((path) => /[./]/.test(path)).flatMap(anywhere);
}

/**
 * `python3 -m pip` runs `pip.py` of the directory where it runs, before what is installed. Modules
 * of the project itself are what agents work on.
 */
function modulesOf([program, ...words]: readonly WordPattern[]): readonly string[] {
  if (plainName(literalText(program)) !== 'python') return [];
  const name = literalText(words[words.findIndex((word) => literalText(word) === '-m') + 1]);
  if (manifestsOf(name) === undefined && !/^(?:unittest|venv)$/.test(name)) return [];
  return ['.py', '/__init__.py', '/__main__.py'].map((end) => `${name}${end}`);
}

const CODE_BEHIND_C = /^-[a-zA-Z]*c$/;
const CODE_BEHIND_E = /^-[a-zA-Z]*e$/;

/** The word, or for one with holes the directory it begins with. */
function pathOf(word: WordPattern): string {
  if (word.kind !== 'partial') return literalText(word);
  return word.lead.includes('/') ? `${posix.dirname(`${word.lead}x`)}/*` : '';
}

function anywhere(path: string): readonly string[] {
  const value = path.replace(/^-[^=]*=/, '');
  if (/^-|\/$/.test(value) || DATA.test(value)) return [];
  const name = posix.normalize(value).replace(/^(?:\.\.?\/|\/|~\/)+/, '');
  return name === '' || name === '.' || name === '*' ? [] : [name];
}

/** Not what a script runs, but what it is given. */
const DATA = /\.(?:md|txt|json|jsonl|csv|tsv|log|html|xml|svg|png|jpe?g|gif|pdf|lock)$|^https?:/i;
