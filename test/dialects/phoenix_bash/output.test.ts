// How `phoenix_bash` shows output: as it is up to 128 KB, else both ends. As functions on bytes,
// for bytes of every kind, and with real commands around the limit.

import { readdirSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PhoenixBashPlugin } from '../../../src/dialects/phoenix_bash/dialect.ts';
import * as words from '../../../src/dialects/phoenix_bash/words.ts';
import type { Plugin } from '../../../src/host/plugin.ts';
import { createShell } from '../../../src/shell/shell.ts';
import { background, bash, newWorld, phoenix, text } from './helper.ts';

/** What the dialect would read of these bytes. */
function read(bytes: Uint8Array): words.Output {
  const whole = bytes.length <= words.OUTPUT_BYTES_MAX;
  return {
    first: whole ? bytes : bytes.subarray(0, words.SNIP_BYTES),
    last: whole ? new Uint8Array() : bytes.subarray(-words.SNIP_BYTES),
    totalBytes: bytes.length,
  };
}

const outputText = (bytes: Uint8Array): string => words.outputText(read(bytes));

describe('the size of output in words', () => {
  it.each([
    [0, '0B'],
    [1, '1B'],
    [1023, '1023B'],
    [1024, '1KB'],
    [1025, '1.1KB'],
    [131_072, '128KB'],
    [131_073, '128.1KB'],
    [1_048_576, '1MB'],
    [10_485_760, '10MB'],
    [104_857_601, '100.1MB'],
    [3 * 1024 ** 3, '3GB'],
  ])('%i is %s', (bytes, human) => {
    expect(words.humanBytes(bytes)).toBe(human);
  });
});

describe('output of phoenix_bash', () => {
  it('is given as it is up to 131072 bytes, and cut in the middle from one more on', () => {
    expect([words.OUTPUT_BYTES_MAX, words.SNIP_BYTES]).toEqual([131_072, 4_096]);
    const most = Buffer.alloc(131_072, 'abcdefgh');
    expect(outputText(most)).toBe(most.toString());
    const more = Buffer.concat([most, Buffer.from('!')]);
    expect(outputText(more)).toBe(
      `[output truncated in middle: got 128.1KB, max is 128KB]\n` +
        `${'abcdefgh'.repeat(512)}\n\n[snip]\n\n${more.subarray(-4096).toString()}`,
    );
    for (const size of [0, 1, 4_096, 8_192, 8_193, 131_071]) {
      const bytes = Buffer.alloc(size, 'x');
      expect(outputText(bytes)).toBe(bytes.toString());
    }
  });

  it('is never cut inside of a character', () => {
    for (const shift of [0, 1, 2, 3]) {
      const text = outputText(Buffer.from(`${'x'.repeat(shift)}${'€'.repeat(50_000)}`));
      expect(text).not.toContain('\ufffd');
      const [head = '', tail = ''] = text.split('\n\n[snip]\n\n');
      expect(Buffer.byteLength(head.split('\n')[1] ?? '')).toBeGreaterThan(4_092);
      expect(Buffer.byteLength(tail)).toBeGreaterThan(4_092);
    }
  });

  it('never exceeds the maximum and 200, whatever is printed and however it ends', () => {
    const unit = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 64 }),
      fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => Buffer.from(text)),
      fc.constant(Buffer.from([0xff])),
    );
    const output = fc
      .tuple(unit, fc.integer({ min: 0, max: 400_000 }))
      .map(([bytes, size]) => Buffer.alloc(size, bytes));
    const outcome = fc.oneof(
      fc.record({ kind: fc.constant('exited' as const), code: fc.nat(255) }),
      fc.constant({ kind: 'signaled' as const, signal: 'SIGKILL' }),
    );
    fc.assert(
      fc.property(output, outcome, (bytes, how) => {
        const shown = outputText(bytes);
        const answers = [
          shown,
          words.failedText({ outcome: how, endedBy: 'itself' }, shown),
          words.timedOutText(900, shown),
        ];
        for (const answer of answers) {
          expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(131_072 + 200);
          expect(Buffer.from(answer).toString()).toBe(answer);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('is the same from a real command', async () => {
    const plugin = await phoenix(newWorld());
    const command = (count: number): string => `yes 1234567 | head -c ${count}; exit 0`;
    expect(await text(bash(plugin, command(131_072)))).toBe('1234567\n'.repeat(16_384));
    expect(await text(bash(plugin, command(131_080)))).toBe(
      `[output truncated in middle: got 128.1KB, max is 128KB]\n` +
        `${'1234567\n'.repeat(512)}\n\n[snip]\n\n${'1234567\n'.repeat(512)}`,
    );
    const failed = await bash(plugin, `${command(131_080).replace('exit 0', 'exit 3')}`);
    expect(failed.success).toBe(false);
    expect(failed.text.startsWith('[command failed: exit code 3]\n[output truncated in mid')).toBe(
      true,
    );
  });

  it('is cut when it is over the limit only as text', async () => {
    const plugin = await phoenix(newWorld());
    const shown = await text(bash(plugin, `head -c 100000 /dev/zero | tr '\\0' '\\377'`));
    expect(shown.startsWith('[output truncated in middle: got 293KB, max is 128KB]\n\ufffd')).toBe(
      true,
    );
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(8_192 + 200);
  });
});

describe('output of phoenix_bash that could not be kept', () => {
  /** With captures that hold 1000 bytes. */
  async function small(): Promise<Plugin> {
    const { services, project: cwd, stateRoot } = newWorld();
    const shell = createShell({ stateRoot, cwd, env: services.env, outputBytesMax: 1_000 });
    const lent = { ...services, shell: () => shell };
    const plugin = new PhoenixBashPlugin({ environment: 'inherit' }, lent);
    await plugin.initialize();
    onTestFinished(async () => {
      await plugin.shutdown();
      shell.close();
    });
    return plugin;
  }

  it('is told behind what was kept', async () => {
    const plugin = await small();
    const kept = 'x'.repeat(1_000);
    const lost = '[234 bytes of output could not be kept]';
    const command = "head -c 1234 /dev/zero | tr '\\0' x";
    expect(await bash(plugin, command)).toEqual({ success: true, text: `${kept}\n${lost}` });
    expect(await bash(plugin, `${command}; exit 3`)).toEqual({
      success: false,
      text: `[command failed: exit code 3]\n${kept}\n${lost}`,
    });
    const run = await background(plugin, command);
    expect(await run.has('[background')).toBe(
      `${kept}\n${lost}\n\n[background process completed]\n`,
    );
  });
});

describe('the files of phoenix_bash', () => {
  it('are one for each of executing, safety, formatting and background', () => {
    const src = `${import.meta.dirname}/../../../src`;
    const files = ['dialects/phoenix_bash', 'agent', 'policy'].flatMap((room) =>
      readdirSync(`${src}/${room}`),
    );
    expect(files).toEqual(
      expect.arrayContaining(['dialect.ts', 'safety.ts', 'words.ts', 'output-copy.ts']),
    );
  });
});
