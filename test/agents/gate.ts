// What holds a command until a test lets it go on: a FIFO that the test keeps open, so that no end
// waits for the other. A reader that was not let through reads the end of the file at the latest
// when the test is over, and leaves no process behind.
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';

export class Gate {
  readonly #file: number;

  constructor(path: string) {
    execFileSync('mkfifo', [path]);
    this.#file = openSync(path, 'r+');
  }

  /** One `read` of a shell gets this word. */
  letThrough(word: string): void {
    writeSync(this.#file, `${word}\n`);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}
