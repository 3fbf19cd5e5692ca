// What a client tells a helper, in whatever pieces it arrives, and how long a helper stays.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestReader } from '../../../src/hooks/shell/request.ts';
import { Resident } from '../../../src/hooks/shell/resident.ts';

const WORDS = ['world', '12', 'tty', 'there', '/state', '/bin/bash', 'echo é', '/srv'];

function encoded(words: readonly string[]): Buffer {
  const body = Buffer.from(words.map((word) => `${word}\0`).join(''));
  return Buffer.concat([Buffer.from(`cuff-sh 1 ${body.length}\n`), body]);
}

describe('a request', () => {
  it('is whole with its last piece, whatever the pieces are', () => {
    const bytes = encoded([...WORDS, 'A=1', 'B=x=y', 'A=2', 'none', '=C', '__proto__=p']);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
        const reader = new RequestReader();
        const ends = [...cuts, bytes.length].sort((a, b) => a - b);
        const got = ends.map((end, at) => reader.add(bytes.subarray(ends[at - 1] ?? 0, end)));
        const first = got.findIndex((one) => one !== 'more');
        expect(got[first]).toMatchObject({
          world: 'world',
          parent: 12,
          terminal: true,
          removed: false,
          root: '/state',
          real: '/bin/bash',
          text: 'echo é',
          cwd: '/srv',
        });
        expect(ends[first]).toBe(bytes.length);
      }),
    );
  });

  it('has the first of two variables with one name, as getenv has', () => {
    const got = new RequestReader().add(encoded([...WORDS, 'A=1', 'B=x=y', 'A=2', 'none', '=C']));
    expect(got).toMatchObject({ env: { A: '1', B: 'x=y' } });
  });

  it.each([
    ['another version', Buffer.from('cuff-sh 2 1\n\0')],
    ['no head', Buffer.alloc(64, 'a')],
    ['a head without an end', Buffer.from(`cuff-sh 1 ${'9'.repeat(64)}`)],
    ['more than there may be', Buffer.from('cuff-sh 1 999999999\n')],
    ['too few words', encoded(WORDS.slice(0, 7))],
    ['something behind it', Buffer.concat([encoded(WORDS), Buffer.from('x')])],
    ['a last word without an end', Buffer.from('cuff-sh 1 1\nx')],
  ])('with %s is none', (_, bytes) => {
    const reader = new RequestReader();
    const all = [bytes, Buffer.alloc(64)].map((piece) => reader.add(piece));
    expect(all).toContain('wrong');
    expect(all.every((one) => one === 'wrong' || one === 'more')).toBe(true);
  });
});

it('a helper stays for a minute without a call, and for open calls', async () => {
  const root = fs.mkdtempSync(join(tmpdir(), 'cuff-resident-'));
  try {
    let now = 0;
    const serve = () => Promise.reject(new Error('no call comes'));
    const name = '0123456789abcdef';
    const options = { root, name, world: 'w', serve, now: () => now };
    const resident = await Resident.open(options);
    const listed = () => fs.readdirSync(join(root, 'helpers'));
    expect(listed()).toEqual([name]);
    expect(await Resident.open(options)).toBeUndefined(); // the name is taken
    expect(listed()).toEqual([name]);
    resident?.calledBy(process.pid);
    let end: () => void = () => undefined;
    const work = resident?.during(
      new Promise<void>((resolve) => {
        end = resolve;
      }),
    );
    now = 100_000;
    resident?.look();
    expect(listed()).toEqual([name]);
    end();
    await work;
    now = 159_999;
    resident?.look();
    expect(listed()).toEqual([name]);
    now = 160_000;
    resident?.look();
    expect(listed()).toEqual([]);
    expect(await resident?.ended).toBe('done');
  } finally {
    fs.rmSync(root, { recursive: true });
  }
});

it('a helper that has grown ends behind fifty calls', async () => {
  const root = fs.mkdtempSync(join(tmpdir(), 'cuff-resident-'));
  try {
    const serve = () => Promise.reject(new Error('no call comes'));
    const memory = () => 81 * 1024 * 1024;
    const options = { root, name: '0123456789abcdef', world: 'w', serve, now: () => 0, memory };
    const resident = await Resident.open(options);
    resident?.calledBy(process.pid);
    const listed = () => fs.readdirSync(join(root, 'helpers'));
    for (let calls = 1; calls < 50; calls += 1) await resident?.during(Promise.resolve());
    resident?.look();
    expect(listed()).toHaveLength(1);
    await resident?.during(Promise.resolve());
    resident?.look();
    expect(listed()).toEqual([]);
    expect(await resident?.ended).toBe('done');
  } finally {
    fs.rmSync(root, { recursive: true });
  }
});
