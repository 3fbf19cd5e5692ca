// Starts `bash -c true` through the library and through Node's spawn in turns, and prints the
// milliseconds of each. What a run still does after its answer (the late sync of group commit) is
// awaited between the samples, so that it weighs on neither side.
import { spawn } from 'node:child_process';
import { createShell } from '../../dist/index.js';
import { interleave, timed } from '../measure.mjs';

const question = JSON.parse(process.argv[2]);
const { durability, stateRoot, inFlight = 1, commands = 1 } = question;
const ballast = question.heapOf === undefined ? [] : fillHeap(question.heapOf);
const shell = createShell({ stateRoot, durability });
const open = [];
const samples = await interleave(
  question.rounds,
  {
    async ours() {
      const ms = await timed(() => many(ours));
      await Promise.all(open.splice(0));
      return ms / commands;
    },
    baseline: async () => (await timed(() => many(baseline))) / commands,
  },
  { warmUp: commands === 1 ? 10 : 1 },
);
shell.close();
console.log(JSON.stringify({ ...samples, ballast: ballast.length }));

/** `commands` of them, `inFlight` at any time. */
async function many(one) {
  let left = commands;
  const lane = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, commands) }, lane));
}

async function ours() {
  const run = shell.start('true');
  open.push(run.closed);
  const { outcome } = await run.done;
  if (outcome.kind !== 'exited') throw new Error(`${run.id}: ${JSON.stringify(outcome)}`);
}

function baseline() {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', 'true'], { stdio: ['ignore', 'pipe', 'pipe'] });
    const pieces = [];
    child.stdout.on('data', (piece) => pieces.push(piece));
    child.stderr.on('data', (piece) => pieces.push(piece));
    child.on('error', reject);
    child.on('close', resolve);
  });
}

/**
 * What a fork pays for is pages that are mapped and in use. V8 marks its own as not to be inherited
 * (MADV_DONTFORK), so that 512 MB of plain objects cost little, and 512 MB of Buffers all of it.
 */
function fillHeap(kind) {
  const bytes = 512 * 2 ** 20;
  const made = [];
  const used = () => process.memoryUsage()[kind === 'buffers' ? 'arrayBuffers' : 'heapUsed'];
  while (used() < bytes) made.push(kind === 'buffers' ? Buffer.alloc(16_384, 1) : objects());
  return made;
}

function objects() {
  return Array.from({ length: 10_000 }, (_, i) => ({ name: `item ${i}`, at: i, next: null }));
}
