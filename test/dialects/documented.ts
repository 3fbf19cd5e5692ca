// Answers in documents, held against golden files. A block of text behind
// `<!-- golden: NAME -->` is what the golden file says, with pids, ids, paths and times that look
// like real ones; a line `…` stands for lines that are left out.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { goldenText } from './golden.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const BLOCK = /<!-- golden: ([\w-]+) -->\n+```\w*\n(.*?)\n```\n/gs;

/** Compares every such block of a document, and gives their names. */
export function expectDocumented(path: string, dialect: string, extension = 'txt'): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return [...text.matchAll(BLOCK)].map(([, name = '', block = '']) => {
    const golden = goldenText(dialect, `${name}.${extension}`).replace(/\n+$/, '');
    const parts = steady(block).split('\n…\n');
    const [first = '', ...rest] = parts;
    const last = rest.at(-1);
    if (last === undefined) expect(first, name).toBe(golden);
    else {
      expect(golden.startsWith(first), `${name}: ${first}`).toBe(true);
      expect(golden.endsWith(last), `${name}: ${last}`).toBe(true);
    }
    return name;
  });
}

function steady(block: string): string {
  return block
    .replaceAll('/home/you/.local/state/derun', '/state')
    .replaceAll('/home/you/project', '/project')
    .replace(/\/tmp\/phoenix-\w{6}/g, '/tmp/phoenix-XXXXXX')
    .replace(/\b\d{8}-\d{6}-[0-9a-f]{8}\b/g, 'RUN')
    .replace(/((?:pid|[Pp]rocess) |<pid>|kill -9 -|"pid": )\d+/g, '$11234')
    .replace(/("duration_ms": )\d+/g, '$10')
    .replace(/Chunk ID: [0-9a-f]{6}/g, 'Chunk ID: 0a1b2c')
    .replace(/\b\d+\.\d+ seconds\b/g, '0 seconds')
    .replace(/\b\d+ ms\b/g, '0 ms')
    .replace(/\b\d+(?:\.\d+)?s\b/g, '0 s');
}
