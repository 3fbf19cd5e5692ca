// From a payload to its answer: each agent in its own form, and the intent for the shell behind it.
import * as fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Approvals } from '../../src/policies/approvals.ts';
import { ProjectChanges } from '../../src/policies/changes.ts';
import { lacking } from '../requirements.ts';
import { trusted } from '../trust.ts';
import { HOOKED, shellCall } from './payloads.ts';
import { HookPlace, NO_SAMPLES, reasonOf, samples } from './place.ts';

const RULES = `
default: ask
policies:
  - name: rules
    description: for tests
    commands:
      - pattern: "echo *"
      - pattern: "touch *"
        decision: deny
        reason: nothing is touched here
`;

const TEXT = /^cuff policy: denied \(rule\.deny\)\.\nThe rule `touch \*` denies `touch x`: nothing/;

/** The whole answer of each agent to a command that is denied, with TEXT for the reason. */
const DENIALS = {
  claude: { hookSpecificOutput: specific('PreToolUse') },
  codex: { hookSpecificOutput: specific('PreToolUse') },
  qwen: { hookSpecificOutput: specific('PreToolUse') },
  vscode: { hookSpecificOutput: specific('PreToolUse') },
  gemini: { decision: 'deny', reason: 'TEXT' },
  copilot: { permissionDecision: 'deny', permissionDecisionReason: 'TEXT' },
  cursor: {
    ...{ permission: 'deny', decision: 'deny', reason: 'TEXT' },
    ...{ user_message: 'TEXT', agent_message: 'TEXT' },
  },
  cline: { cancel: true, errorMessage: 'TEXT' },
  opencode: { block: true, reason: 'TEXT' },
  pi: { block: true, reason: 'TEXT' },
};

function specific(hookEventName: string) {
  return { hookEventName, permissionDecision: 'deny', permissionDecisionReason: 'TEXT' };
}

describe('a command that the policy denies', () => {
  it.each(HOOKED)('is denied in the form of %s, with the reason', async (agent) => {
    const place = new HookPlace(RULES);
    const answer = await place.hook(shellCall(agent, 'touch x', { cwd: place.project }));
    const reason = reasonOf(answer);
    expect(reason).toMatch(TEXT);
    const told = JSON.parse(JSON.stringify(answer).replaceAll(JSON.stringify(reason), '"TEXT"'));
    expect(told).toEqual(DENIALS[agent]);
    expect(place.intents().map(({ decision }) => decision?.action)).toEqual(['deny']);
    const [entry, ...more] = place.entries();
    expect(more).toEqual([]);
    expect(entry).toMatchObject({ command: 'touch x', end_reason: 'denied', source: 'hook' });
    expect(entry?.decision).toMatchObject({ verdict: 'deny', code: 'rule.deny', rule: 'touch *' });
  });

  it('is any, while a project is held for what changed in the sandbox', async () => {
    const place = new HookPlace(RULES);
    const changes = new ProjectChanges(join(place.dir, 'state'), place.project);
    const path = join(place.project, 'CLAUDE.md');
    const held = { id: 'run', command: 'make', at: 1 } as const;
    changes.hold({ ...held, changes: [{ path, how: 'new', state: 'x' }] });
    const payload = shellCall('claude', 'echo a', { cwd: place.project });
    expect(reasonOf(await place.hook(payload))).toMatch(
      /^cuff policy: denied \(changes\)\.\n.*new CLAUDE\.md\.\n/,
    );
    expect(place.entries()[0]?.decision).toMatchObject({ verdict: 'deny', code: 'changes' });
    expect(await place.hook(payload, { mode: 'record' })).toBeUndefined();
    for (const one of changes.held()) changes.accept(one);
    const next = shellCall('claude', 'echo b', { cwd: place.project });
    expect(await place.hook(next)).toBeUndefined();
  });

  it('runs where the hook only records, and the intent says what was decided', async () => {
    const place = new HookPlace(RULES);
    const payload = shellCall('claude', 'touch x', { cwd: place.project });
    expect(await place.hook(payload, { mode: 'record' })).toBeUndefined();
    expect(place.intents()[0]?.decision?.action).toBe('deny');
    const other = new HookPlace(`mode: record\n${RULES}`);
    expect(
      await other.hook(shellCall('claude', 'touch x', { cwd: other.project })),
    ).toBeUndefined();
  });

  it('is denied when one of several commands of a call is', async () => {
    const place = new HookPlace(RULES);
    const commands = ['echo a', 'touch x'];
    const tool_call = { id: 'c', name: 'run_commands', input: { commands } };
    const payload = { ...shellCall('cline', '', { cwd: place.project }), tool_call };
    expect(await place.hook(payload)).toMatchObject({ cancel: true });
    expect(place.entries().map(({ command }) => command)).toEqual(['touch x']);
  });
});

describe('a command that the policy allows', () => {
  it.each(HOOKED)('is left to %s without a word', async (agent) => {
    const place = new HookPlace(RULES);
    const answer = await place.hook(shellCall(agent, 'echo hi', { cwd: place.project }));
    expect(answer).toEqual(agent === 'cline' ? {} : undefined);
    expect(place.intents()).toMatchObject([
      { agent, command: 'echo hi', cwd: place.project, decision: { action: 'allow' } },
    ]);
    expect(place.entries()).toEqual([]);
  });

  it.each([
    ['claude', { hookSpecificOutput: allowed('PreToolUse') }],
    ['qwen', { hookSpecificOutput: allowed('PreToolUse') }],
    ['vscode', { hookSpecificOutput: allowed('PreToolUse') }],
    ['copilot', { permissionDecision: 'allow' }],
    ['cursor', { permission: 'allow', decision: 'allow' }],
    ['codex', undefined], // takes an allow for a broken hook
    ['gemini', undefined],
    ['cline', {}],
  ] as const)('answers the prompt of %s where the user says so', async (agent, answer) => {
    const place = new HookPlace(`answer_prompts: true\n${RULES}`);
    const payload = shellCall(agent, 'echo hi', { cwd: place.project });
    expect(await place.hook(payload)).toEqual(answer);
  });

  it('is allowed where Codex is about to ask, and only where the user says so', async () => {
    const ask = async (place: HookPlace, command: string) =>
      place.hook({
        ...shellCall('codex', command, { cwd: place.project }),
        hook_event_name: 'PermissionRequest',
      });
    const place = new HookPlace(`answer_prompts: true\n${RULES}`);
    const decision = (behavior: string) => ({
      hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior } },
    });
    expect(await ask(place, 'echo hi')).toEqual(decision('allow'));
    expect(await ask(place, 'touch x')).toMatchObject(decision('deny'));
    expect(await ask(place, 'make')).toBeUndefined();
    expect(await ask(new HookPlace(RULES), 'echo hi')).toBeUndefined();
    expect(place.intents()).toEqual([]);
  });

  function allowed(hookEventName: string) {
    return { hookEventName, permissionDecision: 'allow' };
  }
});

describe('a command that the policy asks about', () => {
  const GRANTED = /Ask the person to run this, then ask for it again: cuff policy approve (\w+)$/;

  it.each(HOOKED)(
    'is denied to %s with an id, and runs once when it was approved',
    async (agent) => {
      const place = new HookPlace(RULES);
      const { project: cwd } = place;
      const ask = (id: string) => place.hook(shellCall(agent, 'make', { cwd, id, at: place.now }));
      const first = reasonOf(await ask('1'));
      const [, id = ''] = GRANTED.exec(first) ?? [];
      const approvals = new Approvals(String(place.env.CUFF_STATE_ROOT), () => place.now);
      const question = approvals.find(id);
      expect(question).toMatchObject({ command: 'make', project: cwd, cwd, exact: true });
      if (question !== undefined) approvals.grant(question);
      const quiet = agent === 'cline' ? {} : undefined;
      place.now += 3_000;
      // The same event from two files: both hooks say the same, and one grant is used.
      expect([await ask('2'), await ask('2')]).toEqual([quiet, quiet]);
      place.now += 3_000;
      expect(reasonOf(await ask('3'))).toMatch(GRANTED);
    },
  );

  it('is not taken for approved by the shell behind the hook', async () => {
    const ids = async (policy: string, mode: 'enforce' | 'record' = 'enforce') => {
      const place = new HookPlace(policy);
      const payload = shellCall('claude', 'make', { cwd: place.project });
      await place.hook(payload, { mode });
      return place.intents().map(({ decision }) => [decision?.action, decision?.approval_id]);
    };
    // An ask without an id would say that the client asks its person.
    expect(await ids(RULES)).toEqual([['ask', expect.stringMatching(/^[a-z2-7]{8}$/)]]);
    expect(await ids(RULES, 'record')).toEqual([['ask', 'unasked']]);
    expect(await ids(`on_ask: allow_recorded\n${RULES}`)).toEqual([['ask', 'unasked']]);
  });

  it('is recorded and runs where the user says `on_ask: allow_recorded`', async () => {
    const place = new HookPlace(`on_ask: allow_recorded\n${RULES}`);
    expect(await place.hook(shellCall('claude', 'make', { cwd: place.project }))).toBeUndefined();
    expect(place.intents()[0]?.decision?.action).toBe('ask');
  });
});

describe('a hostile repository', () => {
  const OPEN = `
default: allow
answer_prompts: true
on_ask: allow_recorded
policies:
  - name: rules
    description: of the repository
    commands:
      - pattern: "curl *"
        decision: ask
`;

  it.each(['not trusted', 'trusted', 'named by CUFF_POLICY'])(
    'answers for no person, %s and alone',
    async (how) => {
      const place = new HookPlace();
      const file = place.write('project/.cuff/policy.yml', OPEN);
      if (how !== 'not trusted') trusted(place.project, place.env);
      if (how === 'named by CUFF_POLICY') place.env.CUFF_POLICY = file;
      const hook = (command: string) =>
        place.hook(shellCall('claude', command, { cwd: place.project }));
      expect(await hook('echo hi')).toBeUndefined();
      expect(reasonOf(await hook('curl x'))).toContain('cuff policy approve');
    },
  );

  it('cannot take the word of the user away', async () => {
    const place = new HookPlace(`answer_prompts: true\n${RULES}`);
    place.write('project/.cuff/policy.yml', OPEN.replace('prompts: true', 'prompts: false'));
    trusted(place.project, place.env);
    const payload = shellCall('claude', 'echo hi', { cwd: place.project });
    expect(await place.hook(payload)).toBeDefined();
  });
});

describe('a policy that cannot be read', () => {
  it.each(HOOKED)('is a denial for %s, and names the file', async (agent) => {
    const place = new HookPlace('default: [');
    const answer = await place.hook(shellCall(agent, 'echo hi', { cwd: place.project }));
    expect(reasonOf(answer)).toContain(join(place.dir, 'config', 'cuff', 'policy.yml'));
  });

  it('is read again when it was mended, and kept for the next hook', async () => {
    const place = new HookPlace('default: [');
    const hook = () => place.hook(shellCall('claude', 'echo hi', { cwd: place.project }));
    expect(await hook()).toBeDefined();
    place.write('config/cuff/policy.yml', RULES);
    expect([await hook(), await hook()]).toEqual([undefined, undefined]);
    const kept = fs.readdirSync(join(String(place.env.CUFF_STATE_ROOT), 'rules'));
    expect(kept).toHaveLength(1);
    place.write('config/cuff/policy.yml', RULES.replace('"echo *"', '"make *"'));
    expect(reasonOf(await hook())).toContain('No rule allows `echo hi`');
  });

  it('kept by a hook counts only as it was written by us', async () => {
    const place = new HookPlace(RULES);
    const hook = () => place.hook(shellCall('claude', 'touch x', { cwd: place.project }));
    await hook();
    const folder = join(String(place.env.CUFF_STATE_ROOT), 'rules');
    const path = join(folder, fs.readdirSync(folder)[0] ?? '');
    fs.writeFileSync(path, fs.readFileSync(path, 'utf8').replaceAll('"deny"', '"allow"'));
    fs.chmodSync(path, 0o644); // no file of ours is open to others
    expect(reasonOf(await hook())).toMatch(TEXT);
    fs.writeFileSync(path, '{"version":1');
    fs.chmodSync(path, 0o600);
    expect(reasonOf(await hook())).toMatch(TEXT);
  });
});

it('the same event from two files leaves one intent and one denied entry', async () => {
  const place = new HookPlace(RULES);
  const payload = shellCall('claude', 'touch x', { cwd: place.project });
  const answers = await Promise.all([place.hook(payload), place.hook(payload)]);
  expect(answers[0]).toEqual(answers[1]);
  expect(place.intents()).toHaveLength(1);
  expect(place.entries()).toHaveLength(1);
});

it('a rewritten command names its intent, in the form of each client', async () => {
  for (const agent of HOOKED) {
    const place = new HookPlace(RULES);
    const payload = shellCall(agent, "echo 'a b'", { cwd: place.project });
    const answer = JSON.stringify(await place.hook(payload, { rewrite: true }));
    if (agent === 'codex') expect(answer).toBeUndefined();
    else expect(answer).toMatch(/cuff sh --intent [0-9a-f]{40}-[0-9a-f]{16}\.intent -c /);
    const denied = await place.hook(shellCall(agent, 'touch x', { cwd: place.project }));
    expect(reasonOf(denied)).toMatch(TEXT);
  }
});

it('a tool that neither runs a command nor writes a file is not judged', async () => {
  const place = new HookPlace('default: deny');
  const payload = { ...shellCall('claude', '', { cwd: place.project }), tool_name: 'WebSearch' };
  expect(await place.hook(payload)).toBeUndefined();
  expect(place.intents()).toEqual([]);
});

it('a payload of no known agent leaves the names of its fields and nothing else', async () => {
  const place = new HookPlace('default: deny');
  const payload = { token: 'sk-1234', nested: { user_email: 'x' }, 'a@b.example': 1 };
  expect(await place.hook(payload)).toBeUndefined();
  const log = fs.readFileSync(join(String(place.env.CUFF_STATE_ROOT), 'logs/hooks.log'), 'utf8');
  expect(JSON.parse(log).fields).toEqual(['token', 'nested', '?']);
  expect(place.everything()).not.toMatch(/sk-1234|user_email|a@b/);
});

it('every answer to any command is a denial or silence, and never throws', async () => {
  const place = new HookPlace(RULES);
  const commands = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constant('touch x'));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...HOOKED), commands, async (agent, command) => {
      const answer = await place.hook(shellCall(agent, command, { cwd: place.project }));
      const silent = answer === undefined || JSON.stringify(answer) === '{}';
      expect(silent || reasonOf(answer).startsWith('cuff policy: ')).toBe(true);
    }),
    { numRuns: 60 },
  );
});

describe('real payloads', () => {
  const missing = lacking(NO_SAMPLES, 'the samples of agents are not beside this repository');

  it.skipIf(missing)('of all agents are answered as their policy says', async () => {
    const place = new HookPlace('default: ask');
    const kinds = ['claude', 'cline', 'codex', 'copilot', 'gemini', 'qwen'];
    for (const kind of kinds) {
      for (const line of samples(`hook-stdin-${kind}.jsonl`)) {
        const answer = await place.hook(place.moved(line));
        const before = /PreToolUse|BeforeTool|"tool_call"|toolArgs/.test(line);
        const over = /toolResult|tool_result|PostToolUse/.test(line);
        if (before && !over) expect(reasonOf(answer)).toContain('cuff policy approve');
        else expect(answer ?? {}).toEqual({});
      }
    }
  });
});
