// A capture that is encrypted reads as before for those it is for, has no plain byte or word for
// others, and is whole whichever operation of the disk fails.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openAge } from '../../../src/age/file.ts';
import { newIdentity } from '../../../src/age/x25519.ts';
import { saltFinal, splitFinal } from '../../../src/capture/final-salt.ts';
import { type Decrypt, findSource } from '../../../src/capture/open-source.ts';
import { encryptCapture, hasPlainWords } from '../../../src/capture/packed/encrypt.ts';
import { type PackOps, packCapture } from '../../../src/capture/packed/pack.ts';
import { readOutput } from '../../../src/capture/reader.ts';
import { listCaptures, openCapture, readEvents } from '../../../src/capture/store.ts';
import { wholeText } from '../../../src/capture/words.ts';
import { to } from '../../age/helper.ts';
import { build, NOW, type Part, testStore, totals } from '../helper.ts';

const NAMES = ['output.bin', 'index.jsonl', 'events.jsonl'];
const mine = newIdentity();

const decrypt: Decrypt = (file, path) => {
  const bytes = openAge(file, path, [mine]);
  if (bytes === undefined) throw new Error('not for me');
  return { ...file, size: bytes.size, read: bytes.read };
};

const PARTS: readonly Part[] = Array.from({ length: 1_500 }, (_, i) => ({
  bytes: `line ${i} of a quiet conversation about wombats ${'.'.repeat(i % 60)}\n`,
  channel: i % 7 === 0 ? 'stderr' : 'stdout',
  t: i,
}));

const WOMBAT = { pid: 7, startTime: 1, command: 'sleep wombat', holdsOutput: false };

function capture(parts = PARTS) {
  const plainStore = testStore();
  const made = build(plainStore, parts, {
    meta: { transport: 'pipe', command: { kind: 'shell', text: 'echo wombat' } },
    final: { survivors: [WOMBAT], outputClosed: true },
    events: [{ type: 'signal', at: NOW, offset: 0, signal: 'USR1', from: 'user' }],
  });
  fs.mkdirSync(join(made.dir, 'text'));
  fs.writeFileSync(join(made.dir, 'text', 'copy'), 'a wombat');
  const store = { ...plainStore, decrypt };
  return { store, plainStore, id: made.id, dir: made.dir, bytes: contents(made.dir) };
}

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** As its recipients read it. */
function contents(dir: string): Record<string, string | undefined> {
  const texts = ['meta.json', 'final.json'].map((name) => [name, wholeText(dir, name, decrypt)]);
  const files = NAMES.map((name) => {
    const source = findSource(dir, name, decrypt);
    const bytes = source && latin1(source.read(0, source.size));
    source?.close();
    return [name, bytes];
  });
  return Object.fromEntries([...texts, ...files]);
}

/** Every byte that lies in the directory. */
function onDisk(dir: string): string {
  const files = fs.readdirSync(dir, { recursive: true, encoding: 'utf8' });
  const plain = files.map((name) => join(dir, name)).filter((path) => fs.statSync(path).isFile());
  return plain.map((path) => latin1(fs.readFileSync(path))).join('\n');
}

/** The disk, of which one operation fails. */
function failing(at: number): PackOps & { readonly count: () => number } {
  let count = 0;
  const counted = ['openSync', 'writeSync', 'fsyncSync', 'renameSync', 'unlinkSync'];
  const real = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
  const steps = counted.map((name) => [
    name,
    (...args: unknown[]) => {
      count += 1;
      if (count === at) throw Object.assign(new Error('EIO: failed'), { code: 'EIO' });
      return real[name]?.(...args);
    },
  ]);
  return { ...fs, ...Object.fromEntries(steps), count: () => count };
}

describe('an encrypted capture', () => {
  it('reads as before for a recipient, and tells others its facts alone', () => {
    const { store, plainStore, id, dir, bytes } = capture();
    const seen = () => {
      const opened = openCapture(store, id);
      const read = [readOutput(opened, 777, 5_000), readOutput(opened, 9, 2_000, 'stderr')];
      const { decrypt: _, now: __, ...facts } = opened;
      return { facts, read, totals: totals(opened), events: readEvents(opened) };
    };
    const before = { ...seen(), list: listCaptures(store) };
    expect(hasPlainWords(dir)).toBe(true);
    expect(onDisk(dir)).toContain('wombat');
    encryptCapture(dir, [to(mine)]);
    expect(hasPlainWords(dir)).toBe(false);
    expect(onDisk(dir)).not.toContain('wombat');
    expect(fs.readdirSync(dir).sort()).toEqual([
      'events.jsonl.gz.age',
      'final.json',
      'final.json.age',
      'index.jsonl.gz.age',
      'index.jsonl.gz.gzi.age',
      'meta.json',
      'meta.json.age',
      'output.bin.gz.age',
      'output.bin.gz.gzi.age',
    ]);
    expect(fs.statSync(join(dir, 'output.bin.gz.age')).mode & 0o777).toBe(0o600);
    expect({ ...seen(), list: listCaptures(store) }).toEqual(before);
    expect(contents(dir)).toEqual(bytes);

    const other = openCapture(plainStore, id);
    expect(other.meta).toMatchObject({ argv: [], encrypted: true, outputBytesMax: 2 ** 30 });
    expect({ ...other.final, survivors: [WOMBAT] }).toEqual(before.facts.final);
    expect(() => readOutput(other, 0, 10)).toThrow('output.bin.gz.age is encrypted.');
    const [listed] = listCaptures(plainStore);
    expect([listed?.state, listed?.outputBytes]).toEqual(['exited', bytes['output.bin']?.length]);
  });

  it('is made of a packed one, and of one that is small', () => {
    const { dir, bytes } = capture();
    packCapture(dir);
    encryptCapture(dir, [to(mine)]);
    expect(contents(dir)).toEqual(bytes);
    expect(onDisk(dir)).not.toContain('wombat');
    const small = capture([{ bytes: 'wombat' }]);
    encryptCapture(small.dir, [to(mine)]);
    expect(contents(small.dir)).toEqual(small.bytes);
    expect(onDisk(small.dir)).not.toContain('wombat');
  });

  it('leaves nothing that a killed process had half written', () => {
    const { dir, bytes } = capture();
    for (const name of ['output.bin.gz', 'output.bin', 'meta.json.77']) {
      fs.writeFileSync(join(dir, `${name}.tmp`), 'a wombat');
    }
    encryptCapture(dir, [to(mine)]);
    expect(onDisk(dir)).not.toContain('wombat');
    expect(contents(dir)).toEqual(bytes);
  });

  it('keeps the salt with which it was sealed, where others find it', () => {
    const { dir } = capture();
    const salt = Buffer.alloc(16, 3);
    const text = fs.readFileSync(join(dir, 'final.json'), 'utf8');
    saltFinal(dir, { text, salt: undefined }, salt);
    encryptCapture(dir, [to(mine)]);
    const stub = splitFinal(fs.readFileSync(join(dir, 'final.json'), 'utf8'));
    expect(stub.salt).toEqual(salt);
    expect(splitFinal(wholeText(dir, 'final.json', decrypt) ?? '')).toEqual({ text, salt });
  });

  it('is whole whichever disk operation fails, and encrypted by the next call', () => {
    const ops = failing(0);
    encryptCapture(capture().dir, [to(mine)], ops);
    expect(ops.count()).toBeGreaterThan(40);
    for (let at = 1; at <= ops.count(); at += 1) {
      const { dir, bytes } = capture();
      expect(() => encryptCapture(dir, [to(mine)], failing(at))).toThrow('EIO');
      expect(contents(dir)).toEqual(bytes);
      expect(fs.readdirSync(dir).filter((name) => name.endsWith('.tmp'))).toEqual([]);
      encryptCapture(dir, [to(mine)]);
      expect(contents(dir)).toEqual(bytes);
      expect(onDisk(dir)).not.toContain('wombat');
      expect(hasPlainWords(dir)).toBe(false);
    }
  });

  it('keeps its plain files where what was written does not read back', () => {
    const { dir, bytes } = capture();
    const spoil = (fd: number, data: Uint8Array, from: number, length: number): number => {
      const wrong = Buffer.from(data);
      if (length > 5_000) wrong[50] = (wrong[50] ?? 0) ^ 1;
      return fs.writeSync(fd, wrong, from, length);
    };
    const disk = { ...fs, writeSync: spoil as never };
    expect(() => encryptCapture(dir, [to(mine)], disk)).toThrow('cannot be decrypted');
    expect(latin1(fs.readFileSync(join(dir, 'output.bin')))).toBe(bytes['output.bin']);
  });
});
