// What processes that a command left running print behind its entry.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { journalSessionIds } from '../../src/journal/reader.ts';
import { removeSession } from '../../src/journal/retention.ts';
import { sessionEntries } from '../../src/record.ts';
import { until } from '../cli/helper.ts';
import { execute, World } from './helper.ts';

type Left = { world: World; line: string; id: string; later: string; release: () => void };

/** A command that leaves a process, which prints when it is let go. */
async function leaving(): Promise<Left> {
  const world = new World();
  const plugin = await world.plugin({ recording: { trace: 'off' } });
  const held = join(world.dir, 'held');
  execFileSync('mkfifo', [held]);
  await execute(plugin, `echo now; (read x < ${held}; echo "later $x"; echo bad >&2) &`);
  const { session_id: id } = world.entry();
  const file = (ending: string): string => join(world.journal, 'sessions', `${id}${ending}`);
  const release = (): void => {
    const fd = fs.openSync(held, 'r+');
    fs.writeSync(fd, 'on\n');
    onTestFinished(() => fs.closeSync(fd)); // not before the other side has read it
  };
  const line = fs.readFileSync(file('.jsonl'), 'utf8');
  return { world, line, id, later: file('.later.jsonl'), release };
}

describe('a command that leaves a process running', () => {
  it('has an entry that names it, and its later output beside that', async () => {
    const { world, line, id, later, release } = await leaving();
    const survivors = [{ pid: expect.any(Number), command: expect.any(String) }];
    const before = world.entry();
    expect(before).toMatchObject({ stdout: 'now\n', survivors });
    expect(before.later).toBeUndefined();
    release();
    await until(() => fs.existsSync(later), 'the run has closed');
    await until(() => fs.readFileSync(later, 'utf8').endsWith('\n'), 'it is written');
    const output = { stdout: 'later on\n', stderr: 'bad\n', truncated: false };
    const { entry_id } = before;
    expect(JSON.parse(fs.readFileSync(later, 'utf8'))).toEqual({ entry_id, survivors, output });
    expect((fs.statSync(later).mode & 0o777).toString(8)).toBe('600');
    expect(fs.readFileSync(later.replace('.later', ''), 'utf8')).toBe(line);
    expect(world.entry()).toEqual({ ...before, later: output });
    expect([...sessionEntries(world.journal, id)]).toEqual([{ ...before, later: output }]);
    expect(journalSessionIds(world.journal)).toEqual([id]);
    expect(removeSession(world.journal, id)).toBe(true);
    expect(fs.readdirSync(join(world.journal, 'sessions'))).toEqual([]);
  });

  it('is read also when the file beside it was damaged', async () => {
    const { world, later, release } = await leaving();
    fs.writeFileSync(later, '{"entry_id":"e_x","surv', { mode: 0o600 });
    release();
    const whole = (): boolean => fs.readFileSync(later, 'utf8').endsWith('\n');
    await until(whole, 'the run has closed');
    expect(world.entry().later?.stdout).toBe('later on\n');
  });
});
