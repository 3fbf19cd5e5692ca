// A checkpoint (C2SP tlog-checkpoint): a signed note that says how large a log is and what its root
// is. Its text is the origin, the size, the root in base64, and lines of extensions, which we write
// none of.
import { base64, fromBase64 } from './base64.ts';
import type { Note } from './note.ts';
import type { TreeHead } from './proofs.ts';
import { HASH_BYTES } from './tree.ts';

export type Checkpoint = TreeHead & { readonly origin: string };

export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${base64(root)}\n`;
}

/** Undefined for a note whose text is no checkpoint. */
export function checkpointOf({ text }: Note): Checkpoint | undefined {
  const lines = text.split('\n');
  const [origin = '', sizeText = '', rootText = '', ...extensions] = lines;
  const [size, root] = [parseSize(sizeText), fromBase64(rootText, HASH_BYTES)];
  if (extensions.pop() !== '' || extensions.includes('') || origin === '') return undefined;
  return size === undefined || root === undefined ? undefined : { origin, size, root };
}

/** Decimal, without leading zeros, and a number that JavaScript counts exactly. */
export function parseSize(text: string): number | undefined {
  if (!/^(0|[1-9]\d{0,15})$/.test(text)) return undefined;
  const size = Number(text);
  return Number.isSafeInteger(size) ? size : undefined;
}
