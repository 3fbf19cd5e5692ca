// What it costs to capture much output: the time against `tee` and `script`, and the memory of the
// runner. The source is a file in memory where there is such a place, so that only the copying
// and the writing count.
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createShell } from '../dist/index.js';
import { bash, interleave, timed } from './measure.mjs';

export const MB = 1_000_000;
const SHM = '/dev/shm';
const HOLD_MS_MAX = 120_000; // should we be killed while a command waits for us

export const outputRows = [
  {
    name: 'pipe-500mb',
    what: '500 MB by pipe, group commit, against | tee FILE > /dev/null',
    unit: 'ms',
    target: { ratio: ['<=', 1.15] },
    measure: ({ dir, rounds }) =>
      withSource(dir, 500 * MB, (source) => {
        const copy = join(dir, 'copy');
        return interleave(rounds(11), {
          ours: () => captured(dir, `cat ${source}`, { transport: 'pipe' }, 500 * MB),
          baseline: () => cleaned(copy, `cat ${source} | tee ${copy} > /dev/null`),
        });
      }),
  },
  {
    name: 'pty-100mb',
    what: '100 MB of text by pty, group commit, against script -qfc',
    unit: 'ms',
    target: { ratio: ['<=', 1] },
    measure: ({ dir, rounds }) =>
      withSource(dir, 100 * MB, (source) => {
        const copy = join(dir, 'copy');
        return interleave(rounds(7), {
          ours: () => captured(dir, `cat ${source}`, { transport: 'pty' }, 100 * MB),
          baseline: () => cleaned(copy, `script -qfc 'cat ${source}' ${copy} > /dev/null`),
        });
      }),
  },
  {
    name: 'rss-1gb',
    what: 'most memory the runner had at 1 GB of output',
    unit: 'MB',
    target: { ours: ['<=', 8] },
    measure: ({ dir, rounds }) =>
      withSource(dir, 500 * MB, async (source) => {
        const samples = [];
        for (let i = 0; i < rounds(3); i += 1) samples.push(await peakMemory(dir, source));
        return { ours: samples };
      }),
  },
];

/** A file of lines of 70 characters. */
export async function withSource(dir, bytes, use) {
  const place = existsSync(SHM) ? SHM : dir;
  const path = join(place, `cuff-bench-source-${process.pid}`);
  const remove = () => rmSync(path, { force: true });
  process.on('exit', remove);
  try {
    const line = `${'the quick brown fox jumps over the lazy dog '.repeat(2).slice(0, 69)}\n`;
    const block = Buffer.from(line.repeat(10_000));
    const fd = openSync(path, 'w');
    for (let left = bytes; left > 0; left -= block.length)
      writeSync(fd, block, 0, Math.min(left, block.length));
    closeSync(fd);
    return await use(path);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

export async function captured(dir, text, options, bytesMin) {
  const stateRoot = join(dir, 'state');
  const shell = createShell({ stateRoot, durability: 'group' });
  try {
    let run;
    const ms = await timed(() => {
      run = shell.start(text, options);
      return run.done;
    });
    await run.closed;
    const { size } = statSync(join(run.recording.dir, 'output.bin'));
    if (size < bytesMin) throw new Error(`captured ${size} of ${bytesMin} bytes`);
    return ms;
  } finally {
    shell.close();
    rmSync(stateRoot, { recursive: true, force: true });
  }
}

async function cleaned(copy, text) {
  try {
    return await timed(() => bash(text));
  } finally {
    rmSync(copy, { force: true });
  }
}

/** In MB: what /proc says while the command, all its output printed, waits for a line from us. */
async function peakMemory(dir, source) {
  const stateRoot = join(dir, 'state');
  const shell = createShell({ stateRoot, durability: 'group', outputBytesMax: 2000 * MB });
  try {
    const options = { stdin: 'orders', killAfterMs: HOLD_MS_MAX };
    const run = shell.start(`cat ${source} ${source}; read -r`, options);
    await run.started;
    const output = join(run.recording.dir, 'output.bin');
    while (!(statSync(output, { throwIfNoEntry: false })?.size >= 1000 * MB)) await sleep(20);
    const { runner } = shell.open(run.id).meta;
    const status = readFileSync(`/proc/${runner.pid}/status`, 'utf8');
    run.write('go\n');
    await run.closed;
    return (Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024) / MB;
  } finally {
    shell.close();
    rmSync(stateRoot, { recursive: true, force: true });
  }
}
