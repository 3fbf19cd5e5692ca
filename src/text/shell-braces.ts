// `{a,b}` written out: the words that a command gets when bash has expanded its braces. Sequences
// (`{1..9}`) stay as they are, and so does a word that is long, or has a substitution in it.

import { parseShell, type SimpleCommand, type Word } from './shell-parse.ts';

const LENGTH_MAX = 256; // of a word; people write short ones
const RESULTS_MAX = 32; // of a word, empty ones too: every pair of braces multiplies them

/** The same command, with the words that its braces stand for. */
export function bracesExpanded(command: SimpleCommand): SimpleCommand {
  const { words } = command;
  if (!words.some(hasBraces)) return command;
  return { ...command, words: words.flatMap((word) => (hasBraces(word) ? wordsOf(word) : [word])) };
}

function hasBraces({ pieces }: Word): boolean {
  return pieces.some(({ kind }) => kind === 'brace');
}

function wordsOf(word: Word): readonly Word[] {
  const sources = expandBraces(word.source);
  const [made] = parseShell(`: ${sources.join(' ')}`).commands;
  return made === undefined ? [word] : made.words.slice(1);
}

/** Shell texts in the order of bash, without empty ones; the first 32 at most. */
export function expandBraces(source: string): readonly string[] {
  if (source.length > LENGTH_MAX || /[$<>]\(|\$\{|`/.test(source)) return [source];
  const done: string[] = [];
  const open = [source];
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    const group = firstGroup(text);
    if (group === undefined) {
      done.push(text);
      if (done.length === RESULTS_MAX) break;
      continue;
    }
    const [before, behind] = [text.slice(0, group.from), text.slice(group.to)];
    for (const inside of group.choices.reverse()) open.push(`${before}${inside}${behind}`);
  }
  return done.filter((text) => text !== '');
}

type Group = { readonly from: number; readonly to: number; readonly choices: string[] };

const TOKEN = /\\[\s\S]|\$?'[^']*'?|"(?:\\[\s\S]|[^"\\])*"?|[{},]/g;

/** The braces with a comma in them that begin first. */
function firstGroup(text: string): Group | undefined {
  const open: { readonly from: number; readonly commas: number[] }[] = [];
  let first: Group | undefined;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '{') open.push({ from: index, commas: [] });
    else if (token === ',') open.at(-1)?.commas.push(index);
    else if (token === '}') {
      const group = open.pop();
      if (group === undefined || group.commas.length === 0) continue;
      if (first !== undefined && first.from < group.from) continue;
      const marks = [group.from, ...group.commas, index];
      const choices = marks.slice(1).map((mark, at) => text.slice((marks[at] ?? 0) + 1, mark));
      first = { from: group.from, to: index + 1, choices };
    }
  }
  return first;
}
