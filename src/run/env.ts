// What a command gets as its environment, and how shell text becomes an argv.

import type { Command, Env } from '../types.ts';

export type Environment = Readonly<Record<string, string>>;

/** A copy without undefined values and without variables that start with one of the prefixes. */
export function childEnvironment(
  parent: Env,
  options: { readonly add?: Environment; readonly removePrefixes?: readonly string[] } = {},
): Environment {
  const { add = {}, removePrefixes = [] } = options;
  const kept = Object.entries(parent).filter(
    (pair): pair is [string, string] =>
      pair[1] !== undefined && !removePrefixes.some((prefix) => pair[0].startsWith(prefix)),
  );
  // Not by assignment: a variable may be called `__proto__`.
  return { ...Object.fromEntries(kept), ...add };
}

/**
 * Shell text must not run start-up files. bash sources BASH_ENV when it is not interactive, and
 * ~/.bashrc when SHLVL is unset or 0 and it takes its stdin for a network connection; so the one is
 * removed and the other is set.
 */
export function shellEnvironment(env: Environment): Environment {
  const { BASH_ENV: _bash, ENV: _sh, ...rest } = env;
  return { ...rest, SHLVL: rest.SHLVL ?? '1' };
}

export function argvOf(command: Command): readonly string[] {
  if (command.kind === 'argv') return command.argv;
  const { text, shell = 'bash' } = command;
  // Other shells have no such options, and read no such files by default.
  const plain = /(^|\/)bash$/.test(shell) ? ['--noprofile', '--norc'] : [];
  return [shell, ...plain, '-c', text];
}

/** Seed 002: what an agent's command must not see, in the foreground and behind it. */
export const SECRET_PREFIXES: readonly string[] = [
  'ANTHROPIC_',
  'OPENAI_',
  'GEMINI_',
  'AWS_SECRET',
  'PHOENIX_',
];

/** Seed 002: no person sits at an agent's command, so an editor must fail instead of waiting. */
export const NO_EDITOR: Environment = { EDITOR: '/bin/false', VISUAL: '/bin/false' };

/**
 * Under an enforced policy a pager must not give a shell: by keys, or by a file that names what
 * opens it (LESSOPEN).
 */
export const NO_PAGER: Environment = {
  LESSSECURE: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
};
