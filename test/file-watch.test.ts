// What both followers of files, of settings and of policies, rely on.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { FileWatch, type FileWatchOptions } from '../src/file-watch.ts';
import { FACT_MS_MAX } from './pace.ts';

const NEVER_MS = 3_600_000;

class Followed {
  readonly dir = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'cuff-watch-')));
  readonly file = join(this.dir, 'file');
  reads = 0;

  constructor() {
    onTestFinished(() => fs.rmSync(this.dir, { recursive: true, force: true }));
  }

  watch(options: Partial<FileWatchOptions> = {}): FileWatch {
    const changed = (): void => {
      this.reads += 1;
    };
    const files = (): string[] => [this.file];
    const made = new FileWatch({ files, changed, settleMs: 5, pollMs: NEVER_MS, ...options });
    onTestFinished(() => made.close());
    return made;
  }

  write(name: string, text: string): void {
    fs.mkdirSync(dirname(join(this.dir, name)), { recursive: true });
    fs.writeFileSync(join(this.dir, name), text);
  }

  until(reads: number): Promise<void> {
    return expect.poll(() => this.reads, { timeout: FACT_MS_MAX, interval: 2 }).toBe(reads);
  }
}

it('tells of a change behind links, without the slow look', async () => {
  const at = new Followed();
  at.write('a/real', '1');
  fs.mkdirSync(join(at.dir, 'b'));
  fs.symlinkSync('../a/real', join(at.dir, 'b', 'link'));
  fs.symlinkSync('b/link', at.file);
  at.watch();
  at.write('a/real', 'two');
  await at.until(1);
  at.write('a/other', 'three');
  fs.symlinkSync('../a/other', join(at.dir, 'b', 'next'));
  fs.renameSync(join(at.dir, 'b', 'next'), join(at.dir, 'b', 'link'));
  await at.until(2);
});

it('takes neither a new directory nor what is written to a FIFO for a change', async () => {
  const at = new Followed();
  const later = join(at.dir, 'later', 'file');
  execFileSync('mkfifo', [at.file]);
  const fd = fs.openSync(at.file, 'r+');
  onTestFinished(() => fs.closeSync(fd));
  const watch = at.watch({ files: () => [at.file, later] });
  fs.writeSync(fd, 'some');
  fs.mkdirSync(dirname(later));
  expect(await watch.rest()).toBe(false);
  // By now the new directory is watched.
  at.write('later/file', '1');
  await at.until(1);
});

it('reads again when the files changed meanwhile, and says so to the reader', async () => {
  const at = new Followed();
  const told: boolean[] = [];
  at.watch({
    changed: async (unchanged) => {
      at.reads += 1;
      if (at.reads === 1) at.write('file', 'second');
      await Promise.resolve();
      told.push(unchanged());
    },
  });
  at.write('file', '1');
  await at.until(2);
  expect(told).toEqual([false, true]);
});

it('is at rest when the reader is done, however long that takes', async () => {
  const at = new Followed();
  let finish = (): void => undefined;
  const watch = at.watch({
    changed: () => {
      at.reads += 1;
      return new Promise((resolve) => {
        finish = resolve;
      });
    },
  });
  at.write('file', '1');
  await at.until(1);
  const order: string[] = [];
  const rested = watch.rest().then((changed) => order.push(`at rest: ${changed}`));
  await new Promise((resolve) => setImmediate(resolve));
  order.push('read');
  finish();
  await rested;
  expect(order).toEqual(['read', 'at rest: true']);
  expect(await watch.rest()).toBe(false);
});

it('is told again at the slow look for as long as the reader asks for it', async () => {
  const at = new Followed();
  at.watch({ pollMs: 2, retry: () => at.reads < 3 });
  await at.until(3);
  at.write('file', '1');
  await at.until(4);
});
