// What it costs to start a command, wait for it and have its output, against Node's own spawn. Each
// side is measured in processes of its own, which take turns: a fork of Node leaves all its pages
// write-protected behind it, and whatever runs next in the same process pays for that.
import { join } from 'node:path';
import { askChild, interleave } from './measure.mjs';

const CHILD = new URL('./children/start.mjs', import.meta.url);
const PROCESSES = 5; // of each side; layouts differ between them, no median may hang on one

export const startRows = [
  {
    name: 'start',
    what: 'start+wait+capture of bash -c true, group commit, against child_process.spawn',
    unit: 'ms',
    target: { ratio: ['<=', 0.8] },
    measure: ({ dir, rounds }) => ask(dir, { durability: 'group', rounds: rounds(100) }),
  },
  {
    name: 'start-synced',
    what: 'the same, on disk before the answer',
    unit: 'ms',
    target: { ratio: ['<=', 1.2] },
    measure: ({ dir, rounds }) => ask(dir, { durability: 'answer', rounds: rounds(100) }),
  },
  {
    name: 'start-heap',
    what: 'start with 512 MB in use, in Buffers',
    unit: 'ms',
    target: { ratio: ['<=', 0.15] },
    measure: ({ dir, rounds }) =>
      ask(dir, { durability: 'group', rounds: rounds(30), heapOf: 'buffers' }),
  },
  {
    name: 'start-objects',
    what: 'start with 512 MB in use, in JavaScript objects, which V8 keeps out of a fork',
    unit: 'ms',
    target: undefined,
    measure: ({ dir, rounds }) =>
      ask(dir, { durability: 'group', rounds: rounds(30), heapOf: 'objects' }),
  },
  {
    name: 'start-16',
    what: 'start with 16 in flight, per command',
    unit: 'ms',
    target: { ratio: ['<=', 0.6] },
    measure: ({ dir, rounds }) =>
      ask(dir, { durability: 'group', rounds: rounds(6), inFlight: 16, commands: 160 }),
  },
];

async function ask(dir, question) {
  let turn = 0;
  const side = (name) => () => {
    const stateRoot = join(dir, `state-${turn++}`);
    return askChild(CHILD, { ...question, side: name, stateRoot }, ['--max-old-space-size=2048']);
  };
  const turns = { ours: side('ours'), baseline: side('baseline') };
  const { ours, baseline } = await interleave(PROCESSES, turns, { warmUp: 0 });
  return { ours: ours.flat(), baseline: baseline.flat() };
}
