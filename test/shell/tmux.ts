// A real terminal for tests: a tmux server of our own, on its own socket, with one shell in it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errnoOf } from '../../src/errors.ts';
import { binary, until } from '../cli/helper.ts';
import { FACT_MS_MAX } from '../pace.ts';

export function tmuxMissing(): boolean {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return false;
  } catch {
    return true; // not installed
  }
}

/** What runs in the terminal instead of a shell. */
export type TerminalProgram = {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

export class Terminal {
  readonly root = mkdtempSync(join(tmpdir(), 'cuff-tmux-'));
  readonly #socket = join(this.root, 'socket');
  #runs = 0;

  constructor(cols = 100, rows = 30, program?: TerminalProgram) {
    const size = ['-x', String(cols), '-y', String(rows)];
    const start = ['-S', this.#socket, '-f', '/dev/null', 'new-session', '-d', ...size];
    if (program !== undefined) {
      const { command, cwd, env } = program;
      execFileSync('tmux', [...start, '--', ...command], { cwd, env: { ...env, TERM: 'screen' } });
      return;
    }
    const { TMUX: _, ...env } = process.env;
    const shell = 'exec env PS1="$ " HISTFILE= bash --noprofile --norc -i';
    execFileSync('tmux', [...start, shell], {
      env: { ...env, CUFF_STATE_ROOT: join(this.root, 'state'), TERM: 'screen' },
    });
    this.type(`derun() { ${process.execPath} ${binary('derun')} "$@"; }; clear`);
  }

  #tmux(...args: string[]): string {
    return execFileSync('tmux', ['-S', this.#socket, ...args], { encoding: 'utf8' });
  }

  /** Types a line and Enter. */
  type(line: string): void {
    this.#tmux('send-keys', '-l', line);
    this.#tmux('send-keys', 'Enter');
  }

  /** Presses keys by tmux's names: `C-c`, `q`, `Escape`. */
  press(...keys: string[]): void {
    this.#tmux('send-keys', ...keys);
  }

  resize(cols: number, rows: number): void {
    this.#tmux('resize-window', '-x', String(cols), '-y', String(rows));
  }

  /** The text on the screen; with `attributes` also its colours, as escape sequences. */
  screen(attributes = false): string {
    return this.#tmux('capture-pane', '-p', ...(attributes ? ['-e'] : [])).trimEnd();
  }

  /** What tmux knows about the terminal, by its format. */
  facts(format: string): string {
    return this.#tmux('display-message', '-p', format).trimEnd();
  }

  /** Resolves with the screen once it matches. A terminal has no event to wait for. */
  async shows(pattern: RegExp, attributes = false): Promise<string> {
    const deadline = Date.now() + FACT_MS_MAX;
    for (;;) {
      const screen = this.screen(attributes);
      if (pattern.test(screen)) return screen;
      if (Date.now() > deadline) throw new Error(`never showed ${pattern}:\n${screen}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /**
   * Runs a line on a clear screen and gives what it printed, once the prompt is back. On the screen
   * two lines come before it.
   */
  async run(line: string): Promise<string> {
    // A word of its own says that the screen is clear now: a mere prompt may be an older one, and
    // what is typed while `clear` runs would be shown twice.
    this.#runs += 1;
    const word = `run ${this.#runs}:`;
    this.type(`clear; echo "${word}"`);
    await this.shows(new RegExp(`^${word}\\n\\$$`));
    this.type(line);
    const screen = await this.shows(new RegExp(`^${word}\\n\\$ .*\\n(.*\\n)*\\$$`));
    return screen.split('\n').slice(2, -1).join('\n');
  }

  /** What ran here gets a SIGHUP, and may write its last lines while we remove them. */
  async close(): Promise<void> {
    this.#tmux('kill-server');
    await until(() => {
      try {
        rmSync(this.root, { recursive: true, force: true });
        return true;
      } catch (error) {
        if (errnoOf(error) === 'ENOTEMPTY') return false;
        throw error;
      }
    }, 'the files of the terminal are removed');
  }
}
