// bash as it is, and with something of ours: what a command prints and how it ends.
import { spawnSync } from 'node:child_process';

export type Ran = { readonly stdout: string; readonly stderr: string; readonly end: string };

export function bash(
  command: string,
  env: Readonly<Record<string, string>>,
  cwd = process.cwd(),
): Ran {
  const { BASH_ENV: _, ...rest } = process.env;
  const { stdout, stderr, status, signal } = spawnSync(
    '/bin/bash',
    ['--noprofile', '--norc', '-c', command],
    { env: { ...rest, ...env }, cwd, encoding: 'utf8', timeout: 150_000 },
  );
  // bash names the processes that died of a signal; stages print in any order.
  const named = stderr.replace(/ \d+ (Killed|Done|Terminated)/g, ' 1 $1');
  const steady = named.split('\n').sort().join('\n');
  return { stdout, stderr: steady, end: `${signal ?? status}` };
}
