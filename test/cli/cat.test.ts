import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binary, Cli } from './helper.ts';

const BIG_BYTES = 20_000_000;

const cli = new Cli();
const CUFF = `'${process.execPath}' '${binary('cuff')}'`;
beforeAll(async () => {
  await cli.run('both', 'sh', '-c', 'echo out; echo err >&2; echo more');
  await cli.run('big', 'head', '-c', String(BIG_BYTES), '/dev/urandom');
});
afterAll(() => cli.close());

function sha(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe('cuff cat', () => {
  it('gives both streams, or one of them', async () => {
    const all = await cli.cuff('cat', 'both');
    expect([all.code, all.out.split('\n').sort(), all.err]).toEqual([
      0,
      ['', 'err', 'more', 'out'],
      '',
    ]);
    expect((await cli.cuff('cat', 'both', '--stdout')).out).toBe('out\nmore\n');
    expect((await cli.cuff('cat', 'both', '--stderr')).out).toBe('err\n');
  });

  it('gives every byte', async () => {
    const { stdout } = await cli.cuff('cat', 'big');
    const stored = readFileSync(join(cli.dir('big'), 'output.bin'));
    expect([stdout.length, sha(stdout)]).toEqual([BIG_BYTES, sha(stored)]);
  });

  it('is silent when its reader leaves', async () => {
    const script = `${CUFF} cat big | head -c 10 | wc -c; echo "\${PIPESTATUS[*]}"`;
    const { out, err } = await cli.start(['bash', '-c', script]).result;
    expect([out, err]).toEqual(['10\n0 0 0\n', '']);
  });

  it('gives the chunks as lines of JSON, from which the bytes can be put together', async () => {
    const { out } = await cli.cuff('cat', 'both', '--json');
    const chunks = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const stored = readFileSync(join(cli.dir('both'), 'output.bin'));
    expect(Buffer.concat(chunks.map(({ data }) => Buffer.from(data, 'base64')))).toEqual(stored);
    const { out: only } = await cli.cuff('cat', 'both', '--stderr', '--json');
    expect(JSON.parse(only)).toEqual({
      offset: expect.any(Number),
      length: 4,
      channel: 'stderr',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: Buffer.from('err\n').toString('base64'),
    });
  });

  it('says on stderr which bytes are missing and why', async () => {
    await cli.run('gap', 'echo', 'hi');
    const gap = { type: 'gap', offset: 3, lost_bytes: 7, reason: 'ENOSPC' };
    const line = JSON.stringify({ ...gap, timestamp: new Date().toISOString() });
    appendFileSync(join(cli.dir('gap'), 'events.jsonl'), `${line}\n`);
    const { code, out, err } = await cli.cuff('cat', 'gap');
    expect([code, out, err]).toEqual([
      0,
      'hi\n',
      '7 bytes are missing: they were printed, but not stored (ENOSPC).\n',
    ]);
  });

  it('says why there may be nothing on stderr', async () => {
    const { code, out, err } = await cli.cuff('cat', '--stderr', 'big');
    expect([code, out, err]).toEqual([
      0,
      '',
      'Nothing came as stderr. What printed both streams to one place has them as stdout.\n',
    ]);
  });
});
