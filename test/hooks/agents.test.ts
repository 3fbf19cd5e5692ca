// Rules for one agent, where the agent comes by its hook: its name counts where a person has set up
// that hook with `cuff init`, and a payload or a variable alone says nothing.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isRegistered, register, unregister } from '../../src/hooks/registered.ts';
import { Approvals } from '../../src/policies/approvals.ts';
import { shellCall } from './payloads.ts';
import { HookPlace, reasonOf } from './place.ts';

const POLICY = `
policies:
  - name: rules
    commands:
      - pattern: "echo *"
        agents: [claude-code]
      - pattern: "touch *"
        decision: deny
        agents: [codex]
`;

const hookOf = (place: HookPlace, agent: 'claude' | 'codex', command: string) =>
  place.hook(shellCall(agent, command, { cwd: place.project }));

describe('the hook of an agent', () => {
  it('is for the rules of its agent when `cuff init` has set it up, and not before', async () => {
    const place = new HookPlace(POLICY);
    const before = reasonOf(await hookOf(place, 'claude', 'echo a'));
    expect(before).toMatch(/^cuff policy: needs approval \(default\.ask\)/);
    expect(before).toContain('allows it to claude-code alone, by a proven name.');
    expect(place.intents()[0]).not.toHaveProperty('registered');

    register(place.env, [{ agent: 'claude', project: null }]);
    place.now += 60_000;
    expect(await hookOf(place, 'claude', 'echo b')).toBeUndefined();
    expect(place.intents().find(({ command }) => command === 'echo b')).toMatchObject({
      registered: true,
    });
    expect(reasonOf(await hookOf(place, 'codex', 'echo c'))).toContain('needs approval');

    unregister(place.env, [{ agent: 'claude', project: null }]);
    place.now += 60_000;
    expect(reasonOf(await hookOf(place, 'claude', 'echo d'))).toContain('needs approval');
  });

  it('is denied what is denied to another one, until its name is proven', async () => {
    const place = new HookPlace(POLICY);
    expect(reasonOf(await hookOf(place, 'claude', 'touch a'))).toContain('denied (rule.deny)');
    register(place.env, [{ agent: 'claude', project: null }]);
    expect(reasonOf(await hookOf(place, 'claude', 'touch b'))).toContain('needs approval');
  });
});

describe('a registration', () => {
  it('for a project counts there and below, and each is known once', () => {
    const { env, project } = new HookPlace();
    const one = { agent: 'gemini', project } as const;
    register(env, [one]);
    register(env, [one, { agent: 'pi', project: null }]);
    const at = (directory: string): boolean => isRegistered(env, 'gemini', directory);
    expect([project, `${project}/sub`, `${project}2`, '/'].map(at)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(isRegistered(env, 'pi', '/')).toBe(true);
    unregister(env, [one]);
    expect(at(project)).toBe(false);
  });

  it('counts only in a directory that is for its user alone', () => {
    const { env, dir } = new HookPlace();
    const init = join(dir, 'state', 'init');
    mkdirSync(init, { recursive: true, mode: 0o700 });
    writeFileSync(join(init, 'agents.json'), '[{"agent":"claude","project":null}]');
    expect(isRegistered(env, 'claude', '/')).toBe(true);
    chmodSync(init, 0o755);
    expect(isRegistered(env, 'claude', '/')).toBe(false);
    chmodSync(init, 0o700);
    writeFileSync(
      join(init, 'agents.json'),
      '[{"agent":"x","project":null},{"agent":"claude"}, 3]',
    );
    expect(isRegistered(env, 'claude', '/')).toBe(false);
  });
});

describe('a budget at a hook', () => {
  const BUDGET = 'policies: [{name: r, commands: [{pattern: echo *, max_per_hour: 2}]}]';

  it('is used by its first hook where no shell of ours counts, else by none', async () => {
    const place = new HookPlace(BUDGET);
    const run = (id: string, options: { readonly rewrite?: boolean } = {}) => {
      const call = shellCall('claude', 'echo a', { cwd: place.project, id });
      return place.hook(call, options);
    };
    for (const id of ['1', '1', '2']) expect(await run(id)).toBeUndefined();
    expect(reasonOf(await run('3'))).toMatch(/^cuff policy: needs approval \(budget\)/);
    const other = new HookPlace(BUDGET);
    const calls = ['1', '2', '3', '4'].map((id) =>
      other.hook(shellCall('claude', 'echo a', { cwd: other.project, id }), { rewrite: true }),
    );
    expect(JSON.stringify(await Promise.all(calls))).not.toContain('budget');
  });
});

it('the end of a session ends what was approved for it', async () => {
  const place = new HookPlace('default: ask');
  const call = shellCall('claude', 'echo a', { cwd: place.project });
  const id = /approve ([a-z2-7]{8})/.exec(reasonOf(await place.hook(call)))?.[1] ?? '';
  const approvals = new Approvals(place.env.CUFF_STATE_ROOT ?? '', () => place.now);
  const question = approvals.find(id);
  if (question === undefined) throw new Error('it was asked');
  approvals.grant(question, 'conversation');
  place.now += 60_000;
  expect(await place.hook(shellCall('claude', 'echo a', { cwd: place.project }))).toBeUndefined();
  const other = { ...call, session_id: 'another' };
  expect(reasonOf(await place.hook(other))).toContain('needs approval');
  await place.hook({ ...call, hook_event_name: 'SessionEnd' });
  expect(approvals.grants()).toEqual([]);
});
