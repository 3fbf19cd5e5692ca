// Programs that say "no" with exit code 1: that is an answer, not a failure. Told by the program
// that gave the code, and only where it is certain that no other program can have given it.

import { ANSWERS } from '../text/answers.ts';
import { mainProgram } from '../text/shell-facts.ts';
import { parseShell, type Stage } from '../text/shell-parse.ts';

// They print why when they fail, so that one that printed nothing did not.
const OUTSPOKEN = new Set(['cd', 'pushd']);

// What lets another program give the code, or turns the code around.
const UNSURE = /\b(errexit|pipefail)\b|\bset\s+-\w*e|\|\||(^|[\s;&|(])!\s/;

/** What exit code 1 of the command means, if it is an answer. */
export function answerOf(command: string, stderrBytes: number): string | undefined {
  const answer = ANSWERS[mainProgram(command) ?? ''];
  if (answer === undefined || UNSURE.test(command)) return undefined;
  const { pipelines } = parseShell(command);
  if (pipelines.length === 1 || !command.includes('&&')) return answer;
  const others = pipelines.slice(0, -1).map(({ stages }) => programOf(stages.at(-1)));
  const outspoken = others.every((name) => name !== undefined && OUTSPOKEN.has(name));
  return outspoken && stderrBytes === 0 ? answer : undefined;
}

function programOf(stage: Stage | undefined): string | undefined {
  return stage?.kind === 'simple' ? stage.command.words[0]?.literal : undefined;
}
