// Secrets that a command line shows by its own words: `PGPASSWORD=V`, `--password V`,
// `--api-key=V`, `scheme://user:V@host`. A placeholder with the name stands in the place of the
// value. References (`$PASSWORD`) and placeholders stay as they are. The words of a trace go
// through the same rules in C before they are written (native/words.c, native/shim/words.c); what
// only a program's own manual tells (`mysql -pV`, `curl -u user:V`) is known here alone.

/** Makes the placeholder for a value. */
type Mark = (name: string) => string;

const NAMES = new RegExp(
  [
    '(?:_KEY|_SECRET|_TOKEN|_PASS|PASSWORD|PASSWD|PASSPHRASE|AUTHTOKEN)$',
    '^(?:MYSQL_PWD|SSHPASS|TOKEN|SECRET|APIKEY)$',
  ].join('|'),
  'i',
);

/** Whether the value of a variable of this name is a secret. */
export function isSecretName(name: string): boolean {
  return NAMES.test(name);
}

// `--secret` alone is left out: docker's names a file. So is `--key`, which sort has.
const KEYS = '(?:api|access|secret|auth|account|master)[-_]?key';
const SURE = `password|passwd|passphrase|token|apikey|authtoken|${KEYS}`;
/** `--no-password`, `--with-token`: no value follows. */
const FLAGS = [
  'no|with|without|ask|use|prompt|show|skip|reset|generate|require|allow|enable|disable|hide|save',
  'store|is|has',
].join('|');
/** `--password`, `--registry-password`, `--client-secret`. */
const OPTION = [
  `-{1,2}(?!(?:${FLAGS})[-_])(?:[A-Za-z0-9]+[-_]+){0,6}`,
  `(?:${SURE}|(?<=[A-Za-z0-9][-_]+)secret)`,
].join('');

/** A word behind `-p`, quoted or not. */
const VALUE = `'[^']{0,8192}'|"(?:[^"\\\\]|\\\\.){0,8192}"|(?:[^\\s;&|<>()'"\`\\\\]|\\\\.)+`;
const START = '(?<![\\w-])';

const NAME_AND_SIGN = new RegExp(`${START}(-{0,2})([A-Za-z_][\\w-]*)\\+?=`, 'g');
const OPTION_AND_SPACE = new RegExp(
  `${START}(['"]?)(${OPTION})\\1(?:\\s|\\\\\\r?\\n)+(?![-<>|&;])`,
  'gi',
);
const OPTION_ALONE = new RegExp(`^${OPTION}$`, 'i');
const ADDRESS = /(?<![a-z0-9+.-])(-{0,2}[a-z][a-z0-9+.-]*:\/\/[^\s/?#:'"[]*:)([^\s/?#'"]+)(?=@)/gi;
/** The same as a word of its own, in which quotes are characters. */
const ADDRESS_WORD = /^([a-z][a-z0-9+.-]*:\/\/[^\s/?#:]*:)([^\s/?#]+)(?=@)/i;
const HEADERS = '(?:proxy-)?authorization|x-api-key|x-auth-token|private-token';
const HEADER = new RegExp(
  `(${HEADERS})(:\\s*(?:(?:bearer|basic|token|digest)\\s+)?)([^\\s'"]+)`,
  'gi',
);
const PROGRAM = /(?<![\w.-])(mysql\w*|mariadb[\w-]*|sshpass|curl)(\s[^;&|\n]*)/g;

/** Without one of these there is nothing to look for, which spares most words of a trace. */
const HINT = /pass|token|secret|key|pwd|authorization|:\/\/|^-{1,2}[pu]/i;

/** `-c`, `-ec`, `-lc`: the next word is shell text. */
const SCRIPT_NEXT = /^-(?!-).*c$/s;
const PLACEHOLDER = /^(?:\[[\w.:-]+\]|\*{3,}|<[^<>]*>|)$/;
/** `$X`, `$(x)`; but `$'x'` is a value. */
const REFERENCE = /^"?(?:\$(?!['"])|`)/;

/** A reference, a placeholder, or empty: no value that could be used. */
function isHarmless(value: string): boolean {
  return REFERENCE.test(value) || PLACEHOLDER.test(value.replace(/^(['"])(.*)\1$/s, '$2'));
}

function isSecretOption(name: string): boolean {
  return OPTION_ALONE.test(`--${name}`);
}

const journalMark: Mark = (name) => `[REDACTED:${name}]`;

/** A value in the quotes it had, so that the text stays one that can be read. */
function hidden(value: string, name: string, mark: Mark): string {
  if (isHarmless(value)) return value;
  const quote = /^(['"]).*\1$/s.exec(value)?.[1] ?? '';
  return `${quote}${mark(name)}${quote}`;
}

/** The text of a shell, or any text that quotes a command. */
export function redactText(text: string, mark: Mark = journalMark): string {
  const other = text
    .replace(
      PROGRAM,
      (_, program: string, rest: string) => program + ofProgram(program, rest, mark),
    )
    .replace(
      ADDRESS,
      (_, before: string, value: string) => before + hidden(value, 'password', mark),
    )
    .replace(HEADER, (_, name: string, sign: string, value: string) =>
      [name, sign, hidden(value, name.toLowerCase(), mark)].join(''),
    );
  const optionName = ([, , option = '']: readonly string[]): string => nameOf(option);
  const separated = withoutValues(other, OPTION_AND_SPACE, optionName, mark);
  return withoutValues(separated, NAME_AND_SIGN, assignedName, mark);
}

/** `NAME=V`, `--name=V`, and docker's `-eNAME=V`. */
function assignedName([, dashes = '', name = '']: readonly string[]): string | undefined {
  if (dashes === '') return isSecretName(name) ? name : undefined;
  const joined = dashes === '-' && (isSecretName(name) || isSecretName(name.slice(1)));
  return joined || isSecretOption(name) ? name : undefined;
}

/** Hides the word behind each match that has a name; a match may stand in the value of another. */
function withoutValues(
  text: string,
  pattern: RegExp,
  nameIn: (match: RegExpMatchArray) => string | undefined,
  mark: Mark,
): string {
  const quoteAt = quotesOf(text);
  let safe = '';
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    const name = nameIn(match);
    if (name === undefined || match.index < from) continue;
    const start = match.index + match[0].length;
    const end = wordEnd(text, start, quoteAt(start));
    safe += text.slice(from, start) + hidden(text.slice(start, end), name, mark);
    from = end;
  }
  return safe + text.slice(from);
}

/** The quotes around a position of a text; must be asked in ascending order. */
function quotesOf(text: string): (at: number) => string {
  let [i, quote] = [0, ''];
  return (at) => {
    for (; i < at; i += 1) {
      const sign = text.charAt(i);
      if (sign === '\\' && quote !== "'") i += 1;
      else if (quote === '' && (sign === '"' || sign === "'")) quote = sign;
      else if (sign === quote) quote = '';
    }
    return quote;
  };
}

/** Where a word of a shell ends, which may have several quoted parts; `outer` ends it, too. */
function wordEnd(text: string, start: number, outer: string): number {
  // Where the quotes end in front of the value, they were an apostrophe, or are `'"'"'`.
  const around = text.charAt(start) === outer ? '' : outer;
  let i = start;
  while (i < text.length) {
    const sign = text.charAt(i);
    if (sign === around || /[\s;&|<>()`]/.test(sign)) break;
    i = /["'\\]/.test(sign) ? partEnd(text, i, around) : i + 1;
  }
  return Math.min(i, text.length);
}

/** The end of the quoted or escaped part at `at`. */
function partEnd(text: string, at: number, outer: string): number {
  const escaped = text.charAt(at) === '\\';
  const quote = escaped ? '\\"' : text.charAt(at);
  if (escaped && (outer !== '"' || text.charAt(at + 1) !== '"')) return at + 2;
  for (let i = at + quote.length; i < text.length; i += 1) {
    if (text.startsWith(quote, i)) return i + quote.length;
    if (text.charAt(i) === outer) return i;
    if (text.charAt(i) === '\\' && quote === '"') i += 1;
  }
  return text.length;
}

function nameOf(option: string): string {
  return option.replace(/^-+/, '');
}

/** Hides the passwords that the program's manual names. */
function ofProgram(program: string, rest: string, mark: Mark): string {
  const password = (_: string, before: string, value: string): string =>
    before + hidden(value, 'password', mark);
  if (program === 'curl') {
    return rest.replace(/(\s(?:-u|--user)[\s=]?['"]?[^\s:'"]+:)([^\s'"]+)/g, password);
  }
  if (program === 'sshpass') return rest.replace(new RegExp(`^(\\s+-p\\s*)(${VALUE})`), password);
  return rest.replace(new RegExp(`(\\s-p)(${VALUE})`, 'g'), password);
}

/** The words of a program, as a trace has them. The same list where nothing is secret. */
export function redactWords(words: readonly string[]): readonly string[] {
  if (!words.some((word) => HINT.test(word))) return words;
  const mark: Mark = (name) => `[${name}]`;
  const program = words[0]?.replace(/^.*\//s, '') ?? '';
  const safe = words.map((word, i) => {
    const before = words[i - 1] ?? '';
    if (i > 1 && OPTION_ALONE.test(before) && !word.startsWith('-')) {
      return PLACEHOLDER.test(word) ? word : mark(nameOf(before));
    }
    const first = words.slice(1, i).every((one) => one.startsWith('-'));
    return ofWord(word, { before, program, first }, mark);
  });
  return safe.some((word, i) => word !== words[i]) ? safe : words;
}

/** What precedes a word; `first`: nothing but options. */
type WordContext = { readonly before: string; readonly program: string; readonly first: boolean };

function ofWord(word: string, { before, program, first }: WordContext, mark: Mark): string {
  if (SCRIPT_NEXT.test(before)) return redactText(word, mark);
  const password = (_: string, front: string, value: string): string =>
    front + (PLACEHOLDER.test(value) ? value : mark('password'));
  const assigned = /^(?:--?[\w-]+=)?(-{0,2})([A-Za-z_][\w-]*)=(.*)$/s.exec(word);
  const name = assigned === null ? undefined : assignedName(assigned);
  if (assigned !== null && name !== undefined) {
    const value = assigned[3] ?? '';
    return PLACEHOLDER.test(value)
      ? word
      : `${word.slice(0, word.length - value.length)}${mark(name)}`;
  }
  const isSshpass = program === 'sshpass' && first;
  if (isSshpass && before === '-p') return password('', '', word);
  if (isSshpass || /^(?:mysql|mariadb)/.test(program)) {
    if (/^-p./s.test(word)) return word.replace(/^(-p)(.+)$/s, password);
  }
  if (program === 'curl') {
    const next = before === '-u' || before === '--user';
    const user = next ? /^([^:]+:)(.+)$/s : /^((?:-u|--user=)[^:]+:)(.+)$/s;
    if (user.test(word)) return word.replace(user, password);
  }
  return redactText(word.replace(ADDRESS_WORD, password), mark);
}
