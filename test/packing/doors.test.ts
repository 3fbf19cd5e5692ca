// A capture of an agent's command, packed by `cuff sweep`: every command shows it as before.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findSource } from '../../src/capture/open-source.ts';
import { PackThread } from '../../src/packing/thread.ts';
import { binary, Cli, type Result, until } from '../cli/helper.ts';

// Two streams, and processes enough for a trace that is packed.
const SCRIPT = `
for i in $(seq 1 40); do
  seq -f "line %.0f of part $i" 1 40
  echo "warning $i" >&2
  /bin/true
done`;

let cli: Cli;
beforeEach(() => {
  cli = new Cli();
});
afterEach(() => cli.close());

/** As an agent's run is kept, for 30 days; it has ended two days ago. */
async function oldRun(id: string, ...flags: string[]): Promise<void> {
  const named = ['--session-id', id, '--retention', '30d', '--cwd', cli.root];
  await cli.cuff('run', ...named, '--journal', ...flags, '--', 'bash', '-c', SCRIPT);
  const path = join(cli.dir(id), 'final.json');
  const final = (): { output_closed: boolean } => JSON.parse(fs.readFileSync(path, 'utf8'));
  await until(() => final().output_closed, `the runner of ${id} writes nothing more`);
  const ended_at = new Date(Date.now() - 2 * 86_400_000).toISOString();
  fs.writeFileSync(path, `${JSON.stringify({ ...final(), ended_at })}\n`);
}

/** In the directory whose journal has the entries. */
function cuff(args: readonly string[], env: Record<string, string> = {}): Promise<Result> {
  return cli.start([binary('cuff'), ...args], { cwd: cli.root, env }).result;
}

const names = (id: string): string[] =>
  fs.readdirSync(cli.dir(id)).filter((name) => /^(output|index|events|trace)\./.test(name));

describe('cuff sweep', () => {
  it('packs what agents ran, and every command shows it as before', async () => {
    // An id that says when it was made: two days ago.
    const day = new Date(Date.now() - 2 * 86_400_000).toISOString().replace(/\D/g, '');
    const id = `${day.slice(0, 8)}-${day.slice(8, 14)}-1a2b3c4d`;
    await oldRun(id, '--trace');
    await cli.run('mine', 'seq', '1', '5000');
    const asked = [
      ['cat', id],
      ['cat', id, '--stderr'],
      ['cat', id, '--json'],
      ['tail', id, '-n', '7'],
      ['ls', '--json'],
      ['trace', id],
      ['trace', id, '--json'],
      ['record', 'show', 'last', '--format', 'json'],
    ];
    const answers = async () => {
      const all = [];
      for (const args of asked) {
        const { code, out, err } = await cuff(args);
        all.push({ args, code, out, err });
      }
      return all;
    };
    const before = await answers();
    expect(before[0]?.out).toContain('line 40 of part 40\n');
    expect(before[5]?.out).toContain('true');
    expect(names(id)).toEqual(['events.jsonl', 'index.jsonl', 'output.bin', 'trace.bin']);
    const swept = await cuff(['sweep']);
    expect([swept.code, swept.out]).toEqual([0, '']);
    expect(swept.err).toMatch(/^Removed 0, kept 2\.\nPacked 1 capture, which saves \d+ KiB\.\n$/);
    expect(names(id)).toContain('output.bin.gz');
    expect(names(id)).toContain('trace.bin.gz');
    expect(names(id)).not.toContain('output.bin');
    expect(names(id)).not.toContain('trace.bin');
    expect(names('mine')).toContain('output.bin');
    expect(await answers()).toEqual(before);
    expect((await cuff(['verify', '--deep', '--json'])).code).toBe(0);
    const log = fs.readFileSync(join(cli.root, 'logs', 'derun.log'), 'utf8');
    expect(log).toContain(`"session_id":"${id}","cleanup_result":"pack","cleanup_reason":"packed"`);
    expect((await cuff(['sweep'])).err).toBe('Removed 0, kept 2.\n');
  });

  it('says how much room captures take, packed and plain', async () => {
    await oldRun('agents');
    const json = async (...args: string[]) => JSON.parse((await cuff(args)).out).captures;
    const before = await json('status', '--json');
    expect(before).toMatchObject({ count: 1, packed: 0, packed_bytes: 0, plain_bytes: 0 });
    expect((await cuff(['status'])).out).toMatch(/\nCaptures: 1, [\d.]+ KiB\n$/);
    const { out } = await cuff(['sweep', '--json']);
    expect(JSON.parse(out)).toMatchObject({ session_id: 'agents', result: 'pack' });
    const after = await json('status', '--json');
    expect(after).toMatchObject({ count: 1, packed: 1 });
    expect(after.disk_bytes).toBeLessThan(before.disk_bytes);
    expect(after.packed_bytes * 3).toBeLessThan(after.plain_bytes);
    const words = /\nCaptures: 1, [\d.]+ KiB; 1 packed, [\d.]+ KiB in [\d.]+ KiB \([\d.]+:1\)\n$/;
    expect((await cuff(['status'])).out).toMatch(words);
    expect((await cuff(['record', 'stats'])).out).toMatch(words);
  });

  it('removes the oldest where the user gives them less room', async () => {
    for (const id of ['b', 'a']) await oldRun(id);
    await cuff(['sweep']);
    const { disk_bytes } = JSON.parse((await cuff(['status', '--json'])).out).captures;
    const config = join(cli.root, 'config');
    fs.mkdirSync(join(config, 'cuff'), { recursive: true });
    const settings = `captures:\n  budget: ${Math.floor(disk_bytes * 0.75)}\n`;
    fs.writeFileSync(join(config, 'cuff', 'settings.yml'), settings);
    const env = { XDG_CONFIG_HOME: config };
    const { out } = await cuff(['sweep'], env);
    expect(out).toBe('ID  RESULT  REASON\nb   remove  over_budget\n');
    expect(fs.existsSync(cli.dir('a'))).toBe(true);
    const { code, out: said } = await cuff(['verify', '--json'], env);
    expect([code, JSON.parse(said).findings]).toMatchObject([
      0,
      [{ verdict: 'expired', run: 'b' }],
    ]);
  });
});

describe('the thread that packs', () => {
  it('gives way to commands, and may be ended at any moment', async () => {
    for (const id of ['one', 'two']) await oldRun(id);
    const [one, two] = [cli.dir('one'), cli.dir('two')];
    const bytes = fs.readFileSync(join(two, 'output.bin'));
    const thread = new PackThread();
    expect(await thread.pack(one)).toEqual({ packed: true });
    const nice = (tid: string): string | undefined =>
      fs.readFileSync(`/proc/self/task/${tid}/stat`, 'utf8').split(') ')[1]?.split(' ')[16];
    const own = nice(String(process.pid));
    const tids = fs.readdirSync('/proc/self/task');
    expect(tids.map(nice)).toContain(String(Math.max(10, Number(own))));
    const cut = thread.pack(two);
    await thread.stop();
    expect(await cut).toMatchObject({ packed: false, reason: 'stopped' });
    const there = findSource(two, 'output.bin');
    expect(Buffer.from(there?.read(0, bytes.length) ?? []).equals(bytes)).toBe(true);
    there?.close();
    expect(await thread.pack(two)).toEqual({ packed: true });
    await thread.stop();
    expect(names('two')).toContain('output.bin.gz');
    expect(names('two')).not.toContain('output.bin');
  });
});
