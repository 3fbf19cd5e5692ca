// Reading JSON whose shape the clients decide: what is not there is an empty list, text or object.

export type Json = Readonly<Record<string, unknown>>;

export function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Json)
    : {};
}

export function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The text of a content that is a string, or a list of blocks with a `text` each. */
export function plainText(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((block) => text(block.text))
    .join('');
}
