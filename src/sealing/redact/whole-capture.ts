// All of what a command said and printed in its capture: the bytes of its output, the words that
// started it, and its trace.

import * as fs from 'node:fs';
import type { ByteRange } from '../../ledger/tokens.ts';
import { asObject, type JsonObject } from '../../text/json.ts';
import type { CapturePlan } from './capture.ts';
import { eachString } from './line.ts';
import { isPlain } from './overwrite.ts';

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
function all(path: string): readonly ByteRange[] {
  const fd = fs.openSync(path, fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0));
  try {
    const { size } = fs.fstatSync(fd);
    const block = Buffer.alloc(1_048_576);
    for (;;) {
      const count = fs.readSync(fd, block);
      if (count === 0) return [];
      if (block.subarray(0, count).some(isPlain)) return [[0, size]];
    }
  } finally {
    fs.closeSync(fd);
  }
}
