// The runs that dead servers left behind. A server looks once, when it starts, for live runs of its
// dialect and project whose server is gone. The first call of a conversation takes those over that
// belonged to it: same client, same conversation, or none on both sides. Each is claimed in its
// capture, so that of several servers one has it; runs of living servers are never touched.

import { lstatSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { decodeMeta } from '../capture/format.ts';
import { claimRun, handleIn, keeperOf } from '../capture/owner.ts';
import { captureDir, readTextIn } from '../capture/paths.ts';
import { type Capture, captureIds, openCapture, type Store } from '../capture/store.ts';
import { runnerListens } from '../capture/sweep.ts';
import { isAppError, messageOf } from '../errors.ts';
import { thisProcess } from '../run/processes.ts';
import { keepRecent } from '../text/recent.ts';
import type { Log, RunHandle, RunOwner } from '../types.ts';
import type { AgentRun } from './agent-run.ts';
import type { Caller } from './caller.ts';

const SLICE = 32; // captures looked at between two turns of the event loop
const HANDLES_MAX = 500; // so many of the newest captures are asked for their handle

const KEPT_MAX = 1_000; // conversations of one server

/** What a dialect does with the runs that its conversation had before this server. */
export type TakeoverListener = {
  /** The handle of such a run, perhaps of one that is over: new handles must be others. */
  readonly seen: (handle: RunHandle) => void;
  readonly run: (run: AgentRun, handle: RunHandle | undefined) => void;
};

type Options = Pick<RunOwner, 'dialect' | 'project'> & {
  readonly store: Store;
  readonly log: Log;
  readonly adopt: (capture: Capture, caller: Caller) => Promise<AgentRun>;
};

type Owned = RunOwner & { readonly handle: RunHandle | undefined };

type Scan = { readonly live: readonly Capture[]; readonly owners: readonly Owned[] };

export class Takeover {
  readonly #options: Options;
  readonly #store: Store;
  readonly #scan: Promise<Scan>;
  readonly #stop = new AbortController();
  /** By the key of a conversation. */
  readonly #done = new Map<string, Promise<void>>();

  constructor(options: Options) {
    this.#options = options;
    this.#store = options.store;
    this.#scan = this.#look();
    this.#scan.catch(() => undefined); // the calls that wait for it are told
  }

  /** Once for each conversation; later calls wait for the first. Never rejects. */
  once(caller: Caller, took: TakeoverListener): Promise<void> {
    const taking = this.#done.get(caller.key) ?? this.#take(caller, took);
    keepRecent(this.#done, caller.key, taking, KEPT_MAX);
    return taking;
  }

  async #take(caller: Caller, took: TakeoverListener): Promise<void> {
    const { log, adopt } = this.#options;
    const { conversationId: named } = caller.context;
    // Two programs that say nothing of themselves need not be the same one.
    if (caller.client === null && named === null) return;
    const own = ({ client, conversationId }: RunOwner): boolean =>
      client === caller.client && conversationId === named;
    try {
      const { live, owners } = await this.#scan;
      for (const { handle } of owners.filter(own)) if (handle !== undefined) took.seen(handle);
      for (const capture of live.filter((one) => isOwn(one, own))) {
        if (!this.#claim(capture)) continue;
        took.run(await adopt(capture, caller), handleIn(capture.dir));
        log('info', 'Run taken over', { run_id: capture.id });
      }
    } catch (error) {
      log('warn', 'Runs of an earlier server were not taken over', { error: messageOf(error) });
    }
  }

  close(): void {
    this.#stop.abort();
  }

  async #look(): Promise<Scan> {
    const { dialect, project } = this.#options;
    const live: Capture[] = [];
    const owners: Owned[] = [];
    await delay(0); // a server answers first
    const newest = captureIds(this.#store).reverse();
    for (const [count, id] of newest.entries()) {
      if (count % SLICE === 0) await delay(0);
      if (this.#stop.signal.aborted) break;
      const dir = captureDir(this.#store.root, id);
      const running = runnerListens(dir);
      if (!running && count >= HANDLES_MAX) continue;
      const owner = ownerIn(dir);
      if (owner?.dialect !== dialect || owner.project !== project) continue;
      owners.push(owner);
      const capture = running ? this.#open(id) : undefined;
      if (capture !== undefined && this.#abandoned(capture)) live.push(capture);
    }
    return { live: live.reverse(), owners };
  }

  #abandoned({ dir, meta }: Capture): boolean {
    if (meta === undefined || this.#keeperAlive(dir, meta.starter)) return false;
    return process.getuid === undefined || lstatSync(dir).uid === process.getuid();
  }

  #keeperAlive(dir: string, starter: Parameters<Store['alive']>[0]): boolean {
    return this.#store.alive(keeperOf(dir, starter));
  }

  #claim({ id, dir }: Capture): boolean {
    const now = this.#open(id);
    const starter = now?.meta?.starter;
    if (starter === undefined || now?.outputOpen !== true) return false;
    return claimRun(dir, thisProcess(), () => this.#keeperAlive(dir, starter));
  }

  #open(id: string): Capture | undefined {
    try {
      return openCapture(this.#store, id);
    } catch (error) {
      if (isAppError(error)) return undefined; // removed meanwhile
      throw error;
    }
  }
}

function isOwn({ meta }: Capture, own: (owner: RunOwner) => boolean): boolean {
  return meta?.owner !== undefined && own(meta.owner);
}

function ownerIn(dir: string): Owned | undefined {
  try {
    const owner = decodeMeta(readTextIn(dir, 'meta.json') ?? '')?.owner;
    return owner && { ...owner, handle: handleIn(dir) };
  } catch {
    return undefined; // removed meanwhile, or not a capture of ours
  }
}
