// What a person waits for in front of every command: `derun run -- true` against the smallest
// Node program there is, and, to know the floor, a Node program that only spawns `true`.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { interleave, timed } from './measure.mjs';

const DERUN = fileURLToPath(new URL('../dist/derun.cjs', import.meta.url));

export const commandRows = [
  {
    name: 'derun-run',
    what: 'derun run -- true against node -e 0',
    unit: 'ms',
    target: { ratio: ['<=', 1.5] },
    measure: ({ dir, rounds }) => {
      const env = { ...process.env, CUFF_STATE_ROOT: join(dir, 'state') };
      return interleave(rounds(100), {
        ours: () => timed(() => node([DERUN, 'run', '--', 'true'], env)),
        baseline: () => timed(() => node(['-e', '0'])),
      });
    },
  },
  {
    name: 'node-spawn',
    what: 'a Node program that only spawns true, unrecorded, against node -e 0',
    unit: 'ms',
    target: undefined,
    measure: ({ dir, rounds }) => {
      const program = join(dir, 'spawn.cjs');
      writeFileSync(
        program,
        "require('node:child_process').spawn('true', { stdio: 'inherit' });\n",
      );
      return interleave(rounds(100), {
        ours: () => timed(() => node([program])),
        baseline: () => timed(() => node(['-e', '0'])),
      });
    },
  },
];

function node(args, env = process.env) {
  const { status, error } = spawnSync(process.execPath, args, { env, stdio: 'ignore' });
  if (status !== 0) throw error ?? new Error(`node ${args.join(' ')}: exit status ${status}`);
}
