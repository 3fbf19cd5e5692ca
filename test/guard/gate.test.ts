// The gate as its clients see it: what is asked, what is answered, and what anybody else may send.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type GateProcess, openGate } from '../../src/guard/gate.ts';
import { asks, gateWith, noRm, question, root } from './gate-helper.ts';

describe('a question', () => {
  test('is judged by the words, the directory and the file', async () => {
    const seen: GateProcess[] = [];
    const gate = await gateWith((process) => {
      seen.push(process);
      return { allow: true };
    });
    const asked = { argv: ['ls', '-l', ''], exe: '/usr/bin/ls', cwd: '/srv', pid: 4711 };
    expect(await asks(gate.path, question(asked))).toBe('A');
    expect(seen).toEqual([
      { ...asked, cut: false, strict: false },
      { ...asked, argv: ['/usr/bin/ls', '-l', ''], cut: false, strict: false },
    ]);
    expect(gate.counts()).toEqual({ asked: 1, denied: 0, cached: 0, failed: 0, malformed: 0 });
  });

  test('is refused with a line', async () => {
    const gate = await gateWith(noRm);
    expect(await asks(gate.path, question({ argv: ['rm', 'x'] }))).toBe(
      'Dcuff: policy: rm is denied',
    );
    expect(gate.counts()).toMatchObject({ asked: 1, denied: 1 });
  });

  test.each([
    ['a path', ['/bin/rm', 'x'], '/usr/bin/rm'],
    ['a name that is a lie', ['ls', 'x'], '/usr/bin/rm'],
    ['the name of a link', ['rm', 'x'], '/usr/bin/busybox'],
    ['a login shell', ['-rm'], '/bin/sh'],
    ['no words at all', [], '/usr/bin/rm'],
    ['a file that is gone', ['x'], '/tmp/rm (deleted)'],
  ])('is judged under every name: %s', async (_, argv, exe) => {
    const gate = await gateWith(noRm);
    expect(await asks(gate.path, question({ argv, exe }))).toContain('rm is denied');
  });

  test('may come in pieces', async () => {
    const gate = await gateWith(noRm);
    const bytes = question({ argv: ['rm', 'x'.repeat(50_000)] });
    const cuts = [0, 3, 24, 40, 9_000, bytes.length];
    const pieces = cuts.slice(1).map((end, i) => bytes.subarray(cuts[i], end));
    expect(await asks(gate.path, ...pieces)).toContain('rm is denied');
  });

  test('that was asked before is not decided again, until the policy is another', async () => {
    let decided = 0;
    const gate = await gateWith(({ argv }) => {
      decided += 1;
      return noRm({ argv, cwd: '/', exe: '', pid: 1, cut: false, strict: false });
    });
    const same = { argv: ['rm'], exe: '/bin/rm' };
    const first = await asks(gate.path, question({ ...same, pid: 1 }));
    const second = await asks(gate.path, question({ ...same, pid: 2 }));
    expect([first, second, decided]).toEqual([first, first, 1]);
    expect(gate.counts()).toMatchObject({ asked: 2, denied: 2, cached: 1 });
    await asks(gate.path, question({ ...same, cwd: '/elsewhere' }));
    expect(decided).toBe(2);
    gate.forget();
    await asks(gate.path, question(same));
    expect(decided).toBe(3);
  });

  test('is forgotten when a thousand others came', async () => {
    const gate = await gateWith(() => ({ allow: true }));
    const ask = (n: number): Promise<string> => asks(gate.path, question({ argv: [`c${n}`] }));
    for (let from = 0; from < 1_001; from += 91) {
      await Promise.all(Array.from({ length: 91 }, (_, i) => ask(from + i)));
    }
    const { cached } = gate.counts();
    await ask(1_000);
    await ask(0);
    expect(gate.counts().cached).toBe(cached + 1);
  });

  test('whose judgement fails is allowed, or in strict refused; never kept', async () => {
    const decide = (): never => {
      throw new Error('broken');
    };
    const open = await gateWith(decide);
    const strict = await gateWith(decide, { strict: true });
    for (let i = 0; i < 2; i += 1) {
      expect(await asks(open.path, question())).toBe('A');
      expect(await asks(strict.path, question())).toMatch(/^Dcuff: policy: not started/);
    }
    expect(open.counts()).toMatchObject({ failed: 2, cached: 0, denied: 0 });
    expect(strict.counts()).toMatchObject({ failed: 2, cached: 0, denied: 2 });
  });

  test('that is cut is judged by what is there, and refused where that is strict', async () => {
    const [open, strict] = [await gateWith(noRm), await gateWith(noRm, { strict: true })];
    expect(await asks(open.path, question({ flags: 1 }))).toBe('A');
    expect(await asks(open.path, question({ argv: ['rm'], flags: 1 }))).toContain('rm is denied');
    expect(await asks(strict.path, question({ flags: 1 }))).toContain('too long');
    expect(await asks(strict.path, question())).toBe('A');
  });

  test('says itself when its run must not go on unjudged, which is true of no other', async () => {
    const gate = await gateWith(noRm);
    expect(await asks(gate.path, question({ flags: 5 }))).toBe(
      'Dcuff: policy: not started: its arguments are too long to be judged ' +
        '(its command may run only judged)',
    );
    expect(await asks(gate.path, question({ flags: 1 }))).toBe('A');
    expect(await asks(gate.path, question({ flags: 4 }))).toBe('A');
    const broken = await gateWith(() => {
      throw new Error('broken');
    });
    expect(await asks(broken.path, question({ flags: 4 }))).toContain('could not be judged');
    expect(await asks(broken.path, question())).toBe('A');
  });
});

/** Without half of a character. */
function isWhole(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}

test('a refusal is one line of at most 300 bytes, in whole characters', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 400 }), async (message) => {
      const gate = await openGate({
        directory: root,
        strict: false,
        decide: () => ({ allow: false, message }),
      });
      const got = await asks(gate.path, question());
      await gate.close();
      expect(Buffer.byteLength(got)).toBeLessThanOrEqual(301);
      expect(got).toMatch(/^Dcuff: policy: /);
      expect(got).not.toMatch(/[\n\r\0\u001b]/);
      if (!message.includes('\ufffd') && isWhole(message)) expect(got).not.toContain('\ufffd');
    }),
    { numRuns: 60 },
  );
});

describe('anybody else', () => {
  const good = question();
  const changed = (at: number, value: number): Buffer => {
    const bytes = question();
    bytes.writeUInt32LE(value, at);
    return bytes;
  };

  test.each([
    ['another magic', changed(0, 1)],
    ['a length that is too large', changed(4, 1 << 30)],
    ['a length of nothing', changed(4, 24)],
    ['fewer words than it says', changed(20, 5)],
    ['more words than it says', changed(20, 0)],
    ['something behind it', Buffer.concat([good, good])],
    ['text', Buffer.from('GET / HTTP/1.1\r\nHost: gate\r\n\r\n')],
  ])('gets no answer: %s', async (_, bytes) => {
    const gate = await gateWith(() => ({ allow: true }));
    expect(await asks(gate.path, bytes)).toBe('');
    expect(gate.counts()).toMatchObject({ asked: 0, malformed: 1 });
    expect(await asks(gate.path, good)).toBe('A');
  });

  test('who says nothing is not waited for', async () => {
    const gate = await gateWith(() => ({ allow: true }));
    const started = performance.now();
    expect(await asks(gate.path, good.subarray(0, 30))).toBe('');
    expect(performance.now() - started).toBeGreaterThan(1_500);
    expect(await asks(gate.path, good)).toBe('A');
  });

  test('may send any bytes', async () => {
    const gate = await gateWith(() => ({ allow: true }));
    const bytes = fc.oneof(
      fc.uint8Array({ minLength: 24, maxLength: 200 }),
      fc.tuple(fc.nat(good.length - 1), fc.nat(255)).map(([at, value]) => {
        const spoilt = question();
        if (at < 4 || at > 7) spoilt[at] = value; // the length, which would be waited for
        return spoilt;
      }),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (sent) => {
        // A question that says it is strict and cut is refused.
        expect(await asks(gate.path, sent)).toMatch(/^(?:A?|Dcuff: policy: not started: .*)$/s);
      }),
      { numRuns: 300 },
    );
    expect(await asks(gate.path, good)).toBe('A');
  });
});

describe('the socket', () => {
  test('is reached by its user alone', async () => {
    const { path } = await gateWith(() => ({ allow: true }));
    expect(dirname(path)).toBe(join(root, 'gates'));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  });

  test('is elsewhere where its path is too long, or its directory open to others', async () => {
    const long = join(root, 'x'.repeat(100));
    const open = join(root, 'open');
    for (const directory of [long, open]) mkdirSync(join(directory, 'gates'), { recursive: true });
    chmodSync(join(open, 'gates'), 0o755);
    for (const directory of [long, open]) {
      const gate = await gateWith(() => ({ allow: true }), { directory });
      expect(gate.path.startsWith(directory)).toBe(false);
      expect(Buffer.byteLength(gate.path)).toBeLessThan(108);
      expect(statSync(dirname(gate.path)).mode & 0o777).toBe(0o700);
      expect(await asks(gate.path, question())).toBe('A');
      await gate.close();
      expect(existsSync(dirname(gate.path))).toBe(false);
    }
  });

  test('goes when the gate is closed, also with somebody in it', async () => {
    const gate = await gateWith(() => ({ allow: true }));
    const waiting = asks(gate.path, question().subarray(0, 30));
    while (gate.counts().asked === 0) await asks(gate.path, question());
    await gate.close();
    expect(await waiting).toBe('');
    expect(existsSync(gate.path)).toBe(false);
  });

  test('of a server that was killed is removed by the next one, and no other', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'cuff-gate-sweep-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const alive = await gateWith(() => ({ allow: true }), { directory });
    const dead = join(directory, 'gates', '1-dead.sock');
    const script = `require('net').createServer().listen(${JSON.stringify(dead)}, () =>
      process.kill(process.pid, 'SIGKILL'))`;
    expect(spawnSync(process.execPath, ['-e', script]).signal).toBe('SIGKILL');
    for (const path of [dead, alive.path]) utimesSync(path, 1, 1);
    await gateWith(() => ({ allow: true }), { directory });
    while (existsSync(dead)) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await asks(alive.path, question())).toBe('A');
  });

  test('is elsewhere where the state root is no directory', async () => {
    const server = createServer();
    const taken = join(root, 'file');
    await new Promise<void>((resolve) => server.listen(taken, resolve));
    const gate = await gateWith(() => ({ allow: true }), { directory: taken });
    expect(gate.path.startsWith(taken)).toBe(false);
    server.close();
  });
});
