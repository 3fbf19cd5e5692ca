// Words for bytes that are not there, at the place where they would be.

/** A line of its own in the middle of a text. */
export function missingMark(bytes: number): string {
  return `\n[${missingText(bytes)}: more was printed than is kept]\n`;
}

export function missingText(bytes: number): string {
  return bytes === 1 ? '1 byte is missing' : `${bytes} bytes are missing`;
}
