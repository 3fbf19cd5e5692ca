// Packs captures beside the work of this process: in a thread that is started when there is
// something to pack, and that keeps the process alive until it is stopped.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Recipient } from '../age/recipients.ts';
import { messageOf } from '../errors.ts';

export type PackOrder = { readonly dir: string; readonly recipients: readonly Recipient[] };

export type PackOutcome =
  | { readonly packed: true }
  /** The plain files are still there. `reason`: an errno name where the system gave one. */
  | { readonly packed: false; readonly reason: string; readonly message: string };

/** With recipients: packed and encrypted for them. */
export type Pack = (dir: string, recipients?: readonly Recipient[]) => Promise<PackOutcome>;

const HEAP_MB = 64; // it holds one piece of a file and the table of its members

export class PackThread {
  #worker: Worker | undefined;

  /** One at a time. Never rejects. */
  readonly pack: Pack = (dir, recipients = []) => {
    this.#worker ??= start();
    const worker = this.#worker;
    return new Promise((resolve) => {
      const over = (packed: PackOutcome): void => {
        worker.off('message', over).off('error', failed).off('exit', ended);
        resolve(packed);
      };
      const lost = (message: string): void => {
        this.#worker = undefined;
        over({ packed: false, reason: 'stopped', message });
      };
      const failed = (error: unknown): void => lost(messageOf(error));
      const ended = (): void => lost('The thread that packs has ended.');
      worker.on('message', over).on('error', failed).on('exit', ended);
      worker.postMessage({ dir, recipients } satisfies PackOrder);
    });
  };

  /** What it does at this moment is left as it is: the next one goes on. */
  async stop(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = undefined;
  }
}

function start(): Worker {
  const options = { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } };
  return new Worker(workerFile(), options);
}

/** Beside the programs of a build; for the sources, that of their last build. */
function workerFile(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const built = join(here, 'packer.js');
  return existsSync(built) ? built : join(here, '..', '..', 'dist', 'packer.js');
}
