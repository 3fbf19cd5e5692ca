// Resolves paths on one mount that may stop answering, in a process of its own: a thread that waits
// for a dead file system cannot be ended, not even with its process, so it must not be one of ours.
// The process ends when it has been idle for a while, or when we end and its mount answers again.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { LINKS_MAX, realPathWith } from './real-path.ts';

const START_MS = 20_000; // for Node to start on a busy machine
const ANSWER_MS = 2_000; // a remote file system that needs longer for one path is taken for dead
const IDLE_MS = 10_000;

const READY = 'ready';

/** Reads paths, one line of JSON each, and prints where they lead in the same way. */
const PROGRAM = `
const real = ${realPathWith};
const [fs, path] = [require('node:fs'), require('node:path')];
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  console.log(JSON.stringify(real(JSON.parse(line), ${LINKS_MAX}, fs, path)));
});
console.log('${READY}');
`;

type Question = {
  /** Its caller no longer waits for the answer. */
  late: boolean;
  timer?: NodeJS.Timeout;
  readonly answer: (real: string | undefined) => void;
};

export class MountReader {
  #child: ChildProcess | undefined;
  #ready = false;
  #idle: NodeJS.Timeout | undefined;
  /** In the order they were asked, which is the order of the answers. */
  #questions: Question[] = [];

  /** Undefined when no answer comes. While an earlier question is open, that is said at once. */
  real(path: string): Promise<string | undefined> {
    if (this.#questions.some(({ late }) => late)) return Promise.resolve(undefined);
    clearTimeout(this.#idle);
    return new Promise((answer) => {
      const child = this.#running();
      const question: Question = { late: false, answer };
      this.#questions.push(question);
      this.#giveUpAfter(question, this.#ready ? ANSWER_MS : START_MS);
      child.stdin?.write(`${JSON.stringify(path)}\n`);
    });
  }

  close(): void {
    clearTimeout(this.#idle);
    this.#child?.stdin?.end();
  }

  #giveUpAfter(question: Question, ms: number): void {
    clearTimeout(question.timer);
    question.timer = setTimeout(() => {
      question.late = true;
      question.answer(undefined);
    }, ms);
  }

  #running(): ChildProcess {
    if (this.#child !== undefined) return this.#child;
    const env = { ...process.env, NODE_OPTIONS: undefined };
    const child = spawn(process.execPath, ['-e', PROGRAM], {
      cwd: '/',
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child = child;
    this.#ready = false;
    // Only a question that waits keeps this process alive, by its timer.
    child.unref();
    for (const stream of [child.stdin, child.stdout]) (stream as Socket | null)?.unref();
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      const lines = (text + piece).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) this.#heard(line);
    });
    const gone = (): void => this.#gone(child);
    child.on('error', gone).on('close', gone);
    child.stdin?.on('error', gone);
    return child;
  }

  #heard(line: string): void {
    if (!this.#ready) {
      this.#ready = line === READY;
      for (const question of this.#questions) this.#giveUpAfter(question, ANSWER_MS);
      return;
    }
    const question = this.#questions.shift();
    clearTimeout(question?.timer);
    question?.answer(JSON.parse(line));
    if (this.#questions.length > 0) return;
    this.#idle = setTimeout(() => {
      this.#child?.stdin?.end();
      this.#child = undefined;
    }, IDLE_MS).unref();
  }

  #gone(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    for (const { timer, answer } of this.#questions.splice(0)) {
      clearTimeout(timer);
      answer(undefined);
    }
  }
}
