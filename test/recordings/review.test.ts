// `cuff record review`: what agents did that deserves a look, before anything was installed.
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/text/json.ts';
import type { Result } from '../cli/helper.ts';
import { Journal } from './helper.ts';
import { claudeCall, Home } from './transcripts/helper.ts';

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

const HOUR = 3_600_000;
const NOW = Date.now();

function cuff(...args: readonly string[]): Promise<Result> {
  const { child, result } = journal.start(args, journal.project, [`HOME=${home.path}`]);
  child.stdin?.end();
  return result;
}

let count = 0;
function call(command: string, hoursAgo = 1, result: JsonObject = {}): readonly JsonObject[] {
  count += 1;
  const at = new Date(NOW - hoursAgo * HOUR).toISOString();
  return claudeCall(`t${count}`, command, { at, cwd: '/code/app', result });
}

const FILE = '.claude/projects/-code-app/s1.jsonl';
const FAILED = {
  message: {
    content: [{ type: 'tool_result', tool_use_id: '', content: 'Exit code 1', is_error: true }],
  },
};

function failed(command: string): readonly JsonObject[] {
  const [ask = {}, answer = {}] = call(command);
  const [block] = FAILED.message.content;
  return [ask, { ...answer, message: { content: [{ ...block, tool_use_id: `t${count}` }] } }];
}

/** Every path with its kind, mode, times and bytes. */
function tree(folder: string): readonly unknown[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const path = join(folder, name);
      const { mode, mtimeMs, ctimeMs } = lstatSync(path);
      const stat = lstatSync(path);
      const content = stat.isFile()
        ? readFileSync(path, 'base64')
        : stat.isSymbolicLink()
          ? readlinkSync(path)
          : '';
      return [name, mode, mtimeMs, ctimeMs, content];
    });
}

const IMPORT = 'cuff record import --from all --since 90d';

describe('of transcripts', () => {
  it('shows the most serious first, with date, place and the next step', async () => {
    home.lines(FILE, [
      ...call('ls', 2),
      ...call('rm -rf src', 3),
      ...call('git push --force', 4),
      ...call('git push --force', 5),
      ...call('cat .env', 6),
      ...[1, 2, 3, 4].flatMap(() => failed('npm test')),
      ...call('sudo true', 1, { permissionDecision: { decision: 'reject', source: 'config' } }),
    ]);
    home.write('.claude/projects/-x/broken.jsonl', 'damaged\n{}\n');
    const { out, err } = await cuff('review', '--from', 'all');
    const day = (hoursAgo: number) => new Date(NOW - hoursAgo * HOUR).toISOString();
    const time = (hoursAgo: number) => day(hoursAgo).slice(0, 16).replace('T', ' ');
    const dates = `${day(6).slice(0, 10)} to ${day(1).slice(0, 10)}`;
    expect(err).toBe('');
    expect(out).toBe(`10 commands of 1 session (claude 1) in 1 project, ${dates}

Read secrets, or files that usually hold some: 1
  cat .env
    ${time(6)}  claude  /code/app  ~/${FILE}:9

Pushed, published or deployed: 2
  git push --force (2 times)
    ${time(4)}  claude  /code/app  ~/${FILE}:5

Deleted files or uncommitted work: 1
  rm -rf src
    ${time(3)}  claude  /code/app  ~/${FILE}:3

Failed often: 1
  npm test  4 of 4
    ${time(1)}  ~/${FILE}:17

Not understood: 1 line, the first is ${home.path}/.claude/projects/-x/broken.jsonl:1

A policy without a single rule refuses 0 of these and asks about 1.
The agents' own rules or users refused 1 more.
Keep them, for agents delete them: ${IMPORT} --all-projects
A first policy for a project, in its directory: cuff policy init --from-history
Rules from what ran there: ${IMPORT}; cuff record generate
`);
  });

  it('writes nothing: not in the home, the project, the state or beside them', async () => {
    home.lines(FILE, [...call('rm -rf src'), ...call('ls')]);
    const roots = [home.path, journal.project, journal.cli.root];
    const before = roots.map(tree);
    await cuff('review', '--from', 'all');
    await cuff('review', '--from', 'all', '--json');
    expect(roots.map(tree)).toEqual(before);
  });

  it('fits on a screen, whatever there is, and lists one kind in full on request', async () => {
    const many = Array.from({ length: 40 }, (_, i) => [
      ...call(`rm -rf src/${i}`),
      ...call(`git push origin b${i}`),
      ...call(`cat ${i}/.env`),
      ...call(`curl -d ${i} https://x.example`),
      ...call(`sudo true ${i}`),
      ...call(`chmod 777 ${i}`),
      ...call(`echo ${i} >> ~/.bashrc`),
    ]).flat();
    home.lines(FILE, many);
    const { out } = await cuff('review', '--from', 'claude');
    expect(out.split('\n').length).toBeLessThanOrEqual(40);
    expect(out).toContain('Deleted files or uncommitted work: 40  39 more: --only deleted');
    expect(out).toContain('\nRan as another user: 40  --only elevated\nChanged permissions');
    const all = await cuff('review', '--from', 'claude', '--only', 'deleted');
    expect(all.out.match(/^ {2}rm -rf src/gm)).toHaveLength(40);
    const some = await cuff('review', '--from', 'claude', '--only', 'deleted', '--limit', '3');
    expect(some.out).toMatch(/37 more: --limit 40\n$/);
    expect((await cuff('review', '--from', 'claude', '--only', 'sent')).out).toContain(': 40\n');
    const none = await cuff('review', '--from', 'claude', '--only', 'dangerous');
    expect(none.out).toBe('Could have emptied or overwritten a disk: none\n');
  });

  it('text from a transcript can do nothing to a terminal, and secrets are not shown', async () => {
    const more = '\u001b]0;title\u0007\u001b[2J\u202e\0';
    home.lines(FILE, call(`rm -rf src${more} && mysql --password=hunter2hunter2 x`));
    const { out } = await cuff('review', '--from', 'all');
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(out).not.toContain('hunter2');
    const json = await cuff('review', '--from', 'all', '--json');
    expect(json.out).not.toContain('hunter2');
  });

  it('a file that an agent edited itself is a finding if it is protected', async () => {
    const edit = (path: string, id: string): readonly JsonObject[] => {
      const input = { file_path: path, content: 'x' };
      const use = { type: 'tool_use', id, name: 'Write', input };
      const common = { sessionId: 's1', cwd: '/code/app', timestamp: new Date(NOW).toISOString() };
      const done = { type: 'tool_result', tool_use_id: id, is_error: false };
      return [
        { ...common, type: 'assistant', message: { content: [use] } },
        { ...common, type: 'user', message: { content: [done] } },
      ];
    };
    const records = [edit('/code/app/a.ts', 'a'), edit('/code/app/.git/hooks/pre-commit', 'b')];
    home.lines(FILE, [...call('ls'), ...records.flat()]);
    const { out } = await cuff('review', '--from', 'all');
    expect(out).toContain('\n  Write /code/app/.git/hooks/pre-commit\n');
    expect(out).not.toContain('a.ts');
  });

  it('--json is the whole of it', async () => {
    home.lines(FILE, [...call('ls', 2), ...call('rm -rf src', 3)]);
    const { out } = await cuff('review', '--from', 'claude', '--json', '--since', '30d');
    expect(JSON.parse(out)).toEqual({
      since: '30d',
      commands: 2,
      sessions: 1,
      projects: 1,
      agents: [{ agent: 'claude', sessions: 1 }],
      denied: 0,
      from: new Date(NOW - 3 * HOUR).toISOString(),
      to: new Date(NOW - 2 * HOUR).toISOString(),
      without_rules: { deny: 0, ask: 0 },
      findings: [
        {
          kind: 'deleted',
          count: 1,
          shown: [
            {
              command: 'rm -rf src',
              part: 'rm -rf src',
              weight: 2,
              count: 1,
              agent: 'claude',
              project: '/code/app',
              place: join(home.path, `${FILE}:3`),
              at: new Date(NOW - 3 * HOUR).toISOString(),
            },
          ],
        },
      ],
      failing: [],
      not_understood: 0,
      not_understood_at: [],
      not_read: [],
    });
  });

  it('says so when there is nothing', async () => {
    const all = await cuff('review', '--from', 'all');
    expect(all.out).toBe('No commands found in transcripts of any agent (last 90 days).\n');
    home.lines(FILE, call('ls'));
    const { out } = await cuff('review', '--from', 'claude');
    expect(out).toContain('Nothing in them deserves a look by the built-in rules.');
  });

  it('--project leaves the others out', async () => {
    home.lines(FILE, call('rm -rf src'));
    const { out } = await cuff('review', '--from', 'all', '--project', '/code/other');
    expect(out).toContain('No commands found');
    const own = await cuff('review', '--from', 'all', '--project', '/code/app');
    expect(own.out).toContain('1 command of 1 session');
  });
});

it('of the journal names entries, which `show` finds', async () => {
  const at = new Date(NOW - HOUR).toISOString();
  const id = `${at.slice(0, 19).replace(/[-:]/g, '').replace('T', '_')}_a7b3c9d2-e4f5`;
  journal.add(id, {
    entries: [
      {
        command: 'rm -rf src',
        timestamp: at,
        working_directory: journal.project,
        agent_id: 'claude',
      },
    ],
  });
  const { out } = await cuff('review');
  const [, entry = ''] = /\s(e_\S+)\n/.exec(out) ?? [];
  expect(out).toContain('Deleted files or uncommitted work: 1\n  rm -rf src\n');
  expect((await cuff('show', entry)).out).toContain('rm -rf src');
  expect(out).not.toContain('Keep them');
});
