// What bash does before the text of a command, where a dialect wants it: tell in which directory
// it ended, or read the start-up files of a login shell. bash is pointed to a small file by
// BASH_ENV, so neither the command nor its output nor its exit code is changed, and nothing of it
// is left for the programs the command starts.

import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Prelude = { readonly env: Readonly<Record<string, string>> };

/** Tells where a command has gone to. */
export type Followed = Prelude & {
  /** The directory it ended in, if it ended well and told; to be asked once. */
  take(): string | undefined;
};

// A command that sets a trap for its own end takes the place of this one: then nothing is told.
// The first group is silent under `set -x`, and switches it off for the rest.
function followScript(file: string): string {
  const end = `{ s=$?; set +x; } 2>/dev/null
[ $s -ne 0 ] || { builtin pwd -P >|${quoted(file)}; } 2>/dev/null`;
  return `unset BASH_ENV\ntrap ${quoted(end)} EXIT\n`;
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

  follow(): Followed {
    this.#count += 1;
    const told = this.#path(`${this.#count}.cwd`);
    const script = this.#path(`${this.#count}.sh`);
    fs.writeFileSync(script, followScript(told), { mode: 0o600 });
    return {
      env: { BASH_ENV: script },
      take() {
        const text = fs.existsSync(told) ? fs.readFileSync(told, 'utf8') : '';
        for (const path of [script, told]) fs.rmSync(path, { force: true });
        // A name may end with newlines of its own; the last one is from pwd.
        return text === '' ? undefined : text.replace(/\n$/, '');
      },
    };
  }

  /** As if bash had been started with `-l`. */
  login(): Prelude {
    const script = this.#path('login.sh');
    if (!fs.existsSync(script)) fs.writeFileSync(script, LOGIN, { mode: 0o600 });
    return { env: { BASH_ENV: script } };
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

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
