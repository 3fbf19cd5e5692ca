// Sizes in bytes as people read them, in units of 1024.

const LETTERS = 'KMGTP';

/** `999 B`, `1.5 MiB`: one decimal at most, and none that is zero. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let power = 0;
  // A value that would be rounded up to 1024 belongs to the next unit.
  while (power < LETTERS.length && Math.round(value * 10) / 10 >= 1024) {
    value /= 1024;
    power += 1;
  }
  const unit = power === 0 ? 'B' : `${LETTERS[power - 1]}iB`;
  return `${Math.round(value * 10) / 10} ${unit}`;
}

/** A size as a setting says it. */
export const SIZE = /^(\d{1,15}) ?(?:([KMGT])iB|B)?$/;

/** `2147483648`, as text or a number, `2 GiB`, `512 MiB`; undefined for anything else. */
export function parseSize(value: unknown): number | undefined {
  const [, count, letter] = SIZE.exec(String(value ?? '')) ?? [];
  if (count === undefined || (typeof value !== 'number' && typeof value !== 'string')) return;
  const bytes = Number(count) * 1024 ** (letter === undefined ? 0 : LETTERS.indexOf(letter) + 1);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
