// What the ledger and captures need of a server beside its commands: entries that lack a leaf get
// one when the server begins, and while no command runs captures are sealed and old ones packed.
// Nothing waits for it.

import { setTimeout as delay } from 'node:timers/promises';
import { sweepMemory } from '../capture/in-memory.ts';
import { messageOf } from '../errors.ts';
import type { SessionWriter } from '../journal/writer.ts';
import { captureBudget } from '../packing/budget.ts';
import { memoryOf } from '../packing/live.ts';
import { Packer } from '../packing/packer.ts';
import { ownRecipients } from '../packing/recipients.ts';
import { SessionPacker, type SessionPackResult } from '../packing/sessions.ts';
import { PackThread } from '../packing/thread.ts';
import { thisProcess } from '../run/processes.ts';
import { AnchorKeeper } from '../sealing/anchors/keeper.ts';
import { sealCaptures } from '../sealing/captures.ts';
import { sealLate } from '../sealing/late.ts';
import type { Ledger } from '../sealing/ledger.ts';
import type { Store } from '../shell/captures.ts';
import type { Env, Log } from '../types.ts';

const LOOK_EVERY_MS = 30_000;
const SESSIONS_EVERY_MS = 600_000;
const IDLE_MS = 10_000; // so long no entry was written: the agent thinks, or is gone

export type SealedUpkeepOptions = {
  readonly ledger: Ledger | undefined;
  readonly store: Store;
  readonly log: Log;
  readonly env: Env;
  /** The project. */
  readonly workingDirectory: string;
  readonly now: () => number;
  /** Undefined while nothing is recorded. */
  readonly journal: () => string | undefined;
  /** Ends sessions that are over, and gives those that never are. */
  readonly endOver: () => readonly SessionWriter[];
};

const SAID = {
  pack: 'Capture packed',
  remove: 'Capture removed',
  error: 'Capture not packed',
} as const;

export class SealedUpkeep {
  readonly #options: SealedUpkeepOptions;
  readonly #stop = new AbortController();
  readonly #captures = new Set<string>();
  readonly #anchors: AnchorKeeper | undefined;
  readonly #thread = new PackThread();
  readonly #packer: Packer;
  readonly #sessions: SessionPacker;
  #sessionsAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #usedAt = performance.now();
  #busy = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: SealedUpkeepOptions) {
    this.#options = options;
    const { ledger, store, env, log, now, workingDirectory: project } = options;
    const owner = thisProcess();
    const about = { stateRoot: store.root, alive: store.alive, owner };
    this.#anchors = ledger && new AnchorKeeper({ ...about, ledger, env, log, now, project });
    const { pack } = this.#thread;
    const budgetBytes = (): number => captureBudget(project, env);
    const recipients = () => ownRecipients(project, env);
    this.#packer = new Packer({ store, ledger, pack, budgetBytes, recipients, owner });
    const { packFiles } = this.#thread;
    this.#sessions = new SessionPacker({ store, ledger, packFiles, recipients, owner });
  }

  open(): void {
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /** A command is over. */
  used(): void {
    this.#usedAt = performance.now();
  }

  /** Entries that the last server could not seal. Never rejects. */
  async settle(directory: string): Promise<void> {
    const { ledger, store } = this.#options;
    if (ledger === undefined) return;
    // Not before the first answer: the server begins at this moment.
    await delay(0);
    const about = { ledger, store, directory, owner: thisProcess(), signal: this.#stop.signal };
    await this.#noted(sealLate(about));
  }

  async close(): Promise<void> {
    this.#stop.abort();
    clearInterval(this.#timer);
    await this.#thread.stop();
    await this.#work;
  }

  /** When the last leaves are signed. Waits for a moment, and never rejects. */
  async anchorLast(): Promise<void> {
    await this.#anchors?.close();
    await this.#options.ledger?.close();
  }

  #look(): void {
    this.#anchors?.look();
    if (!this.#idle() || this.#busy) return;
    const { ledger, store } = this.#options;
    const goOn = (): boolean => this.#idle() && !this.#stop.signal.aborted;
    const about = { store, owner: thisProcess(), done: this.#captures, goOn };
    this.#busy = true;
    this.#work = this.#work.then(async () => {
      if (ledger !== undefined) await this.#noted(sealCaptures({ ...about, ledger }));
      await this.#pack(goOn);
      this.#busy = false;
    });
  }

  /** Never rejects. */
  async #pack(goOn: () => boolean): Promise<void> {
    const { log, store, env, now } = this.#options;
    try {
      for await (const { id, result, ...more } of this.#packer.pass(goOn)) {
        if (this.#stop.signal.aborted) return;
        log(result === 'error' ? 'warn' : 'info', SAID[result], { run_id: id, ...more });
      }
      const memory = memoryOf(store.root, env);
      if (memory !== undefined) sweepMemory(memory, now());
    } catch (error) {
      log('warn', 'Captures not packed', { error: messageOf(error) });
    }
    await this.#packSessions(goOn);
    await this.#thread.stop(); // until there is something again
  }

  /** Now and then, because all of them are looked at. Never rejects. */
  async #packSessions(goOn: () => boolean): Promise<void> {
    const { log, journal, endOver } = this.#options;
    const directory = journal();
    const at = performance.now();
    if (directory === undefined || !goOn() || at < this.#sessionsAt) return;
    this.#sessionsAt = at + SESSIONS_EVERY_MS;
    try {
      const said = ({ session: session_id, error }: SessionPackResult): void => {
        if (error === undefined) log('info', 'Session packed', { session_id });
        else log('warn', 'Session not packed', { session_id, error });
      };
      for (const writer of endOver()) {
        const result = await this.#sessions.packOpen(directory, writer);
        if (result !== undefined) said(result);
      }
      for await (const result of this.#sessions.pass(directory, goOn)) said(result);
    } catch (error) {
      log('warn', 'Sessions not packed', { error: messageOf(error) });
    }
  }

  #idle(): boolean {
    return performance.now() - this.#usedAt >= IDLE_MS;
  }

  async #noted(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      const message = messageOf(error);
      this.#options.log('warn', 'Ledger not brought up to date', {
        session_id: null,
        error: message,
      });
    }
  }
}
