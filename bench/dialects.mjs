// What a dialect adds to the bare library: the words of its answer and the entry in the journal,
// for a command that does nothing, and for one that prints much. Each side is measured in processes
// of its own, which take turns.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { askChild, interleave } from './measure.mjs';

const CHILD = new URL('./children/dialect.mjs', import.meta.url);
const PROCESSES = 5; // of each side; no median may hang on the layout of one
const OUTPUT_BYTES = 100_000_000;
const FIRST_BYTES = 1_000_000; // of the commands that warm it up: cut and shown in the same way

const DIALECTS = ['pipe_bash', 'phoenix_bash', 'cuff_shell', 'claude_code', 'codex'];

export const dialectRows = [
  ...DIALECTS.map((dialect) => ({
    name: `dialect-${dialect}`,
    what: `\`true\` answered by ${dialect}, journalled, against start+wait+tail of the library`,
    unit: 'ms',
    target: { ratio: ['<=', 1.1] },
    measure: ({ dir, rounds }) => ask(dir, { dialect, command: 'true', rounds: rounds(60) }),
  })),
  ...DIALECTS.map((dialect) => ({
    name: `traced-${dialect}`,
    what: 'the same, against a library that traces as the dialects do',
    unit: 'ms',
    target: { ratio: ['<=', 1.1] },
    measure: ({ dir, rounds }) =>
      ask(dir, { dialect, command: 'true', rounds: rounds(60), trace: 'auto' }),
  })),
  ...DIALECTS.map((dialect) => ({
    name: `unrecorded-${dialect}`,
    what: 'the same without its entry in the journal',
    unit: 'ms',
    target: undefined,
    measure: ({ dir, rounds }) =>
      ask(dir, { dialect, command: 'true', recording: false, rounds: rounds(60) }),
  })),
  ...DIALECTS.map((dialect) => ({
    name: `100mb-${dialect}`,
    what: `100 MB of output answered by ${dialect}, against capturing it`,
    unit: 'ms',
    target: { ratio: ['<=', 1.1] },
    measure: async ({ dir, rounds }) => {
      const place = inMemory(dir);
      const file = join(place, 'source');
      const line = `${'all work and no play makes a dull line '.repeat(2)}\n`;
      writeFileSync(file, Buffer.alloc(OUTPUT_BYTES, line));
      const first = `head -c ${FIRST_BYTES} ${file}`;
      const question = { dialect, command: `cat ${file}`, first, view: false, large: true };
      try {
        return await ask(place, { ...question, rounds: rounds(10) });
      } finally {
        rmSync(place, { recursive: true, force: true });
      }
    },
  })),
];

/** Where no disk is measured: with gigabytes on their way to one, that is all there is to see. */
function inMemory(dir) {
  return mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : dir, 'cuff-bench-dialects-'));
}

async function ask(dir, question) {
  let turn = 0;
  const side = (name) => () => {
    const root = join(dir, `turn-${turn++}`);
    mkdirSync(root);
    return askChild(CHILD, { ...question, side: name, root });
  };
  const turns = { ours: side('dialect'), baseline: side('library') };
  const { ours, baseline } = await interleave(PROCESSES, turns, { warmUp: 0 });
  return { ours: ours.flat(), baseline: baseline.flat() };
}
