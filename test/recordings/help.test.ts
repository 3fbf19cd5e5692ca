import { afterAll, describe, expect, it } from 'vitest';
import { RecorderPlugin } from '../../src/dialects/bash_recorder/dialect.ts';
import { RECORD_COMMANDS } from '../../src/recordings/commands.ts';
import { Journal } from './helper.ts';

const journal = new Journal();
afterAll(() => journal.close());

const GROUP = `\
Usage: cuff record <subcommand>

Subcommands:
  list      List recording sessions
  show      Show details of a recording session
  stats     Show statistics across recordings
  generate  Generate policy rules from recordings
  clean     Clean old recordings based on retention policy
  export    Export recordings to various formats
  search    Search commands and their output
  reindex   Rebuild index and catalog from the session files
  import    Import agents' transcripts, JSON lines or an asciicast
  review    Show what agents did that deserves a look
  leaks     Find secrets in commands and their output

Help for one of them: cuff record <subcommand> --help
`;

describe('the help of cuff record', () => {
  it('lists the subcommands, each with its line', async () => {
    for (const args of [['--help'], ['help']]) {
      const { code, out, err } = await journal.run(...args);
      expect([code, out, err]).toEqual([0, GROUP, '']);
    }
    const none = await journal.run();
    expect([none.code, none.out, none.err]).toEqual([2, '', GROUP]);
  });

  it('is of each subcommand what the plugin declares', async () => {
    expect(RecorderPlugin.getCliCommands()).toBe(RECORD_COMMANDS);
    expect(RECORD_COMMANDS.slice(0, 6).map(({ name, help }) => [name, help])).toEqual([
      ['list', 'List recording sessions'],
      ['show', 'Show recording session details'],
      ['stats', 'Show recording statistics'],
      ['generate', 'Generate policy rules from recordings'],
      ['clean', 'Clean old recordings'],
      ['export', 'Export recordings'],
    ]);
    for (const { name, help, options } of RECORD_COMMANDS) {
      const { code, out } = await journal.run(name, '--help');
      expect([code, out.startsWith(`Usage: cuff record ${name} [OPTIONS]`)]).toEqual([0, true]);
      expect(out).toContain(`\n${help}\n`);
      for (const option of options) expect(out).toContain(`  ${option.flag}`);
      expect((await journal.run('help', name)).out).toBe(out);
    }
  });

  it('shows the options as the seed does', async () => {
    const { out } = await journal.run('show', '--help');
    expect(out).toBe(`\
Usage: cuff record show [OPTIONS] SESSION_ID

Show recording session details

Arguments:
  SESSION_ID   Session ID or partial match

Options:
  --entries         Show individual command entries
  --output          Show command output (requires --entries)
  --format TEXT     Output format: table, json, yaml (default: table)
  --json            Same as --format json
  --directory DIR   The journal (default: from settings, else .cuff/recordings here or above)
  --trust           The settings of this project count, for this command
  --help            Show this text

Examples:
  cuff record show 20260118_143052_a7b3c9d2
  cuff record show 143052 --entries
  cuff record show 143052 --entries --output
`);
  });

  it('declares what appendix B declares', () => {
    const option = (name: string, flag: string) =>
      RECORD_COMMANDS.find((one) => one.name === name)?.options.find((one) => one.flag === flag);
    for (const name of ['show', 'export']) {
      const command = RECORD_COMMANDS.find((one) => one.name === name);
      expect(command?.arguments.map((one) => one.name)).toEqual(['SESSION_ID']);
    }
    expect(option('list', '--limit')).toMatchObject({ type: 'integer', default: 20 });
    expect(option('generate', '--min-frequency')).toMatchObject({ type: 'integer', default: 2 });
    expect(option('generate', '--strategy')?.default).toBe('pattern');
    for (const name of ['generate', 'export']) expect(option(name, '--output')?.type).toBe('path');
    const flags = ['show --entries', 'show --output', 'clean --dry-run', 'clean --force'];
    for (const words of [...flags, 'list --verbose']) {
      const [name = '', flag = ''] = words.split(' ');
      expect([words, option(name, flag)?.type]).toEqual([words, 'flag']);
    }
    const formats = ['list', 'show', 'stats', 'generate', 'export'].map(
      (name) => option(name, '--format')?.default,
    );
    expect(formats).toEqual(['table', 'table', 'table', 'yaml', 'json']);
  });

  it('wants the arguments that it names', async () => {
    for (const name of ['show', 'export', 'search', 'import']) {
      const { code, out, err } = await journal.run(name);
      expect([name, code, out]).toEqual([name, 2, '']);
      expect(err).toMatch(/^Error: Missing argument (SESSION_ID|TEXT|FILE)\n/);
    }
  });

  it('refuses a strategy that there is not', async () => {
    const wrong = await journal.run('generate', '--strategy', 'wild');
    expect([wrong.code, wrong.err.split('\n')[0]]).toEqual([
      2,
      "Error: Option '--strategy' is one of exact, pattern, semantic, not 'wild'",
    ]);
  });
});
