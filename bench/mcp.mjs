// What a recorded command costs an agent: `true` over MCP stdio, captured, journalled and synced
// before its answer, against servers made with the same SDK that record nothing. Also what an entry
// costs when several are written at once.
import { join } from 'node:path';
import { askChild, interleave } from './measure.mjs';

const CLIENT = new URL('./children/mcp-client.mjs', import.meta.url);
const APPEND = new URL('./children/mcp-append.mjs', import.meta.url);
const PROCESSES = 5; // of each side; no median may hang on the layout of one

export const mcpRows = [
  {
    name: 'mcp-execute',
    what: 'execute `true` over MCP stdio, against an echo tool plus a spawn from a small process',
    unit: 'ms',
    target: { ratio: ['<=', 1.3] },
    measure: ({ dir, rounds }) => ask(dir, { calls: rounds(100), baseline: 'echo' }),
  },
  {
    name: 'mcp-execute-spawn',
    what: 'the same, against a tool that calls child_process.spawn and records nothing',
    unit: 'ms',
    target: { ratio: ['<=', 0.8] },
    measure: ({ dir, rounds }) => ask(dir, { calls: rounds(100), baseline: 'spawn' }),
  },
  {
    name: 'journal-append-8',
    what: 'an entry on disk, 8 at once, each, against one bare write and fdatasync',
    unit: 'ms',
    target: { ratio: ['<=', 0.6] },
    measure: ({ dir, rounds }) => append(dir, rounds(300)),
  },
];

async function ask(dir, { calls, baseline }) {
  let turn = 0;
  const side = (server) => () => {
    const root = join(dir, `turn-${turn++}`);
    return askChild(CLIENT, { server, root, calls });
  };
  const turns = { ours: side('cuff'), baseline: side(baseline) };
  const samples = await interleave(PROCESSES, turns, { warmUp: 0 });
  return { ours: samples.ours.flat(), baseline: samples.baseline.flat() };
}

async function append(dir, count) {
  let turn = 0;
  const side = (name) => () => {
    const root = join(dir, `turn-${turn++}`);
    return askChild(APPEND, { side: name, root, count });
  };
  const turns = { ours: side('ours'), baseline: side('baseline') };
  const samples = await interleave(PROCESSES, turns, { warmUp: 0 });
  return { ours: samples.ours.flat(), baseline: samples.baseline.flat() };
}
