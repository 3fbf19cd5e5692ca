// The command as the model sent it, cut out of the text that an agent gives to its shell. Claude,
// Codex and Gemini put it into a wrapper; the others do not. What is cut out is exact or nothing: a
// text that has the form of no known wrapper stays whole and is marked.

import type { AgentId } from '../../text/agents.ts';
import { type CodexSurroundings, fromCodex } from './codex-wrapper.ts';

export type RealCommand = {
  readonly command: string;
  /** `none`: the text is the command. `unknown`: there should be a wrapper, of another form. */
  readonly wrapper: 'none' | 'claude' | 'codex' | 'gemini' | 'unknown';
};

/**
 * `agent`: by its environment. Only the wrapper of that agent counts: all others give the model's
 * own text to the shell, and a model could write a wrapper around an innocent command.
 */
export function realCommand(text: string, agent: AgentId, around: CodexSurroundings): RealCommand {
  if (agent !== 'claude' && agent !== 'gemini' && agent !== 'codex') return bare(text);
  if (agent === 'codex' && !text.startsWith('__CODEX_SNAPSHOT_')) return bare(text);
  const from = { claude: fromClaude, codex: fromCodex, gemini: fromGemini }[agent];
  const command = from(text, around);
  return command === undefined
    ? { command: text, wrapper: 'unknown' }
    : { command, wrapper: agent };
}

function bare(text: string): RealCommand {
  return { command: text, wrapper: 'none' };
}

// Claude Code 2.1.325: [...] && eval WORD [< /dev/null ]&& pwd -P >| FILE
const CLAUDE_TAIL = /( < \/dev\/null)? && pwd -P >\| \S+$/;
const EVAL = /(?:^|&& )eval /g;

/** The first `eval` whose one word reaches to the tail: text before it may have others. */
function fromClaude(text: string): string | undefined {
  const tail = CLAUDE_TAIL.exec(text);
  if (tail === null) return undefined;
  for (const { index, 0: match } of text.matchAll(EVAL)) {
    const word = readWord(text, index + match.length);
    if (word?.end === tail.index) return word.value;
  }
  return undefined;
}

// Gemini CLI 0.61.0.
const GEMINI_HEAD =
  /^shopt -u [\w ]+; _bgpids_file=[\w./+-]+\n\(\n {2}trap 'jobs -p > "\$_bgpids_file"' EXIT\n/;
const GEMINI_TAIL = '\n)\n__code=$?\nexit $__code';

function fromGemini(text: string): string | undefined {
  const head = GEMINI_HEAD.exec(text)?.[0];
  if (head === undefined || !text.endsWith(GEMINI_TAIL)) return undefined;
  const end = text.length - GEMINI_TAIL.length;
  return end < head.length ? undefined : text.slice(head.length, end);
}

type Word = { readonly value: string; readonly end: number };

/** No character that a shell would do something with, outside of quotes. */
const PLAIN = /[\w%+,./:=@^-]+/y;
const SINGLE = /'([^']*)'/y;
const DOUBLE = /"((?:[^"\\$`]|\\[\s\S])*)"/y;
const ESCAPED = /\\([^\n])/y;

/** One word of a shell without expansions; undefined where it has one. */
function readWord(text: string, from: number): Word | undefined {
  let value = '';
  let at = from;
  const take = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at;
    const found = form.exec(text);
    if (found !== null) at += found[0].length;
    return found;
  };
  while (at < text.length && text[at] !== ' ') {
    const quoted = take(SINGLE) ?? take(ESCAPED);
    const double = quoted === null ? take(DOUBLE) : null;
    const plain = quoted === null && double === null ? take(PLAIN) : null;
    if (quoted !== null) value += quoted[1] ?? '';
    else if (double !== null) value += (double[1] ?? '').replace(/\\([\\"$`])|\\\n/g, '$1');
    else if (plain !== null) value += plain[0];
    else return undefined;
  }
  return at === from ? undefined : { value, end: at };
}
