/** The source of a regular expression, without the flag `u`, that matches exactly this text. */
export function literalRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
