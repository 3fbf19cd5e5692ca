// `cuff policy check`: the policy's decision on a command, or on each of a batch, which exits 0
// unless a line of it is wrong.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { AppError, errnoOf } from '../../errors.ts';
import { checkLine, PolicyChecker } from '../../policies/check.ts';
import { printable, printableJson } from '../../text/printable.ts';
import { put } from '../output.ts';
import { putChecked } from './checked-text.ts';
import { policyTrouble } from './trouble.ts';

export type CheckFlags = {
  readonly policy?: string;
  readonly cwd?: string;
  readonly project?: string;
  readonly batch?: string;
  readonly json?: boolean;
  readonly trust?: boolean;
  readonly agent?: string;
};

export async function checkPolicy(command: string | undefined, flags: CheckFlags): Promise<void> {
  if ((command === undefined) === (flags.batch === undefined)) {
    throw new AppError('usage', 'It takes either a command or --batch FILE.', {
      hint: "Quote the command: cuff policy check 'git log | head'.",
    });
  }
  const { policy, project, trust: trusted, agent } = flags;
  const checker = new PolicyChecker({ env: process.env, policy, project, trusted, agent });
  const cwd = resolve(flags.cwd ?? '.');
  if (command === undefined) return batch(checker, flags.batch ?? '-', cwd);
  await policyTrouble(async () => {
    await putChecked(checker.check(command, cwd), flags.json === true);
  });
}

const PIECE_LENGTH = 65_536; // one write for many lines

async function batch(checker: PolicyChecker, file: string, cwd: string): Promise<void> {
  const lines = (await textOf(file)).split('\n');
  let piece = '';
  for (const [index, line] of lines.entries()) {
    const checked = checkLine(checker, line, { number: index + 1, cwd });
    if (checked === undefined) continue;
    if (!checked.good) process.exitCode = 2;
    piece += `${printableJson(checked.json)}\n`;
    if (piece.length < PIECE_LENGTH) continue;
    await put(piece);
    piece = '';
  }
  await put(piece);
}

async function textOf(file: string): Promise<string> {
  if (file !== '-') {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      const why = errnoOf(error) ?? String(error);
      throw new AppError('usage', `${printable(file)} cannot be read: ${why}.`);
    }
  }
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}
