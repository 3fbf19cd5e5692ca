// What may be done from the page, by whom, and what comes of it.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Approvals } from '../../src/policies/approvals.ts';
import { Page } from './helper.ts';

let page: Page;
beforeAll(async () => {
  page = await Page.open();
});
afterAll(() => page.close());
afterEach(() => {
  page.peer = 'other';
});

const pinned = (id: string): boolean => existsSync(join(page.journal.cli.dir(id), 'pinned'));

async function sleeping(id: string): Promise<void> {
  await page.journal.cli.running(id, /up/, 'sh', '-c', 'echo up; exec sleep 1000');
}

const DEEDS: readonly (readonly [path: string, body: object])[] = [
  ['kill', { id: 'target' }],
  ['pin', { run: 'target', pinned: true }],
  ['approve', { id: 'aaaaaaaa', answer: 'once' }],
  ['approve', { id: 'aaaaaaaa', answer: 'no' }],
  ['seal', {}],
  ['sweep', { dry_run: false }],
];

describe('who only reads', () => {
  it.each([
    ['the server is read-only', async () => page.start({ readOnly: 'It was started in CI.' })],
    ['the code was traded inside of a run', async () => page.start({ peer: 'agent' })],
    ['the code was traded by a process that cannot be told', () => page.start({ peer: 'unknown' })],
    [
      'the token was carried into a run',
      async () => {
        await page.start();
        page.peer = 'agent';
      },
    ],
  ])('changes nothing, and reads: %s', async (_, begin) => {
    await page.stop();
    await begin();
    if (!existsSync(page.journal.cli.dir('target'))) await sleeping('target');
    for (const [path, body] of DEEDS) {
      const { status, json } = await page.post(path, body);
      expect([path, status, json.error.code]).toEqual([path, 403, 'refused']);
      expect(json.error.message).toMatch(/^Nothing can be changed from here\. /);
    }
    expect(pinned('target')).toBe(false);
    expect((await page.get('runs/target')).json.run.state).toBe('running');
    expect((await page.post('policy/check', { command: 'ls' })).status).toBe(200);
    await page.stop();
    await page.start();
  });

  it('is not made to read-only by a body, and is refused before it is read', async () => {
    page.peer = 'agent';
    expect((await page.post('kill', '{')).status).toBe(403);
  });
});

describe('a person', () => {
  it('kills a run, and is told what became of its processes', async () => {
    await sleeping('killed');
    const { status, json } = await page.post('kill', { id: 'killed' });
    expect(status).toBe(200);
    expect(json).toMatchObject({ session_id: 'killed', result: 'ended', signal: 'SIGTERM' });
    expect(json.processes.map((one: { alive: boolean }) => one.alive)).toEqual([false]);
    const again = await page.post('kill', { id: 'killed' });
    expect(again.json).toMatchObject({ result: 'already_over' });
    expect((await page.post('kill', { id: 'nothing' })).status).toBe(404);
    expect((await page.post('kill', { id: 'kill' })).status).toBe(404); // a part of an id is none
    expect((await page.post('kill', { id: 'killed', signal: 'NONE' })).status).toBe(400);
  });

  it('pins a run, or all of a session that are there, and lets them go', async () => {
    const { journal } = page;
    await journal.cli.run('kept', 'true');
    await journal.cli.run('other', 'true');
    journal.add('20260118_143052_a7b3c9d2-e4f5', {
      entries: [
        { command: 'a', run_id: 'kept' },
        { command: 'b', run_id: 'other' },
        { command: 'c', run_id: 'gone' },
        { command: 'd' },
      ],
    });
    expect((await page.post('pin', { run: 'kept', pinned: true })).json).toEqual({
      runs: ['kept'],
      pinned: true,
    });
    expect([pinned('kept'), pinned('other')]).toEqual([true, false]);
    const session = '20260118_143052_a7b3c9d2-e4f5';
    const all = await page.post('pin', { session, pinned: true });
    expect(all.json.runs).toEqual(['kept', 'other']);
    expect([pinned('kept'), pinned('other')]).toEqual([true, true]);
    await page.post('pin', { session, pinned: false });
    expect([pinned('kept'), pinned('other')]).toEqual([false, false]);
    for (const body of [
      { pinned: true },
      { run: 'kept', session, pinned: true },
      { run: 'kept' },
    ]) {
      expect((await page.post('pin', body)).status).toBe(400);
    }
  });

  it('seals what was recorded, and verifies it with the words of the command line', async () => {
    const { cli, project } = page.journal;
    const call = ['--journal', '--agent', 'robot', '--session', 's1', '--cwd', project];
    await cli.cuff('run', ...call, '--session-id', 'sealed', '--', 'echo', 'x');
    const { status, json } = await page.post('seal', {});
    expect(status).toBe(200);
    expect(json.code).toMatch(/^CUFF \d+ /);
    const { json: seal } = await page.get('seal');
    expect(seal.head).toMatchObject({ origin: json.origin, size: json.size, code: json.code });
    const { words, verified_at: _, ...verified } = (await page.get('verify')).json;
    const verify = cli.start([process.execPath, page.binary, 'verify', '--json'], { cwd: project });
    const { complaints: __, ...said } = JSON.parse((await verify.result).out);
    expect(verified).toEqual(said);
    expect(verified.counts.entries).toBe(1);
    expect(verified.intact).toBe(true);
    expect(words[0]).toMatch(/^1 sealed entry in 2 sessions: as they were sealed, not anchored/);
    const { json: sessions } = await page.get('sessions?agent=robot');
    expect(sessions.sessions[0]).toMatchObject({ seal: 'sealed', agent_id: 'robot' });
    const { json: run } = await page.get('runs/sealed');
    expect(run.entry).toMatchObject({ sequence_number: 1 });
    const { json: proof } = await page.get(`proof/${run.entry.entry_id}`);
    expect(proof.cuff_proof).toBe(1);
  });

  it('sees a question, and withdraws it', async () => {
    const { cli, project } = page.journal;
    const approvals = new Approvals(cli.root);
    const subject = { project, cwd: project, command: 'npm publish', beside: [] };
    const about = { ...subject, code: 'default.ask', reasons: ['No rule allows it.'] };
    const tab = await page.tab();
    tab.say({ sub: 'questions' });
    await tab.message('questions', (one) => one.questions.length === 0);
    const id = approvals.ask(subject, about, { agent: 'claude' });
    const { questions } = await tab.message('questions', (one) => one.questions.length === 1);
    expect(questions[0]).toMatchObject({ id, command: 'npm publish', agent: 'claude' });
    expect((await page.get('questions')).json.questions).toEqual(questions);
    // This process has no terminal of its own, or stands below one: the answer is that of
    // `cuff policy approve`.
    const answered = await page.post('approve', { id, answer: 'maybe' });
    expect(answered.status).toBe(400);
    expect((await page.post('approve', { id, answer: 'no' })).json).toEqual({ id, approved: 'no' });
    await tab.message('questions', (one) => one.questions.length === 0);
    expect((await page.post('approve', { id, answer: 'no' })).status).toBe(404);
  });

  it('tries a draft of a policy on what was recorded, and nothing is written', async () => {
    const { journal } = page;
    const file = join(journal.project, '.cuff', 'policy.yml');
    mkdirSync(join(journal.project, '.cuff'), { recursive: true });
    const rules = (list: string) =>
      `default: ask\npolicies:\n  - name: own\n    commands:\n${list}`;
    const rule = (pattern: string) => `      - { pattern: "${pattern}", decision: allow }\n`;
    writeFileSync(file, rules(rule('git status')));
    journal.add('20260119_143052_a7b3c9d2-e4f5', {
      entries: ['git status', 'git status', 'npm test', 'make'].map((command) => ({ command })),
    });
    const text = rules(rule('git status') + rule('npm test'));
    const { status, json } = await page.post('policy/whatif', { text, since: '2026-01-19' });
    expect(status).toBe(200);
    const cli = await testOf(text);
    expect(json.test).toEqual(cli);
    expect(json.test).toMatchObject({ allow: 3, ask: 2 });
    expect(json.diff).toMatchObject({ against: file, loosened: 1, tightened: 0 });
    expect(json.diff.decisions[0]).toMatchObject({
      command: 'npm test',
      before: 'ask',
      after: 'allow',
    });
    const bad = await page.post('policy/whatif', { text: 'default: maybe\n' });
    expect(bad.json).toMatchObject({ valid: false, test: null, diff: null });
    expect(bad.json.problems[0]).toMatchObject({ line: 1 });
    expect((await page.post('policy/lint', { text })).json).toMatchObject({ valid: true });
    const check = await page.post('policy/check', { command: 'npm test', text });
    expect(check.json).toMatchObject({ verdict: 'allow', rule: 'npm test' });
    const inForce = await page.post('policy/check', { command: 'npm test' });
    expect(inForce.json).toMatchObject({ verdict: 'ask', code: 'default.ask' });
    expect((await page.get('policy')).json.files).toMatchObject([
      { path: file, origin: 'project' },
    ]);
    expect((await page.post('policy/check', { command: 'ls', project: '/etc' })).status).toBe(404);
  });

  it('sweeps what is over its time, and is first told what that is', async () => {
    const { cli } = page.journal;
    await cli.cuff('run', '--retention', '1s', '--session-id', 'old', '--', 'true');
    const final = join(cli.dir('old'), 'final.json');
    const ended = JSON.parse(readFileSync(final, 'utf8'));
    writeFileSync(final, `${JSON.stringify({ ...ended, ended_at: '2026-01-18T14:30:52.000Z' })}\n`);
    const dry = await page.post('sweep', { dry_run: true });
    expect(dry.json).toMatchObject({ dry_run: true, removed: ['old'], failed: [] });
    expect(existsSync(cli.dir('old'))).toBe(true);
    expect((await page.get('storage')).json.next[0]).toMatchObject({ session_id: 'old' });
    const real = await page.post('sweep', { dry_run: false });
    expect(real.json.removed).toEqual(['old']);
    expect(existsSync(cli.dir('old'))).toBe(false);
  });
});

async function testOf(text: string): Promise<unknown> {
  const file = join(page.pages, 'draft.yml');
  writeFileSync(file, text);
  const args = ['policy', 'test', file, '--since', '2026-01-19', '--json'];
  const command = [process.execPath, page.binary, ...args];
  const live = page.journal.cli.start(command, { cwd: page.journal.project });
  live.child.stdin?.end();
  return JSON.parse((await live.result).out);
}

it('the health is that of the command line', async () => {
  const { json } = await page.get('health');
  const status = await page.journal.cli.json<Record<string, unknown>>('status');
  expect(json.captures).toEqual(status.captures);
  expect(json.servers).toEqual(status.servers);
  expect(json.checks.map(({ name }: { name: string }) => name)).toContain('runner');
  expect(page.errors).toEqual([]);
});
