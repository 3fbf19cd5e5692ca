// A project with a spool and a state root, and captures in the spool as sandboxed runs leave them.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { encodeFinal } from '../../src/capture/format.ts';
import { captureIds, type Store } from '../../src/capture/store.ts';
import { newMeta } from '../../src/shell/new-run.ts';
import { bringHome, createSpooled, type HomeOptions } from '../../src/shell/spool.ts';
import type { JournalIntent } from '../../src/types.ts';

export class SpoolWorld {
  readonly dir = mkdtempSync(join(tmpdir(), 'cuff-spool-world-'));
  readonly project = join(this.dir, 'project');
  readonly root = join(this.dir, 'state');
  readonly journal = join(this.project, '.cuff', 'recordings');
  readonly logged: string[] = [];
  readonly store: Store = { root: this.root, alive: () => false, now: Date.now };
  readonly #began = Date.now();

  constructor() {
    mkdirSync(join(this.project, '.git'), { recursive: true });
    onTestFinished(() => rmSync(this.dir, { recursive: true, force: true }));
  }

  /** Its directory in the spool. `ended`: with a final.json. */
  capture(id: string, given: { ended?: boolean; output?: string; journal?: JournalIntent } = {}) {
    const { ended = true, output = `output of ${id}\n`, journal } = given;
    const command = { kind: 'argv', argv: ['echo', id] } as const;
    const meta = newMeta({
      id,
      command,
      cwd: this.project,
      transport: 'pipe',
      outputBytesMax: 1_000_000,
      ...(journal && { journal }),
    });
    const where = { cwd: this.project, env: { HOME: this.dir } };
    const made = createSpooled(this.store, meta, command.argv, where);
    if (made === undefined) throw new Error('no place for a spool');
    const write = (name: string, text: string): void =>
      writeFileSync(join(made.dir, name), text, { mode: 0o600 });
    write('output.bin', output);
    if (ended) {
      const final = {
        at: Date.now(),
        outcome: { kind: 'exited', code: 3 },
        state: 'exited',
        endedBy: 'itself',
        outputBytes: output.length,
        lostBytes: 0,
        outputClosed: true,
        survivors: [{ pid: 1, startTime: 0, command: 'init', holdsOutput: true }],
      } as const;
      write('final.json', encodeFinal(final, id));
    }
    return made.dir;
  }

  /** `laterMs`: what the clock of the process that moves them says, after that of the world. */
  home(more: Partial<HomeOptions> = {}, laterMs = 0): Promise<number> {
    const log: HomeOptions['log'] = ({ session_id = '', error = '' }) =>
      void this.logged.push(`${session_id}: ${error}`);
    const store = { ...this.store, now: () => this.#began + laterMs };
    return bringHome(store, { cwd: this.project, env: { HOME: this.dir }, log, ...more });
  }

  ids(): string[] {
    return captureIds(this.store);
  }

  read(id: string, name: string): string {
    return readFileSync(join(this.root, 'sessions', id, name), 'utf8');
  }
}
