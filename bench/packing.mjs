// A large capture as builds and tests leave them, and the thread that packs and encrypts it.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import { finalOf, metaOf } from './capture-files.mjs';

export const ID = 'bench';

const CHUNK_LINES = 700; // about as much as a pipe holds

export function writeCapture(stateRoot, bytes) {
  const capture = join(stateRoot, 'sessions', ID);
  mkdirSync(capture, { recursive: true, mode: 0o700 });
  const [output, index] = ['output.bin', 'index.jsonl'].map((name) =>
    openSync(join(capture, name), 'w', 0o600),
  );
  const at = new Date().toISOString();
  let [offset, lines] = [0, 0];
  while (offset < bytes) {
    const text = chunk(lines);
    const { length } = text;
    writeSync(output, text);
    lines += CHUNK_LINES;
    const totals = `"total_bytes":[${offset + length},0],"total_lines":[${lines},0]`;
    const head = `{"offset":${offset},"length":${length},"channel":"stdout","timestamp":"${at}"`;
    writeSync(index, `${head},"lines":${CHUNK_LINES},${totals}}\n`);
    offset += length;
  }
  for (const fd of [output, index]) closeSync(fd);
  const json = (name, value) =>
    writeFileSync(join(capture, name), `${JSON.stringify(value)}\n`, { mode: 0o600 });
  json('meta.json', metaOf(ID, at));
  json('final.json', finalOf(ID, at, offset));
  return { capture, bytes: offset };
}

const KINDS = ['compiled', 'checked', 'linked', 'wrote', 'ok', 'warning: unused variable in'];

/** Lines that differ in numbers, names and a hash, as those of a build do. */
function chunk(from) {
  let text = '';
  for (let i = from; i < from + CHUNK_LINES; i += 1) {
    const hash = (Math.imul(i + 1, 2_654_435_761) >>> 0).toString(16).padStart(8, '0');
    const file = `src/part-${(i * 7919) % 997}/module_${(i * 104_729) % 9973}.ts`;
    text += `[${i}] ${KINDS[i % KINDS.length]} ${file} ${hash} in ${(i * 31) % 977} ms\n`;
  }
  return text;
}

/** The thread of the product. */
export function packer() {
  const worker = new Worker(new URL('../dist/packer.js', import.meta.url));
  return {
    pack: (dir, recipients = []) =>
      new Promise((resolve, reject) => {
        worker.once('error', reject).once('exit', () => reject(new Error('stopped')));
        worker.once('message', ({ packed, message }) => {
          if (packed) resolve();
          else reject(new Error(message));
        });
        worker.postMessage({ dir, recipients });
      }),
    stop: () => worker.terminate(),
  };
}

const CUFF = fileURLToPath(new URL('../dist/cuff.cjs', import.meta.url));
const RECIPIENTS = fileURLToPath(new URL('../src/age/recipients.ts', import.meta.url));

/** A new identity: the environment that reads with it, and its recipients for the thread. */
export async function newReader(dir) {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const env = { ...process.env, CUFF_IDENTITY: join(dir, 'identity') };
  const text = execFileSync(process.execPath, [CUFF, 'identity'], { env, encoding: 'utf8' });
  const outfile = join(dir, 'recipients.mjs'); // no part of the library, so it is bundled here
  const how = { bundle: true, platform: 'node', format: 'esm', logLevel: 'error' };
  await build({ entryPoints: [RECIPIENTS], outfile, ...how });
  const { recipientOf } = await import(outfile);
  return { env, recipients: [recipientOf(text.trim())] };
}
