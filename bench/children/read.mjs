// Writes a capture of many chunks (the format is described in src/capture/format.ts), reads its
// tail or waits at its end, and prints the samples. The live capture is this process's own: it is
// the runner that meta.json names.
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createShell } from '../../dist/index.js';
import { finalOf, metaOf } from '../capture-files.mjs';
import { interleave, timed } from '../measure.mjs';

const IDLE_MS = 2_000;
const ID = 'bench';

const { stateRoot, chunks, kind, rounds } = JSON.parse(process.argv[2]);
const dir = join(stateRoot, 'sessions', ID);
writeCapture(kind === 'tail');
const shell = createShell({ stateRoot });
const end = statSync(join(dir, 'output.bin')).size;
const ours = kind === 'tail' ? tail : idle;
console.log(JSON.stringify(await interleave(rounds, { ours })));
shell.close();

function tail() {
  return timed(() => {
    const { shown, totals } = shell.view(ID, { kind: 'tail', linesMax: 2_000 });
    if (shown.lines !== 2_000 || totals.lines !== chunks) throw new Error('a wrong view');
  });
}

/** Percent of one core. */
async function idle() {
  const before = process.cpuUsage();
  let read;
  const ms = await timed(async () => {
    read = await shell.waitOutput(ID, end, IDLE_MS);
  });
  const { user, system } = process.cpuUsage(before);
  if (ms < IDLE_MS * 0.9 || read.nextCursor !== end) throw new Error('it did not wait');
  return (user + system) / 10 / ms;
}

function writeCapture(ended) {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const at = new Date().toISOString();
  const write = (name, text) => writeFileSync(join(dir, name), text, { mode: 0o600 });
  const json = (name, value) => write(name, `${JSON.stringify(value)}\n`);
  const output = [];
  const index = [];
  let offset = 0;
  for (let i = 1; i <= chunks; i += 1) {
    const line = `${i} ${'a line as a build prints it, long enough to be one'}\n`;
    const { length } = line;
    output.push(line);
    const totals = `"total_bytes":[${offset + length},0],"total_lines":[${i},0]`;
    const head = `{"offset":${offset},"length":${length},"channel":"stdout","timestamp":"${at}"`;
    index.push(`${head},"lines":1,${totals}}\n`);
    offset += length;
  }
  json('meta.json', metaOf(ID, at));
  write('output.bin', output.join(''));
  write('index.jsonl', index.join(''));
  if (ended) json('final.json', finalOf(ID, at, offset));
}
