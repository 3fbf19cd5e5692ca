// Every command but `run`. `derun` has only those that seed 004 names; those of `cuff` are loaded
// when one of them is used.

import { AppError, errnoOf } from '../errors.ts';
import { printable } from '../text/printable.ts';
import { fail } from './fail.ts';
import type { ReadyFront } from './mcp-front.ts';
import { quietPipes } from './output.ts';
import { RUN_USAGE } from './run.ts';

const DERUN_USAGE = `usage: ${RUN_USAGE.derun}
       derun mcp
       derun help
`;

export async function program(
  name: 'cuff' | 'derun',
  args: readonly string[],
  front?: ReadyFront,
): Promise<void> {
  quietPipes();
  try {
    if (name === 'derun') await derun(args);
    else await (await import('./commands.ts')).cuff(args, front);
  } catch (error) {
    // Here and not only at the top: that is another bundle, whose AppError is not this one.
    fail(name, explained(error));
  }
}

/** A refused system call is a matter of rights or of the disk, not a bug. */
function explained(error: unknown): unknown {
  const errno = errnoOf(error);
  const refused = error instanceof Error && 'syscall' in error && errno !== 'EPIPE';
  if (!refused || error instanceof AppError || errno === 'EMFILE') return error;
  return new AppError('state_unwritable', error.message, {
    hint: 'See what is wrong with `cuff doctor`, or set CUFF_STATE_ROOT to a directory of yours.',
    cause: error,
  });
}

async function derun([command, ...rest]: readonly string[]): Promise<void> {
  if (command === 'mcp') return (await import('./mcp.ts')).derunMcp(rest);
  if (command === 'help' || command === '--help' || command === '-h') {
    process.stdout.write(DERUN_USAGE);
    return;
  }
  if (command === undefined) {
    process.stderr.write(DERUN_USAGE);
    process.exitCode = 2;
    return;
  }
  throw new AppError('usage', `There is no command '${printable(command)}'.`, {
    hint: `${DERUN_USAGE}Captures are read, followed and killed with \`cuff\`; see \`cuff help\`.`,
  });
}
