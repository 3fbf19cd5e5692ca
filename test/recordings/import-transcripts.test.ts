// `cuff record import --from`: agents' transcripts become entries, each once, and none of them wins
// over what was recorded.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEdits } from '../../src/journal/edits.ts';
import { decodeEntry } from '../../src/journal/entry.ts';
import type { JsonObject } from '../../src/text/json.ts';
import type { Entry } from '../../src/types.ts';
import { binary, type Result } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';
import { Journal } from './helper.ts';
import {
  claudeCall,
  Home,
  NO_SAMPLES,
  SECOND_OF_CLAUDE,
  sampleText,
} from './transcripts/helper.ts';

let journal: Journal;
let home: Home;
beforeEach(() => {
  journal = new Journal();
  home = new Home();
});
afterEach(async () => {
  await journal.close();
  home.close();
});

function cuff(args: readonly string[], env: readonly string[] = []): Promise<Result> {
  const { child, result } = journal.start(args, journal.project, [`HOME=${home.path}`, ...env]);
  child.stdin?.end();
  return result;
}

async function imported(...args: readonly string[]) {
  const { out, err, code } = await cuff(['import', '--from', 'all', '--json', ...args]);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

function entries(directory = journal.directory): readonly Entry[] {
  const sessions = join(directory, 'sessions');
  if (!existsSync(sessions)) return [];
  const files = readdirSync(sessions).filter((name) => /^[^.]+\.jsonl$/.test(name));
  const lines = files.flatMap((name) => readFileSync(join(sessions, name), 'utf8').split('\n'));
  return lines.flatMap((line) => decodeEntry(line) ?? []);
}

function commands(directory?: string): readonly string[] {
  return entries(directory)
    .map(({ command }) => command)
    .sort();
}

const FILE = '.claude/projects/p/s1.jsonl';

/** Calls of the project, as Claude wrote them. */
function here(id: string, command: string, more: Parameters<typeof claudeCall>[2] = {}) {
  return claudeCall(id, command, { cwd: journal.project, ...more });
}

describe('an import', () => {
  it.skipIf(lacking(NO_SAMPLES, 'there are no samples'))(
    'of the samples has exactly these entries',
    async () => {
      home.write(FILE, sampleText('claude-2.1.325.jsonl'));
      home.write(
        '.codex/sessions/2026/11/17/rollout-x.jsonl',
        sampleText('codex-0.166.0-rollout.jsonl'),
      );
      home.write(
        '.copilot/session-state/c39/events.jsonl',
        sampleText('copilot-1.0.102-events.jsonl'),
      );
      const target = join(journal.project, 'elsewhere');
      const done = await imported('--all-projects', '--directory', target);
      expect(done).toMatchObject({
        commands: 8,
        sessions: 3,
        denied: 2,
        not_understood: 0,
        not_read: [],
      });
      const first = entries(target).find(({ tool_call_id }) => tool_call_id === 'toolu_stub1');
      expect(first).toEqual(SECOND_OF_CLAUDE);
      const denied = entries(target).find(({ tool_call_id }) => tool_call_id === 'toolu_stub3');
      expect(denied).toMatchObject({
        end_reason: 'denied',
        exit_code: null,
        stdout: null,
        stderr: expect.stringContaining('background operator'),
        decision: { verdict: 'deny', by: 'config' },
      });
      const codes = entries(target).map((one) => [one.agent_id, one.tool_call_id, one.exit_code]);
      expect(codes.sort()).toEqual([
        ['claude', 'toolu_stub0', 0],
        ['claude', 'toolu_stub1', 3],
        ['claude', 'toolu_stub2', null],
        ['claude', 'toolu_stub3', null],
        ['codex', 'call_stub0', 3],
        ['codex', 'call_stub1', 0],
        ['copilot', 'toolu_stub0', 3],
        ['copilot', 'toolu_stub1', null],
      ]);
    },
  );

  it('twice adds nothing, and of a file that grew only what is new', async () => {
    const path = home.lines(FILE, [...here('a', 'one'), ...here('b', 'two')]);
    expect(await imported()).toMatchObject({ commands: 2, sessions: 1, already_known: 0 });
    const before = entries();
    expect(await imported()).toMatchObject({ commands: 0, sessions: 0, already_known: 2 });
    expect(entries()).toEqual(before);
    appendFileSync(
      path,
      here('c', 'three')
        .map((one) => `${JSON.stringify(one)}\n`)
        .join(''),
    );
    expect(await imported()).toMatchObject({ commands: 1, already_known: 2 });
    const ids = new Set(entries().map(({ session_id }) => session_id));
    expect([commands(), ids.size]).toEqual([['one', 'three', 'two'], 1]);
    const [session] = await journal
      .json<{ sessions: JsonObject[] }>('list', '--json')
      .then((l) => l.sessions);
    expect(session).toMatchObject({ entry_count: 3, status: 'complete', end_reason: 'imported' });
  });

  it('says what it did in one sentence, and what is next', async () => {
    const refusal = { permissionDecision: { decision: 'reject', source: 'hook' } };
    home.lines(FILE, [...here('a', 'one'), ...here('b', 'two', { result: refusal })]);
    home.write('.claude/projects/p/x.jsonl', 'damaged\n{}\n');
    const { out, err } = await cuff(['import', '--from', 'claude', '--since', '10y']);
    expect(out).toBe('Imported 2 commands of 1 session (claude 1); 1 denied; 1 not understood.\n');
    expect(err).toBe('Next: cuff record generate --since 90d\n');
    const again = await cuff(['import', '--from', 'claude']);
    expect(again.out).toBe('Nothing new to import; 1 not understood.\n');
    expect(again.err).toBe('2 commands had an entry already.\n');
    const none = await cuff(['import', '--from', 'pi']);
    expect(none.out + none.err).toBe('Nothing new to import.\nThere are no transcripts here.\n');
  });

  it('takes only sessions of this project, and --all-projects a journal of its own', async () => {
    home.lines(FILE, [...here('a', 'mine'), ...here('b', 'cd /; mine, too', { cwd: '/' })]);
    const other = join(home.path, 'other');
    mkdirSync(other);
    home.lines(
      '.claude/projects/o/s2.jsonl',
      claudeCall('c', 'theirs', { cwd: other, session: 's2' }),
    );
    expect(await imported()).toMatchObject({ commands: 2, other_projects: 1 });
    expect(commands()).toEqual(['cd /; mine, too', 'mine']);
    const all = await imported('--all-projects');
    expect(all.directory).toBe(join(journal.cli.root, 'journals', 'all-projects'));
    expect(commands(all.directory)).toEqual(['cd /; mine, too', 'mine', 'theirs']);
    expect(existsSync(join(other, '.cuff'))).toBe(false);
    expect(await imported('--project', other)).toMatchObject({ commands: 1 });
    expect(commands(join(other, '.cuff', 'recordings'))).toEqual(['theirs']);
  });

  it('--dry-run counts and writes nothing', async () => {
    home.lines(FILE, here('a', 'one'));
    expect(await imported('--dry-run')).toMatchObject({ dry_run: true, commands: 1 });
    expect(existsSync(join(journal.project, '.cuff'))).toBe(false);
  });

  it('keeps which files were edited, once, and nothing that was in them', async () => {
    const input = { file_path: join(journal.project, 'a.ts'), old_string: 'x', new_string: 'y\nz' };
    const use = { type: 'tool_use', id: 'e', name: 'Edit', input };
    const common = { sessionId: 's1', cwd: journal.project, timestamp: '2026-11-01T10:00:01.000Z' };
    const done = { type: 'tool_result', tool_use_id: 'e', is_error: false };
    const edit = [
      { ...common, type: 'assistant', message: { content: [use] } },
      { ...common, type: 'user', message: { content: [done] } },
    ];
    home.lines(FILE, [...edit, ...here('a', 'one')]);
    expect(await imported('--dry-run')).toMatchObject({ file_edits: 1 });
    expect(await imported()).toMatchObject({ file_edits: 1 });
    expect(await imported()).toMatchObject({ file_edits: 0 });
    const [session = ''] = entries().map(({ session_id }) => session_id);
    expect(readEdits(journal.directory, session)).toEqual([
      {
        timestamp: '2026-11-01T10:00:01.000000Z',
        tool: 'Edit',
        path: join(journal.project, 'a.ts'),
        lines_added: 2,
        lines_removed: 1,
        hash_before: null,
        hash_after: null,
        failed: false,
        agent_id: 'claude',
        conversation_id: 's1',
        tool_call_id: 'e',
      },
    ]);
  });

  it('a call that may still run is left to the next import', async () => {
    const [ask = {}, answer = {}] = here('a', 'one');
    const path = home.lines(FILE, [ask]);
    expect(await imported()).toMatchObject({ commands: 0, still_running: 1 });
    appendFileSync(path, `${JSON.stringify(answer)}\n`);
    expect(await imported()).toMatchObject({ commands: 1, still_running: 0 });
    expect(entries()[0]).toMatchObject({ exit_code: 0 });
  });

  it('keeps no secret of the environment, and none that a command names', async () => {
    const secret = 'hunter2-is-a-long-secret';
    const result = { toolUseResult: { stdout: `token ${secret}`, stderr: '', interrupted: false } };
    home.lines(FILE, here('a', `API_TOKEN=abc123def456ghi curl -u ${secret} x`, { result }));
    journal.settings(
      'plugins:\n  bash_recorder:\n    config:\n      recording:\n        redact: true\n',
    );
    await cuff(['import', '--from', 'all', '--trust'], [`MY_SECRET=${secret}`]);
    const text = JSON.stringify(entries());
    expect(text).toContain('[REDACTED');
    expect(text).not.toContain(secret);
    expect(text).not.toContain('abc123def456ghi');
  });

  it('keeps no token and no secret variable that was printed, without any setting', async () => {
    const secret = 'hunter2-is-a-long-secret';
    const token = ['gl', 'pat-', 'a1B2c3D4e5F6g7H8i9J0'].join('');
    const stdout = `token ${token}\nline\n${Buffer.from(secret).toString('base64')}\n`;
    const result = { toolUseResult: { stdout, stderr: '', interrupted: false } };
    home.lines(FILE, here('a', 'make', { result }));
    await cuff(['import', '--from', 'all'], [`MY_SECRET=${secret}`]);
    expect(entries()[0]?.stdout).toBe(
      'token [REDACTED:gitlab-token]\nline\n[REDACTED:MY_SECRET]\n',
    );
  });

  it.each([
    [['x.jsonl', '--from', 'all'], 'A file and --from cannot be imported together'],
    [['--from', 'all', '--rejects', 'r'], "Option '--rejects' is for a file"],
    [['--from', 'nobody'], "Option '--from' is one of claude, codex"],
    [['--from', 'all', '--project', '.', '--all-projects'], 'contradict each other'],
    [['x.jsonl', '--dry-run'], "Option '--dry-run' needs --from"],
    [['--from', 'all', '--project', '/no/such/place'], 'There is no directory'],
  ])('import %j is refused', async (args, words) => {
    const { code, err } = await cuff(['import', ...args]);
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
  });
});

describe('a hostile transcript', () => {
  it('cannot leave the journal, write to the terminal or pollute anything', async () => {
    const nasty = '\u001b[2J\u202e ls\0 --x';
    const evil = {
      session: '../../../../../../tmp/cuff-evil',
      at: '+275760-09-13T00:00:00.000Z',
      more: { __proto__: null, constructor: 7, cwd: journal.project },
    };
    const forged = JSON.stringify(here('../../x', nasty, evil)[0]).replace(
      '"constructor":7',
      '"__proto__":{"polluted":true},"constructor":7',
    );
    const [, answer = {}] = here('../../x', nasty, evil);
    const huge = here('big', 'true', {
      result: { toolUseResult: { stdout: 'x', exitCode: 1e308 } },
    });
    const lines = [forged, ...[answer, ...huge].map((one) => JSON.stringify(one))];
    home.write(FILE, `${lines.join('\n')}\n`);
    const { out, err, code } = await cuff(['import', '--from', 'all']);
    expect(code).toBe(0);
    expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(readdirSync(journal.project)).toEqual(['.cuff']);
    expect(existsSync('/tmp/cuff-evil')).toBe(false);
    expect(commands()).toEqual([nasty, 'true'].sort());
    const shown = await cuff(['show', entries()[0]?.session_id ?? '', '--entries']);
    expect(shown.out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });
});

/** Runs it for real, as an agent's shell would. */
async function record(
  words: readonly string[],
  more: readonly string[] = [],
  session: readonly string[] = ['--session', 's1'],
): Promise<void> {
  const run = ['run', '--agent', 'claude', ...session, ...more, '--journal', '--cwd'];
  const command = [process.execPath, binary('cuff'), ...run, journal.project, '--', ...words];
  const { child, result } = journal.cli.start(command, { env: journal.env });
  child.stdin?.end();
  await result;
}

describe('beside recordings', () => {
  it('a call that was recorded is not imported, by its id or by its time', async () => {
    await record(['echo', 'named'], ['--tool-call', 'a']);
    const before = Date.now();
    await record(['echo', 'timed']);
    const at = new Date(before).toISOString();
    const later = new Date(before + 3_600_000).toISOString();
    home.lines(FILE, [
      ...here('a', 'echo named', { at }),
      ...here('b', 'echo timed', { at }),
      ...here('c', 'echo timed', { at: later }),
      ...here('d', 'echo new', { at }),
    ]);
    expect(await imported()).toMatchObject({ commands: 2, already_known: 2 });
    expect(
      entries()
        .map(({ command, source }) => [command, source])
        .sort(),
    ).toEqual([
      ['echo named', undefined],
      ['echo new', 'transcript'],
      ['echo timed', undefined],
      ['echo timed', 'transcript'],
    ]);
    expect(await imported()).toMatchObject({ commands: 0 });
  });

  it('a call whose shell did not know its session is not imported either', async () => {
    const at = new Date().toISOString();
    await record(['echo', 'unnamed'], [], []);
    home.lines(FILE, [...here('a', 'echo unnamed', { at }), ...here('b', 'echo unnamed', { at })]);
    expect(await imported()).toMatchObject({ commands: 1, already_known: 1 });
  });

  it('an import generates the rules that a recording of the same commands does', async () => {
    const ran = ['git status', 'git log --oneline', 'ls -la', 'ls src', 'git status', 'ls docs'];
    for (const command of ran) await record(command.split(' '));
    const recorded = await cuff(['generate', '--json']);
    const target = join(journal.project, 'imported');
    home.lines(
      FILE,
      ran.flatMap((command, i) => here(`c${i}`, command)),
    );
    await imported('--directory', target);
    const again = await cuff(['generate', '--json', '--directory', target]);
    expect(JSON.parse(again.out)).toEqual(JSON.parse(recorded.out));
    expect(JSON.parse(again.out).policies.length).toBeGreaterThan(0);
    const marked = await cuff(['generate', '--directory', target]);
    expect(marked.out).toMatch(/^# Marked as imported: (\d+) of \1 rules, which rest on/m);
    expect((await cuff(['generate'])).out).not.toContain('imported');
  });

  it('a denied call is no evidence, and a yes in a transcript changes nothing', async () => {
    const said = (decision: string, source: string) => ({
      permissionDecision: { decision, source },
    });
    const calls = (result: JsonObject, word: string) =>
      [1, 2, 3].flatMap((i) => here(`${word}${i}`, `${word} status`, { result }));
    home.lines(FILE, [
      ...calls(said('reject', 'config'), 'svn'),
      ...here('once', 'hg status', { result: said('accept', 'user') }),
      ...calls(said('accept', 'config'), 'git'),
    ]);
    expect(await imported()).toMatchObject({ commands: 7, denied: 3 });
    const { out } = await cuff(['generate']);
    expect(out).toContain('# Commands analyzed: 4');
    expect(out).toContain('pattern: "git status"');
    expect(out).not.toContain('svn');
    expect(out).not.toContain('pattern: "hg status"');
  });
});

const ZSTD = existsSync('/usr/bin/zstd');

describe('a packed rollout', () => {
  const rollout = (): readonly JsonObject[] => [
    { type: 'session_meta', payload: { id: 'z', cwd: journal.project } },
    {
      type: 'event_msg',
      payload: {
        type: 'item_completed',
        started_at_ms: 1_794_907_650_535,
        item: { type: 'CommandExecution', id: 'c', command: 'packed', exit_code: 0 },
      },
    },
  ];

  it.skipIf(lacking(!ZSTD, 'there is no zstd'))('is unpacked where zstd is installed', async () => {
    const plain = home.lines('plain', rollout());
    mkdirSync(join(home.path, '.codex/sessions'), { recursive: true });
    const packed = join(home.path, '.codex/sessions/rollout-a.jsonl.zst');
    await journal.cli.start(['zstd', '-q', plain, '-o', packed]).result;
    expect(await imported()).toMatchObject({ commands: 1, not_read: [] });
    expect(commands()).toEqual(['packed']);
  });

  it('is named where it cannot be unpacked', async () => {
    home.write('.codex/sessions/rollout-a.jsonl.zst', 'no zstd at all');
    const { err } = await cuff(['import', '--from', 'codex']);
    expect(err).toContain('rollout-a.jsonl.zst: it is packed, and zstd ');
  });
});
