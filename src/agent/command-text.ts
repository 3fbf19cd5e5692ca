// What a dialect may ask about the text of a command before it runs it: whether it is one of the
// few that are never meant, whether it opens an editor, and how it reads when its commits name a
// co-author.

import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { literalOf } from '../policy/analyse/args.ts';
import { analyse } from '../policy/analyse/index.ts';
import { readCall } from '../policy/profiles/index.ts';
import { dangerousPattern } from '../policy/safety.ts';
import type { Unit } from '../policy/unit.ts';
import { commitsIn, withCoAuthor } from '../run/git-trailer.ts';
import { baseName } from '../text/base-name.ts';
import type { Env } from '../types.ts';

export { dangerousPattern };

/** Whether `git rebase -i` may run, also inside `bash -c '...'`. */
export function hasInteractiveRebase(command: string): boolean {
  if (!command.includes('rebase')) return false;
  return analyse(command, { cwd: '/', home: '/' }).units.some(isInteractiveRebase);
}

function isInteractiveRebase({ argv }: Unit): boolean {
  const call = readCall(argv);
  const [subcommand] = call?.subcommands ?? [];
  if (subcommand === undefined || literalOf(argv[subcommand]) !== 'rebase') return false;
  const interactive = call?.parts.some(({ option }) => option === '--interactive') === true;
  const refused = argv.some((arg) => literalOf(arg) === '--no-interactive');
  return baseName(literalOf(argv[0])) === 'git' && interactive && !refused;
}

const GIT_MS_MAX = 2_000; // reading a small file; who has a broken git finds out by the commit

const DIRECTORIES_ASKED_MAX = 8; // one git for each

export type Where = {
  readonly workingDirectory: string;
  readonly env: Env;
};

/**
 * The command with these trailers in each of its commits. Byte for byte the same when it has none,
 * or when `git config cuff.no-trailer true` was said where they are made.
 */
export async function withTrailers(
  command: string,
  trailers: readonly string[],
  where: Where,
): Promise<string> {
  let text = command;
  // Each goes in front of those that were added before.
  for (const trailer of [...trailers].reverse()) text = await withTrailer(text, trailer, where);
  return text;
}

async function withTrailer(command: string, trailer: string, where: Where): Promise<string> {
  const all = new Set(commitsIn(command, trailer).map(({ directory }) => directory));
  if (all.size === 0) return command;
  const directories = [...all].slice(0, DIRECTORIES_ASKED_MAX);
  const answers = await Promise.all(
    directories.map((one) => turnedOff(resolve(where.workingDirectory, one), where)),
  );
  const off = new Set(directories.filter((_, at) => answers[at]));
  return withCoAuthor(command, trailer, (directory) => off.has(directory));
}

function turnedOff(cwd: string, { env }: Where): Promise<boolean> {
  const args = ['config', '--get', '--bool', 'cuff.no-trailer'];
  return new Promise((answer) => {
    // Not set, no git, no repository: nobody has turned it off.
    const options = { cwd, env: { ...env }, timeout: GIT_MS_MAX };
    execFile('git', args, options, (error, stdout) => {
      answer(error === null && stdout.trim() === 'true');
    });
  });
}
