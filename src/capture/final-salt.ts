// The salt of a capture that a ledger has sealed: the last key of final.json, `"salt":"<22
// characters base64url>"`. Without it the file is, byte for byte, what the runner wrote; that is
// what the ledger commits to. It is added when the output is closed, because until then the runner
// replaces the file.

import * as paths from './paths.ts';

const SALT = /,"salt":"([A-Za-z0-9_-]{22})"\}\n$/;

export type FinalText = {
  /** As the runner wrote it. */
  readonly text: string;
  readonly salt: Uint8Array | undefined;
};

/** Undefined where there is no final.json. Throws what opening it throws. */
export function finalText(dir: string): FinalText | undefined {
  const stored = paths.readTextIn(dir, 'final.json');
  return stored === undefined ? undefined : splitFinal(stored);
}

export function splitFinal(stored: string): FinalText {
  const [end, salt] = SALT.exec(stored) ?? [];
  if (end === undefined || salt === undefined) return { text: stored, salt: undefined };
  const text = `${stored.slice(0, -end.length)}}\n`;
  return { text, salt: Buffer.from(salt, 'base64url') };
}

/** Durable when it returns. Throws what writing throws. */
export function saltFinal(
  dir: string,
  final: FinalText,
  salt: Uint8Array,
  io?: paths.FileOps,
): void {
  const text = saltedText(final, salt);
  paths.replaceIn(dir, 'final.json', text, { sync: true, ...(io && { io }) });
}

export function saltedText({ text }: FinalText, salt: Uint8Array): string {
  const coded = Buffer.from(salt).toString('base64url');
  return `${text.slice(0, -2)},"salt":"${coded}"}\n`;
}
