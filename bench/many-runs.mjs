// How long an agent waits for a list of its runs, or for a search in all of them, when there are a
// thousand in its conversation.
import { askChild } from './measure.mjs';

const CHILD = new URL('./children/many-runs.mjs', import.meta.url);
const RUNS = 1_000;

export const manyRunsRows = [
  {
    name: 'shell-list-1000',
    what: '`shell_list` with 1,000 runs in the conversation, not the first time',
    unit: 'ms',
    target: { ours: ['<=', 50] },
    measure: (asked) => ask(asked, 'shell_list', { all: true }),
  },
  {
    name: 'shell-search-1000',
    what: '`shell_search` in the output of 1,000 runs, not the first time',
    unit: 'ms',
    target: { ours: ['<=', 500] },
    measure: (asked) => ask(asked, 'shell_search', { pattern: 'nowhere' }),
  },
];

async function ask({ dir: root, rounds }, tool, args) {
  return { ours: await askChild(CHILD, { root, runs: RUNS, tool, args, calls: rounds(40) }) };
}
