// Where substitutions begin in a text: `$(`, `${`, `$[`, backquotes, `<(` and `>(`, by the rules of
// quoting alone. It keeps a stack of what is open and makes one pass.

import {
  ansiEnd,
  delimiterAt,
  endsTwice,
  isDoubtful,
  type Mode,
  nameEnd,
  peek,
  type Waiting,
} from './scan-text.ts';

const DEPTH_MAX = 64;
/** Of looking ahead for the end of what may be arithmetic. */
const STEPS_MAX = 1_000_000;

/** Where each begins and ends. `undefined`: quotes or brackets that do not end. */
export function openersOf(text: string): ReadonlyMap<number, number> | undefined {
  const scanner = new Scanner(text);
  return scanner.scan() ? scanner.openers : undefined;
}

class Scanner {
  readonly openers = new Map<number, number>();
  readonly #text: string;
  readonly #stack: Mode[] = [{ kind: 'code', end: '', open: [] }];
  #at = 0;
  /** A `#` here begins a comment. */
  #wordStart = true;
  /** A `case` here is one. */
  #commandStart = true;
  #waiting: Waiting[] = [];
  readonly #budget = { steps: STEPS_MAX };

  constructor(text: string) {
    this.#text = text;
  }

  get #mode(): Mode {
    return this.#stack.at(-1) ?? { kind: 'quotes' };
  }

  scan(): boolean {
    const text = this.#text;
    while (this.#at < text.length) {
      const fine = this.#step();
      if (!fine || this.#stack.length === 0 || this.#stack.length > DEPTH_MAX) return false;
    }
    return this.#stack.length === 1;
  }

  /** Behind what ends the innermost one. */
  #close(): void {
    const mode = this.#stack.pop();
    const from = mode === undefined || mode.kind === 'quotes' ? undefined : mode.from;
    if (from !== undefined) this.openers.set(from, this.#at);
  }

  #single(from: number): boolean {
    const end = this.#text.indexOf("'", from);
    this.#at = end + 1;
    return end !== -1;
  }

  /** At a `$`. In double quotes `$'` is nothing special. */
  #dollar(quoted: boolean): boolean {
    const text = this.#text;
    const behind = peek(this.#text, this.#at + 1);
    switch (text[behind]) {
      case '(':
        return this.#parenthesis(this.#at, behind);
      case '{':
        this.#stack.push({ kind: 'parameter', quoted, from: this.#at });
        this.#at = nameEnd(text, behind + 1);
        // A newer bash executes `${ ls; }`, an older one ends it elsewhere.
        return !/[\s|]/.test(text[peek(text, behind + 1)] ?? '');
      case '[':
        this.#stack.push({ kind: 'bracket', depth: 0, from: this.#at });
        this.#at = behind + 1;
        return true;
      case "'":
        if (!quoted) {
          this.#at = ansiEnd(text, behind + 1);
          return this.#at > 0;
        }
        // In `"${x-$'...'}"` bash expands what it says once more.
        if (this.#mode.kind === 'parameter') return false;
        break;
      case '"':
        if (quoted) break;
        this.#stack.push({ kind: 'quotes' });
        this.#at = behind + 1;
        return true;
      case '$':
      case '#':
        this.#at = behind + 1; // `$$` and `$#`
        return true;
    }
    this.#at += 1;
    return true;
  }

  /** At the parenthesis of `$(`: arithmetic, if it ends as such. */
  #parenthesis(from: number, at: number): boolean {
    const second = peek(this.#text, at + 1);
    if (this.#text[second] === '(' && endsTwice(this.#text, second + 1, this.#budget)) {
      this.#stack.push({ kind: 'arithmetic', depth: 0, from });
      this.#at = second + 1;
      return true;
    }
    this.#openCode(from, at + 1);
    return true;
  }

  #openCode(from: number, at: number): void {
    this.#stack.push({ kind: 'code', end: ')', open: [], from });
    this.#at = at;
    this.#wordStart = true;
    this.#commandStart = true;
  }

  #code(mode: Extract<Mode, { kind: 'code' }>): boolean {
    const text = this.#text;
    const char = text[this.#at] ?? '';
    const wordStart = this.#wordStart;
    this.#wordStart = false;
    switch (char) {
      case '\\':
        if (text[this.#at + 1] === '\n') this.#wordStart = wordStart;
        else this.#commandStart = false;
        this.#at += 2;
        return true;
      case "'":
        this.#commandStart = false;
        return this.#single(this.#at + 1);
      case '"':
        this.#commandStart = false;
        this.#stack.push({ kind: 'quotes' });
        this.#at += 1;
        return true;
      case '$':
        this.#commandStart = false;
        return this.#dollar(false);
      case '`':
        return this.#openBackquote();
      case '#':
        if (!wordStart) break;
        return this.#comment(mode);
      case '<':
      case '>':
        return this.#angle(char);
      case '(':
      case ')':
        return this.#bracket(mode, char);
      case '\n':
        this.#at += 1;
        this.#wordStart = true;
        this.#commandStart = true;
        return this.#hereDocuments(mode);
      case ' ':
      case '\t':
        this.#at += 1;
        this.#wordStart = true;
        return true;
      case ';':
      case '&':
      case '|':
        this.#at += 1;
        this.#wordStart = true;
        this.#commandStart = true;
        return true;
    }
    this.#word(mode, wordStart);
    return true;
  }

  /** Plain characters; `case` and `esac` tell which parentheses are those of patterns. */
  #word(mode: Extract<Mode, { kind: 'code' }>, wordStart: boolean): void {
    const plain = /[^\\'"$`<>()\n \t;&|]+/y;
    plain.lastIndex = this.#at;
    const word = plain.exec(this.#text)?.[0] ?? this.#text[this.#at] ?? '';
    this.#at += word.length;
    const ends = /^[\s;&|()<>]?$/.test(this.#text[peek(this.#text, this.#at)] ?? '');
    if (wordStart && ends && this.#commandStart && word === 'case') mode.open.push('case');
    if (wordStart && ends && this.#commandStart && word === 'esac') {
      if (mode.open.at(-1) === 'case') mode.open.pop();
    }
    const keyword = /^(?:if|then|elif|else|while|until|do|\{|!|time|in)$/.test(word);
    this.#commandStart = wordStart && ends && this.#commandStart && keyword;
    if (wordStart && ends && word === 'in' && mode.open.at(-1) === 'case')
      this.#commandStart = true;
  }

  /** With a backslash in it, it is another text, which is looked at on its own. */
  #openBackquote(): boolean {
    const text = this.#text;
    for (let at = this.#at + 1; at < text.length; at += 1) {
      if (text[at] === '\\') at += 1;
      else if (text[at] === '`') {
        this.openers.set(this.#at, at + 1);
        const inside = text.slice(this.#at + 1, at);
        if (isDoubtful(inside, this.#stack)) return false;
        if (inside.includes('\\')) this.#at = at + 1;
        else {
          const inner = openersOf(inside);
          if (inner === undefined) return false;
          const by = this.#at + 1;
          for (const [from, to] of inner) this.openers.set(by + from, by + to);
          this.#at = at + 1;
        }
        return true;
      }
    }
    return false;
  }

  #comment(mode: Extract<Mode, { kind: 'code' }>): boolean {
    const end = this.#text.indexOf('\n', this.#at);
    this.#at = end === -1 ? this.#text.length : end;
    return end !== -1 || mode.end === '';
  }

  #angle(char: string): boolean {
    const text = this.#text;
    const behind = peek(this.#text, this.#at + 1);
    if (text[behind] === '(') {
      this.#openCode(this.#at, behind + 1);
      return true;
    }
    this.#wordStart = true;
    if (char === '<' && text[behind] === '<') {
      const third = peek(this.#text, behind + 1);
      if (text[third] === '<') {
        this.#at = third + 1;
        return true;
      }
      const found = delimiterAt(text, behind + 1);
      if (found === undefined) return false;
      this.#at = found.end;
      this.#waiting.push(found);
      return true;
    }
    this.#at += 1;
    return true;
  }

  /** Behind a line: the texts of the here-documents that began in it. */
  #hereDocuments(mode: Extract<Mode, { kind: 'code' }>): boolean {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { delimiter, live, tabs } of waiting) {
      const from = this.#at;
      for (;;) {
        if (this.#at >= this.#text.length) return mode.end === '';
        const newline = this.#text.indexOf('\n', this.#at);
        const end = newline === -1 ? this.#text.length : newline;
        const line = this.#text.slice(this.#at, end);
        const start = this.#at;
        this.#at = end + 1;
        if ((tabs ? line.replace(/^\t+/, '') : line) !== delimiter) continue;
        if (live && !this.#body(from, start)) return false;
        break;
      }
    }
    return true;
  }

  /** Like text in double quotes, in which these are nothing special. */
  #body(from: number, to: number): boolean {
    const inner = new Scanner(this.#text.slice(0, to));
    inner.#at = from;
    while (inner.#at < to) {
      const char = inner.#text[inner.#at];
      const before = inner.#stack.length;
      if (char === '\\') inner.#at += 2;
      else if (char === '`') {
        if (!inner.#openBackquote()) return false;
      } else if (char === '$') {
        if (!inner.#dollar(true)) return false;
        while (inner.#stack.length > before) if (!inner.#step()) return false;
      } else inner.#at += 1;
    }
    for (const [from, end] of inner.openers) this.openers.set(from, end);
    return true;
  }

  #step(): boolean {
    if (this.#at >= this.#text.length) return false;
    const mode = this.#mode;
    if (mode.kind === 'code') return this.#code(mode);
    if (mode.kind === 'quotes') return this.#quotes();
    return mode.kind === 'parameter' ? this.#parameter(mode) : this.#arithmetic(mode);
  }

  #bracket(mode: Extract<Mode, { kind: 'code' }>, char: '(' | ')'): boolean {
    const wasStart = this.#commandStart;
    const at = this.#at;
    this.#at += 1;
    this.#wordStart = true;
    this.#commandStart = true;
    if (char === '(') {
      const second = peek(this.#text, at + 1);
      if (
        wasStart &&
        this.#text[second] === '(' &&
        endsTwice(this.#text, second + 1, this.#budget)
      ) {
        this.#stack.push({ kind: 'arithmetic', depth: 0 });
        this.#at = second + 1;
        return true;
      }
      mode.open.push('(');
    } else if (mode.open.at(-1) === '(') mode.open.pop();
    else if (mode.open.at(-1) === 'case')
      return true; // behind a pattern
    else if (mode.end === ')') {
      this.#close();
      this.#wordStart = false;
      this.#commandStart = false;
    } else return false;
    return true;
  }

  #quotes(): boolean {
    switch (this.#text[this.#at]) {
      case '\\':
        this.#at += 2;
        return true;
      case '"':
        this.#stack.pop();
        this.#at += 1;
        this.#wordStart = false;
        return true;
      case '$':
        return this.#dollar(true);
      case '`':
        return this.#openBackquote();
    }
    const plain = /[^\\"$`]+/y;
    plain.lastIndex = this.#at;
    this.#at += plain.exec(this.#text)?.[0].length ?? 1;
    return true;
  }

  #parameter({ quoted }: Extract<Mode, { kind: 'parameter' }>): boolean {
    switch (this.#text[this.#at]) {
      case '\\':
        this.#at += 2;
        return true;
      case '}':
        this.#at += 1;
        this.#close();
        this.#wordStart = false;
        return true;
      case "'":
        // In double quotes it depends on the operator; where it matters, the tree will not agree.
        if (quoted) break;
        return this.#single(this.#at + 1);
      case '"':
        this.#stack.push({ kind: 'quotes' });
        this.#at += 1;
        return true;
      case '$':
        return this.#dollar(quoted);
      case '`':
        return this.#openBackquote();
      case '<':
      case '>':
        // Bash replaces it in double quotes, too, behind some operators.
        if (this.#text[peek(this.#text, this.#at + 1)] === '(') return this.#angle('<');
        break;
    }
    this.#at += 1;
    return true;
  }

  #arithmetic(mode: Extract<Mode, { kind: 'arithmetic' | 'bracket' }>): boolean {
    const [open, close] = mode.kind === 'arithmetic' ? ['(', ')'] : ['[', ']'];
    const char = this.#text[this.#at];
    if (char === '\\') {
      this.#at += 2;
      return true;
    }
    if (char === '$') return this.#dollar(true);
    if (char === '`') return this.#openBackquote();
    this.#at += 1;
    if (char === open) mode.depth += 1;
    else if (char === close && mode.depth > 0) mode.depth -= 1;
    else if (char === close) {
      if (mode.kind === 'arithmetic') this.#at = peek(this.#text, this.#at) + 1;
      this.#close();
      this.#wordStart = false;
      this.#commandStart = false;
    }
    return true;
  }
}
