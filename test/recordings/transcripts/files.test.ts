// Finding and reading the files of agents: what is there, what stands in its place, and what is
// said about each.
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSqlite } from '../../../src/journal/sqlite.ts';
import { TRANSCRIPT_AGENTS } from '../../../src/recordings/transcripts/agents.ts';
import { TranscriptTally, transcriptFacts } from '../../../src/recordings/transcripts/read.ts';
import type { JsonObject } from '../../../src/text/json.ts';
import type { Env } from '../../../src/types.ts';
import { lacking } from '../../requirements.ts';
import { claudeCall, Home } from './helper.ts';

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.close());

type Options = { env?: Env; since?: number; projects?: readonly string[] };

function read({ env = home.env, since, projects = [] }: Options = {}) {
  const tally = new TranscriptTally();
  const query = { agents: TRANSCRIPT_AGENTS, env, projects, since };
  const found = [...transcriptFacts(query, tally)];
  const commands = found.flatMap((one) => (one.kind === 'call' ? one.call.command : []));
  const unread = tally.unread.map(({ path, why }) => [path.slice(home.path.length + 1), why]);
  return { found, commands, unread, tally };
}

const CLAUDE = '.claude/projects/-srv-app/s1.jsonl';

describe('a damaged file', () => {
  it('loses nothing but the damaged lines, and a line that is being written is not damaged', () => {
    const [ask = {}, answer = {}] = claudeCall('a', 'one');
    const lines = [ask, answer].map((one) => JSON.stringify(one));
    const torn = '{"type":"assistant","message":{"content":[{"ty';
    home.write(CLAUDE, `not json\n${lines.join('\n\n')}\n7\n\0\x01\x02\n[]\n${torn}`);
    const { commands, tally } = read();
    expect(commands).toEqual(['one']);
    expect(tally.unknown).toBe(4);
    expect(tally.unknownAt.map(({ line }) => line)).toEqual([1, 5, 6, 7]);
  });

  it('a last line without an end counts once it is whole', () => {
    home.write(
      CLAUDE,
      claudeCall('a', 'one')
        .map((one) => JSON.stringify(one))
        .join('\n'),
    );
    expect(read().commands).toEqual(['one']);
  });

  it('a line that is too long is passed over', () => {
    const [ask = {}, answer = {}] = claudeCall('a', 'one').map((one) => JSON.stringify(one));
    const long = `{"x":"${'y'.repeat(34_000_000)}"}`;
    home.write(CLAUDE, `${ask}\n${long}\n${answer}\n`);
    const { commands, tally } = read();
    expect([commands, tally.unknown]).toEqual([['one'], 1]);
  });

  it('100,000 lines are read one by one', () => {
    const filler = `${JSON.stringify({ type: 'progress', text: 'x'.repeat(100) })}\n`;
    const [ask = {}, answer = {}] = claudeCall('a', 'one').map((one) => JSON.stringify(one));
    home.write(CLAUDE, `${ask}\n${filler.repeat(100_000)}${answer}\n`);
    const { found } = read();
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ call: { command: 'one', exitCode: 0, line: 1 } });
  });

  it('calls without results beyond what any session has are given up, the oldest first', () => {
    const asks = Array.from({ length: 5000 }, (_, i) => claudeCall(`a${i}`, `c${i}`)[0] ?? {});
    home.lines(CLAUDE, asks);
    expect(read().commands).toHaveLength(5000);
  });
});

describe('what is no transcript', () => {
  it('links, directories and files of others are named and not read', () => {
    const secret = home.write('secret', '{"type":"assistant"}\n');
    mkdirSync(join(home.path, '.claude/projects/p/d.jsonl'), { recursive: true });
    symlinkSync(secret, join(home.path, '.claude/projects/p/l.jsonl'));
    symlinkSync('/', join(home.path, '.claude/projects/root'));
    expect(read().unread).toEqual([
      ['.claude/projects/p/d.jsonl', 'it is no regular file'],
      ['.claude/projects/p/l.jsonl', 'it is a link'],
    ]);
  });

  it.skipIf(lacking(process.geteuid?.() !== 0, 'only root may give files away'))(
    'a file of another user is not read',
    () => {
      chownSync(home.lines(CLAUDE, claudeCall('a', 'one')), 12_345, 12_345);
      const { commands, unread } = read();
      expect([commands, unread]).toEqual([[], [[CLAUDE, 'it belongs to another user']]]);
    },
  );

  it.skipIf(lacking(process.geteuid?.() === 0, 'root may read everything'))(
    'a directory that may not be read is named',
    () => {
      home.lines(CLAUDE, claudeCall('a', 'one'));
      const folder = join(home.path, '.claude/projects/-srv-app');
      chmodSync(folder, 0);
      const { unread } = read();
      chmodSync(folder, 0o700);
      expect(unread).toEqual([
        ['.claude/projects/-srv-app', 'the directory cannot be read (EACCES)'],
      ]);
    },
  );

  it('files beside the transcripts are none', () => {
    home.lines('.claude/history.jsonl', claudeCall('a', 'one'));
    home.lines('.claude/projects/p/s1/tool-results/x.jsonl', claudeCall('b', 'two'));
    home.lines('.codex/history.jsonl', claudeCall('c', 'three'));
    expect(read()).toMatchObject({ commands: [], unread: [] });
  });
});

describe('where files are', () => {
  it('the variables of the agents are honoured, relative ones are not', () => {
    const other = new Home();
    other.lines('projects/p/s.jsonl', claudeCall('a', 'elsewhere'));
    home.lines(CLAUDE, claudeCall('b', 'usual'));
    const env = { ...home.env, CLAUDE_CONFIG_DIR: other.path };
    expect(read({ env }).commands).toEqual(['elsewhere']);
    expect(read({ env: { ...env, CLAUDE_CONFIG_DIR: 'projects' } }).commands).toEqual(['usual']);
    other.close();
  });

  it("an agent's directory may itself be a link", () => {
    const other = new Home();
    other.lines('projects/p/s.jsonl', claudeCall('a', 'linked'));
    symlinkSync(other.path, join(home.path, '.claude'));
    expect(read().commands).toEqual(['linked']);
    other.close();
  });

  it('subagents belong to their session', () => {
    const more = { isSidechain: true, agentId: 'x1' };
    home.lines('.claude/projects/p/s1/subagents/agent-x1.jsonl', claudeCall('a', 'ls', { more }));
    expect(read().found[0]).toMatchObject({ call: { session: 's1', sidechain: 'x1' } });
  });

  it('a file that was last written before the period is not opened', () => {
    const old = home.lines(CLAUDE, claudeCall('a', 'old'));
    utimesSync(old, 1000, 1000);
    home.lines('.claude/projects/p/s2.jsonl', claudeCall('b', 'new', { session: 's2' }));
    const { commands, tally } = read({ since: Date.parse('2026-10-01T00:00:00Z') });
    expect([commands, tally.files.get('claude')]).toEqual([['new'], 1]);
  });

  it('Gemini and Cursor: the directory by the list beside, or by the name', () => {
    const args = { id: 'g', name: 'run_shell_command', args: { command: 'x' } };
    const result = [{ functionResponse: { response: { output: 'Output: a' } } }];
    const records = [{ sessionId: 's', toolCalls: [{ ...args, result }] }];
    home.write('.gemini/projects.json', '{"projects":{"/srv/listed":"short"}}');
    home.lines('.gemini/tmp/short/chats/session-1.jsonl', records);
    const content = [{ type: 'tool_use', name: 'Shell', input: { command: 'ls' } }];
    const cursor = '.cursor/projects/srv-my-app/agent-transcripts/u/u.jsonl';
    home.lines(cursor, [{ role: 'assistant', message: { content } }]);
    const homes = (projects: readonly string[]) =>
      read({ projects }).found.map((one) => [one.file.agent, one.home]);
    expect(homes([])).toEqual([
      ['gemini', '/srv/listed'],
      ['cursor', null],
    ]);
    expect(homes(['/srv/my.app'])[1]).toEqual(['cursor', '/srv/my.app']);
  });

  it('Cline: the directory by the file beside', () => {
    const input = { commands: ['ls'] };
    const content = [{ type: 'tool_use', id: 'c', name: 'run_commands', input }];
    const document = { version: 1, sessionId: 'k', messages: [{ role: 'assistant', content }] };
    home.write('.cline/data/sessions/k/k.messages.json', JSON.stringify(document));
    home.write('.cline/data/sessions/k/k.json', '{"session_id":"k","cwd":"/srv/app"}');
    expect(read().found[0]).toMatchObject({
      home: '/srv/app',
      call: { session: 'k', command: 'ls', end: 'open' },
    });
  });

  it('the one document of older versions', () => {
    const args = { id: 'g', name: 'run_shell_command', args: { command: 'old' } };
    const result = [{ functionResponse: { response: { output: 'Output: a\nExit Code: 4' } } }];
    const messages = [{ type: 'gemini', toolCalls: [{ ...args, result }] }];
    home.write('.gemini/tmp/p/chats/session-1.json', JSON.stringify({ sessionId: 'z', messages }));
    expect(read().found[0]).toMatchObject({ call: { session: 'z', command: 'old', exitCode: 4 } });
  });
});

it('a session that was resumed or forked does not repeat its calls', () => {
  home.lines('.claude/projects/p/s1.jsonl', claudeCall('a', 'one'));
  const forked = [...claudeCall('a', 'one', { session: 's2' }), ...claudeCall('b', 'two')];
  home.lines('.claude/projects/p/s2.jsonl', forked);
  expect(read().commands).toEqual(['one', 'two']);
});

describe('output in a file', () => {
  const withFile = (path: string): readonly JsonObject[] =>
    claudeCall('a', 'one', {
      result: { toolUseResult: { stdout: 'head', stderr: '', persistedOutputPath: path } },
    });

  it('is read where the agent keeps its own files', () => {
    const path = home.write('.claude/projects/p/s1/tool-results/a.txt', 'all of it');
    home.lines(CLAUDE, withFile(path));
    expect(read().found[0]).toMatchObject({ call: { output: 'all of it', truncated: false } });
  });

  it('is not read anywhere else, also not behind a link', () => {
    const secret = home.write('.ssh/id_rsa', 'secret');
    home.lines(CLAUDE, withFile(secret));
    const kept = { call: { output: 'head', truncated: true } };
    expect(read().found[0]).toMatchObject(kept);
    const link = join(home.path, '.claude/projects/link');
    symlinkSync(secret, link);
    home.lines(CLAUDE, withFile(link));
    expect(read().found[0]).toMatchObject(kept);
  });
});

describe('OpenCode', () => {
  const part = (command: string, call: string): string =>
    JSON.stringify({
      type: 'tool',
      tool: 'bash',
      callID: call,
      state: {
        status: 'completed',
        input: { command },
        output: 'o',
        metadata: { exit: 3 },
        time: { start: 1_794_906_396_800, end: 1_794_906_397_621 },
      },
    });
  const sqlite = loadSqlite();

  it.skipIf(lacking(sqlite === undefined, 'this Node has no SQLite'))(
    'a database that is being written is read with its log, and left as it is',
    () => {
      const path = join(home.path, '.local/share/opencode/opencode.db');
      mkdirSync(join(home.path, '.local/share/opencode'), { recursive: true });
      const database = sqlite?.open(path);
      database?.exec('PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0');
      database?.exec('CREATE TABLE session (id TEXT, directory TEXT)');
      database?.exec('CREATE TABLE part (id TEXT, session_id TEXT, data TEXT)');
      database?.run("INSERT INTO session VALUES ('ses_1', '/srv/app')");
      for (let i = 0; i < 450; i += 1) {
        database?.run(
          'INSERT INTO part VALUES (?, ?, ?)',
          `p${i}`,
          'ses_1',
          part(`c${i}`, `k${i}`),
        );
      }
      database?.run("INSERT INTO part VALUES ('t', 'ses_1', '{\"type\":\"text\"}')");
      database?.exec('BEGIN IMMEDIATE');
      database?.run('INSERT INTO part VALUES (?, ?, ?)', 'q', 'ses_1', part('uncommitted', 'u'));
      const before = tree(home.path);
      const { found, commands } = read();
      expect(tree(home.path)).toEqual(before);
      expect(commands).toHaveLength(450);
      expect(found[0]).toMatchObject({
        home: '/srv/app',
        call: { command: 'c0', exitCode: 3, session: 'ses_1', durationMs: 821 },
      });
      database?.exec('COMMIT');
      expect(read().commands.at(-1)).toBe('uncommitted');
      database?.close();
    },
  );

  it('a damaged database is named', () => {
    home.write('.local/share/opencode/opencode.db', 'SQLite format 3\0garbage'.repeat(100));
    expect(read().unread).toEqual([['.local/share/opencode/opencode.db', 'it is damaged']]);
  });

  it('files of older versions', () => {
    const data = { ...JSON.parse(part('old', 'k')), sessionID: 'ses_2', messageID: 'm' };
    home.write('.local/share/opencode/storage/part/m/p.json', JSON.stringify(data));
    const session = JSON.stringify({ directory: '/srv/old' });
    home.write('.local/share/opencode/storage/session/proj/ses_2.json', session);
    expect(read().found[0]).toMatchObject({ home: '/srv/old', call: { command: 'old' } });
    const forged = { ...data, sessionID: '../../../../../../etc/passwd', callID: 'k2' };
    home.write('.local/share/opencode/storage/part/m/q.json', JSON.stringify(forged));
    expect(read().found[1]).toMatchObject({ home: null });
  });
});

/** Every file with its bytes. */
function tree(folder: string): readonly (readonly [string, string])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => [path, readFileSync(path).toString('base64')]);
}
