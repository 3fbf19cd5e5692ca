// Writes a large capture, has it packed or encrypted, reads a piece and the tail of it, and prints
// the samples.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createShell } from '../../dist/index.js';
import { interleave, timed } from '../measure.mjs';
import { ID, newReader, packer, writeCapture } from '../packing.mjs';

const PIECE_BYTES = 5_000;
const TAIL_LINES = 2_000;

const { stateRoot, bytes: wanted, rounds, encrypted } = JSON.parse(process.argv[2]);
const { capture, bytes } = writeCapture(stateRoot, wanted);
const reader = encrypted ? await newReader(join(stateRoot, 'reader')) : { env: process.env };
const thread = packer();
const packMs = await timed(() => thread.pack(capture, reader.recipients));
await thread.stop();
const shell = createShell({ stateRoot, env: reader.env });
const { range: ranges, tail: tails } = await interleave(rounds, { range, tail });
const packed = statSync(join(capture, encrypted ? 'output.bin.gz.age' : 'output.bin.gz')).size;
const [speed, ratio] = [bytes / 1000 / packMs, bytes / packed];
console.log(JSON.stringify({ range: ranges, tail: tails, speed: [speed], ratio: [ratio] }));
shell.close();

function range() {
  const cursor = Math.floor(Math.random() * (bytes - PIECE_BYTES));
  return timed(() => {
    const { nextCursor } = shell.read(ID, cursor, PIECE_BYTES);
    if (nextCursor !== cursor + PIECE_BYTES) throw new Error('a wrong piece');
  });
}

function tail() {
  return timed(() => {
    const { shown } = shell.view(ID, { kind: 'tail', linesMax: TAIL_LINES, bytesMax: 1_000_000 });
    if (shown.lines !== TAIL_LINES) throw new Error(`a wrong view: ${shown.lines} lines`);
  });
}
