// Starts `bash -c true` again and again, through the library or through Node's spawn, and prints
// the milliseconds of each. What a run still does after its answer (the late sync of group commit)
// is awaited between the samples.
import { spawn } from 'node:child_process';
import { createShell } from '../../dist/index.js';
import { interleave, timed } from '../measure.mjs';

const {
  side,
  durability,
  stateRoot,
  heapOf,
  rounds,
  inFlight = 1,
  commands = 1,
} = JSON.parse(process.argv[2]);
globalThis.ballast = heapOf === undefined ? [] : fillHeap(heapOf); // where nobody collects it
const shell = createShell({ stateRoot, durability });
const one = side === 'ours' ? ours : baseline;
const open = [];
const sample = async () => {
  const ms = await timed(many);
  await Promise.all(open.splice(0));
  return ms / commands;
};
const warmUp = commands === 1 ? 20 : 1;
const { samples } = await interleave(rounds, { samples: sample }, { warmUp });
shell.close();
console.log(JSON.stringify(samples));

/** `commands` of them, `inFlight` at any time. */
async function many() {
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
