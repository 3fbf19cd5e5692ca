// Prints COUNT lines, one every GAP milliseconds, each the nanosecond in which it is written.
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [count, gapMs] = process.argv.slice(2).map(Number);
for (let i = 0; i < count; i += 1) {
  writeSync(1, `${process.hrtime.bigint()}\n`);
  await sleep(gapMs);
}
