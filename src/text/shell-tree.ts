// The shell parser, and the only file that knows which one it is. It is tolerant: a caller that
// must not miss anything looks at `errors` of every script, and at more than the tree.

export {
  type Assignment,
  type Case,
  type Command,
  type CommandExpansionPart,
  type CommandNode,
  type CompoundList,
  type Function as FunctionNode,
  forEachChild,
  type ParameterExpansionPart,
  type ParsedScript,
  type Pipeline,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type TestExpression,
  type Word,
  type WordPart,
} from 'unbash';

import { type ParsedScript, parse as parseAnew } from 'unbash';
import { keepRecent } from './recent.ts';

const KEPT_MAX = 16;
const KEPT_LENGTH_MAX = 131_072; // of all texts together: a tree is many times as large

const kept = new Map<string, ParsedScript>();

/** Many questions are asked about one command, one after the other: it is parsed once. */
export function parse(text: string): ParsedScript {
  const script = kept.get(text) ?? parseAnew(text);
  keepRecent(kept, text, script, KEPT_MAX);
  let length = 0;
  for (const recent of [...kept.keys()].reverse()) {
    length += recent.length;
    if (length > KEPT_LENGTH_MAX) kept.delete(recent);
  }
  return script;
}

/** The kernel takes no longer argument (MAX_ARG_STRLEN), so no longer command can be run. */
const TEXT_LENGTH_MAX = 131_072;

/** About a quarter of a second. */
const STEPS_MAX = 32_000_000;

/** `$[` is looked at a few times by the parser, a brace once. */
const ARITHMETIC_WEIGHT = 5;

/**
 * Whether a text is cheap enough for the parser, which is linear but for three shapes: it looks for
 * the end of a brace in a word as far as the word goes, and for that of `$[` and of a here-document
 * to the end of the text, each time anew. 128 KiB of `{` take it a minute. This estimates those
 * steps in one pass, roughly (it knows quotes), so that only texts made to be slow, and a few odd
 * ones that are very long, are turned away.
 */
export function cheapToParse(text: string): boolean {
  if (text.length > TEXT_LENGTH_MAX) return false;
  // Each here-document is looked for to the end of the text.
  if ((text.split('<<').length - 1) * text.length > STEPS_MAX) return false;
  // Every step belongs to an opener, so few openers need no closer look.
  const openers = text.split('{').length + ARITHMETIC_WEIGHT * (text.split('$[').length - 1);
  return openers * text.length <= STEPS_MAX || stepsFor(text) <= STEPS_MAX;
}

const TOKEN = /\\[\s\S]|'[^']*'?|["`]|[$<>]?[([{]|[\])}]|[\s;&|]/g;

/** Braces that may wait for their end, times the length of what they wait in. */
function stepsFor(text: string): number {
  let steps = 0;
  const open = new Set<string>(); // quotes of both kinds
  let depth = 0; // of substitutions: blanks inside them do not end a word
  let from = 0;
  let braces = 0;
  const endWord = (at: number): void => {
    steps += braces * (at - from);
    braces = 0;
    from = at;
  };
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '"' || token === '`') {
      if (!open.delete(token)) open.add(token);
    } else if (token === '$[') steps += ARITHMETIC_WEIGHT * (text.length - index);
    else if (token === '{') braces += 1;
    else if (/^[$<>][({]$/.test(token)) depth += 1;
    else if (/^[)}]$/.test(token)) depth = Math.max(0, depth - 1);
    else if (open.size === 0 && depth === 0 && /^[\s;&|]$/.test(token)) endWord(index);
  }
  endWord(text.length);
  return steps;
}
