// What an agent may do instead of what was refused, by the code of the reason: one sentence that is
// about the command itself. None of them tells how to reach the same end by another way.

import type { ReasonCode } from './decision.ts';

/** Codes of what is allowed need none. */
type Allowing = 'rule.allow' | 'default.allow' | 'builtin';

/** `{word}` is the word of the command that the reason is about. */
export const HINTS: Readonly<Record<Exclude<ReasonCode, Allowing>, string>> = {
  'rule.ask': 'Say what it is for: a person decides.',
  'rule.deny': 'Leave it, and tell the person what it was for.',
  'default.ask': 'Use a command that a rule allows, or say what it is for: a person decides.',
  'default.deny': 'Use a command that a rule allows, or leave it.',
  'builtin.dangerous': 'Leave it, and name the files that are meant.',
  unanalysable: 'Write it in a simpler way, or as several commands.',
  'program.unknown': 'Write the name of the program itself.',
  'program.opaque': 'Run the command itself, with nothing in front of it.',
  'program.unprofiled': 'Use only arguments that a rule names.',
  'program.destructive': 'Name the files.',
  'program.path': 'Call it by its name, without a directory.',
  'code.unseen': 'Save it to a file and show what is in it before that is run.',
  'argument.effect': 'Leave {word} out.',
  'argument.option': 'Leave {word} out.',
  'argument.unknown': 'Write {word} as it is, without a variable or a pattern.',
  'path.outside': 'Use a file inside of the project.',
  'path.unknown': 'Write the path itself.',
  'path.protected': 'Leave that file to the person.',
  redirect: 'Leave the redirection out: the output is in the answer.',
  env: 'Leave the variable out.',
  network: 'Use a host that the policy lists, or leave it.',
  cwd: 'Run it inside of the project.',
  'function.shadows': 'Give the function another name.',
  stdin: 'Run the two commands apart.',
  budget: 'Wait, or say what it is for: a person decides.',
  changes: 'Tell the person: nothing runs until the changes have been looked at.',
  halted: 'Tell the person: nothing runs until the file is correct.',
};

/** `word`: as it stands in the command. */
export function hintFor(code: ReasonCode, word: string | undefined): string | undefined {
  if (!isRefusal(code)) return undefined;
  const named = word === undefined || word.includes('`') ? 'it' : `\`${word}\``;
  return HINTS[code].replace('{word}', () => named);
}

function isRefusal(code: ReasonCode): code is keyof typeof HINTS {
  return Object.hasOwn(HINTS, code);
}
