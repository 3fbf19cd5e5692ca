// What a dialect may ask about the text of a command before it runs it: whether it is one of the
// few that nobody means, and how it reads when its commits name a co-author.

import { execFile } from 'node:child_process';
import { dangerousPattern } from '../policy/safety.ts';
import { withCoAuthor } from '../run/git-trailer.ts';

export { dangerousPattern };

const GIT_MS_MAX = 2_000; // reading a small file; who has a broken git finds out by the commit

export type Where = {
  readonly workingDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/**
 * The command with the co-author in each of its commits. Byte for byte the same when it has none,
 * or when `git config cuff.no-trailer true` was said there.
 */
export async function coAuthored(command: string, coAuthor: string, where: Where): Promise<string> {
  const changed = withCoAuthor(command, `Co-authored-by: ${coAuthor}`);
  if (changed === command) return command;
  return (await turnedOff(where)) ? command : changed;
}

function turnedOff({ workingDirectory: cwd, env }: Where): Promise<boolean> {
  const args = ['config', '--get', '--bool', 'cuff.no-trailer'];
  return new Promise((resolve) => {
    // Not set, no git, no repository: nobody has turned it off.
    const options = { cwd, env: { ...env }, timeout: GIT_MS_MAX };
    execFile('git', args, options, (error, stdout) => {
      resolve(error === null && stdout.trim() === 'true');
    });
  });
}
