// A policy over MCP in front of every dialect, with the built server.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIALECTS, POLICY } from '../dialects/policy-helper.ts';
import { clientNamed, freePort, Guarded, METRICS } from './policy-life.ts';

describe.each(DIALECTS.map((one) => [one.name, one] as const))('%s over MCP', (_, dialect) => {
  it('refuses what the policy denies, and tells of it in journal and metrics', async () => {
    const life = new Guarded(POLICY);
    const connect = clientNamed('SDK v1');
    const port = String(await freePort());
    const args = ['--dialect', dialect.name, '--metrics-port', port];
    const client = await life.connect(connect, 'cuff', ...args);
    const call = (command: string) => client.call(dialect.listed, { [dialect.argument]: command });
    const refused = await call('touch denied');
    expect(refused).toMatchObject({
      // Models trained on a tool know its refusals as errors; in ours they are answers.
      isError: !['cuff_shell', 'bash_recorder'].includes(dialect.name),
      text: expect.stringMatching(/^cuff policy: denied \(rule\.deny\)\.\n.*only a test/s),
    });
    expect(await call('echo fine')).toMatchObject({
      isError: false,
      text: expect.stringContaining('fine'),
    });
    expect(life.made('denied')).toBe(false);
    const page = async (path: string) =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { headers: METRICS })).text();
    expect(await page('/metrics')).toContain(
      'cuff_policy_decisions_total{verdict="deny",code="rule.deny"} 1\n' +
        'cuff_policy_decisions_total{verdict="allow",code="rule.allow"} 1\n',
    );
    expect(JSON.parse(await page('/health')).policy).toEqual({
      mode: 'enforce',
      files: [{ file: join(life.project, '.cuff', 'policy.yml'), origin: 'project' }],
      problems: [],
      shadow_divergences: 0,
    });
    const entries = await life.entries();
    expect(
      entries.map(({ command, end_reason, decision }) => [command, end_reason, decision]),
    ).toMatchObject([
      ['touch denied', 'denied', { verdict: 'deny', code: 'rule.deny', mode: 'enforce' }],
      ['echo fine', 'itself', { verdict: 'allow', code: 'rule.allow', mode: 'enforce' }],
    ]);
  });
});
