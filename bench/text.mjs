// What it costs to make output readable, against `strip-ansi`. Output is bytes and is cut by bytes,
// so both start with bytes and end with bytes: `strip-ansi` is handed the decoded text, and its
// answer is encoded again. It leaves other controls and `\r\n` as they are, so its input has none,
// and both sides give the same. The rows without a target end with a string instead, where most of
// the time goes into decoding, or take less output at once.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import stripAnsi from 'strip-ansi';
import { interleave } from './measure.mjs';

const ROOM = fileURLToPath(new URL('../src/text', import.meta.url));
const EXPORTED = [
  ['sanitize', './sanitize.ts'],
  ['decodeUtf8', './utf8.ts'],
];
const MIB = 1024 * 1024;

const PLAIN =
  'src/text/lines.ts:12:34 - warning: the quick brown fox jumps over the lazy dog\n' +
  '    at Module._compile (node:internal/modules/cjs/loader:1554:14)\n' +
  '\tpassed 12 of 12 in 34 ms\n';

const COLOUR =
  '\x1b[36msrc/text/lines.ts\x1b[0m:\x1b[33m12\x1b[0m:\x1b[33m34\x1b[0m - ' +
  '\x1b[38;5;208m\x1b[1mwarning\x1b[22m\x1b[39m: the \x1b[4mquick\x1b[24m brown fox\n' +
  ' \x1b[32m+\x1b[39m \x1b[1mlines in bytes\x1b[22m \x1b[2m(\x1b[22m\x1b[2m3 tests\x1b[22m' +
  '\x1b[2m)\x1b[22m \x1b[38:2::255:170:0m41\x1b[2mms\x1b[22m\x1b[39m\n';

export const textRows = [
  {
    name: 'sanitize-plain',
    what: '4 MiB of plain output without escapes and controls, bytes to bytes, against strip-ansi',
    unit: 'ms',
    target: { ratio: ['<=', 0.5] },
    measure: (context) => compare(context, { text: PLAIN, length: 4 * MIB, end: 'bytes' }),
  },
  {
    name: 'sanitize-colour',
    what: '4 MiB of colourful output, bytes to bytes, against strip-ansi',
    unit: 'ms',
    target: { ratio: ['<=', 0.2] },
    measure: (context) => compare(context, { text: COLOUR, length: 4 * MIB, end: 'bytes' }),
  },
  {
    name: 'sanitize-plain-text',
    what: 'the plain output, bytes to a string',
    unit: 'ms',
    target: undefined,
    measure: (context) => compare(context, { text: PLAIN, length: 4 * MIB, end: 'text' }),
  },
  {
    name: 'sanitize-colour-text',
    what: 'the colourful output, bytes to a string',
    unit: 'ms',
    target: undefined,
    measure: (context) => compare(context, { text: COLOUR, length: 4 * MIB, end: 'text' }),
  },
  {
    name: 'sanitize-colour-little',
    what: 'the first 100 KiB of the colourful output, bytes to bytes',
    unit: 'ms',
    target: undefined,
    measure: (context) => compare(context, { text: COLOUR, length: MIB / 10, end: 'bytes' }),
  },
];

async function compare({ dir, rounds }, { text, length, end }) {
  const { sanitize, decodeUtf8 } = await textRoom(dir);
  const bytes = Buffer.from(text.repeat(Math.ceil(length / text.length)));
  const sides = { ours: (given) => sanitize(given), baseline: (given) => stripped(given, end) };
  const finish = end === 'text' ? decodeUtf8 : (made) => made;
  if (decodeUtf8(sides.ours(bytes)) !== String(sides.baseline(bytes))) {
    throw new Error('both sides should give the same text');
  }
  return interleave(
    rounds(100),
    {
      ours: () => millis(() => finish(sides.ours(bytes))),
      baseline: () => millis(() => sides.baseline(bytes)),
    },
    { warmUp: 20 },
  );
}

function stripped(bytes, end) {
  const text = stripAnsi(bytes.toString());
  return end === 'text' ? text : Buffer.from(text);
}

function millis(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/** Both as a module: no program of ours gives them away. */
async function textRoom(dir) {
  const outfile = join(dir, 'text.mjs');
  const contents = EXPORTED.map(([name, file]) => `export { ${name} } from '${file}';`).join('\n');
  await build({
    stdin: { contents, resolveDir: ROOM },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
  });
  return import(pathToFileURL(outfile).href);
}
