// All hard cases, and whether one can be run here.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Case } from './case.ts';
import { hasTool, type Programs } from './programs.ts';
import { PATH } from './runs.ts';
import { ENDS } from './table-ends.ts';
import { KINDS } from './table-kinds.ts';
import { HARD_PLACES } from './table-limits.ts';
import { SHELLS } from './table-shells.ts';
import { STARTS } from './table-starts.ts';
import { TOOLS } from './table-tools.ts';
import { USERS } from './table-users.ts';

export const CASES: readonly Case[] = [
  ...KINDS,
  ...STARTS,
  ...ENDS,
  ...SHELLS,
  ...HARD_PLACES,
  ...TOOLS,
  ...USERS,
];

/** Why a case cannot be run here, or nothing. */
export function lackedBy(
  one: Case,
  { dir, missing }: Programs,
  follows: boolean,
): string | undefined {
  const text = JSON.stringify([one.command, one.files ?? {}]);
  for (const [, name = ''] of text.matchAll(/\$B\/([\w.-]+)/g)) {
    if (missing[name] !== undefined) return `${name} cannot be built here: ${missing[name]}`;
  }
  for (const need of one.needs ?? []) {
    if (need === 'root') {
      if (process.getuid?.() !== 0) return 'it needs to be root';
    } else if (need === 'follows') {
      if (!follows) return 'static programs may not be followed here';
    } else if (need === 'io_uring') {
      if (succeeds(join(dir, 'odd'), ['uring']) === 77) return 'the kernel forbids io_uring';
    } else if (need === 'userns') {
      if (succeeds('unshare', ['-Upfr', 'true']) !== 0) return 'there are no user namespaces';
    } else if (!hasTool(need, PATH)) return `${need} is not installed`;
  }
  return undefined;
}

function succeeds(program: string, args: readonly string[]): number | null {
  return spawnSync(program, args, { stdio: 'ignore' }).status;
}
