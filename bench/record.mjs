// What it costs to look things up in a large journal: 1,000,000 entries in 10,000 sessions, 1,000
// of them with 100 kB of output, whole processes against the tools one would take without a
// catalog. The journal is written once and serves all rows; its catalog is made by
// `cuff record reindex`, which is a row of its own.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { askChild, interleave, timed } from './measure.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const CUFF = here('../dist/cuff.cjs');
const JOURNAL = new URL('./children/record-journal.mjs', import.meta.url);
const SEARCH = new URL('./children/record-search.mjs', import.meta.url);
const NEEDLE = 'ECONNREFUSED 127.0.0.1:5432';

export const recordRows = [
  {
    name: 'record-reindex',
    what: 'cuff record reindex of 1,000,000 entries, from nothing',
    unit: 's',
    target: undefined,
    measure: async () => ({ ours: [(await journal()).reindexMs / 1000] }),
  },
  {
    name: 'record-list',
    what: 'cuff record list on 10,000 sessions against node -e 0',
    unit: 'ms',
    target: { ratio: ['<=', 1.5] },
    measure: async ({ rounds }) => {
      const { directory } = await journal();
      return interleave(rounds(100), {
        ours: () => timed(() => record(directory, 'list')),
        baseline: () => timed(() => run(process.execPath, ['-e', '0'])),
      });
    },
  },
  {
    name: 'record-search',
    what: 'cuff record search in 1,000,000 entries against grep -rF',
    unit: 'ms',
    target: { ratio: ['<=', 0.3] },
    measure: async ({ rounds }) => {
      const { directory, needles } = await journal();
      checkFound(directory, needles);
      return interleave(rounds(20), {
        ours: () => timed(() => record(directory, 'search', NEEDLE)),
        baseline: () => timed(() => find(directory)),
      });
    },
  },
  {
    name: 'record-search-inside',
    what: 'the same in a running process: 95th percentile of 100 searches',
    unit: 'ms',
    target: { ours: ['<=', 10] },
    measure: async ({ rounds }) => {
      const { directory } = await journal();
      return askChild(SEARCH, { directory, module: await bundled(), rounds: rounds(15) });
    },
  },
  {
    name: 'record-stats',
    what: 'cuff record stats over 1,000,000 entries against jq',
    unit: 'ms',
    target: { ratio: ['<=', 0.1] },
    measure: async ({ rounds }) => {
      const { directory } = await journal();
      const sides = {
        ours: () => timed(() => record(directory, 'stats')),
        baseline: () => timed(() => count(directory)),
      };
      return interleave(rounds(3), sides, { warmUp: 0 });
    },
  },
];

let made;

/** The journal all rows share, with its catalog. It is removed when the bench ends. */
function journal() {
  made ??= makeJournal();
  return made;
}

async function makeJournal() {
  const directory = mkdtempSync(join(tmpdir(), 'cuff-bench-record-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));
  console.error('bench: writing 1,000,000 entries and their catalog, about two minutes');
  const size = { sessions: 10_000, entries: 100 };
  const { needles } = await askChild(JOURNAL, { directory, ...size, needle: NEEDLE });
  const reindexMs = await timed(() => record(directory, 'reindex'));
  return { directory, reindexMs, needles };
}

function record(directory, ...args) {
  run(process.execPath, [CUFF, 'record', ...args, '--directory', directory]);
}

/** A search that is fast because it leaves something out is worth nothing. */
function checkFound(directory, needles) {
  const args = [CUFF, 'record', 'search', NEEDLE, '--json', '--directory', directory];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const found = JSON.parse(stdout).hits.length;
  if (found !== needles) throw new Error(`record search found ${found} of ${needles}`);
}

function find(directory) {
  run('grep', ['-rF', '--include=*.jsonl', NEEDLE, join(directory, 'sessions')]);
}

/** Only how often each command was run: less than the statistics have. */
function count(directory) {
  const files = `find ${directory}/sessions -name '*.jsonl' -exec cat {} +`;
  run('bash', ['-c', `${files} | jq -r .command | sort | uniq -c | sort -rn`]);
}

function run(program, args) {
  const { status, error } = spawnSync(program, args, { stdio: 'ignore' });
  if (status !== 0) throw error ?? new Error(`${program} ${args[0]}: exit status ${status}`);
}

/** The catalog as a module: no program of ours gives it away. Where `libsql` can be found. */
async function bundled() {
  const folder = here('../node_modules/.cache/cuff-bench');
  mkdirSync(folder, { recursive: true });
  const { build } = await import('esbuild');
  const outfile = join(folder, 'catalog.mjs');
  const entryPoints = [here('../src/journal/catalog.ts')];
  await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm' });
  return outfile;
}
