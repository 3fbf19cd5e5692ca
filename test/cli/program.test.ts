import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { binary, Cli, type Result } from './helper.ts';

const cli = new Cli();
afterAll(() => cli.close());

const RUN = 'derun run [--session-id <id>] [--retention <duration>] -- <command> [args...]';

async function derun(...args: readonly string[]): Promise<Result> {
  const live = cli.start([process.execPath, binary('derun'), ...args]);
  live.child.stdin?.end();
  return live.result;
}

describe('derun', () => {
  it('runs a command', async () => {
    const ran = await derun('run', '--session-id', 'routed', '--', 'sh', '-c', 'echo hi; exit 7');
    expect([ran.code, ran.out, ran.err]).toEqual([7, 'hi\n', '']);
    expect(readFileSync(join(cli.dir('routed'), 'output.bin'), 'utf8')).toBe('hi\n');
  });

  it('explains itself on stdout when asked', async () => {
    for (const word of ['help', '--help', '-h']) {
      const { code, out, err } = await derun(word);
      expect([code, out, err]).toEqual([
        0,
        `usage: ${RUN}\n       derun mcp\n       derun help\n`,
        '',
      ]);
    }
  });

  it('explains itself on stderr when called without a command', async () => {
    const { code, out, err } = await derun();
    expect([code, out, err]).toEqual([
      2,
      '',
      `usage: ${RUN}\n       derun mcp\n       derun help\n`,
    ]);
  });

  it('knows no other command', async () => {
    for (const word of ['ls', 'tail', 'kill', 'runn']) {
      const { code, out, err } = await derun(word);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain(`derun: There is no command '${word}'.\nusage: ${RUN}\n`);
    }
  });
});

describe('cuff', () => {
  it('tells its version', async () => {
    const { version } = JSON.parse(
      readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
    );
    const { code, out, err } = await cli.cuff('--version');
    expect([code, out, err]).toEqual([0, `${version}\n`, '']);
  });

  it('lists its commands when asked', async () => {
    const asked = await cli.cuff('help');
    expect([asked.code, asked.err]).toEqual([0, '']);
    const commands = [...asked.out.matchAll(/^ {2}([a-z]+)/gm)].map((match) => match[1]);
    expect(commands).toEqual([
      ...'run sh exec ls tail cat play trace'.split(' '),
      ...'ps kill pin sweep identity init trust mcp hook'.split(' '),
      ...['record', 'policy'],
      ...['status', 'ui', 'seal', 'verify', 'prove', 'redact', 'doctor', 'demo', 'help'],
    ]);
  });

  it('called without one, tells what is recorded here and the next step', async () => {
    const project = mkdtempSync(join(cli.root, 'project-'));
    const bare = async () => {
      const cd = ['/bin/sh', '-c', 'cd "$0" && exec "$@"', project];
      const live = cli.start([...cd, process.execPath, binary('cuff')]);
      live.child.stdin?.end();
      return live.result;
    };
    const before = await bare();
    expect([before.code, before.err]).toEqual([0, '']);
    expect(before.out).toContain('\nNothing is recorded here yet.\n');
    expect(before.out).toContain('\ncuff record review --from all ');
    expect(before.out).toContain('\ncuff help ');
    await cli.cuff('run', '--journal', '--cwd', project, '--', 'true');
    const { code, out, err } = await bare();
    expect([code, err]).toEqual([0, '']);
    const journal = join(project, '.cuff', 'recordings');
    expect(out).toContain(`\nRecorded: 1 command of 1 session, in ${journal}\n`);
    expect(out).toContain('\ncuff record list ');
    writeFileSync(join(project, 'bad.yml'), 'plugins: [');
    const env = { CUFF_SETTINGS: join(project, 'bad.yml') };
    const wrong = await cli.start([process.execPath, binary('cuff')], { env }).result;
    expect(wrong.code).toBe(0);
    expect(wrong.out).toContain('bad.yml');
    expect(wrong.out).toContain('\ncuff doctor ');
  });

  it('has help with an example for every command', async () => {
    for (const command of 'run sh exec ls tail cat trace ps kill pin sweep doctor'.split(' ')) {
      const { code, out, err } = await cli.cuff('help', command);
      expect([command, code, err]).toEqual([command, 0, '']);
      expect(out).toContain(`Usage: cuff ${command}`);
      expect(out).toContain(`\nExamples:\n  cuff ${command}`);
    }
  });

  it('suggests the nearest command', async () => {
    const { code, out, err } = await cli.cuff('tial', 'x');
    expect([code, out]).toEqual([2, '']);
    expect(err).toBe("cuff: unknown command 'tial'\n(Did you mean tail?)\nTry `cuff help`.\n");
  });

  it('exits 2 with the next step for every wrong call', async () => {
    const calls: readonly (readonly [string, string])[] = [
      ['--nope', "cuff: unknown option '--nope'\nTry `cuff help`.\n"],
      ['ls --nope', "cuff: unknown option '--nope'\nTry `cuff help ls`.\n"],
      [
        'mcp --dialect zsh',
        "cuff: There is no dialect 'zsh'.\nSay one of bash_recorder, claude_code, codex, " +
          'cuff_shell, phoenix_bash, pipe_bash.\n',
      ],
      [
        'mcp --dialect codex --dialect pipe_bash',
        "cuff: --dialect is 'codex' and 'pipe_bash'.\n" +
          'Say one: a server runs commands with the tools of one dialect.\n',
      ],
      [
        'ls --state gone',
        "cuff: option '--state <state>' argument 'gone' is invalid. Allowed choices are " +
          'starting, running, exited, signaled, failed, expired.\nTry `cuff help ls`.\n',
      ],
      [
        'ls --limit 0',
        "cuff: option '--limit <n>' argument '0' is invalid. " +
          'It must be a whole number from 1.\nTry `cuff help ls`.\n',
      ],
      [
        'tail -n x id',
        "cuff: option '-n, --lines <n>' argument 'x' is invalid. " +
          'It must be a whole number.\nTry `cuff help tail`.\n',
      ],
      [
        'cat --stdout --stderr id',
        "cuff: option '--stdout' cannot be used with option '--stderr'\nTry `cuff help cat`.\n",
      ],
      [
        'kill --grace soon id',
        "cuff: option '--grace <duration>' argument 'soon' is invalid. " +
          'It is not a duration like 500ms, 10s or 1h.\nTry `cuff help kill`.\n',
      ],
      [
        'kill --signal NOPE id',
        "cuff: There is no signal 'NOPE'.\n" +
          'Use a name or a number as in `kill -l`: TERM, HUP, INT, USR1, 9.\n',
      ],
    ];
    for (const [words, expected] of calls) {
      const { code, out, err } = await cli.cuff(...words.split(' '));
      expect([words, code, out, err]).toEqual([words, 2, '', expected]);
    }
  });
});
