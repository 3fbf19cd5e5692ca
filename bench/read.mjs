// What it costs to read the end of a long capture, and to wait there for more.
import { askChild } from './measure.mjs';

const CHILD = new URL('./children/read.mjs', import.meta.url);

export const readRows = [
  {
    name: 'tail-read',
    what: 'the last 2,000 lines of a capture of 200,000 chunks',
    unit: 'ms',
    target: { ours: ['<', 20] },
    measure: ({ dir, rounds }) => ask(dir, { kind: 'tail', rounds: rounds(100) }),
  },
  {
    name: 'idle-wait',
    what: 'CPU while waiting at the end of a live capture of 200,000 chunks',
    unit: '%',
    target: { ours: ['<', 1] },
    measure: ({ dir, rounds }) => ask(dir, { kind: 'idle', rounds: rounds(5) }),
  },
];

const ask = (stateRoot, question) => askChild(CHILD, { stateRoot, chunks: 200_000, ...question });
