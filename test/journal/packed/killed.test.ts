// Packers that are killed, before each operation of the disk in turn.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identityText } from '../../../src/age/x25519.ts';
import { readEdits } from '../../../src/journal/edits.ts';
import { readSession } from '../../../src/journal/reader.ts';
import { compile } from '../../capture/helper.ts';
import { mine, onDisk, packAll, RECIPIENTS, WORD, withMine, wordySession } from './helper.ts';

/** Packs the files that are named, and dies before the operation of that number. */
function program(): string {
  return compile(`
    import { DISK } from '../../src/journal/files.ts';
    import { packLines } from '../../src/journal/packed/pack.ts';
    import { recipientOf } from '../../src/age/recipients.ts';
    const [recipient, at, ...files] = process.argv.slice(2);
    let count = 0;
    const disk = Object.fromEntries(Object.entries(DISK).map(([name, real]) => [name, (...args) => {
      count += 1;
      if (count === Number(at)) {
        process.kill(process.pid, 'SIGKILL');
        for (;;);
      }
      return real(...args);
    }]));
    for (const path of files) {
      await packLines(path, { recipients: [recipientOf(recipient)], disk });
    }
    process.stdout.write('packed ' + count);
  `);
}

async function run(file: string, at: number, files: readonly string[]): Promise<string> {
  const text = RECIPIENTS[0]?.text ?? '';
  const child = spawn(process.execPath, [file, text, String(at), ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (bytes) => {
    out += bytes;
  });
  await once(child, 'close');
  return out;
}

describe('a packer that is killed', () => {
  it('leaves every line, and each once, whichever operation it died before', async () => {
    withMine();
    expect(identityText(mine)).toMatch(/^AGE-SECRET-KEY-1/);
    const file = program();
    const { directory, id, lines } = await wordySession(4);
    const folder = join(directory, 'sessions');
    const seen = () => [readSession(directory, id), readEdits(directory, id)];
    const before = seen();
    const plain = new Map(lines.map((path) => [path, fs.readFileSync(path)]));
    let killed = 0;
    for (let at = 1, packed = false; !packed; at += 1) {
      for (const name of fs.readdirSync(folder)) {
        if (!name.endsWith('.meta.json')) fs.rmSync(join(folder, name));
      }
      for (const [path, bytes] of plain) fs.writeFileSync(path, bytes);
      packed = (await run(file, at, lines)).startsWith('packed');
      killed += Number(!packed);
      expect([at, seen()]).toEqual([at, before]);
      await packAll(lines);
      expect([at, seen()]).toEqual([at, before]);
      expect(onDisk(folder)).not.toContain(WORD);
      expect(fs.readdirSync(folder)).toHaveLength(7);
    }
    expect(killed).toBeGreaterThan(20);
  });
});
