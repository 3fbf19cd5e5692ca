// What packing costs, what it saves, and what reading a packed capture costs.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { askChild, interleave } from './measure.mjs';
import { captured, MB, withSource } from './output.mjs';
import { packer, writeCapture } from './packing.mjs';

const CHILD = new URL('./children/packed.mjs', import.meta.url);
const GB = 1000 * MB;

/** All of it is measured on one capture, by the row that comes first. */
let answer;

const row = (name, what, unit, target) => ({
  name,
  what,
  unit,
  target,
  measure: async ({ dir, rounds }) => {
    const question = { stateRoot: join(dir, 'packed'), bytes: GB, rounds: rounds(100) };
    answer ??= askChild(CHILD, question);
    return { ours: (await answer)[name] };
  },
});

export const packedRows = [
  row('packed-range', '5 kB at a random cursor of a packed capture of 1 GB', 'ms', {
    ours: ['<', 5],
  }),
  row('packed-tail', 'the last 2,000 lines of it', 'ms', { ours: ['<', 50] }),
  row('packed-speed', 'packing it, read back and compared', 'MB/s'),
  row('packed-ratio', 'its bytes plain for one packed', 'x'),
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
