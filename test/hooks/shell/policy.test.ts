// The policy's word on commands of an agent's own shell: the command is judged, not the wrapper.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Intent, writeIntent } from '../../../src/hooks/intent.ts';
import { Approvals } from '../../../src/policies/approvals.ts';
import { contentId } from '../../../src/policies/decide.ts';
import { openPolicy } from '../../../src/policies/engine.ts';
import { SHAPES, World } from './world.ts';

const world = new World();
afterAll(() => world.close());

const { claude, codex, pi } = SHAPES;

describe('policy', () => {
  const POLICY = `version: 1
mode: enforce
default: allow
policies:
  - name: rules
    commands:
      - { pattern: "rm *", decision: deny, reason: "not here" }
      - { pattern: "touch *", decision: ask }
`;

  function ruled(): string {
    const cwd = world.project();
    mkdirSync(join(cwd, '.cuff'));
    writeFileSync(join(cwd, '.cuff', 'policy.yml'), POLICY);
    return cwd;
  }

  it('judges the command and not the wrapper; a denied one does not run', async () => {
    const cwd = ruled();
    writeFileSync(join(cwd, 'kept'), '');
    const denied = await world.call(claude, 'rm kept', cwd);
    expect(denied).toMatchObject({ code: 126 });
    expect(denied.out).toMatch(/^cuff policy: denied \(rule\.deny\)[\s\S]*not here/);
    expect(readdirSync(cwd)).toContain('kept');
    expect(await world.call(claude, 'echo fine', cwd)).toMatchObject({ code: 0, out: 'fine\n' });
    expect(world.entries(cwd)).toMatchObject([
      { command: 'rm kept', end_reason: 'denied', decision: { verdict: 'deny', rule: 'rm *' } },
      { command: 'echo fine', decision: { verdict: 'allow' }, exit_code: 0 },
    ]);
  });

  it('refuses what a person has to be asked about, and runs it once approved', async () => {
    const cwd = ruled();
    const asked = await world.call(codex, 'touch made', cwd);
    expect(asked.code).toBe(126);
    const id = /cuff policy approve (\w{8})/.exec(asked.err)?.[1] ?? '';
    expect(readdirSync(cwd)).not.toContain('made');
    const approvals = new Approvals(world.root);
    const question = approvals.find(id);
    if (question !== undefined) approvals.grant(question); // what `cuff policy approve` does
    expect(await world.call(codex, 'touch made', cwd)).toMatchObject({ code: 0 });
    expect(readdirSync(cwd)).toContain('made');
    expect((await world.call(codex, 'touch made', cwd)).code).toBe(126);
    const said = world.entries(cwd).map(({ decision }) => [decision?.verdict, decision?.approved]);
    expect(said).toEqual([
      ['ask', null],
      ['ask', 'grant'],
      ['ask', null],
    ]);
  });

  it('takes the yes that an agent got from its person, if the policy is the same', async () => {
    const cwd = ruled();
    const env = world.env;
    const engine = await openPolicy({ project: cwd, env, stateRoot: world.root, watch: false });
    const policy = contentId(engine.policies);
    engine.close();
    const intent = (said: string | null): Intent => ({
      agent: 'claude',
      session: 'c-1',
      tool_call: `t-${said}`,
      command: 'touch made',
      description: null,
      cwd,
      permission_mode: 'default',
      decision: { action: 'ask', rule: null, reason: '', approval_id: null, policy: said },
      at: Date.now(),
    });
    writeIntent(env, intent('another policy'));
    expect((await world.call(claude, 'touch made', cwd)).code).toBe(126);
    writeIntent(env, intent(policy));
    expect((await world.call(claude, 'touch made', cwd)).code).toBe(0);
    expect((await world.call(claude, 'touch made', cwd)).code).toBe(126); // it was good once
    expect(world.entries(cwd)[1]).toMatchObject({ decision: { approved: 'elicitation' } });
  });

  it('runs what is only asked about where the user, and no project, says so', async () => {
    const lax = `${POLICY}on_ask: allow_recorded\n`;
    const cwd = ruled();
    writeFileSync(join(cwd, '.cuff', 'policy.yml'), lax);
    expect((await world.call(pi, 'touch made', cwd)).code).toBe(126);
    const config = join(world.env.HOME ?? '', '.config', 'cuff');
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'policy.yml'), lax);
    try {
      expect((await world.call(pi, 'touch made', cwd)).code).toBe(0);
      expect((await world.call(pi, 'rm made', cwd)).code).toBe(126);
    } finally {
      rmSync(config, { recursive: true });
    }
    expect(world.entries(cwd)[1]?.decision).toMatchObject({ verdict: 'ask', approved: null });
  });

  it('runs nothing where the policy cannot be read', async () => {
    const cwd = ruled();
    writeFileSync(join(cwd, '.cuff', 'policy.yml'), 'default: [');
    expect(await world.call(pi, 'echo no', cwd)).toMatchObject({ code: 126, out: '' });
  });
});
