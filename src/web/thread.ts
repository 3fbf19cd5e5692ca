// Questions that take longer than a page can wait for others: a search, a verification, what a
// draft of a policy would have said. They are answered in a thread, one after the other, so that
// live output and lists never wait for them. The thread is started when there is a question and
// ended when there is none for a while; one that thinks for too long is ended, too.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../errors.ts';
import { Fault } from './fault.ts';
import type { Journal } from './journals.ts';

/** The answer is the text of a JSON document. */
export type Question = {
  readonly name: string;
  /** Of a run or an entry. */
  readonly id: string;
  readonly query: string;
  /** Of a POST. */
  readonly body?: unknown;
  readonly journals: readonly Journal[];
};

export type Order = Question & { readonly number: number };

export type Answer = { readonly number: number } & (
  | { readonly text: string }
  | {
      readonly status: number;
      readonly code: string;
      readonly message: string;
      hint: string | null;
    }
);

export type ThreadPlace = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
};

const HEAP_MB = 512; // a session is read as a whole, and may be large
const IDLE_MS = 60_000;
const ANSWER_MS_MAX = 60_000; // ten thousand sessions are verified in a fraction of it

type Waiting = {
  readonly order: Order;
  readonly resolve: (text: string) => void;
  readonly reject: (error: unknown) => void;
};

export class QuestionThread {
  readonly #place: ThreadPlace;
  readonly #queue: Waiting[] = [];
  #worker: Worker | undefined;
  #asked: Waiting | undefined;
  #timer: NodeJS.Timeout | undefined;
  #number = 0;

  constructor(place: ThreadPlace) {
    this.#place = place;
  }

  /** Rejects with a `Fault`. */
  ask(question: Question): Promise<string> {
    this.#number += 1;
    const order = { ...question, number: this.#number };
    return new Promise((resolve, reject) => {
      this.#queue.push({ order, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    this.#worker = undefined;
    this.#fail('The server is ending.');
    for (const one of this.#queue.splice(0)) one.reject(new Fault(409, 'The server is ending.'));
    await worker?.terminate();
  }

  #next(): void {
    if (this.#asked !== undefined) return;
    const next = this.#queue.shift();
    clearTimeout(this.#timer);
    if (next === undefined) {
      this.#timer = setTimeout(() => this.#end(), IDLE_MS).unref();
      return;
    }
    this.#asked = next;
    this.#worker ??= this.#start();
    this.#timer = setTimeout(() => this.#tooLong(), ANSWER_MS_MAX).unref();
    this.#worker.postMessage(next.order);
  }

  #start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: HEAP_MB };
    const options = { execArgv: [], resourceLimits, workerData: this.#place };
    const worker = new Worker(workerFile(), options);
    worker.on('message', (answer: Answer) => this.#answered(answer));
    const lost = (words: string, status?: number): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#fail(words, status);
      this.#next();
    };
    worker.on('error', (error) => lost(messageOf(error), 500));
    worker.on('exit', () => lost('The thread that answers has ended.'));
    return worker;
  }

  #answered(answer: Answer): void {
    const asked = this.#asked;
    if (asked === undefined || asked.order.number !== answer.number) return;
    this.#asked = undefined;
    if ('text' in answer) asked.resolve(answer.text);
    else {
      const { status, message, code, hint } = answer;
      asked.reject(new Fault(status, message, { code, ...(hint !== null && { hint }) }));
    }
    this.#next();
  }

  #tooLong(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    worker?.terminate().catch(() => undefined); // it has ended by itself
    this.#fail('This takes too long: ask for less.');
    this.#next();
  }

  #fail(words: string, status = 409): void {
    this.#asked?.reject(new Fault(status, words));
    this.#asked = undefined;
  }

  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    worker?.terminate().catch(() => undefined); // it has ended by itself
  }
}

/** Beside the programs of a build; for the sources, that of their last build. */
function workerFile(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const built = join(here, 'ui-worker.js');
  return existsSync(built) ? built : join(here, '..', '..', 'dist', 'ui-worker.js');
}
