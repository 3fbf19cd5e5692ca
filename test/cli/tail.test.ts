import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { binary, Cli, type Live } from './helper.ts';

const cli = new Cli();
afterAll(() => cli.close());

function following(id: string, ...flags: readonly string[]): Live {
  return cli.start([process.execPath, binary('cuff'), 'tail', '-f', id, ...flags]);
}

describe('cuff tail', () => {
  it('shows the last ten lines, or as many as asked for', async () => {
    await cli.run('count', 'seq', '1', '30');
    const last = (n: number) => Array.from({ length: n }, (_, i) => `${31 - n + i}\n`).join('');
    expect((await cli.cuff('tail', 'count')).out).toBe(last(10));
    expect((await cli.cuff('tail', '-n', '3', 'count')).out).toBe(last(3));
    expect((await cli.cuff('tail', '-n', '0', 'count')).out).toBe('');
    expect((await cli.cuff('tail', '-n', '99', 'count')).out).toBe(last(30));
  });

  it('gives the bytes that tail itself would give, whatever they are', async () => {
    const made: readonly (readonly [string, Buffer])[] = [
      ['empty', Buffer.alloc(0)],
      ['newlines', Buffer.from('\n\n\n')],
      ['unfinished', Buffer.from('a\nb\nc')],
      ['no-newline', Buffer.from('abc')],
      ['binary', randomBytes(200_000)],
      ['long-lines', Buffer.from(`${'x'.repeat(70_000)}\n`.repeat(4))],
      ['block-edge', Buffer.from(`${'x'.repeat(65_535)}\n`.repeat(3))],
    ];
    for (const [id, bytes] of made) {
      const file = join(cli.root, `${id}.input`);
      writeFileSync(file, bytes);
      await cli.run(id, 'cat', file);
      for (const n of ['0', '1', '2', '10', '500']) {
        const { stdout } = await cli.cuff('tail', '-n', n, id);
        const expected = execFileSync('tail', ['-n', n, file]);
        expect([id, n, stdout.equals(expected)]).toEqual([id, n, true]);
      }
    }
  });

  it('follows a run of another process line by line, and ends when it ends', async () => {
    const run = await cli.running('live', /one/, 'sh', '-c', 'echo one; read x; echo "two $x"');
    const tail = following('live');
    expect(await tail.seen(/\n/)).toBe('one\n');
    run.child.stdin?.end('go\n');
    expect(await tail.seen(/two/)).toBe('one\ntwo go\n');
    const { code, out, err } = await tail.result;
    expect([code, out, err]).toEqual([0, 'one\ntwo go\n', '']);
  });

  it('follows beyond the end of the shell, until no survivor can print', async () => {
    const gate = join(cli.root, 'gate');
    execFileSync('mkfifo', [gate]);
    const script = '(cat "$0" >/dev/null; echo late) & echo early';
    await cli.leaving('late', 'sh', '-c', script, gate);
    const tail = following('late');
    expect(await tail.seen(/\n/)).toBe('early\n');
    writeFileSync(gate, 'open\n');
    const { code, out } = await tail.result;
    expect([code, out]).toEqual([0, 'early\nlate\n']);
  });

  it('follows a run that is over by showing its end', async () => {
    await cli.run('over', 'seq', '1', '5');
    const { code, out } = await following('over', '-n', '2').result;
    expect([code, out]).toEqual([0, '4\n5\n']);
  });

  it('gives the chunks as lines of JSON', async () => {
    await cli.run('chunk', 'printf', 'a\\nb\\nc\\n');
    const { out } = await cli.cuff('tail', '-n', '2', '--json', 'chunk');
    expect(JSON.parse(out)).toEqual({
      offset: 2,
      length: 4,
      channel: 'stdout',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: Buffer.from('b\nc\n').toString('base64'),
    });
  });
});
