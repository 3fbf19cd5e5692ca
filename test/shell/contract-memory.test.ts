// A run whose output goes to no file.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withTime } from '../pace.ts';
import { describeBackends, world } from './backends.ts';

/** Everything under the state root, in one string. */
function everyByte(root: string): string {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name), 'latin1'))
    .join('\n');
}

describeBackends('output in memory', (backend) => {
  it('is in no file, and whole, with the streams apart', async () => {
    const { shell, root } = world(backend);
    const run = shell.start('echo sec"ret"; echo err"or" >&2; exit 3', { output: 'memory' });
    expect((await run.done).outcome).toEqual({ kind: 'exited', code: 3 });
    expect(Buffer.from(run.memory?.stdout() ?? []).toString()).toBe('secret\n');
    expect(Buffer.from(run.memory?.stderr() ?? []).toString()).toBe('error\n');
    await run.closed;
    expect(everyByte(root)).not.toMatch(/secret|error\n/);
    expect(shell.open(run.id).final).toMatchObject({ state: 'exited', outputBytes: 0 });
  });

  it('has every byte before the run is said to be done', async () => {
    const { shell } = world(backend);
    for (const bytes of [1, 70_000, 400_000, 900_000]) {
      const run = shell.start(`head -c ${bytes} /dev/zero`, { output: 'memory' });
      await run.done;
      expect(run.memory?.totals).toEqual({ stdout: bytes, stderr: 0 });
      expect(run.memory?.stdout().length).toBe(bytes);
    }
  });

  it('keeps the head of what is too much, and counts the rest', async () => {
    const { shell } = world(backend);
    const run = shell.start('echo first; head -c 3000000 /dev/zero', { output: 'memory' });
    await run.done;
    expect(run.memory?.totals.stdout).toBe(3_000_006);
    expect(run.memory?.stdout().length).toBe(1_048_576);
    expect(Buffer.from(run.memory?.stdout().subarray(0, 6) ?? []).toString()).toBe('first\n');
  });

  it('ends with its deadline and by a kill', async () => {
    const { shell } = world(backend);
    const attempt = async (killAfterMs: number): Promise<string> => {
      const late = shell.start('echo a; exec sleep 100', { output: 'memory', killAfterMs });
      expect(await late.done).toMatchObject({ endedBy: 'timeout' });
      return Buffer.from(late.memory?.stdout() ?? []).toString();
    };
    expect(await withTime(1_000, attempt, (text) => text !== '')).toBe('a\n');
    const killed = shell.start('exec sleep 100', { output: 'memory' });
    await killed.started;
    expect(await killed.kill()).toMatchObject({ endedBy: 'kill' });
  });

  it('does not write down what its survivors were called with', async () => {
    const { shell, root } = world(backend);
    const run = shell.start('bash -c "sleep 100; : hidden-word" & echo up', { output: 'memory' });
    await run.done;
    expect(shell.open(run.id).final?.survivors.length).toBeGreaterThan(0);
    expect(everyByte(root).replace(/"shell_text":.*?,|"command":\[.*?\],/g, '')).not.toContain(
      'hidden-word',
    );
    await run.kill({ signal: 'KILL' });
  });

  it('shows another text than the command, where it is told to', async () => {
    const { shell, root } = world(backend);
    const run = shell.start('echo hidden-word | wc -c', { shown: 'echo [REDACTED:X] | wc -c' });
    await run.closed;
    expect(Buffer.concat(shell.read(run.id).chunks.map((one) => one.bytes)).toString()).toMatch(
      /^\s*12\n$/,
    );
    expect(everyByte(root)).not.toContain('hidden-word');
    expect(shell.open(run.id).meta?.command).toEqual({
      kind: 'shell',
      text: 'echo [REDACTED:X] | wc -c',
    });
  });
});
