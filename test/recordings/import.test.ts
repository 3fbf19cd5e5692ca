import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { importLines } from '../../src/recordings/import.ts';
import type { Entry, SessionMetadata } from '../../src/types.ts';
import { addSamples, Journal } from './helper.ts';

let journal: Journal;

beforeEach(() => {
  const made = new Journal();
  onTestFinished(() => made.close());
  journal = made;
});

function file(name: string, ...lines: readonly unknown[]): string {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  writeFileSync(journal.path(name), `${text.join('\n')}\n`);
  return name;
}

type Exported = { sessions: { metadata: SessionMetadata; entries: Entry[] }[] };

async function everything(): Promise<Exported['sessions']> {
  return (await journal.json<Exported>('export', 'all')).sessions;
}

describe('cuff record import, of JSON lines', () => {
  it('needs a command and takes the rest as it is', async () => {
    const name = file('history.jsonl', {
      command: 'npm test',
      session: 'monday',
      cwd: '/srv/app',
      timestamp: '2026-01-05T09:30:00+01:00',
      exit_code: 1,
      duration_ms: 1500.4,
      stdout: 'ok\n',
      stderr: 'oops\n',
    });
    const { code, out, err } = await journal.run('import', name);
    expect([code, err]).toEqual([0, '']);
    expect(out.replace(/[0-9a-f]{8}-[0-9a-f]{4}/, 'ID')).toBe(
      'Imported 1 command into 1 session:\n  20260105_083000_ID  1  (monday)\n',
    );
    const [session] = await everything();
    expect(session?.metadata).toMatchObject({
      created_at: '2026-01-05T08:30:00Z',
      last_updated: '2026-01-05T08:30:01Z',
      status: 'complete',
      end_reason: 'imported',
      conversation_id: 'monday',
      entry_count: 1,
      commands_failed: 1,
    });
    expect(session?.entries).toEqual([
      expect.objectContaining({
        timestamp: '2026-01-05T08:30:00.000000Z',
        command: 'npm test',
        working_directory: '/srv/app',
        exit_code: 1,
        duration_ms: 1500,
        stdout: 'ok\n',
        stderr: 'oops\n',
        plugin_version: 'import',
        end_reason: 'itself',
      }),
    ]);
  });

  it('groups lines into sessions, whatever their order', async () => {
    const lines = ['a', 'b', 'a', undefined, 'b', 'a'].map((session, i) => ({
      command: `echo ${i}`,
      session,
      timestamp: 1_768_746_652 + i,
    }));
    await journal.run('import', file('mixed.jsonl', ...lines));
    const groups = (await everything()).map(({ metadata, entries }) => [
      metadata.conversation_id,
      entries.map(({ command, sequence_number: n }) => `${n} ${command}`),
    ]);
    expect(groups.sort()).toEqual([
      [null, ['1 echo 3']],
      ['a', ['1 echo 0', '2 echo 2', '3 echo 5']],
      ['b', ['1 echo 1', '2 echo 4']],
    ]);
  });

  it('reports bad lines by their number, and loses none', async () => {
    const bad = ['{"command":', '[]', '{"cmd":"x"}', '{"command":""}', '{"command":7}'];
    const wrong = [
      ...['{"command":"a","exit_code":"0"}', '{"command":"a","duration_ms":-1}'],
      ...['{"command":"a","timestamp":"soon"}', '{"command":"a","stdout":{}}'],
    ];
    const good = { command: 'true' };
    const name = file('bad.jsonl', good, ...bad, '', '  \r', ...wrong, good);
    appendFileSync(
      journal.path(name),
      Buffer.from('{"command":"\xff"}\n{"command":"last"}', 'latin1'),
    );
    const { code, out, err } = await journal.run('import', name, '--rejects', 'rest.jsonl');
    expect(err.trimEnd().split('\n')).toEqual([
      'line 2: not JSON',
      'line 3: not a JSON object',
      'line 4: no command',
      'line 5: no command',
      'line 6: command is not a string',
      'line 9: exit_code is not a whole number',
      'line 10: duration_ms is not a number from 0',
      'line 11: timestamp is not a time',
      'line 12: stdout is not a string',
      'line 14: not UTF-8',
    ]);
    expect([code, out.split('\n')[0]]).toEqual([1, 'Imported 3 commands into 1 session:']);
    const rest = readFileSync(journal.path('rest.jsonl'), 'latin1');
    expect(rest).toBe([...bad, ...wrong, '{"command":"\xff"}', ''].join('\n'));
  });

  it('says so when a file was imported before, and does not do it again', async () => {
    const name = file('twice.jsonl', { command: 'a' }, { command: 'b' });
    const first = await journal.json<Record<string, unknown>>('import', name, '--json');
    expect(first).toEqual({
      kind: 'jsonl',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      already_imported: false,
      sessions: [{ session_id: expect.any(String), label: null, entries: 2 }],
      entries: 2,
      rejected: [],
      rejected_count: 0,
    });
    const { code, out, err } = await journal.run('import', name);
    const [{ metadata } = { metadata: undefined }, ...others] = await everything();
    expect([code, out, err, others]).toEqual([
      0,
      `This file was imported before. Its sessions are:\n  ${metadata?.session_id}\n`,
      '',
      [],
    ]);
    await journal.run('clean', '--older-than', '0d', '--force');
    expect(await everything()).toEqual([]);
    expect((await journal.run('import', name)).out).toMatch(/^Imported 2 commands/);
  });

  it('starts again after an import that was cut off', async () => {
    const name = file('cut.jsonl', { command: 'a', session: 1 }, { command: 'b', session: 2 });
    let steps = 0;
    const cut = importLines(journal.directory, journal.path(name), {
      now: Date.now,
      step: () => {
        steps += 1;
        if (steps === 2) throw new Error('cut');
      },
    });
    await expect(cut).rejects.toThrow('cut');
    expect((await everything()).length).toBe(2);
    expect((await journal.run('import', name)).out).toMatch(/^Imported 2 commands into 2 sessions/);
    expect((await everything()).map(({ entries }) => entries.length)).toEqual([1, 1]);
  });

  it('takes its own export back, entry for entry', async () => {
    addSamples(journal);
    await journal.run('export', 'all', '--format', 'jsonl', '--output', 'all.jsonl');
    const before = (await everything()).flatMap(({ entries }) => entries);
    const other = new Journal();
    onTestFinished(() => other.close());
    const { code, out } = await other.run('import', journal.path('all.jsonl'));
    expect([code, out.split('\n')[0]]).toEqual([0, 'Imported 26 commands into 3 sessions:']);
    const after = (await other.json<Exported>('export', 'all')).sessions;
    const facts = ({ entry_id: _, session_id: __, ...rest }: Entry): object => rest;
    expect(after.flatMap(({ entries }) => entries).map(facts)).toEqual(before.map(facts));
    expect(after.map(({ metadata }) => metadata.created_at)).toEqual([
      '2026-01-18T14:30:52Z',
      '2026-01-18T16:03:15Z',
      '2026-01-18T17:15:22Z',
    ]);
  });

  it('takes lines of ten megabytes, and every character', async () => {
    const odd = 'a\0b\x1b[31m\u2028\ud83d\ude00\ufeff';
    const name = file('large.jsonl', { command: odd, stdout: 'x'.repeat(10_000_000) });
    expect((await journal.run('import', name)).code).toBe(0);
    const [session] = await everything();
    expect(session?.entries[0]?.command).toBe(odd);
    expect(session?.entries[0]?.stdout?.length).toBe(10_000_000);
  });

  it('refuses what it cannot read, and what has nothing in it', async () => {
    const tries: readonly (readonly [string, number, RegExp])[] = [
      ['missing.jsonl', 2, /^Error: There is no file 'missing\.jsonl'\n$/],
      ['.', 2, /^Error: '\.' is not a regular file\n/],
      [file('empty.jsonl', ''), 2, /^Error: Nothing to import: It is empty\n\nExpected: /],
      [file('none.jsonl', 'x'), 2, /^line 1: not JSON\nError: Nothing to import: No line of/],
    ];
    for (const [name, status, words] of tries) {
      const { code, out, err } = await journal.run('import', name);
      expect([name, code, out, err]).toEqual([name, status, '', expect.stringMatching(words)]);
    }
    const taken = await journal.run('import', file('a.jsonl', 'x'), '--rejects', 'a.jsonl');
    expect([taken.code, taken.err]).toMatchObject([1, expect.stringMatching(/^Error: EEXIST/)]);
  });

  it('says so when the journal cannot be written', async () => {
    writeFileSync(journal.path('.cuff'), 'a file');
    const { code, err } = await journal.run('import', file('a.jsonl', { command: 'a' }));
    expect([code, err]).toMatchObject([1, expect.stringMatching(/^Error: .*cannot be written: /)]);
  });

  it('remembers imports in the journal, for its owner only', async () => {
    await journal.run('import', file('a.jsonl', { command: 'a' }));
    const lines = readFileSync(join(journal.directory, 'imports.jsonl'), 'utf8').trimEnd();
    expect(lines.split('\n').map((line) => Object.keys(JSON.parse(line)))).toEqual([
      ['sha256', 'session_id'],
      ['sha256', 'done', 'file', 'at', 'sessions'],
    ]);
  });
});
