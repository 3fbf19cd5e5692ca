import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { cleanSessions } from '../../src/recordings/clean.ts';
import { thisProcess } from '../../src/run/processes.ts';
import { binary } from '../cli/helper.ts';
import { atOwnTerminal } from '../cli/terminal.ts';
import { lacking } from '../requirements.ts';
import { Journal } from './helper.ts';

const OLD = '20260118_143052_a7b3c9d2-e4f5';
const OLDER = '20250601_090000_b8c4d0e3-f6a7';
const DAY = 86_400_000;

let journal: Journal;
let recent: string;

beforeEach(() => {
  const made = new Journal();
  onTestFinished(() => made.close());
  journal = made;
  recent = idAt(Date.now() - 2 * DAY);
  for (const id of [OLD, OLDER, recent]) made.add(id, { entries: [{ command: 'true' }] });
});

function idAt(at: number): string {
  const digits = new Date(at).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '_');
  return `${digits}_c9d5e1f4-e8b9`;
}

function left(): string[] {
  const names = readdirSync(journal.sessions).filter((name) => name.endsWith('.jsonl'));
  return names.map((name) => name.slice(0, -'.jsonl'.length)).sort();
}

function settings(retentionDays: number): void {
  const config = { recording: { retention_days: retentionDays } };
  const text = JSON.stringify({ plugins: { bash_recorder: { config } } });
  journal.settings(text, '.cuff/settings.yml');
}

/** Root may delete everything; then somebody else must try. */
const UNPRIVILEGED =
  process.getuid?.() === 0 ? ['setpriv', '--reuid', '65534', '--clear-groups', '--'] : [];

function mayDrop(): boolean {
  const probe = [
    process.execPath,
    '-e',
    `require('fs').accessSync(${JSON.stringify(binary('cuff'))})`,
  ];
  const [file = '', ...args] = [...UNPRIVILEGED, ...probe];
  return spawnSync(file, args).status === 0;
}

describe('cuff record clean', () => {
  it('wants an age while settings of the project wait for trust', async () => {
    const [recording, days] = ['plugins.bash_recorder.config.recording', 'retention_days'];
    const lines = [...recording.split('.'), days].map((key, at) => `${' '.repeat(at)}${key}:`);
    writeFileSync(journal.path('settings.yml'), `${lines.join('\n')} 0\n`);
    for (const flag of ['--force', '--dry-run']) {
      const { code, out, err } = await journal.run('clean', flag);
      expect([code, out]).toEqual([2, '']);
      expect(err).toBe(
        "Error: The project's settings in settings.yml wait for a person to run `cuff trust` " +
          `(this directory was never trusted); not in force: ${recording}.${days}.\n\n` +
          'Nothing was deleted: run `cuff trust`, or name an age with --older-than.\n',
      );
    }
    expect(left()).toHaveLength(3);
    const { code, err } = await journal.run('clean', '--force', '--older-than', '30d');
    expect([code, err, left()]).toEqual([0, '', [recent]]);
  });

  it('only says what would go with --dry-run', async () => {
    const { code, out, err } = await journal.run('clean', '--dry-run');
    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n').map((line) => line.replace(/ before .*/, ' before ...'))).toEqual([
      'Would delete: 2 sessions last used before ...',
      '',
      'Session ID                Started              Last Used            Commands  Status',
      '20250601_090000_b8c4d0e3  2025-06-01 09:00:00  2025-06-01 09:00:00         1  complete',
      '20260118_143052_a7b3c9d2  2026-01-18 14:30:52  2026-01-18 14:30:52         1  complete',
      '',
    ]);
    expect(left()).toEqual([OLDER, OLD, recent]);
  });

  it('deletes what is older than 30 days when nobody says otherwise', async () => {
    const { code, out, err } = await journal.run('clean', '--force');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/\nDeleted 2 sessions\. Their captures keep their own retention\.\n$/);
    expect(left()).toEqual([recent]);
    expect(existsSync(join(journal.sessions, `${OLD}.meta.json`))).toBe(false);
    const again = await journal.run('clean', '--force');
    expect([again.code, again.out]).toMatchObject([0, expect.stringMatching(/^No recordings to /)]);
  });

  it('goes by --older-than, a time ago or a date', async () => {
    await journal.run('clean', '--older-than', '2026-01-01', '--force');
    expect(left()).toEqual([OLD, recent]);
    await journal.run('clean', '--older-than', '90d', '--force');
    expect(left()).toEqual([recent]);
    await journal.run('clean', '--older-than', '1d', '--force');
    expect(left()).toEqual([]);
  });

  it('goes by the retention of the settings, from anywhere in the project', async () => {
    settings(1);
    const below = journal.path('packages/one');
    mkdirSync(below, { recursive: true });
    const live = journal.start(['clean', '--force', '--json'], below);
    live.child.stdin?.end();
    expect(JSON.parse((await live.result).out).deleted).toEqual([OLDER, OLD, recent]);
    expect(left()).toEqual([]);
  });

  it('goes by the settings that put the journal there, not by those of its neighbour', async () => {
    const other = journal.path('other');
    const config = { recording: { retention_days: 0, directory: '../.cuff/recordings' } };
    const text = JSON.stringify({ plugins: { bash_recorder: { config } } });
    journal.settings(text, 'settings.yml', other);
    const live = journal.start(['clean', '--force'], other);
    live.child.stdin?.end();
    expect((await live.result).out).toMatch(/^Recordings are kept forever/);
    expect(left()).toHaveLength(3);
  });

  it('deletes nothing when they are to be kept forever', async () => {
    settings(0);
    const { code, out } = await journal.run('clean', '--force');
    expect([code, out]).toEqual([
      0,
      'Recordings are kept forever (retention_days: 0). Say how old with --older-than.\n',
    ]);
    expect(left()).toHaveLength(3);
    expect(await journal.json('clean', '--force', '--json')).toEqual({
      dry_run: false,
      older_than: null,
      deleted: [],
      failed: [],
    });
  });

  it('deletes nothing by settings that are wrong', async () => {
    journal.settings('plugins: {bash_recorder: {config: {recordin: 1}}}');
    const { code, err } = await journal.run('clean', '--force');
    expect([code, left().length]).toEqual([2, 3]);
    expect(err).toMatch(/^Error: .*settings\.yml:1/);
  });

  it('never deletes a session that a living process writes', async () => {
    const owner = { pid: process.pid, start_time: thisProcess().startTime };
    const gone = { pid: process.pid, start_time: 1 };
    journal.add(OLD, { entries: [], metadata: { status: 'active', owner } });
    journal.add(OLDER, { entries: [], metadata: { status: 'active', owner: gone } });
    await journal.run('clean', '--force');
    expect(left()).toEqual([OLD, recent]);
  });

  it('does not delete without asking, and cannot ask without a terminal', async () => {
    const { code, err } = await journal.run('clean');
    expect([code, left().length]).toEqual([2, 3]);
    expect(err).toBe(
      'Error: Deleting needs a confirmation, and there is no terminal to ask at\n\n' +
        'Hint: Use --force to delete without asking, or --dry-run to see what would go\n',
    );
  });

  it.each([
    ['n', 3, 'Nothing was deleted.'],
    ['', 3, 'Nothing was deleted.'],
    ['yeah', 3, 'Nothing was deleted.'],
    ['\x03', 3, 'Nothing was deleted.'],
    ['\x04', 3, 'Nothing was deleted.'],
    ['y', 1, 'Deleted 2 sessions.'],
  ])('asks at a terminal, and takes %j for an answer', async (answer, count, words) => {
    const command = [process.execPath, binary('cuff'), 'record', 'clean'];
    const about = { cwd: journal.project, env: journal.cli.env, answer, wholly: true };
    const { err } = await atOwnTerminal(command, about);
    expect(err).toContain('Delete 2 sessions? [y/N] ');
    expect(err).toContain(words);
    expect(left()).toHaveLength(count);
  });

  it.skipIf(lacking(!mayDrop(), 'no way to be a user without rights to the journal'))(
    'says that it may not',
    async () => {
      for (const folder of [journal.project, journal.path('.cuff'), journal.directory]) {
        chmodSync(folder, 0o755);
      }
      chmodSync(journal.sessions, 0o555);
      for (const name of readdirSync(journal.sessions)) {
        chmodSync(join(journal.sessions, name), 0o644);
      }
      const clean = ['record', 'clean', '--force', '--older-than', '30d'];
      const where = ['--directory', journal.directory];
      const command = [...UNPRIVILEGED, process.execPath, binary('cuff'), ...clean, ...where];
      const live = journal.cli.start(command, { env: { CUFF_STATE_ROOT: '/nonexistent' } });
      const { code, err } = await live.result;
      chmodSync(journal.sessions, 0o700);
      expect([code, left().length]).toEqual([1, 3]);
      expect(err).toBe(
        `Journal: ${journal.directory}\n` +
          `Error: Cannot delete recordings in ${journal.directory}\n\n` +
          'Permission denied. Try running with appropriate permissions.\n',
      );
    },
  );

  it('says which are gone when it must stop half way', () => {
    const full = Object.assign(new Error('EIO'), { code: 'EIO' });
    const { removed, trouble } = cleanSessions('/srv/journal', ['a', 'b', 'c'], (_, id) => {
      if (id === 'b') throw full;
      return true;
    });
    expect([removed, trouble?.message, trouble?.hint]).toEqual([
      ['a'],
      'Cannot delete recordings in /srv/journal',
      'EIO. Nothing more was deleted.',
    ]);
  });
});
