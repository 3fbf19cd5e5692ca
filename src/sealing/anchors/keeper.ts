// Anchors by themselves: what a running server does every now and then. At most every five minutes
// for all processes of the user together, only while there is something new, and never in the way
// of a command.

import { messageOf } from '../../errors.ts';
import { claimIn } from '../../journal/claim.ts';
import type { Env, Log, ProcessId } from '../../types.ts';
import type { Ledger } from '../ledger.ts';
import { sealDir } from '../place.ts';
import { placeText } from '../verify/outside.ts';
import { anchorHead, signedHead } from './anchoring.ts';
import { failedAnchors, hasNewsFor, putAnchors } from './record.ts';
import type { AnchorKind } from './target.ts';
import { wantedAnchors } from './wanted.ts';

const ANCHOR_EVERY_MS = 300_000;
const WAIT_MS = 30_000; // a push over a slow line
const BY_OTHERS: readonly AnchorKind[] = ['print', 'trailer'];
const LAST_WAIT_MS = 1_500; // clients kill a server that does not end

export type KeeperOptions = {
  readonly ledger: Ledger;
  readonly stateRoot: string;
  readonly project: string;
  readonly owner: ProcessId;
  readonly alive: (one: ProcessId) => boolean;
  readonly env: Env;
  readonly now: () => number;
  readonly log: Log;
  readonly syslog?: readonly string[] | undefined;
};

export class AnchorKeeper {
  readonly #options: KeeperOptions;
  #stop: AbortController | undefined;
  readonly #said = new Set<string>();
  #work: Promise<void> = Promise.resolve();

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /** Looks whether it is time. Never throws. */
  look(): void {
    if (this.#stop !== undefined) return; // the last look has not ended
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), WAIT_MS).unref();
    this.#stop = stop;
    this.#work = this.#noted(this.#anchor(stop.signal, 'when due')).finally(() => {
      clearTimeout(timer);
      this.#stop = undefined;
    });
  }

  /** Resolves when the last look has ended. */
  looked(): Promise<void> {
    return this.#work;
  }

  /** Once more before the server ends, for a moment. Never rejects. */
  async close(): Promise<void> {
    this.#stop?.abort();
    await this.#work;
    await this.#noted(this.#anchor(AbortSignal.timeout(LAST_WAIT_MS), 'now'));
  }

  async #anchor(signal: AbortSignal, when: 'when due' | 'now'): Promise<void> {
    const { ledger, stateRoot, project, owner, alive, env, now, syslog } = this.#options;
    if (when === 'when due' && !isDue(stateRoot, now())) return;
    const before = signedHead(stateRoot);
    if (before === undefined) return;
    const tools = { stateRoot, project, env, now, signal, syslog };
    const { targets, notices } = await wantedAnchors(tools);
    for (const notice of notices) this.#once(notice);
    const automatic = targets.filter(
      (one) => !BY_OTHERS.includes(one.kind) && hasNewsFor(one, stateRoot, before.size),
    );
    const failed = new Set(failedAnchors(stateRoot).map(placeText));
    // At the end there is no time for a place that did not answer before.
    const tried =
      when === 'now' ? automatic.filter((one) => !failed.has(placeText(one))) : automatic;
    if (tried.length === 0) return;
    const claim = claimIn(sealDir(stateRoot), 'anchor', owner, alive);
    if (claim === undefined) return; // another process does it
    try {
      await ledger.sign();
      const head = signedHead(stateRoot) ?? before;
      const results = await anchorHead(ledger, head, tried, tools);
      for (const { target, trouble } of results) {
        if (trouble !== undefined) this.#once(`${placeText(target)}: ${trouble}`);
      }
    } finally {
      claim.release();
    }
  }

  async #noted(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#once(messageOf(error));
    }
  }

  /** The same trouble comes every five minutes. */
  #once(error: string): void {
    if (this.#said.has(error)) return;
    this.#said.add(error);
    this.#options.log('warn', 'Ledger not anchored', { session_id: null, error });
  }
}

/** Counting those that failed: a place that is not there is not asked all the time. */
function isDue(stateRoot: string, now: number): boolean {
  const tries = [...putAnchors(stateRoot), ...failedAnchors(stateRoot)].map(({ at }) => at);
  const last = Math.max(0, ...tries.filter((at) => at <= now));
  return now - last >= ANCHOR_EVERY_MS;
}
