// Output that is no longer what the end of the run says: every command that shows it says so.
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { alive, Cli, until } from './helper.ts';

const cli = new Cli();
afterAll(() => cli.close());

async function said(id: string): Promise<string[]> {
  const [cat, tail] = [await cli.cuff('cat', id), await cli.cuff('tail', id)];
  expect([cat.code, tail.code]).toEqual([0, 0]);
  return [cat.err, tail.err];
}

it('a shortened output.bin is told by cat, tail and ls', async () => {
  await cli.run('short', 'seq', '1000');
  truncateSync(join(cli.dir('short'), 'output.bin'), 100);
  const missing = 3893 - 100;
  for (const err of await said('short')) {
    expect(err).toContain(`${missing} bytes are missing`);
    expect(err).toContain('output.bin was shortened');
  }
  const { sessions } = await cli.json<{ sessions: Record<string, unknown>[] }>('ls');
  expect(sessions[0]).toMatchObject({ output_bytes: 100, lost_bytes: missing });
  expect((await cli.cuff('ls')).out).toMatch(/\(.* missing\)/);
});

it('a gap whose event is lost is told all the same', async () => {
  await cli.run('gap', 'echo', 'hi');
  const path = join(cli.dir('gap'), 'final.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"lost_bytes":0', '"lost_bytes":7'));
  for (const err of await said('gap')) {
    expect(err).toContain('7 bytes are missing');
    expect(err).toContain('its event is lost');
  }
});

it('bytes without a record are of no stream', async () => {
  await cli.run('bare', 'echo', 'hi');
  truncateSync(join(cli.dir('bare'), 'index.jsonl'), 0);
  const [chunk] = (await cli.cuff('cat', 'bare', '--json')).out.trimEnd().split('\n');
  expect(JSON.parse(chunk ?? '')).toMatchObject({ channel: 'unknown', length: 3 });
});

it('cat of one stream leaves out bytes of no known stream, and says so', async () => {
  await cli.run('some', 'sh', '-c', 'echo out; echo err >&2; echo more');
  const path = join(cli.dir('some'), 'index.jsonl');
  const records = readFileSync(path, 'utf8').trimEnd().split('\n');
  writeFileSync(path, `${records.slice(0, -1).join('\n')}\n`);
  const all = readFileSync(join(cli.dir('some'), 'output.bin'), 'utf8');
  const known = records.map((record) => JSON.parse(record) as Record<string, unknown>);
  const last = known.pop();
  const of = (channel: string) =>
    known
      .filter((record) => record.channel === channel)
      .map(({ offset, length }) => all.slice(Number(offset), Number(offset) + Number(length)))
      .join('');
  for (const stream of ['stdout', 'stderr']) {
    const { code, out, err } = await cli.cuff('cat', `--${stream}`, 'some');
    expect([code, out]).toEqual([0, of(stream)]);
    expect(err).toBe(
      `${last?.length} bytes are left out: of which stream is not known. ` +
        '`cuff cat some` shows everything.\n',
    );
    const json = await cli.cuff('cat', `--${stream}`, '--json', 'some');
    expect([json.out.includes('unknown'), json.err]).toEqual([false, err]);
  }
  expect(await cli.cuff('cat', 'some')).toMatchObject({ out: all, err: '' });
});

it('a killed runner may have lost what it had not read', async () => {
  await cli.running('killed', /ready/, 'bash', '-c', 'echo ready; exec sleep 1000');
  const { runner_pid, processes } = await cli.live('killed', 'sleep 1000');
  process.kill(runner_pid ?? 0, 'SIGKILL');
  await until(() => !alive(runner_pid ?? 0), 'the runner is gone');
  const note = 'Up to 64 KiB of each stream may be missing at the end: its runner was killed';
  for (const err of await said('killed')) expect(err).toContain(`${note}.`);
  expect((await cli.cuff('ls')).out).toMatch(/6 B \(end may be missing\)/);
  const { sessions } = await cli.json<{ sessions: Record<string, unknown>[] }>('ls');
  expect(sessions.map(({ unread }) => unread)).toEqual([
    note,
    ...sessions.slice(1).map(() => undefined),
  ]);
  for (const { pid } of processes) process.kill(pid, 'SIGKILL');
  expect(statSync(join(cli.dir('killed'), 'output.bin')).size).toBe(6);
});
