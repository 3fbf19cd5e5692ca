// Secrets that a command line shows by its own words: `PGPASSWORD=V`, `--password V`,
// `--api-key=V`, `scheme://user:V@host`. A placeholder with the name stands in the place of the
// value. References (`$PASSWORD`) and placeholders stay as they are. The words of a trace go
// through the same rules in C before they are written (native/words.c, native/shim/words.c); what
// only a program's own manual tells (`mysql -pV`, `curl -u user:V`) is known here alone.

/** What stands in the place of a value. */
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

/** One word of a shell, or the rest of one inside of somebody else's quotes. */
const VALUE = [
  `'[^']{0,8192}'`,
  `"(?:[^"\\\\]|\\\\.){0,8192}"`,
  `(?:[^\\s;&|<>()'"\`\\\\]|\\\\.)+`,
].join('|');
const START = '(?<![\\w-])';

const NAME_AND_SIGN = new RegExp(`${START}(-{0,2})([A-Za-z_][\\w-]*)=`, 'g');
const VALUE_HERE = new RegExp(VALUE, 'y');
const WITH_SPACE = new RegExp(`${START}(${OPTION})(\\s+)(?![-<>|&;])(${VALUE})`, 'gi');
const OPTION_ALONE = new RegExp(`^${OPTION}$`, 'i');
const ADDRESS = /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]*:\/\/[^\s/?#@:'"[]*:)([^\s/?#'"]+)(?=@)/gi;
const HEADERS = '(?:proxy-)?authorization|x-api-key|x-auth-token|private-token';
const HEADER = new RegExp(
  `(${HEADERS})(:\\s*(?:(?:bearer|basic|token|digest)\\s+)?)([^\\s'"]+)`,
  'gi',
);
const PROGRAM = /(?<![\w.-])(mysql\w*|mariadb[\w-]*|sshpass|curl)(\s[^;&|\n]*)/g;

/** Without one of these there is nothing to look for: most words of a trace are done with so. */
const HINT = /pass|token|secret|key|pwd|authorization|:\/\/|^-[pu]/i;

/** `-c`, `-ec`, `-lc`: what follows is the text of a shell. */
const SCRIPT_NEXT = /^-(?!-).*c$/s;
const PLACEHOLDER = /^\[[\w.:-]+\]$/;

/** A reference, a placeholder, or nothing: no value that anybody could use. */
function isHarmless(value: string): boolean {
  const bare = value.replace(/^"/, '');
  return (
    bare === '' || bare === '"' || value === "''" || /^(?:\$|`|\[[\w.:-]+\]|\*{3}|<)/.test(bare)
  );
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
    )
    .replace(WITH_SPACE, (_, option: string, space: string, value: string) =>
      [option, space, hidden(value, nameOf(option), mark)].join(''),
    );
  return withoutAssigned(other, mark);
}

/** `NAME=V` and `--name=V`; a name may stand in the value of another. */
function withoutAssigned(text: string, mark: Mark): string {
  let safe = '';
  let from = 0;
  for (const { 0: whole, 1: dashes, 2: name = '', index } of text.matchAll(NAME_AND_SIGN)) {
    if (!(dashes === '' ? isSecretName(name) : isSecretOption(name))) continue;
    VALUE_HERE.lastIndex = index + whole.length;
    const value = index < from ? undefined : VALUE_HERE.exec(text)?.[0];
    if (value === undefined) continue;
    safe += text.slice(from, index) + whole + hidden(value, name, mark);
    from = index + whole.length + value.length;
  }
  return safe + text.slice(from);
}

function nameOf(option: string): string {
  return option.replace(/^-+/, '');
}

/** What the manual of the program says is a password. */
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
      return word === '' || PLACEHOLDER.test(word) ? word : mark(nameOf(before));
    }
    const first = words.slice(1, i).every((one) => one.startsWith('-'));
    return ofWord(word, { before, program, first }, mark);
  });
  return safe.some((word, i) => word !== words[i]) ? safe : words;
}

/** What stands in front of a word; `first`: nothing but options. */
type Place = { readonly before: string; readonly program: string; readonly first: boolean };

function ofWord(word: string, { before, program, first }: Place, mark: Mark): string {
  if (SCRIPT_NEXT.test(before)) return redactText(word, mark);
  const [, dashes = '', name = '', value = ''] =
    /^(-{0,2})([A-Za-z_][\w-]*)=(.*)$/s.exec(word) ?? [];
  if (name !== '' && (dashes === '' ? isSecretName(name) : isSecretOption(name))) {
    return PLACEHOLDER.test(value) ? word : `${dashes}${name}=${mark(name)}`;
  }
  const isSshpass = program === 'sshpass' && first;
  if (isSshpass && before === '-p') return isHarmless(word) ? word : mark('password');
  if (
    (isSshpass || /^(?:mysql|mariadb)/.test(program)) &&
    /^-p./s.test(word) &&
    !isHarmless(word.slice(2))
  ) {
    return `-p${mark('password')}`;
  }
  if (program === 'curl' && (before === '-u' || before === '--user')) {
    return word.replace(/^([^:]+:)(.+)$/s, (_, user: string) => user + mark('password'));
  }
  return redactText(word, mark);
}
