// Runs of which nothing could be written, as in a read-only sandbox: captures whose output is in
// memory, for as long as they are among the last of this shell.

import type { Capture } from '../capture/store.ts';
import { argvOf } from '../run/env.ts';
import { keepRecent } from '../text/recent.ts';
import type { CaptureFinal, CaptureMeta } from '../types.ts';
import { memorySource } from './output/memory.ts';
import type { MemoryOutput, Run } from './run.ts';

const RUNS_MAX = 32; // each has at most two streams of a MiB

export class UnwrittenRuns {
  readonly #now: () => number;
  readonly #captures = new Map<string, () => Capture>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A run whose output is in no file because none could be made. */
  add(run: Run, meta: CaptureMeta): void {
    const { memory } = run;
    if (memory === undefined || run.recording.on) return;
    let child: CaptureMeta['child'];
    let final: CaptureFinal | undefined;
    void run.started.then((pid) => {
      child = pid;
    });
    void run.done.then((ended) => {
      const state = ended.outcome.kind;
      final = { ...ended, state, ...countsOf(memory), outputClosed: false, survivors: [] };
    });
    void run.closed.then(() => {
      if (final !== undefined) final = { ...final, ...countsOf(memory), outputClosed: true };
    });
    const look = (): Capture => ({
      ...memorySource(memory),
      id: meta.id,
      meta: { ...meta, ...(child !== undefined && { child }), argv: argvOf(meta.command) },
      final,
      state: final?.state ?? 'running',
      reason: undefined,
      outputOpen: final?.outputClosed !== true,
      pinned: false,
      now: this.#now,
    });
    keepRecent(this.#captures, meta.id, look, RUNS_MAX);
  }

  /** As it is now. */
  open(id: string): Capture | undefined {
    return this.#captures.get(id)?.();
  }
}

function countsOf({ totals, pieces }: MemoryOutput) {
  const all = totals.stdout + totals.stderr;
  const outputBytes = pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
  return { outputBytes, lostBytes: all - outputBytes };
}
