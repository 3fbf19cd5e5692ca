// What it costs to start a command, wait for it and have its output, against Node's own spawn. The
// measuring happens in fresh Node processes, because the price of a spawn grows with the heap.
import { join } from 'node:path';
import { askChild } from './measure.mjs';

const CHILD = new URL('./children/start.mjs', import.meta.url);
const PROCESSES = 3; // layouts differ from one process to the next; no median may hang on one

export const startRows = [
  {
    name: 'start',
    what: 'start+wait+capture of bash -c true, group commit, against child_process.spawn',
    unit: 'ms',
    target: { ratio: ['<=', 0.8] },
    measure: ({ dir, rounds }) => ask(dir, { durability: 'group', rounds: rounds(150) }),
  },
  {
    name: 'start-synced',
    what: 'the same, on disk before the answer',
    unit: 'ms',
    target: { ratio: ['<=', 1.2] },
    measure: ({ dir, rounds }) => ask(dir, { durability: 'answer', rounds: rounds(150) }),
  },
  {
    name: 'start-heap',
    what: 'start with 512 MB in use, in Buffers',
    unit: 'ms',
    target: { ratio: ['<=', 0.15] },
    measure: ({ dir, rounds }) =>
      ask(dir, { durability: 'group', rounds: rounds(50), heapOf: 'buffers' }),
  },
  {
    name: 'start-objects',
    what: 'start with 512 MB in use, in JavaScript objects, which V8 keeps out of a fork',
    unit: 'ms',
    target: undefined,
    measure: ({ dir, rounds }) =>
      ask(dir, { durability: 'group', rounds: rounds(50), heapOf: 'objects' }),
  },
  {
    name: 'start-16',
    what: 'start with 16 in flight, per command',
    unit: 'ms',
    target: { ratio: ['<=', 0.6] },
    measure: ({ dir, rounds }) =>
      ask(dir, { durability: 'group', rounds: rounds(10), inFlight: 16, commands: 160 }),
  },
];

async function ask(dir, question) {
  const all = { ours: [], baseline: [] };
  for (let i = 0; i < PROCESSES; i += 1) {
    const stateRoot = join(dir, `state-${i}`);
    const flags = ['--max-old-space-size=2048'];
    const samples = await askChild(CHILD, { ...question, stateRoot }, flags);
    all.ours.push(...samples.ours);
    all.baseline.push(...samples.baseline);
  }
  return all;
}
