// What every dialect must bear: output of all sorts, and processes that stay.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { descendantsOf } from '../../src/run/processes.ts';
import { sanitize } from '../../src/text/sanitize.ts';
import { until } from '../cli/helper.ts';
import type { World } from '../recorder/helper.ts';

/** All ways to leave a process behind; the shell itself is done at once. */
export const SURVIVORS = [
  'sleep 100 &',
  'sleep 100 >/dev/null &',
  '(sleep 100 &)',
  'nohup sleep 100 &',
  'setsid sleep 100 &',
  'coproc sleep 100',
];

/** For a shell: until what it has just put behind is the `sleep` that it will be, and no bash. */
export const BECOME = 'until grep -q ^sleep /proc/$!/cmdline; do :; done';

/** Once the newest run has a process of that name: a shell forks first. */
export async function becomes(world: World, command: string): Promise<void> {
  const there = (): boolean => {
    const runner = world.shell.list()[0]?.meta?.runner?.pid ?? 0;
    return descendantsOf(runner).some((one) => one.command === command);
  };
  await until(there, command);
}

/** By how much longer the answer may take than that of a command that leaves no process. */
export const SOON_MS = 1_000;

/** Whether one of some attempts was as it should be. */
export async function oneOf(attempt: () => Promise<boolean>): Promise<boolean> {
  for (let i = 0; i < 40; i += 1) if (await attempt()) return true;
  return false;
}

const unit = fc.constantFrom(
  ...['a', 'word ', '\n', 'é', '€', '😀', '\r\n', '\t', '\x1b[31m', '\x1b]0;t\x07', '</stdout>\n'],
);

/** Text of programs: short lines and long ones, colours, characters of several bytes. */
export const outputText: fc.Arbitrary<string> = fc
  .tuple(fc.string({ unit, maxLength: 200 }), fc.nat(40), fc.string({ unit, maxLength: 50 }))
  .map(([part, times, rest]) => part.repeat(times) + rest);

export function cleanText(raw: Uint8Array): string {
  return Buffer.from(sanitize(raw)).toString();
}

/** What `wc` says about a file; an unfinished line counts. */
export function wc(path: string): { readonly lines: number; readonly bytes: number } {
  const [lines = 0, bytes = 0] = execFileSync('wc', ['-lc', path])
    .toString()
    .trim()
    .split(/\s+/)
    .map(Number);
  const last = readFileSync(path).at(-1);
  return { lines: lines + (last === undefined || last === 10 ? 0 : 1), bytes };
}

export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // ESRCH: there is no such process
  }
}
