// All of what a command said and printed in its capture: the bytes of its output, the words that
// started it, and its trace.

import type { ByteSource } from '../../capture/byte-source.ts';
import type { ByteRange } from '../../ledger/tokens.ts';
import { asObject, type JsonObject } from '../../text/json.ts';
import type { CapturePlan } from './capture.ts';
import { eachString } from './line.ts';
import { isPlain } from './overwrite.ts';

const BLOCK_BYTES = 1_048_576;

export const WHOLE_CAPTURE: CapturePlan = {
  words: withoutWords,
  damaged: starred,
  ranges: all,
  trace: 'removed',
};

/** Keys that have words of a command: of meta.json, its intent, final.json and events.jsonl. */
const WORDS = ['command', 'shell_text', 'description', 'environment', 'message'];

function withoutWords(json: JsonObject): JsonObject {
  const pairs = Object.entries(json).map(([key, value]): [string, unknown] => {
    if (WORDS.includes(key)) return [key, eachString(value, starred)];
    if (key === 'journal' || key === 'entry') return [key, nested(value)];
    if (key === 'processes' || key === 'survivors') {
      return [key, Array.isArray(value) ? value.map(nested) : value];
    }
    return [key, value];
  });
  const changed = Object.fromEntries(pairs);
  return JSON.stringify(changed) === JSON.stringify(json) ? json : changed;
}

function nested(value: unknown): unknown {
  const object = asObject(value);
  return object === undefined ? value : withoutWords(object);
}

function starred(text: string): string {
  return '*'.repeat(text.length);
}

/** From the first byte to the last, unless all of it is overwritten already. */
function all({ size, read }: Pick<ByteSource, 'size' | 'read'>): readonly ByteRange[] {
  for (let at = 0; at < size; at += BLOCK_BYTES) {
    if (read(at, BLOCK_BYTES).some(isPlain)) return [[0, size]];
  }
  return [];
}
