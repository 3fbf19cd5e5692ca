// Values that stand where a secret would stand and are none: words of examples, references,
// fillers. Without this every README would be a leak.

const EXAMPLE = new RegExp(
  [
    'example|placeholder|redacted|change[-_]?me|replace[-_]?me|dummy|^(?:your|my)[-_]',
    'x{4}|\\*{3}|\\.{3}|0{8}|1234567890|abcdefghij',
  ].join('|'),
  'i',
);

/** What people write for a password in an example, and what databases are set up with. */
const WORDS = new Set(
  [
    'password passwd passw0rd password1 password123 pass pwd secret token user username admin root',
    'test testing test_key postgres postgresql mysql mariadb rabbitmq minioadmin guest development',
    'default production undefined disabled required optional localhost foo bar foobar anonymous',
    'anoncvs hunter2 none null true false value string letmein changeme changeit',
  ].flatMap((line) => line.split(' ')),
);

/** `${X}`, `$X`, `<x>`, `{x}`, `%s`, `[x]`, `@x@`. */
const REFERENCE = /^(?:\$|<|\{|\[|%[a-z(]|@)|^%[A-Z_]+%$|[<>{}$`]/;

const DISTINCT_MIN = 3;

export function isPlaceholder(value: string): boolean {
  if (isExampleWord(value) || EXAMPLE.test(value) || REFERENCE.test(value)) return true;
  return new Set(value).size < DISTINCT_MIN;
}

/** A word of examples, which outputs have for many reasons. */
export function isExampleWord(value: string): boolean {
  return WORDS.has(value.toLowerCase());
}

const RANDOM_LENGTH_MIN = 16;
const RANDOM_DISTINCT_MIN = 8;

/** Letters and digits mixed as no word has them; names and words joined by signs are not. */
export function isRandomText(value: string): boolean {
  if (value.length < RANDOM_LENGTH_MIN || new Set(value).size < RANDOM_DISTINCT_MIN) return false;
  const digits = value.replace(/\D/g, '').length;
  const letters = value.replace(/[^A-Za-z]/g, '').length;
  if (digits < 2 || letters < 2) return false;
  // `sk-proj-my-first-project-2024`: words in small letters with a number.
  const pieces = value.split(/[._~+/=-]/).filter((piece) => piece !== '');
  return pieces.some((piece) => /\d/.test(piece) && /[A-Za-z]/.test(piece) && piece.length >= 8);
}
