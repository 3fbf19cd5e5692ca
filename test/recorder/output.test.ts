// Output for its two readers: what the agent is shown and what the entry keeps, how both are cut,
// and what is in no file at all.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shownStream, storedOutput } from '../../src/recorder/ending.ts';
import { redactor } from '../../src/text/redact.ts';
import { execute, World } from './helper.ts';

const MIB = 1024 * 1024;

describe('what the agent is shown', () => {
  it('is all of it, up to a mebibyte of each stream, and where the rest is', async () => {
    const world = new World();
    const plugin = await world.plugin();
    const answer = await execute(plugin, `head -c ${2 * MIB} /dev/zero | tr '\\0' x; echo e >&2`);
    expect(answer.stdout).toBe('x'.repeat(MIB));
    expect(answer.stderr).toBe('e\n');
    expect(answer.notices).toEqual([
      `stdout: the first 1048576 of 2097152 bytes are shown. Read the rest with ` +
        `\`cuff cat ${answer.run_id}\`.`,
    ]);
    expect(world.shell.read(answer.run_id ?? '', 0, 8 * MIB).nextCursor).toBe(2 * MIB + 2);
  });

  it('is never cut inside of a character', async () => {
    const plugin = await new World().plugin();
    const { stdout, notices } = await execute(
      plugin,
      `printf x; yes '€' | tr -d '\\n' | head -c 3000000`,
    );
    expect(stdout).toBe(`x${'€'.repeat((MIB - 1) / 3)}`);
    expect(notices?.[0]).toContain(`the first ${MIB} of 3000001 bytes`);
  });

  it('stays below what clients take, however much of it must be escaped', () => {
    for (const byte of [0, 10, 27, 34, 92, 127]) {
      const bytes = new Uint8Array(MIB).fill(byte);
      const shown = shownStream({ bytes, total: MIB });
      expect(JSON.stringify(JSON.stringify(shown.text)).length).toBeLessThan(2 * MIB);
      expect(shown).toMatchObject({ bytes: shown.text.length, total: MIB, binary: false });
      expect(shown.bytes).toBeGreaterThan(MIB / 4);
    }
  });

  it('says when it is not text', async () => {
    const plugin = await new World().plugin();
    const { stdout, notices } = await execute(plugin, `printf 'a\\xffb'`);
    expect(stdout).toBe('a\ufffdb');
    expect(notices).toEqual(['stdout is not all UTF-8; bytes that are not are shown as U+FFFD.']);
  });
});

describe('what the entry keeps', () => {
  it('is what was produced, unchanged', async () => {
    const world = new World();
    const plugin = await world.plugin();
    await execute(plugin, `printf '\\033[31mred\\033[0m\\r\\n\\tß'; printf 'err' >&2`);
    expect(world.entry()).toMatchObject({
      stdout: '\u001b[31mred\u001b[0m\r\n\tß',
      stderr: 'err',
      output_truncated: false,
      output_truncated_bytes: null,
    });
  });

  it('is the head of each stream, and the true size', async () => {
    const world = new World();
    const plugin = await world.plugin({ recording: { max_output_size: 10 } });
    const answer = await execute(plugin, `printf '123456789€abc'; printf 'short' >&2`);
    expect(answer).toMatchObject({ stdout: '123456789€abc', stderr: 'short' });
    expect(world.entry()).toMatchObject({
      stdout: '123456789',
      stderr: 'short',
      output_truncated: true,
      output_truncated_bytes: 20,
    });
  });

  it('may be more than the agent is shown', async () => {
    const world = new World();
    const plugin = await world.plugin({ recording: { max_output_size: 3_000_000 } });
    await execute(plugin, `head -c 2500000 /dev/zero | tr '\\0' x`);
    const { stdout, output_truncated } = world.entry();
    expect([stdout?.length, output_truncated]).toEqual([2_500_000, false]);
  });

  it('is nothing when output is not captured, and then no file has it', async () => {
    const world = new World();
    const plugin = await world.plugin({ recording: { capture_output: false } });
    const command = `printf 'unmist%s' akable; printf 'also-%s' said >&2; exit 4`;
    const answer = await execute(plugin, command);
    expect(answer).toMatchObject({ stdout: 'unmistakable', stderr: 'also-said', exit_code: 4 });
    expect(world.entry()).toMatchObject({
      stdout: null,
      stderr: null,
      output_truncated: false,
      output_truncated_bytes: null,
      exit_code: 4,
    });
    await world.stop(plugin);
    expect([...world.filesWith('unmistakable'), ...world.filesWith('also-said')]).toEqual([]);
  });

  it('says that the rest was not kept when it is in no file', async () => {
    const world = new World();
    const plugin = await world.plugin({ recording: { capture_output: false } });
    const { stdout, notices } = await execute(plugin, `head -c 3000000 /dev/zero | tr '\\0' x`);
    expect(stdout).toBe('x'.repeat(MIB));
    expect(notices).toEqual([
      'stdout: the first 1048576 of 3000000 bytes are shown. The rest was not kept.',
    ]);
  });
});

describe('a stored stream', () => {
  const head = (text: string, total = Buffer.byteLength(text)) => ({
    bytes: Buffer.from(text),
    total,
  });
  const none = head('');

  it('is at most as long as it may be, and a beginning of what there was', () => {
    const any = fc.string({ unit: 'grapheme', maxLength: 60 });
    fc.assert(
      fc.property(any, fc.nat(80), (text, max) => {
        const { stdout } = storedOutput({ stdout: head(text), stderr: none }, max, undefined);
        expect(Buffer.byteLength(stdout ?? '')).toBeLessThanOrEqual(Math.max(0, max));
        expect(text.startsWith(stdout ?? '?')).toBe(true);
      }),
    );
  });

  it('has no part of a secret at the place where it is cut', () => {
    const secret = 'hunter2-hunter2-hunter2';
    const redact = redactor({ MY_TOKEN: secret });
    for (let before = 0; before < 60; before += 1) {
      const text = `${'x'.repeat(before)}${secret}${'y'.repeat(100)}`;
      const read = head(text.slice(0, 40 + redact.lengthMax), Buffer.byteLength(text) + 1000);
      const { stdout } = storedOutput({ stdout: read, stderr: none }, 40, redact);
      expect(stdout).not.toMatch(/hunt/);
      expect(stdout?.length).toBeLessThanOrEqual(40);
    }
  });
});
