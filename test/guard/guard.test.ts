// The guard, without a server around it: what becomes of an answer when something else changes.

import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Guard, type GuardCall, type Refusal, type Ruling } from '../../src/guard/guard.ts';
import { processMetrics } from '../../src/ops/metrics.ts';
import { Approvals } from '../../src/policies/approvals.ts';
import { PolicyEngine } from '../../src/policies/engine.ts';
import * as files from '../../src/policies/files.ts';
import type { PersonAnswer } from '../../src/types.ts';

const SECRET = 'correcthorsebattery';

class Place {
  readonly dir = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'cuff-guard-')));
  readonly file = join(this.dir, '.cuff', 'policy.yml');
  readonly engine: PolicyEngine;
  readonly approvals = new Approvals(join(this.dir, 'state'));

  constructor(policy: string, now?: () => number) {
    onTestFinished(() => fs.rmSync(this.dir, { recursive: true, force: true }));
    fs.mkdirSync(join(this.dir, '.cuff'));
    this.policy(policy);
    const stateRoot = join(this.dir, 'state');
    const systemFile = join(this.dir, 'none');
    const where = { project: this.dir, env: { HOME: this.dir }, systemFile };
    this.engine = PolicyEngine.open({ ...where, stateRoot, watch: false, now }, files);
  }

  policy(text: string): void {
    fs.writeFileSync(this.file, text);
  }

  get policyText(): string {
    return fs.readFileSync(this.file, 'utf8');
  }

  async guard(): Promise<Guard> {
    return new Guard(this.engine, await processMetrics());
  }

  call(change: Partial<GuardCall> = {}): GuardCall {
    const redact = (text: string): string => text.replaceAll(SECRET, '[REDACTED:X]');
    const gateCheck = () => ({ ok: false, reason: 'not in this test' }) as const;
    return { redact, shell: { gateCheck }, ...change };
  }
}

function answering(answer: string): GuardCall['ask'] {
  return async () => ({ kind: 'chosen', value: answer });
}

function told(ruled: Ruling | Refusal): string | undefined {
  return ruled.run ? ruled.note : ruled.text;
}

const ASK = 'default: ask\n';
const ALLOW = 'default: allow\n';
const DENY = 'default: deny\n';

describe('a policy that changes', () => {
  it('while it is looked how a command can be held is the one that decides', async () => {
    const place = new Place(ALLOW);
    const gateCheck = () => {
      if (place.policyText === ALLOW) {
        place.policy(DENY);
        place.engine.reload();
      }
      return { ok: false, reason: 'not in this test' } as const;
    };
    const asked = { command: 'touch x', cwd: place.dir };
    const ruled = await (await place.guard()).rule(asked, place.call({ shell: { gateCheck } }));
    expect([ruled.run, ruled.decision?.verdict]).toEqual([false, 'deny']);
  });

  it('while a person is asked may still say no, or be off', async () => {
    const place = new Place(ASK);
    const asking = (text: string): GuardCall['ask'] => {
      return async () => {
        place.policy(text);
        place.engine.reload();
        return { kind: 'chosen', value: 'once' };
      };
    };
    const asked = { command: 'touch x', cwd: place.dir };
    const guard = await place.guard();
    const rule = (text: string) => guard.rule(asked, place.call({ ask: asking(text) }));
    expect(await rule(DENY)).toMatchObject({ run: false, decision: { verdict: 'deny' } });
    place.policy(ASK);
    place.engine.reload();
    const approved = { verdict: 'ask', approved: 'elicitation' };
    expect(await rule(`${ASK}# other\n`)).toMatchObject({ run: true, decision: approved });
    expect(await rule('mode: off\n')).toMatchObject({ run: true, decision: approved });
  });
});

describe('always', () => {
  it.each([
    ['that is known', `touch ${SECRET}`],
    ['that looks like one', 'printf %s ghp_abcdefghijklmnopqrstuvwxyzABCDEFGHIJ'],
  ])('is once for what has a secret in it %s, and says so', async (_, command) => {
    const place = new Place(ASK);
    const call = place.call({ ask: answering('always') });
    const ruled = await (await place.guard()).rule({ command, cwd: place.dir }, call);
    expect([ruled.run, ruled.decision?.approved]).toEqual([true, 'elicitation']);
    expect(told(ruled)).toMatch(
      /^\[policy: it ran this once and there is no rule for it: .*secret/,
    );
    expect(told(ruled)).not.toContain(SECRET);
    expect(place.policyText).toBe(ASK);
  });
});

describe('a question', () => {
  it('is kept with all that comes with the command, and with every reason', async () => {
    const place = new Place(ASK);
    const asked = {
      command: 'touch x; mkdir y',
      cwd: place.dir,
      env: { GIT_PAGER: `touch ${SECRET}` },
      stdin: `import os\nos.mkdir("z")\n${'#'.repeat(5_000)}`,
      shell: '/bin/other',
    };
    await (await place.guard()).rule(asked, place.call());
    const [question] = place.approvals.pending();
    expect(question?.exact).toBe(false);
    expect(question?.beside).toEqual([
      "with GIT_PAGER='touch [REDACTED:X]'",
      'by /bin/other',
      expect.stringMatching(
        /^with this input:\nimport os\nos\.mkdir\("z"\)\n#+\n\(and \d+ characters more\)$/,
      ),
    ]);
    expect(question?.reasons.length).toBeGreaterThan(1);
    expect(JSON.stringify(question)).not.toContain(SECRET);
  });
});

it('what nobody may approve is not approved with what comes with it', async () => {
  const place = new Place(ASK);
  const asked = { command: 'python3 -', cwd: place.dir, env: { A: '1' } };
  const guard = await place.guard();
  const call = place.call({ ask: answering('once') });
  expect(await guard.rule(asked, call)).toMatchObject({ run: true });
  // The text alone may be approved, and its input may not.
  const script = { ...asked, command: 'sh', stdin: 'touch x\necho x > .git/hooks/pre-push\n' };
  const refused = await guard.rule(script, call);
  expect([refused.run, told(refused)]).toEqual([
    false,
    expect.stringMatching(/^cuff policy: denied \(path\.protected\)/),
  ]);
});

it('a secret is read when somebody says so, each time, and no rule comes of it', async () => {
  const place = new Place('policies:\n  - { name: a, commands: [{ pattern: cat .env }] }\n');
  const guard = await place.guard();
  const asked = { command: 'cat .env', cwd: place.dir };
  const refused = await guard.rule(asked, place.call());
  expect(told(refused)).toMatch(/may hold secrets.*\n.*cuff policy approve [a-z2-7]{8}$/);
  const choices: string[] = [];
  const ask: GuardCall['ask'] = async (question) => {
    choices.push(...question.choices.map(({ value }) => value));
    return { kind: 'chosen', value: 'once' };
  };
  const ruled = await guard.rule(asked, place.call({ ask }));
  expect([ruled.run, ruled.decision?.approved, choices]).toEqual([
    true,
    'elicitation',
    ['deny', 'once'],
  ]);
  expect(await guard.rule(asked, place.call({ ask: answering('always') }))).toMatchObject({
    run: false,
  });
});

it('a refusal says which part of a command which rule is about, and what to do', async () => {
  const rules = [
    '{ pattern: rm *, decision: deny, reason: People delete. }',
    '{ pattern: git push *, decision: ask, reason: Which branch is it? }',
  ];
  const policy = `policies: [{ name: a, commands: [{ pattern: echo * }, ${rules.join(', ')}] }]\n`;
  const place = new Place(policy);
  const guard = await place.guard();
  const said = async (command: string, ask?: GuardCall['ask']): Promise<string | undefined> =>
    told(await guard.rule({ command, cwd: place.dir }, place.call({ ask })));
  expect(await said('echo a && rm -rf b')).toBe(
    'cuff policy: denied (rule.deny).\n' + 'The rule `rm *` denies `rm -rf b`: People delete.',
  );
  const pushed =
    'cuff policy: needs approval (rule.ask).\n' +
    'The rule `git push *` asks about `git push`: Which branch is it?\n';
  const last = 'Ask the person to run this, then ask for it again: cuff policy approve ';
  expect((await said('git push'))?.slice(0, -8)).toBe(pushed + last);
  expect((await said('git push', async () => ({ kind: 'none' })))?.slice(0, -8)).toBe(
    `${pushed}The person was asked and gave no answer.\n${last}`,
  );
  const unseen = 'The client answered without showing it: the answer came sooner than a person ';
  expect((await said('git push', async () => ({ kind: 'unseen' })))?.slice(0, -8)).toBe(
    `${pushed}${unseen}can read it.\n${last}`,
  );
  expect(await said('git push', async () => ({ kind: 'declined' }))).toBe(
    `${pushed}The person was asked and said no.`,
  );
  expect(place.approvals.pending().map(({ reasons }) => reasons)).toEqual([
    ['The rule `git push *` asks about `git push`: Which branch is it?'],
  ]);
  place.policy(`mode: warn\n${policy}`);
  place.engine.reload();
  expect(await said('rm b')).toBe(
    '[policy: deny (rule.deny): The rule `rm *` denies `rm b`: People delete.]',
  );
});

describe('a no', () => {
  it('counts for five minutes, for this command in this conversation', async () => {
    let now = 1_000_000;
    const place = new Place(ASK, () => now);
    const guard = await place.guard();
    let answer: PersonAnswer = { kind: 'declined' };
    const questions: string[] = [];
    const says = async (command: string, key: string): Promise<string | undefined> => {
      const ask: GuardCall['ask'] = async ({ message }) => {
        questions.push(`${key} ${message.split('\n')[2]}`);
        return answer;
      };
      return told(await guard.rule({ command, cwd: place.dir }, place.call({ ask, key })));
    };
    expect(await says('touch x', 'a')).toMatch(/asked and said no\.$/);
    answer = { kind: 'chosen', value: 'once' };
    now += 299_999;
    expect(await says('touch x', 'a')).toMatch(/not asked again for five minutes\.$/);
    expect(questions).toEqual(['a touch x']);
    // An answer of the client alone is no answer: the same command is asked about again.
    answer = { kind: 'unseen' };
    await says('touch y', 'a');
    await says('touch y', 'a');
    await says('touch x', 'b');
    now += 1;
    await says('touch x', 'a');
    expect(questions.slice(1)).toEqual(['a touch y', 'a touch y', 'b touch x', 'a touch x']);
  });

  it('is not heard any more once the person approved the command', async () => {
    const place = new Place(ASK);
    const guard = await place.guard();
    const asked = { command: 'touch x', cwd: place.dir };
    expect((await guard.rule(asked, place.call())).run).toBe(false);
    const declined = place.call({ ask: async () => ({ kind: 'declined' }) });
    expect((await guard.rule(asked, declined)).run).toBe(false);
    for (const question of place.approvals.pending()) place.approvals.grant(question);
    expect((await guard.rule(asked, declined)).run).toBe(true);
  });
});

describe('a grant', () => {
  it('is used up by the start, and not by a command that was not started', async () => {
    const place = new Place(ASK);
    const guard = await place.guard();
    const asked = { command: 'touch x', cwd: place.dir };
    expect((await guard.rule(asked, place.call())).run).toBe(false);
    const [question] = place.approvals.pending();
    if (question === undefined) throw new Error('nothing was asked');
    place.approvals.grant(question);
    const grant = { run: true, decision: { approved: 'grant' } };
    expect(await guard.rule(asked, place.call())).toMatchObject(grant);
    const [first, second] = [
      await guard.rule(asked, place.call()),
      await guard.rule(asked, place.call()),
    ];
    if (!first.run || !second.run) throw new Error('the grant is gone');
    expect(first.hold(['bash', '-c', 'touch x'], { A: '1' }).restraints).toEqual({
      env: {
        A: '1',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.bareRepository',
        GIT_CONFIG_VALUE_0: 'explicit',
      },
    });
    expect(() => second.hold(['bash', '-c', 'touch x'])).toThrow('used for another start');
    expect((await guard.rule(asked, place.call())).run).toBe(false);
  });

  it('for keys is used up at once: they start nothing', async () => {
    const place = new Place(ASK);
    const guard = await place.guard();
    const asked = { command: 'touch x\n', cwd: place.dir, typed: { into: 'bash', before: '' } };
    expect((await guard.rule(asked, place.call())).run).toBe(false);
    const [question] = place.approvals.pending();
    if (question === undefined) throw new Error('nothing was asked');
    place.approvals.grant(question);
    expect((await guard.rule(asked, place.call())).run).toBe(true);
    expect((await guard.rule(asked, place.call())).run).toBe(false);
  });
});

describe('a budget', () => {
  const RULES = '[{pattern: echo *, max_per_hour: 2}]';
  const POLICY = `policies: [{name: r, commands: ${RULES}}]\ngate: off\n`;

  it('is used when a command starts, is shared by servers, and refuses the next', async () => {
    const place = new Place(POLICY);
    const [guard, other] = [await place.guard(), await place.guard()];
    const asked = { command: 'echo a', cwd: place.dir };
    const first = await guard.rule(asked, place.call());
    await guard.rule(asked, place.call()); // judged, and never started
    const second = await other.rule(asked, place.call());
    const third = await guard.rule(asked, place.call());
    if (!first.run || !second.run || !third.run) throw new Error('they may run');
    first.hold(['bash']);
    second.hold(['bash']);
    expect(() => third.hold(['bash'])).toThrow('used up meanwhile');
    const over = await other.rule(asked, place.call());
    expect(over).toMatchObject({ run: false, decision: { verdict: 'ask', code: 'budget' } });
    expect(told(over)).toMatch(/allows 2 an hour, which is used up\. Wait, or/);
    const approved = await guard.rule(asked, place.call({ ask: answering('once') }));
    if (!approved.run) throw new Error('a person said yes');
    approved.hold(['bash']);
    expect(approved.decision).toMatchObject({ approved: 'elicitation' });
  });
});

describe('an answer for a while', () => {
  it('holds for its conversation and policy, and ends with the server', async () => {
    const place = new Place('default: ask\n');
    const guard = await place.guard();
    const asked = { command: 'make x', cwd: place.dir };
    const call = (key: string, answer?: string) =>
      place.call({ key, ...(answer !== undefined && { ask: answering(answer) }) });
    const ran = async (key: string): Promise<boolean> => (await guard.rule(asked, call(key))).run;
    expect(await guard.rule(asked, call('connection:a', 'conversation'))).toMatchObject({
      run: true,
      note: undefined,
    });
    expect([
      await ran('connection:a'),
      await ran('connection:b'),
      await ran('connection:'),
    ]).toEqual([...[true, false, false]]);
    await guard.close();
    expect(place.approvals.grants()).toEqual([]);
    expect(await ran('connection:a')).toBe(false);

    await guard.rule(asked, call('conversation:c', 'hour'));
    expect([await ran('conversation:d'), await ran('connection:')]).toEqual([true, true]);
    place.policy('default: ask\nenv: [X]\n');
    place.engine.reload();
    expect(await ran('conversation:d')).toBe(false);
  });

  it('is not offered for a secret, nor for a request that stands for itself', async () => {
    const place = new Place('default: ask\n');
    const offered: (readonly string[])[] = [];
    const ask: GuardCall['ask'] = async ({ choices }) => {
      offered.push(choices.map(({ value }) => value));
      return { kind: 'none' };
    };
    const guard = await place.guard();
    const cwd = place.dir;
    await guard.rule({ command: 'cat .env', cwd }, place.call({ ask, key: 'connection:a' }));
    await guard.rule({ command: 'frobnicate x', cwd }, place.call({ ask, key: 'connection:' }));
    await guard.rule({ command: 'git log -3', cwd }, place.call({ ask, key: 'conversation:a' }));
    expect(offered).toEqual([
      ['deny', 'once'],
      ['deny', 'once', 'hour', 'always'],
      ['deny', 'once', 'hour', 'conversation', 'always', 'pattern'],
    ]);
  });
});
