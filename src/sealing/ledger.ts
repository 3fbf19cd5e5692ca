// The ledger as the processes that write journals use it: each line of a journal gets a salt, and
// its leaf as soon as it is on the disk; what is new is signed at most once a second, and at the
// end. A ledger that cannot be written stops nothing and is never an error of a command.

import { randomBytes } from 'node:crypto';
import { errnoOf, messageOf } from '../errors.ts';
import { SALT_BYTES } from '../journal/entry-parts.ts';
import { DISK, type Disk, later } from '../journal/files.ts';
import type { JournalSeal, SealOf } from '../journal/seal.ts';
import { commitmentTo, partSalt, sha256 } from '../ledger/commitments.ts';
import { formatLeaf, type Leaf, type LeafOf } from '../ledger/leaf.ts';
import type { Log, ProcessId } from '../types.ts';
import { Appender } from './appender.ts';
import { entryCommitments } from './commit.ts';
import { nameJournal } from './journals.ts';
import { ensureKey } from './keys.ts';
import { type SealResult, signLeaves } from './sealer.ts';

const SIGN_EVERY_MS = 1_000;
const SALTS_AHEAD = 64; // from one call of the random source

export type LedgerOptions = {
  readonly stateRoot: string;
  readonly owner: ProcessId;
  readonly alive: (one: ProcessId) => boolean;
  readonly now: () => number;
  readonly log?: Log | undefined;
  readonly disk?: Disk | undefined;
  /** As `JournalEnv.later`. */
  readonly later?: ((ms: number, action: () => void) => () => void) | undefined;
};

type EntryOrigin = LeafOf<'entry'>['origin'];

export class Ledger {
  readonly #options: LedgerOptions;
  readonly #appender: Appender;
  readonly #journals = new Map<string, string>();
  readonly #begun = new Map<string, number>();
  /** Writers of this process that have it open: one takes over before the last has closed it. */
  readonly #writers = new Map<string, number>();
  #origin: string | undefined;
  #salts: Uint8Array = new Uint8Array(0);
  #cancelTimer: (() => void) | undefined;
  #signing: Promise<SealResult | undefined> | undefined;
  #dirty = false;
  #warned: string | undefined;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#appender = new Appender(options.stateRoot, options.disk ?? DISK);
  }

  /** What a journal is told to tell; `origin` is how its entries come here. */
  sealOf(origin: Extract<EntryOrigin, 'live' | 'import'> = 'live'): SealOf {
    return (directory) => {
      try {
        const journal = this.journal(directory);
        return journal === undefined ? undefined : this.#seal(journal, origin);
      } catch (error) {
        this.#troubled(error);
        return undefined;
      }
    };
  }

  /** The name of a journal; undefined where there is none, yet or at all. Never throws. */
  journal(directory: string): string | undefined {
    const known = this.#journals.get(directory);
    if (known !== undefined) return known;
    try {
      const { stateRoot, now } = this.#options;
      const at = now();
      const named = nameJournal(stateRoot, directory, this.origin, at);
      if (named === undefined) return undefined;
      const { journal, copyOf } = named;
      this.#journals.set(directory, journal);
      if (copyOf !== undefined) {
        this.note({ kind: 'fork', journal, at, from: copyOf, why: 'a copy' });
      }
      return journal;
    } catch (error) {
      this.#troubled(error);
      return undefined;
    }
  }

  /** The number of the first entry that this process wrote into a session since it opened it. */
  begunAt(journal: string, session: string): number | undefined {
    return this.#begun.get(`${journal} ${session}`);
  }

  now(): number {
    return this.#options.now();
  }

  /** Undefined while the state root cannot be written. */
  get origin(): string | undefined {
    if (this.#origin !== undefined) return this.#origin;
    try {
      const { stateRoot, disk } = this.#options;
      const { origin, vkey, made } = ensureKey(stateRoot, disk);
      this.#origin = origin;
      if (made) this.note({ kind: 'key', vkey });
    } catch (error) {
      this.#troubled(error);
    }
    return this.#origin;
  }

  /** Why leaves that there should be are not written. */
  get trouble(): string | undefined {
    return this.#appender.missing > 0 ? (this.#appender.trouble ?? 'lost') : undefined;
  }

  /** Adds a leaf and has it signed soon. Never throws. */
  note(leaf: Leaf): void {
    try {
      const text = formatLeaf(leaf);
      // A ledger of captures alone has no journal that asks for its name, and needs a key, too.
      if (leaf.kind !== 'key') void this.origin;
      const written = this.#appender.append(text);
      if (!written) this.#troubled(this.#appender.trouble);
    } catch (error) {
      this.#troubled(error); // a name that no leaf can have
      return;
    }
    this.#dirty = true;
    this.#soon();
  }

  /** Signs what is new, now. Never rejects; undefined when it could not be done. */
  async sign(): Promise<SealResult | undefined> {
    while (this.#signing !== undefined) await this.#signing;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#signing = this.#sign();
    try {
      return await this.#signing;
    } finally {
      this.#signing = undefined;
    }
  }

  /** Signs the rest and lets go of the files. A leaf that comes later opens them again. */
  async close(): Promise<void> {
    if (this.#dirty) await this.sign();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#appender.close();
  }

  async #sign(): Promise<SealResult | undefined> {
    const { stateRoot, owner, alive, disk, now } = this.#options;
    this.#dirty = false;
    this.#appender.flush();
    try {
      const sealed = await signLeaves({ stateRoot, owner, alive, disk, now });
      if (sealed.kind === 'busy') {
        this.#dirty = true; // the process that signs may have begun before our last leaf
        this.#soon();
      }
      if (sealed.kind === 'refused') this.#troubled(sealed.why);
      else this.#warned = undefined;
      return sealed;
    } catch (error) {
      this.#dirty = true;
      this.#troubled(error);
      return undefined;
    }
  }

  #soon(): void {
    this.#cancelTimer ??= (this.#options.later ?? later)(SIGN_EVERY_MS, () => {
      this.#cancelTimer = undefined;
      void this.sign();
    });
  }

  /** Said once, until it works again. */
  #troubled(error: unknown): void {
    const why = typeof error === 'string' ? error : (errnoOf(error) ?? messageOf(error));
    if (this.#warned === why) return;
    this.#warned = why;
    this.#options.log?.('warn', 'Ledger not written', { session_id: null, error: why });
  }

  #salt(): Uint8Array {
    if (this.#salts.length < SALT_BYTES) this.#salts = randomBytes(SALT_BYTES * SALTS_AHEAD);
    const salt = this.#salts.subarray(0, SALT_BYTES);
    this.#salts = this.#salts.subarray(SALT_BYTES);
    return salt;
  }

  #seal(journal: string, origin: EntryOrigin): JournalSeal {
    const ledger = this;
    return {
      get origin() {
        return ledger.origin;
      },
      get trouble() {
        return ledger.trouble;
      },
      salt: () => this.#salt(),
      opened: (session, { at, agent, sequence }) => {
        const key = `${journal} ${session}`;
        this.#begun.set(key, sequence);
        this.#writers.set(key, (this.#writers.get(key) ?? 0) + 1);
        this.note({ kind: 'open', journal, session, at, agent: agent || null });
      },
      entered: ({ session, sequence, timestamp, source, runId, salt, parts }) =>
        this.note({
          kind: 'entry',
          journal,
          session,
          sequence,
          at: Date.parse(timestamp),
          origin: source === 'spool' ? 'spool' : origin,
          ...entryCommitments(parts(), salt),
          run: runId,
        }),
      amended: ({ session, sequence, at, kind, salt, text }) => {
        const line = commitmentTo(sha256(Buffer.from(text)), partSalt(salt, 0));
        this.note({ kind: 'amend', journal, session, sequence, at, amends: kind, line });
      },
      closed: (session, { at, status, count }) => {
        const key = `${journal} ${session}`;
        const others = (this.#writers.get(key) ?? 1) - 1;
        this.#writers.set(key, others);
        if (others > 0) return;
        this.#writers.delete(key);
        this.note({ kind: 'close', journal, session, at, status, count });
      },
    };
  }
}
