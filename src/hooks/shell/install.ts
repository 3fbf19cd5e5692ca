// The files that stand where an agent expects a shell, below the state root:
//
//   shells/bash, shells/zsh   the native client, a copy of the runner (native/sh.h), for
//                             CLAUDE_CODE_SHELL, `shell`, `shellPath`, SHELL, GOOSE_SHELL and PATH
//   shells/client             what the client has to know: `key value` lines
//   bash-env                  for BASH_ENV, where only a variable can be set (Codex)
//   zdotdir/.zshenv           the same for zsh, by ZDOTDIR
//
// Copies, so that an agent still has a shell when cuff is gone. Each file is replaced as a whole.

import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { ensurePrivateDir, ensureRoot, sessionsDir, stateRoot } from '../../capture/paths.ts';
import { AppError } from '../../errors.ts';
import { realOf } from '../../places.ts';
import { findRunner } from '../../run/binary.ts';
import { quoteWord } from '../../text/printable.ts';
import type { Env } from '../../types.ts';
import { SIGN_VARIABLES } from './agent-call.ts';

export type ShellFiles = {
  readonly bash: string;
  readonly zsh: string;
  /** The directory of both, for PATH. */
  readonly shells: string;
  readonly bashEnv: string;
  readonly zdotdir: string;
};

/** What the client does with a command that no helper has recorded or judged. */
export type ShellTerms = {
  /** What cannot be recorded does not run. */
  readonly strict: boolean;
  /** A policy of the user or the system is enforced: what cannot be judged does not run. */
  readonly enforced: boolean;
};

/** How long it waits where not as the product does, by the word for it in `client`. */
type ShellWaits = {
  /** For an answer, and for the entry; 15 seconds. */
  readonly 'helper-ms'?: number;
  /** For the first word of a helper that stays; 250 ms. */
  readonly 'hello-ms'?: number;
  /** How long a helper stays without a call; a minute. */
  readonly 'idle-ms'?: number;
};

type ShellOptions = Partial<ShellTerms> & {
  readonly program: string;
  readonly waits?: ShellWaits;
};

export function shellFiles(env: Env): ShellFiles {
  const root = realOf(stateRoot(env)); // as the client sees its own path
  const shells = join(root, 'shells');
  return {
    shells,
    bash: join(shells, 'bash'),
    zsh: join(shells, 'zsh'),
    bashEnv: join(root, 'bash-env'),
    zdotdir: join(root, 'zdotdir'),
  };
}

/**
 * Writes them, or brings them up to date; twice is the same as once. `program` is the file of
 * `cuff` that the client starts with this Node. A caller that has not read the settings, or the
 * policies, leaves what was said of them as it is.
 * Throws `runner_unavailable` where there is no native client, and as a disk does.
 */
export function writeShellFiles(
  env: Env,
  { program, waits = {}, ...given }: ShellOptions,
): ShellFiles {
  const runner = findRunner(env);
  if (runner.kind !== 'native') {
    throw new AppError('runner_unavailable', `There is no shell that records: ${runner.why}.`, {
      hint: 'Install a C compiler, or use the tools of `cuff mcp`.',
    });
  }
  const root = stateRoot(env);
  ensureRoot(root);
  const files = shellFiles(env);
  // Codex opens its sandbox to the captures where their directory is there when it starts.
  const directories = [files.shells, files.zdotdir, sessionsDir(root)];
  for (const directory of directories) ensurePrivateDir(directory);
  const binary = fs.readFileSync(runner.path);
  const terms = { strict: false, enforced: false, ...shellTerms(env), ...given };
  place(join(files.shells, 'client'), clientText(program, terms, waits), 0o600);
  for (const path of [files.bash, files.zsh]) place(path, binary, 0o700);
  place(files.bashEnv, bashEnvText(files, terms), 0o600);
  place(join(files.zdotdir, '.zshenv'), zshenvText(files, terms), 0o600);
  return files;
}

/** What the files on the disk say; undefined where there are none. */
export function shellTerms(env: Env): ShellTerms | undefined {
  try {
    const text = fs.readFileSync(join(shellFiles(env).shells, 'client'), 'utf8');
    return { strict: /^strict yes$/m.test(text), enforced: /^enforced yes$/m.test(text) };
  } catch {
    return undefined; // never written
  }
}

/** For `$CLAUDE_ENV_FILE`, whose text Claude puts in front of every command. */
export function claudeEnvText(files: ShellFiles): string {
  const bash = quoteWord(files.bash);
  return `if [ -n "\${BASH_EXECUTION_STRING-}" ] && [ -x ${bash} ]; then
  if [ -n "\${CUFF_INSIDE-}" ]; then unset CUFF_INSIDE
  else exec ${bash} -c "$BASH_EXECUTION_STRING" "$0" "$@"; fi
fi
`;
}

function clientText(program: string, { strict, enforced }: ShellTerms, waits: ShellWaits): string {
  const lines = [
    `node ${process.execPath}`,
    `cuff ${helperOf(program)}`,
    `strict ${strict ? 'yes' : 'no'}`,
    `enforced ${enforced ? 'yes' : 'no'}`,
    ...Object.entries(waits).map(([word, ms]) => `${word} ${ms}`),
    ...SIGN_VARIABLES.map((name) => `variable ${name}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** The part of it that is needed, which is quicker to start; it takes the same words. */
function helperOf(program: string): string {
  const built = join(dirname(program), 'sh.cjs');
  return fs.existsSync(built) ? built : program;
}

/**
 * Every text of `-c` goes to the shell that records, with the options of this one. What is not
 * recorded goes on as if BASH_ENV were the user's own. `exec` lowers SHLVL again.
 */
function bashEnvText({ bash }: ShellFiles, terms: ShellTerms): string {
  const file = quoteWord(bash);
  return `# Written by cuff: commands of agents go through the shell that records.
if [ "\${BASH_EXECUTION_STRING-}" ] && [ ! "\${CUFF_INSIDE-}" ] && [ -x ${file} ]; then
  set -- "$BASH_EXECUTION_STRING" "$0" "$@"
  set -- -c "$@"
  case $- in *e*) set -- -e "$@" ;; esac
  case $- in *u*) set -- -u "$@" ;; esac
  case $- in *x*) set -- -x "$@" ;; esac
  case $- in *f*) set -- -f "$@" ;; esac
  case ":\${SHELLOPTS-}:" in *:pipefail:*) set -- -o pipefail "$@" ;; esac
  if shopt -q login_shell; then set -- -l "$@"; fi
  exec ${file} "$@"
fi
${refusal(terms, 'BASH_EXECUTION_STRING')}unset CUFF_INSIDE
if [ -n "\${CUFF_USER_BASH_ENV-}" ]; then
  BASH_ENV=$CUFF_USER_BASH_ENV
  unset CUFF_USER_BASH_ENV
  . "$BASH_ENV"
else
  unset BASH_ENV CUFF_USER_BASH_ENV
fi
`;
}

/** Behind the `exec`: our shell is gone, and an agent's command would run without it. */
function refusal({ strict, enforced }: ShellTerms, text: string): string {
  if (!strict && !enforced) return '';
  const agent = SIGN_VARIABLES.map((name) => `\${${name}-}`).join('');
  const why = 'the shell of cuff is gone; run `cuff init --shell` again';
  return `if [ "\${${text}-}" ] && [ ! "\${CUFF_INSIDE-}" ] && [ "${agent}" ]; then
  echo 'cuff: not executed, because it cannot be recorded: ${why}' >&2
  exit 126
fi
`;
}

/** As the file for bash does it; zsh reads ours before any of the user's own. */
function zshenvText({ zsh }: ShellFiles, terms: ShellTerms): string {
  const file = quoteWord(zsh);
  return `# Written by cuff: commands of agents go through the shell that records.
if [[ -n \${ZSH_EXECUTION_STRING-} && -z \${CUFF_INSIDE-} && -x ${file} ]]; then
  set -- -c "$ZSH_EXECUTION_STRING" "$0" "$@"
  for option in errexit nounset xtrace noglob pipefail; do
    if [[ -o $option ]]; then set -- -o $option "$@"; fi
  done
  if [[ -o login ]]; then set -- -l "$@"; fi
  exec ${file} "$@"
fi
${refusal(terms, 'ZSH_EXECUTION_STRING')}unset CUFF_INSIDE
if [[ -n \${CUFF_USER_ZDOTDIR-} ]]; then
  export ZDOTDIR=$CUFF_USER_ZDOTDIR
else
  unset ZDOTDIR
fi
unset CUFF_USER_ZDOTDIR
[[ -r \${ZDOTDIR:-$HOME}/.zshenv ]] && source \${ZDOTDIR:-$HOME}/.zshenv
true
`;
}

/** A running client keeps the file that it was started from. */
function place(path: string, content: string | Uint8Array, mode: number): void {
  const temp = `${path}.${process.pid}.tmp`;
  try {
    fs.writeFileSync(temp, content, { mode, flag: 'wx' });
    fs.chmodSync(temp, mode);
    fs.renameSync(temp, path);
  } catch (error) {
    fs.rmSync(temp, { force: true });
    throw error;
  }
}
