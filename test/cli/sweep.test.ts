import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Cli, until } from './helper.ts';

let cli: Cli;
beforeEach(async () => {
  cli = new Cli();
  for (const id of ['old', 'kept', 'new']) await cli.run(id, 'echo', id);
  for (const id of ['old', 'kept']) await endedLongAgo(id);
  await cli.cuff('pin', 'kept');
});
afterEach(() => cli.close());

async function endedLongAgo(id: string): Promise<void> {
  const path = join(cli.dir(id), 'final.json');
  const final = (): { output_closed: boolean } => JSON.parse(readFileSync(path, 'utf8'));
  await until(() => final().output_closed, `the runner of ${id} writes nothing more`);
  writeFileSync(path, `${JSON.stringify({ ...final(), ended_at: '2020-01-01T00:00:00.000Z' })}\n`);
}

function there(): string[] {
  return ['old', 'kept', 'new'].filter((id) => existsSync(cli.dir(id)));
}

function cleanups(): object[] {
  const path = join(cli.root, 'logs', 'derun.log');
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line)).filter((line) => 'cleanup_result' in line);
}

describe('cuff sweep', () => {
  it('removes what is expired, keeps what is pinned, and tells of both', async () => {
    const before = cleanups().length;
    const { code, out, err } = await cli.cuff('sweep');
    expect([code, err]).toEqual([0, 'Removed 1, kept 2.\n']);
    expect(out).toBe('ID   RESULT  REASON\nold  remove  expired\n');
    expect(there()).toEqual(['kept', 'new']);
    const timestamp = expect.any(String);
    const line = (session_id: string, cleanup_result: string, cleanup_reason: string) =>
      expect.objectContaining({ timestamp, session_id, cleanup_result, cleanup_reason });
    expect(cleanups().slice(before)).toEqual([
      line('kept', 'skip', 'not_expired'),
      line('new', 'skip', 'not_expired'),
      line('old', 'remove', 'expired'),
    ]);
  });

  it('with --dry-run says the same, removes nothing and logs nothing', async () => {
    const before = cleanups().length;
    const { code, out, err } = await cli.cuff('sweep', '--dry-run');
    expect([code, err]).toEqual([0, 'Would remove 1, kept 2.\n']);
    expect(out).toBe('ID   RESULT  REASON\nold  remove  expired\n');
    expect(there()).toEqual(['old', 'kept', 'new']);
    expect(cleanups()).toHaveLength(before);
  });

  it('gives a line of JSON for every capture it looked at', async () => {
    const { out } = await cli.cuff('sweep', '--dry-run', '--json');
    const common = { pinned: false, error: null };
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { session_id: 'kept', result: 'skip', reason: 'not_expired', ...common, pinned: true },
      { session_id: 'new', result: 'skip', reason: 'not_expired', ...common },
      { session_id: 'old', result: 'remove', reason: 'expired', ...common },
    ]);
  });
});

describe('cuff pin', () => {
  it('keeps a capture until it is taken back', async () => {
    expect((await cli.cuff('ls')).out).toMatch(/^kept +expired, pinned /m);
    const pinned = await cli.cuff('pin', 'old');
    expect([pinned.code, pinned.out, pinned.err]).toEqual([
      0,
      '',
      'old is kept until `cuff pin --off`.\n',
    ]);
    await cli.cuff('sweep');
    expect(there()).toEqual(['old', 'kept', 'new']);
    const off = await cli.cuff('pin', '--off', 'old');
    expect([off.code, off.err]).toEqual([0, 'old is removed when its retention is over.\n']);
    await cli.cuff('sweep');
    expect(there()).toEqual(['kept', 'new']);
  });

  it('says so as JSON', async () => {
    expect(await cli.json('pin', 'new')).toEqual({ session_id: 'new', pinned: true });
    expect(await cli.json('pin', 'new', '--off')).toEqual({ session_id: 'new', pinned: false });
  });
});
