// A run that prints more than its capture may keep: head and tail stay, the middle is given back to
// the disk, and whatever reads the capture says so and shows no byte that was not printed.
import { readFileSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { binary, Cli, type Result } from '../cli/helper.ts';
import { CLIENTS } from '../mcp/clients.ts';
import { Life } from '../mcp/life.ts';
import { lacking } from '../requirements.ts';

const cli = new Cli();
afterAll(() => cli.close());

const KIB = 1024;
const MIB = 1024 * KIB;
const LINE = `${'all work and no play, '.repeat(5)}end\n`;
const LAST = 'the last error\n';

const statfs = statfsSync(tmpdir());
const noRoom = lacking(
  statfs.bavail * statfs.bsize < 3 * 1024 * MIB,
  'a capture of the usual size needs 3 GiB of disk',
);

/** Prints so many lines, at the speed of a pipe, and a last one. */
function loud(lines: number): string[] {
  return ['sh', '-c', `yes '${LINE.trimEnd()}' | head -n ${lines}; echo '${LAST.trimEnd()}'`];
}

/** Its output is printed to nowhere: only the capture has it. */
async function capture(id: string, cap: number | undefined, words: string[]): Promise<Result> {
  const run = [process.execPath, binary('cuff'), 'run', '--session-id', id, '--', ...words];
  const env = cap === undefined ? {} : { CUFF_OUTPUT_BYTES_MAX: String(cap) };
  const live = cli.start(['sh', '-c', 'exec "$@" >/dev/null', 'sh', ...run], { env });
  live.child.stdin?.end();
  return live.result;
}

function blocks(id: string, name: string): number {
  return statSync(join(cli.dir(id), name)).blocks * 512;
}

type Final = { output_bytes: number; lost_bytes: number; hole: [number, number] };

function finalOf(id: string): Final {
  return JSON.parse(readFileSync(join(cli.dir(id), 'final.json'), 'utf8'));
}

async function tellsAll(id: string, cap: number, printed: number): Promise<void> {
  const { output_bytes, lost_bytes, hole } = finalOf(id);
  expect(output_bytes).toBe(printed);
  expect(lost_bytes).toBe(hole[1] - hole[0]);
  expect(hole[0]).toBe(cap / 2);
  // What is kept is the cap, but for the step that was just given back.
  expect(printed - lost_bytes).toBeGreaterThan(cap - cap / 8 - 65_536);
  expect(blocks(id, 'output.bin')).toBeLessThanOrEqual(cap + 65_536);
  const tail = await cli.cuff('tail', id, '-n', '2');
  expect([tail.code, tail.out]).toEqual([0, LINE + LAST]);
  expect(tail.err).toContain(`${lost_bytes} bytes are missing`);
  const { sessions } = await cli.json<{ sessions: Record<string, unknown>[] }>('ls');
  const row = sessions.find(({ session_id }) => session_id === id);
  expect(row).toMatchObject({ output_bytes, lost_bytes });
}

describe('more output than is kept', () => {
  it.skipIf(noRoom)('1.1 GB: the last line is there, in the disk space of the cap', async () => {
    const lines = Math.ceil(1_100_000_000 / LINE.length);
    expect((await capture('big', undefined, loud(lines))).code).toBe(0);
    await tellsAll('big', 1024 * MIB, lines * LINE.length + LAST.length);
  });

  it('1.1 GB on a small disk: the cap is what is said to be the cap', async () => {
    const lines = Math.ceil(1_100_000_000 / LINE.length);
    expect((await capture('small', 16 * MIB, loud(lines))).code).toBe(0);
    await tellsAll('small', 16 * MIB, lines * LINE.length + LAST.length);
    expect(blocks('small', 'index.jsonl')).toBeLessThan(MIB);
  });

  it('`cuff cat` gives both ends, byte for byte, and says what is missing', async () => {
    const lines = 100_000;
    await capture('cat', 512 * KIB, loud(lines));
    await tellsAll('cat', 512 * KIB, lines * LINE.length + LAST.length);
    const { hole, lost_bytes } = finalOf('cat');
    const printed = Buffer.from(LINE.repeat(lines) + LAST);
    const kept = Buffer.concat([printed.subarray(0, hole[0]), printed.subarray(hole[1])]);
    const cat = await cli.cuff('cat', 'cat');
    expect(cat.stdout.equals(kept)).toBe(true);
    expect(cat.err).toContain(`${lost_bytes} bytes are missing`);
    expect((await cli.cuff('cat', 'cat', '--stdout')).stdout.equals(kept)).toBe(true);
    const listed = (await cli.cuff('ls')).out.split('\n').find((line) => line.startsWith('cat '));
    expect(listed).toMatch(/missing/);
  });

  it('a cap that is too small for two ends keeps the head and says so', async () => {
    await capture('tiny', 10_000, loud(1_000));
    const printed = 1_000 * LINE.length + LAST.length;
    expect(finalOf('tiny')).toMatchObject({ output_bytes: 10_000, lost_bytes: printed - 10_000 });
    const cat = await cli.cuff('cat', 'tiny');
    expect(cat.stdout.equals(Buffer.from(LINE.repeat(100)).subarray(0, 10_000))).toBe(true);
    expect(cat.err).toContain(`${printed - 10_000} bytes are missing`);
  });

  it('a cap that is no number is refused with a sentence', async () => {
    const { code, err } = await capture('none', Number.NaN, ['true']);
    expect([code, err]).toEqual([2, expect.stringMatching(/CUFF_OUTPUT_BYTES_MAX is 'NaN'/)]);
  });

  it('derun_read_output jumps over the hole and names it', async () => {
    await capture('mcp', 512 * KIB, loud(100_000));
    const { hole, output_bytes } = finalOf('mcp');
    const life = new Life();
    const { 'by hand': connect } = CLIENTS;
    if (connect === undefined) throw new Error('no such client');
    const client = await life.connect(
      (command, args, env) => connect(command, args, { ...env, CUFF_STATE_ROOT: cli.root }),
      'derun',
    );
    const read = (cursor: number): Promise<{ structured: unknown }> =>
      client.call('derun_read_output', { session_id: 'mcp', cursor: String(cursor) });
    const missing = { offset: hole[0], length: hole[1] - hole[0] };
    const before = await read(hole[0] - 10);
    expect(before.structured).toMatchObject({ missing, next_cursor: String(hole[1]), eof: false });
    const inside = await read(hole[0]);
    expect(inside.structured).toMatchObject({ missing });
    const [first] = (inside.structured as { chunks: { offset: number }[] }).chunks;
    expect(first?.offset).toBe(hole[1]);
    const end = await read(output_bytes - LAST.length);
    expect(end.structured).toMatchObject({ eof: true, next_cursor: String(output_bytes) });
    expect(end.structured).not.toHaveProperty('missing');
  });
});
