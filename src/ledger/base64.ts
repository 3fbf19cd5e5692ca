// Base64 that has one form for each value: Node's own decoder takes anything.

const FORMS = { standard: 'base64', url: 'base64url' } as const;

/** RFC 4648, 4, with padding. */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** RFC 4648, 5, without padding. */
export function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}

/** Undefined for a text that is not exactly the form of its bytes, or has another length. */
export function fromBase64(
  text: string,
  length?: number,
  form: keyof typeof FORMS = 'standard',
): Buffer | undefined {
  const bytes = Buffer.from(text, FORMS[form]);
  if (bytes.toString(FORMS[form]) !== text) return undefined;
  return length === undefined || bytes.length === length ? bytes : undefined;
}
