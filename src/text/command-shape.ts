// The normal form of a command: the command without the words that differ from call to call, so
// that `cat a.txt` and `cat b/c.md` count as one `cat <file>`. For counting and for people to read;
// it is no shell parser, and leaves a word that it cannot classify as it is. The rules:
//
//   - words, redirections and operators (; & | && ||) stand one space apart; a new line is a `;`
//   - the first word, and the first after an operator, is a program and keeps its name
//   - any other word with a slash or the ending of a file name becomes <file>, an address <url>;
//     so does the value of `--flag=value`
//   - quotes around a plain word go; any other quoted word, and a very long one, becomes <text>
//   - `NAME=value` before a program goes; without one it keeps its name: `NAME=`
//   - after sixteen words comes one last: `…`
//
// A normal form is its own normal form. Only the first 8,192 characters of a command are read: what
// follows is usually a document that the command carries.

const LENGTH_MAX = 8_192;
const WORDS_MAX = 16;
const WORD_LENGTH_MAX = 64;
const REST = '…';

const SPACE = /(?:[^\S\n]|\\\n)+/y;
const OPERATOR = /&&|\|\||[;|\n]|&(?!>)/y;
const PLACEHOLDER = /<(?:file|url|text)>/y;
const REDIRECTION = /\d?(?:(?!<(?:file|url|text)>)[<>])+(?:&\d?)?|&>+/y;
const BARE = /[^\s;&|<>'"\\]+/y;
const QUOTED = /'[^']*'?|"(?:[^"\\]|\\[\s\S])*"?|\\[\s\S]?/y;

const PLAIN = /^[^\s;&|<>'"\\]+$/;
const WHOLE_PLACEHOLDER = /^<(?:file|url|text)>$/;
const ASSIGNMENT = /^[A-Za-z_]\w{0,40}=/;
const FLAG = /^--?[\w-]{1,40}=(?=[\s\S])/;
const ADDRESS = /^[a-z][a-z0-9+.-]{0,20}:\/\//i;
const FILE_NAME = /^[^-].*\.[A-Za-z*][\w*]{0,9}$|^\.[A-Za-z]|^\.{1,2}$|^~/;

export function normalForm(command: string): string {
  const form = new Form();
  for (const token of tokensOf(command.slice(0, LENGTH_MAX))) if (!form.add(token)) break;
  return form.end();
}

type Token = { readonly kind: 'word' | 'operator' | 'redirection'; readonly text: string };

function* tokensOf(command: string): Generator<Token, void, undefined> {
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(command)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  // A placeholder is a piece of a word, so that a form is read as it was written.
  const piece = (): string | undefined => {
    const bare = take(PLACEHOLDER) ?? take(BARE);
    if (bare !== undefined) return bare;
    const quoted = take(QUOTED);
    return quoted === undefined ? undefined : contentOf(quoted);
  };
  while (at < command.length) {
    if (take(SPACE) !== undefined) continue;
    const operator = take(OPERATOR);
    if (operator !== undefined) {
      yield { kind: 'operator', text: operator === '\n' ? ';' : operator };
      continue;
    }
    const redirection = take(REDIRECTION);
    if (redirection !== undefined) {
      yield { kind: 'redirection', text: redirection };
      continue;
    }
    let word = '';
    for (let more = piece(); more !== undefined; more = piece()) word += more;
    yield { kind: 'word', text: word };
  }
}

function contentOf(quoted: string): string {
  const [mark] = quoted;
  if (mark === '\\') return quoted === '\\\n' ? '' : quoted.slice(1);
  const closed = quoted.length > 1 && quoted.endsWith(mark ?? '');
  return quoted.slice(1, closed ? -1 : undefined);
}

/** A form that is being made of tokens. */
class Form {
  readonly #words: string[] = [];
  /** Where the simple command began whose words are being added. */
  #start = 0;
  /** The variables it sets, as long as it has no program. */
  #names: string[] = [];
  #hasProgram = false;

  /** False once more words would change nothing. */
  add({ kind, text }: Token): boolean {
    if (text === REST) {
      this.#finish();
      this.#words.push(REST);
      return false;
    }
    if (kind === 'operator') this.#operator(text);
    else if (kind === 'redirection') this.#words.push(text);
    else this.#word(text);
    return this.#words.length + this.#names.length <= WORDS_MAX;
  }

  end(): string {
    this.#finish();
    const words = this.#words;
    if (words.at(-1) === ';') words.pop();
    const cut = words.length > WORDS_MAX ? [...words.slice(0, WORDS_MAX), REST] : words;
    return cut.join(' ');
  }

  #operator(text: string): void {
    this.#finish();
    const idle = this.#words.length === this.#start; // a blank line, or `;` behind an operator
    if (text === ';' && idle) return;
    this.#words.push(text);
    this.#start = this.#words.length;
    this.#hasProgram = false;
  }

  #word(text: string): void {
    const after = this.#words.at(-1) ?? '';
    if (this.#hasProgram || /[<>]$/.test(after)) {
      this.#words.push(argument(text));
      return;
    }
    const assignment = ASSIGNMENT.exec(text)?.[0];
    if (assignment !== undefined) {
      this.#names.push(assignment);
      return;
    }
    this.#names = [];
    this.#hasProgram = true;
    this.#words.push(WHOLE_PLACEHOLDER.test(text) ? text : short(text));
  }

  #finish(): void {
    this.#words.splice(this.#start, 0, ...this.#names);
    this.#names = [];
  }
}

function argument(text: string): string {
  const flag = FLAG.exec(text)?.[0] ?? '';
  const value = text.slice(flag.length);
  if (WHOLE_PLACEHOLDER.test(value)) return text;
  if (!PLAIN.test(value)) return `${flag}<text>`;
  if (ADDRESS.test(value)) return `${flag}<url>`;
  if (!value.startsWith('-') && (value.includes('/') || FILE_NAME.test(value))) {
    return `${flag}<file>`;
  }
  return `${flag}${short(value)}`;
}

function short(word: string): string {
  return PLAIN.test(word) && word.length <= WORD_LENGTH_MAX ? word : '<text>';
}
