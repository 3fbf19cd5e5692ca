// Packs captures beside the work of this process: in a thread that is started when there is
// something to pack, and that keeps the process alive until it is stopped.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Recipient } from '../age/recipients.ts';
import { messageOf } from '../errors.ts';

export type PackOrder =
  | { readonly dir: string; readonly recipients: readonly Recipient[] }
  | {
      /** Files of one session. */
      readonly files: readonly string[];
      /** Only lines up to here, where it is said. */
      readonly upTo?: number | undefined;
      readonly recipients: readonly Recipient[];
    };

export type PackOutcome =
  | { readonly packed: true }
  /** The plain files are still there. `reason`: an errno name where the system gave one. */
  | { readonly packed: false; readonly reason: string; readonly message: string };

/** With recipients: packed and encrypted for them. */
export type Pack = (dir: string, recipients?: readonly Recipient[]) => Promise<PackOutcome>;

/** What other processes could write meanwhile is kept away by the caller. */
export type PackFiles = (
  files: readonly string[],
  recipients: readonly Recipient[],
  upTo?: number,
) => Promise<PackOutcome>;

const HEAP_MB = 256; // one piece of a file and its table, or one entry with all of its output

export class PackThread {
  #worker: Worker | undefined;

  /** One at a time. Never rejects. */
  readonly pack: Pack = (dir, recipients = []) => this.#do({ dir, recipients });

  /** The same of lines of a journal. */
  readonly packFiles: PackFiles = (files, recipients, upTo) =>
    this.#do({ files, recipients, upTo });

  #do(order: PackOrder): Promise<PackOutcome> {
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
      worker.postMessage(order);
    });
  }

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
