// Sizes in bytes as people write and read them. Units as in coreutils: `K`, `KiB` are 1024,
// `KB` is 1000.

const LETTERS = 'KMGTP';

/** Bytes, or undefined for what is no size: `65536`, `64K`, `1.5 MiB`, `10MB`. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d{1,16})(\.\d{1,16})? ?(?:([KMGTP])(i?B)?|B)?$/i.exec(text);
  if (match === null) return undefined;
  const [, whole = '', fraction = '', letter = '', suffix = ''] = match;
  const base = suffix.toUpperCase() === 'B' ? 1000 : 1024;
  const power = letter === '' ? 0 : LETTERS.indexOf(letter.toUpperCase()) + 1;
  const bytes = Math.round(Number(whole + fraction) * base ** power);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** `999 B`, `1.5 MiB`: one decimal at most, and none that is zero. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let power = 0;
  // What would be rounded up to 1024 belongs to the next unit.
  while (power < LETTERS.length && Math.round(value * 10) / 10 >= 1024) {
    value /= 1024;
    power += 1;
  }
  const unit = power === 0 ? 'B' : `${LETTERS[power - 1]}iB`;
  return `${Math.round(value * 10) / 10} ${unit}`;
}
