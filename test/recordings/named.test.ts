import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { binary } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';
import { addSamples, Journal } from './helper.ts';

const SUBCOMMANDS: readonly (readonly string[])[] = [
  ['list'],
  ['list', '--json'],
  ['show', '143052'],
  ['stats'],
  ['generate'],
  ['clean', '--dry-run'],
  ['export', 'all'],
  ['search', 'git'],
  ['reindex'],
];

function fresh(): Journal {
  const made = new Journal();
  onTestFinished(() => made.close());
  return made;
}

describe('a journal that was named', () => {
  it('and does not exist is an error of every subcommand', async () => {
    const journal = fresh();
    addSamples(journal);
    const words = `Cannot read the journal ${journal.path('typo')}: There is no such directory`;
    for (const one of SUBCOMMANDS) {
      const { code, out, err } = await journal.run(...one, '--directory', 'typo');
      expect([one, code, out]).toEqual([one, 1, '']);
      expect(err).toBe(`Error: ${words}\n\nHint: Look at how it is spelled.\n`);
    }
  });

  it('and is a file is an error', async () => {
    const journal = fresh();
    writeFileSync(journal.path('file'), '');
    for (const name of ['file', 'file/below']) {
      const { code, err } = await journal.run('stats', '--directory', name);
      expect([name, code]).toEqual([name, 1]);
      expect(err).toMatch(/is not a directory|There is no such directory/);
    }
  });

  it('is an error of `cuff policy test`, too', async () => {
    const journal = fresh();
    writeFileSync(journal.path('policy.yml'), 'policies: []\n');
    const args = ['policy', 'test', journal.path('policy.yml'), '--directory'];
    const { code, err } = await journal.cli.cuff(...args, journal.path('typo'));
    expect([code, err.split('\n')[0]]).toEqual([
      1,
      `cuff: Cannot read the journal ${journal.path('typo')}: There is no such directory`,
    ]);
  });

  const other = { uid: 65_534, gid: 65_534, cwd: '/', encoding: 'utf8' } as const;
  const cuff = (...args: readonly string[]) =>
    spawnSync(process.execPath, [binary('cuff'), ...args], other);
  const mayDrop = process.getuid?.() === 0 && cuff('--version').status === 0;

  it.skipIf(lacking(!mayDrop, 'no other user can start the program here'))(
    'and may not be read is an error',
    async () => {
      const journal = fresh();
      addSamples(journal);
      chmodSync(journal.project, 0o755);
      const { status, stderr } = cuff('record', 'list', '--directory', journal.directory);
      expect([status, stderr]).toEqual([1, expect.stringMatching(/^Error: .*: EACCES\n/)]);
    },
  );

  it.skipIf(lacking(!mayDrop, 'no other user can start the program here'))(
    'and has a session that may not be read says so',
    async () => {
      const journal = fresh();
      addSamples(journal);
      chmodSync(journal.project, 0o755);
      const [hidden = ''] = readdirSync(journal.sessions).filter((name) => name.endsWith('.jsonl'));
      chmodSync(join(journal.sessions, hidden), 0);
      // A mode keeps out every user but root.
      const folders = [journal.path('.cuff'), journal.directory, journal.sessions];
      const files = readdirSync(journal.sessions).map((name) => join(journal.sessions, name));
      for (const path of [...folders, ...files]) chownSync(path, other.uid, other.gid);
      const said = '1 session is left out: this user may not read the files.';
      const asked = (...words: readonly string[]) =>
        cuff('record', ...words, '--directory', journal.directory);
      const whole = [['stats'], ['search', 'nowhere'], ['export', 'all'], ['generate']];
      for (const words of whole) expect(asked(...words).stderr).toContain(said);
      const found = JSON.parse(asked('search', 'nowhere', '--json').stdout);
      expect(found.not_searched).toMatchObject({ unreadable_sessions: 1 });
      expect(JSON.parse(asked('stats', '--json').stdout)).toMatchObject({ unreadable_sessions: 1 });
      for (const command of ['show', 'export']) {
        const { status, stderr } = asked(command, hidden.replace('.jsonl', ''));
        expect([status, stderr]).toEqual([1, expect.stringContaining('Cannot read the session')]);
      }
    },
  );
});

describe('where there is no journal in the usual place', () => {
  it('every subcommand says that there are no recordings', async () => {
    const journal = fresh();
    for (const one of SUBCOMMANDS.filter((words) => !words.includes('--json'))) {
      const { code, out, err } = await journal.run(...one);
      expect([one, code]).toEqual([one, one[0] === 'show' ? 1 : 0]);
      expect(out + err).toContain('No recordings found.\n\nRecordings are created when the Bash');
    }
  });
});
