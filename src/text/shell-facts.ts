// Small questions about a command that its text can answer: whether it only sends signals or
// changes the directory, and which program or pipeline its exit status comes from.

import { type Pipeline, parseShell } from './shell-parse.ts';
import { programOf } from './shell-program.ts';

/** Whether it does nothing but send signals. */
export function onlyKills(command: string): boolean {
  if (!command.includes('kill')) return false;
  const { ok, commands, pipelines } = parseShell(command);
  const simple = pipelines.every(({ stages }) => stages.every(({ kind }) => kind === 'simple'));
  const kills = commands.filter(({ words }) => words[0]?.literal === 'kill');
  return ok && simple && kills.length > 0 && kills.length === commands.length;
}

/**
 * The program whose exit status the command has if it gets to its end: the last of the last
 * pipeline, behind assignments and wrappers like `env` and `timeout`, without its directory.
 * `[[` counts as a program. Undefined for groups, loops, and what is not waited for.
 */
export function mainProgram(command: string): string | undefined {
  const stage = endingPipeline(command)?.stages.at(-1);
  if (stage?.kind === 'test') return '[[';
  return stage?.kind === 'simple' ? programOf(stage.command)?.name : undefined;
}

/**
 * Whether it may end in another directory than it began in: only a builtin of the shell can do
 * that, by its name or by a word that is not known before it runs.
 */
export function mayChangeDirectory(command: string): boolean {
  return DIRECTORY_WORDS.test(command) || UNKNOWN_PROGRAM.test(command);
}

const DIRECTORY_WORDS = /cd|pushd|popd|eval|source|builtin/;

/** A dot or an expansion where a program stands; each line is looked at by itself. */
const UNKNOWN_PROGRAM =
  /(?:^|[;&|({!\n]|\b(?:then|do|else|elif|if|while|until|time|command))[^\S\n]*(?:\.\s|["']?[$`])/;

/** The pipeline whose exit status the command has; undefined when that is not known. */
export function endingPipeline(command: string): Pipeline | undefined {
  const { ok, pipelines } = parseShell(command);
  const last = ok ? pipelines.at(-1) : undefined;
  return last?.background === false ? last : undefined;
}
