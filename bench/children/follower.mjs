// Follows a capture (STATE_ROOT ID) through the library and prints how late each line was, in
// milliseconds.
import { createShell } from '../../dist/index.js';
import { delayMeter } from './delays.mjs';

const [stateRoot, id] = process.argv.slice(2);
const shell = createShell({ stateRoot });
const meter = delayMeter();
let read = { nextCursor: 0, final: false };
while (!read.final) {
  read = await shell.waitOutput(id, read.nextCursor, 1_000);
  for (const { bytes } of read.chunks) meter.take(Buffer.from(bytes).toString());
}
shell.close();
console.log(JSON.stringify(meter.delays));
