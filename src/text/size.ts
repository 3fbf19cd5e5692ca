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
