// Reads an awk program for what it does besides working on text. Strings and regexes are skipped
// first; in what is left, pipes, redirections and a few names have effects.

import type { Found, ScriptRead } from './judged.ts';

export function awkParts(program: string): ScriptRead {
  const code = withoutTexts(program);
  if (code === undefined) {
    return { found: [{ effect: 'unknown', why: 'the awk program is not understood' }], files: [] };
  }
  const found: Found[] = [];
  const says = (effect: Found['effect'], why: string) => found.push({ effect, why });
  if (/\bsystem\b/.test(code)) says('exec', '`system` in an awk program runs a command');
  // `||` is `or`; every other bar is a pipe, `|&` too.
  if (code.replaceAll('||', '  ').includes('|')) {
    says('exec', '`|` in an awk program runs a command');
  }
  // `@load`, `@include` and `@f()`, which calls whatever `f` names.
  if (code.includes('@')) says('exec', '`@` in an awk program loads or calls code by its name');
  if (/\bgetline\b/.test(code)) says('unknown', '`getline` in an awk program reads elsewhere');
  if (/\b(ARGV|ARGC|PROCINFO|SYMTAB|FUNCTAB)\b/.test(code)) {
    says('unknown', '`ARGV` or `SYMTAB` in an awk program changes what is read');
  }
  if (/\bENVIRON\b/.test(code)) says('secret', '`ENVIRON` in an awk program has every variable');
  if (redirects(code)) says('write', '`>` in an awk program writes a file');
  return { found, files: [] };
}

/**
 * `print a > b` writes to the file `b`; in parentheses, or in no statement that prints, it
 * compares. `>>` is never a comparison.
 */
function redirects(code: string): boolean {
  if (code.includes('>>')) return true;
  let printing = false;
  let depth = 0;
  let last = '';
  for (const [token] of code.matchAll(/\w+|[^\S\n]+|[^\w]/g)) {
    if (token === 'print' || token === 'printf') {
      printing = true;
      depth = 0;
    } else if (token === '(' || token === '[') depth++;
    else if (token === ')' || token === ']') depth--;
    else if (token === '>' && printing && depth <= 0) return true;
    else if (token === ';' || token === '}') printing = false;
    // Behind these a statement goes on in the next line.
    else if (token === '\n' && !/[,&|]/.test(last)) printing = false;
    if (token.trim() !== '') last = token;
  }
  return false;
}

/** Behind these a slash begins a regex; `i++ / 2` shows that signs of a sum do not tell. */
const BEFORE_REGEX = /^(|[({,;!~&|=?:}]|print|printf|return|case|else|do|exit|in)$/;

/** The code with its strings, regexes and comments blank; undefined when it cannot be told. */
function withoutTexts(program: string): string | undefined {
  let code = '';
  let last = '';
  for (let at = 0; at < program.length; ) {
    const token = TOKEN.exec(program.slice(at, at + 256))?.[0] ?? '';
    let text = token;
    let next = at + token.length;
    if (token === '"' || token === '/') {
      const end = endOf(program, at, token);
      const regex = token === '/' && BEFORE_REGEX.test(last);
      // A slash that divides has no other slash behind it; with two it is ambiguous.
      if (token === '/' && !regex && program.indexOf('/', at + 1) !== -1) return undefined;
      if (token === '"' || regex) {
        if (end === undefined || (regex && hasOpenBracket(program, at + 1, end))) return undefined;
        text = '""';
        next = end;
      }
    } else if (token === '#') {
      const end = program.indexOf('\n', at);
      text = '';
      next = end === -1 ? program.length : end;
    } else if (token === '\\') {
      if (program[at + 1] !== '\n') return undefined;
      text = ' ';
      next = at + 2;
    }
    code += text;
    if (text.trim() !== '') last = text;
    at = next;
  }
  return code;
}

const TOKEN = /^(?:[A-Za-z_0-9]+|\s+|[\s\S])/;

/** A slash in brackets ends the regex for some awks and not for others. */
function hasOpenBracket(program: string, from: number, end: number): boolean {
  const text = program.slice(from, end - 1).replace(/\\[\s\S]|\[:\w+:\]/g, '');
  return text.lastIndexOf('[') > text.lastIndexOf(']') || /\[\^?\]$/.test(text);
}

/** Behind the sign that ends the text that begins at `from`, on one line. */
function endOf(program: string, from: number, sign: string): number | undefined {
  for (let at = from + 1; at < program.length; at++) {
    if (program[at] === '\\') at++;
    else if (program[at] === sign) return at + 1;
    else if (program[at] === '\n') return undefined;
  }
  return undefined;
}
