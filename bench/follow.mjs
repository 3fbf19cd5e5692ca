// How far behind its writer another process reads a live capture, by the library and by
// `cuff tail -f`, against the same writer in `| tee FILE | reader`. Every line says when it was
// written, by the clock that all processes of a machine share.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createShell } from '../dist/index.js';
import { finished, interleave, summarise } from './measure.mjs';

const WRITER = fileURLToPath(new URL('./children/writer.mjs', import.meta.url));
const READER = fileURLToPath(new URL('./children/reader.mjs', import.meta.url));
const FOLLOWER = fileURLToPath(new URL('./children/follower.mjs', import.meta.url));
const CUFF = fileURLToPath(new URL('../dist/cuff.cjs', import.meta.url));
const NODE = process.execPath;

const LINES = 500;
const GAP_MS = 4;
const SAMPLES_MIN = 100; // lines that are left once the reader has started

export const followRows = [
  {
    name: 'follow',
    what: 'behind the writer: waitOutput in another process, against tee FILE | reader',
    unit: 'ms',
    target: { ratio: ['<', 3], ours: ['<', 5] },
    measure: (context) => compare(context, (root, id) => [NODE, FOLLOWER, root, id]),
  },
  {
    name: 'follow-cli',
    what: 'the same through cuff tail -f ID | reader',
    unit: 'ms',
    target: { ratio: ['<', 3], ours: ['<', 5] },
    measure: (context) =>
      compare(context, (root, id) => [
        'bash',
        '-c',
        `CUFF_STATE_ROOT=${root} ${NODE} ${CUFF} tail -f ${id} | ${NODE} ${READER}`,
      ]),
  },
];

function compare({ dir, rounds }, follower) {
  const stateRoot = join(dir, 'state');
  const copy = join(dir, 'copy');
  const writer = [NODE, WRITER, String(LINES), String(GAP_MS)];
  return interleave(
    rounds(5),
    {
      async ours() {
        const shell = createShell({ stateRoot });
        try {
          const run = shell.start({ kind: 'argv', argv: writer });
          await run.started;
          const delay = await medianDelay(follower(stateRoot, run.id));
          await run.closed;
          return delay;
        } finally {
          shell.close();
        }
      },
      baseline: () =>
        medianDelay(['bash', '-c', `${writer.join(' ')} | tee ${copy} | ${NODE} ${READER}`]),
    },
    { warmUp: 0 },
  );
}

async function medianDelay([program, ...args]) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const delays = JSON.parse((await finished(child)).out);
  if (delays.length < SAMPLES_MIN) throw new Error(`only ${delays.length} lines were followed`);
  return summarise(delays).median;
}
