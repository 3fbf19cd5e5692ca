// What evidence costs: a salt and a leaf for each entry, the same behind MCP, and a verification of
// many entries.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { askChild, interleave, timed } from './measure.mjs';

const CLIENT = new URL('./children/mcp-client.mjs', import.meta.url);
const SEAL = new URL('./children/seal.mjs', import.meta.url);
const CUFF = fileURLToPath(new URL('../dist/cuff.cjs', import.meta.url));
const PROCESSES = 5; // of each side; no median may hang on the layout of one
const ENTRIES = 10_000;

export const sealRows = [
  entryRow('2 kB', 2_000, 50),
  entryRow('20 kB', 20_000, 100),
  entryRow('131 kB', 131_000, 400),
  {
    name: 'mcp-execute-sealed',
    what: 'execute `true` over MCP stdio, against the same with `seal.enabled: false`',
    unit: 'ms',
    target: { ratio: ['<=', 1.03] },
    measure: ({ dir, rounds }) => execute(dir, rounds(100)),
  },
  {
    name: 'verify-10000',
    what: 'cuff verify of 10,000 entries with 2 kB of output each, against node -e 0',
    unit: 'ms',
    target: { ours: ['<=', 2_000] },
    measure: async ({ dir, rounds }) => {
      const root = join(dir, 'many');
      const { project } = await askChild(SEAL, { what: 'journal', root, count: ENTRIES });
      return interleave(rounds(10), {
        ours: () => timed(() => verify(project, root)),
        baseline: () => timed(() => spawnSync(process.execPath, ['-e', '0'])),
      });
    },
  },
];

function entryRow(size, bytes, most) {
  return {
    name: `seal-entry-${size.replace(' ', '')}`,
    what: `encoding an entry with ${size} of output and sealing it, against encoding it`,
    unit: 'us',
    target: { ours: ['<=', most] },
    measure: ({ dir, rounds }) => {
      const root = join(dir, `seal-${bytes}`);
      return askChild(SEAL, { what: 'entries', root, bytes, count: rounds(1_000) });
    },
  };
}

async function execute(dir, calls) {
  let turn = 0;
  const side = (server) => () => {
    const root = join(dir, `turn-${turn++}`);
    return askChild(CLIENT, { server, root, calls });
  };
  const turns = { ours: side('cuff'), baseline: side('cuff-unsealed') };
  const samples = await interleave(PROCESSES, turns, { warmUp: 0 });
  return { ours: samples.ours.flat(), baseline: samples.baseline.flat() };
}

/** One that does not find all of them is worth nothing. */
function verify(project, root) {
  mkdirSync(root, { recursive: true });
  const { stdout } = spawnSync(process.execPath, [CUFF, 'verify', '--json'], {
    cwd: project,
    env: { ...process.env, CUFF_STATE_ROOT: root },
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  const { intact, counts } = JSON.parse(stdout);
  if (!intact || counts.entries !== ENTRIES) throw new Error(stdout.slice(0, 500));
}
