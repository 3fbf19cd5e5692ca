// Golden answers: what a tool said, held against a file that somebody has read. What is different
// each time (paths, ids, pids, times) is made equal first. `UPDATE_GOLDEN=1` writes the files.
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { World } from '../recorder/helper.ts';

type Replacement = readonly [RegExp, string];

/** One time of any length is as good as another. */
const ALWAYS: readonly Replacement[] = [
  [/\b\d{8}-\d{6}-[0-9a-f]{8}\b/g, 'RUN'],
  [/\b(pids?|PID|process(?: group)?|PGID)([:= ]+|="|": )-?\d+\b/gi, '$1$21234'],
  [/(kill(?: -\w+)? -?)\d{2,}\b/g, '$11234'],
  [/\b\d+m \d+(?:\.\d+)?s\b/g, '0m 0.0s'],
  [/\b\d+(?:\.\d+)? ?(ms|seconds?|minutes?)\b/g, '0 $1'],
  [/\b\d+(?:\.\d+)? ?s\b/g, '0 s'],
  [/("\w*(?:_ms|_seconds|At|_at)": )\d+(?:\.\d+)?/g, '$10'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '2026-01-18T14:30:52Z'],
];

/** `more` replaces what only one dialect says, before everything else. */
export function golden(
  dialect: string,
  name: string,
  text: string,
  world: Pick<World, 'dir'>,
  more: readonly Replacement[] = [],
): void {
  const path = goldenPath(dialect, name);
  const now = `${steady(text, world, more)}\n`;
  if (process.env.UPDATE_GOLDEN === '1') {
    fs.mkdirSync(dirname(path), { recursive: true });
    fs.writeFileSync(path, now);
  }
  expect(now, `${dialect}/${name}.txt`).toBe(fs.readFileSync(path, 'utf8'));
}

/** What `golden` compares, for documents that show the same answers. */
export function goldenText(dialect: string, name: string): string {
  return fs.readFileSync(goldenPath(dialect, name), 'utf8').replace(/\n$/, '');
}

function steady(text: string, { dir }: Pick<World, 'dir'>, more: readonly Replacement[]): string {
  const start = text.replaceAll(dir, '');
  return [...more, ...ALWAYS].reduce((all, [found, by]) => all.replace(found, by), start);
}

function goldenPath(dialect: string, name: string): string {
  return join(import.meta.dirname, 'golden', dialect, `${name}.txt`);
}
