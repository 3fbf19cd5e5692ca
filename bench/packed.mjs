// What packing costs, what it saves, and what reading a packed capture costs.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { askChild, interleave } from './measure.mjs';
import { captured, MB, withSource } from './output.mjs';
import { packer, writeCapture } from './packing.mjs';

const CHILD = new URL('./children/packed.mjs', import.meta.url);
const GB = 1000 * MB;

/** All of it is measured on one capture of each kind, by the row of it that comes first. */
const answers = new Map();

const row = (kind, figure, what, unit, target) => ({
  name: `${kind}-${figure}`,
  what,
  unit,
  target,
  measure: async ({ dir, rounds }) => {
    const encrypted = kind === 'encrypted';
    const question = { stateRoot: join(dir, kind), bytes: GB, rounds: rounds(100), encrypted };
    if (!answers.has(kind)) answers.set(kind, askChild(CHILD, question));
    return { ours: (await answers.get(kind))[figure] };
  },
});

const rowsOf = (kind) => [
  row(kind, 'range', `5 kB at a random cursor of a capture of 1 GB that is ${kind}`, 'ms', {
    ours: ['<', 5],
  }),
  row(kind, 'tail', 'the last 2,000 lines of it', 'ms', { ours: ['<', 50] }),
  row(kind, 'speed', `making it ${kind}, read back and compared`, 'MB/s'),
  row(kind, 'ratio', `its bytes plain for one ${kind}`, 'x'),
];

export const packedRows = [
  ...rowsOf('packed'),
  ...rowsOf('encrypted'),
  {
    name: 'pipe-500mb-packing',
    what: '500 MB by pipe while another capture is packed, against the same without',
    unit: 'ms',
    target: { ratio: ['<=', 1.15] },
    measure: ({ dir, rounds }) =>
      withSource(dir, 500 * MB, (source) => {
        const old = join(dir, 'old');
        const run = () => captured(dir, `cat ${source}`, { transport: 'pipe' }, 500 * MB);
        return interleave(rounds(7), {
          ours: async () => {
            const { capture } = writeCapture(old, GB);
            const packing = packer();
            const packed = packing.pack(capture);
            try {
              return await run();
            } finally {
              await packing.stop();
              await packed.catch(() => undefined);
              rmSync(old, { recursive: true, force: true });
            }
          },
          baseline: run,
        });
      }),
  },
];
