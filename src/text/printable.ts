// Makes text from outside safe to show in a terminal: the name of a command must not be able to
// move the cursor, set a title, or turn the direction of the text beside it.

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

// Controls (C1 and DEL too: many terminals obey U+009B like ESC [), invisible format characters,
// the two line separators, and halves of surrogate pairs.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** One line in which nothing is left that a terminal would obey. For eyes, not for parsing. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => NAMED[character] ?? escaped(character));
}

function escaped(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length <= 2 ? `\\x${hex.padStart(2, '0')}` : `\\u{${hex}}`;
}

/** One short line of it, for lists and messages: `…` stands for what is behind `lengthMax`. */
export function shortLine(text: string, lengthMax: number): string {
  const characters = [...printable(text.trim().replace(/\s+/g, ' '))];
  if (characters.length <= lengthMax) return characters.join('');
  return `${characters.slice(0, lengthMax).join('')}…`;
}

/** The command line of a process. Our own shells are long to read: `bash -c text` says it. */
export function processLine(command: string, lengthMax: number): string {
  return shortLine(command.replace(/^\/bin\/bash --noprofile --norc -c /, 'bash -c '), lengthMax);
}

/** JSON that is safe to show: JSON itself escapes only characters below a space. */
export function printableJson(value: unknown): string {
  // Outside of its strings JSON has none of these, and inside this means the same.
  return JSON.stringify(value).replace(/[\x7f-\x9f]|[\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** An argv as a person would type it into a shell. */
export function quoteWords(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoteWord(word))).join(' ');
}

/** One word for a shell, whatever is in it, and no keyword or assignment. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
