// Parts that several help texts share.

export const JSON_DOCUMENT = 'one JSON document';

/** The last part of a help text; each line is a command to type. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
