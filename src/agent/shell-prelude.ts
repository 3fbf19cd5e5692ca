// What bash does before the text of a command, where a dialect wants it: tell in which directory
// it ended, or read the start-up files of a login shell. bash is pointed to a small file by
// BASH_ENV, so neither the command nor its output nor its exit code is changed, and nothing of it
// is left for the programs the command starts.

import { isUtf8 } from 'node:buffer';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quoteWord } from '../text/printable.ts';
import { mayChangeDirectory } from '../text/shell-facts.ts';
import { noticesTrap } from '../text/shell-traps.ts';

export type Prelude = { readonly env: Readonly<Record<string, string>> };

/** Tells where a command has gone to. */
export type Followed = Prelude & {
  /** The directory it ended in, if it ended well and told; to be asked once. */
  take(): string | undefined;
};

/**
 * A script for BASH_ENV: `tell` runs when the shell ends, with the status and the PIPESTATUS of the
 * last pipeline. What the command can see stays as it was: no variable is set, and `$_` behind the
 * eval is what it was before it (what stands behind the `#` is no part of the text). So `tell` is
 * made of `\builtin` alone: functions and aliases of the command are not ours to call.
 *
 * It tells in a process of its own, which may die of a limit that the command has set, and negated,
 * so that `set -e` does not take what happens to it for an end of the command.
 */
export function atExit(tell: string): string {
  const trap = `{ ! (${tell}); } 2>/dev/null`;
  const text = `\\builtin trap -- ${quoteWord(trap)} EXIT; \\builtin unset -v BASH_ENV #`;
  return `\\builtin eval ${quoteWord(text)} "\${_//$'\\n'/ }"\n`;
}

/** bash expands what is in BASH_ENV as if it stood in double quotes. */
export function bashEnv(script: string): string {
  return script.replace(/[$`"\\]/g, '\\$&');
}

const LOGIN = `unset BASH_ENV
if [ -r /etc/profile ]; then . /etc/profile; fi
if [ -r ~/.bash_profile ]; then . ~/.bash_profile
elif [ -r ~/.bash_login ]; then . ~/.bash_login
elif [ -r ~/.profile ]; then . ~/.profile
fi
`;

export class Preludes {
  #dir: string | undefined;
  #count = 0;

  /** Undefined when the command goes nowhere, or would notice that it is followed. */
  follow(command: string): Followed | undefined {
    if (!mayChangeDirectory(command) || noticesTrap(command)) return undefined;
    try {
      return this.#follow();
    } catch {
      return undefined; // a temporary directory that cannot be written is no reason not to run
    }
  }

  #follow(): Followed {
    this.#count += 1;
    const told = this.#path(`${this.#count}.cwd`);
    const script = this.#path(`${this.#count}.sh`);
    // The umask of the command must not decide whether we can read it.
    fs.writeFileSync(told, '', { mode: 0o600 });
    const tell = `case $? in 0) \\builtin pwd -P >|${quoteWord(told)} ;; esac`;
    fs.writeFileSync(script, atExit(tell), { mode: 0o600 });
    return {
      env: { BASH_ENV: bashEnv(script) },
      take() {
        const bytes = readIfThere(told);
        for (const path of [script, told]) fs.rmSync(path, { force: true });
        // A name that is no text could not be given to the next command.
        if (bytes.length === 0 || !isUtf8(bytes)) return undefined;
        // It may end with newlines of its own; the last one is from pwd.
        return bytes.toString().replace(/\n$/, '');
      },
    };
  }

  /** As if bash had been started with `-l`. */
  login(): Prelude {
    const script = this.#path('login.sh');
    if (!fs.existsSync(script)) fs.writeFileSync(script, LOGIN, { mode: 0o600 });
    return { env: { BASH_ENV: bashEnv(script) } };
  }

  close(): void {
    if (this.#dir !== undefined) fs.rmSync(this.#dir, { recursive: true, force: true });
    this.#dir = undefined;
  }

  #path(name: string): string {
    // Somebody may clean the temporary directory while the server runs.
    if (this.#dir === undefined || !fs.existsSync(this.#dir)) {
      this.#dir = fs.mkdtempSync(join(tmpdir(), 'cuff-prelude-'));
    }
    return join(this.#dir, name);
  }
}

function readIfThere(path: string): Buffer {
  try {
    return fs.readFileSync(path);
  } catch {
    return Buffer.alloc(0); // the command, or somebody else, removed it: then nothing is told
  }
}
