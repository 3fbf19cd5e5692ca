// A policy in front of every dialect: what is refused does not run, says why, and is written down.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CallContext, Plugin, ToolResult } from '../../src/host/plugin.ts';
import { processMetrics } from '../../src/ops/metrics.ts';
import { Approvals } from '../../src/policies/approvals.ts';
import type { AskPerson } from '../../src/types.ts';
import { call, World } from '../recorder/helper.ts';
import { DIALECTS, type DialectCase, POLICY } from './policy-helper.ts';

type Refused = { readonly refused: boolean };

class Agent {
  readonly world: World;
  readonly #plugin: Plugin;
  readonly #dialect: DialectCase;

  static async open(dialect: DialectCase, policy: string): Promise<Agent> {
    const world = new World({ policy });
    return new Agent(world, await world.open(dialect.plugin), dialect);
  }

  private constructor(world: World, plugin: Plugin, dialect: DialectCase) {
    this.world = world;
    this.#plugin = plugin;
    this.#dialect = dialect;
  }

  async run(command: string, about: Partial<CallContext> = {}): Promise<ToolResult & Refused> {
    const { tool, argument } = this.#dialect;
    const result = await call(this.#plugin, tool, { [argument]: command }, about);
    return { ...result, refused: /^cuff policy: (denied|needs approval)/.test(result.text) };
  }

  made(name: string): boolean {
    return existsSync(join(this.world.project, name));
  }

  decisions() {
    return this.world.entries().map(({ command, end_reason, decision }) => ({
      command,
      end_reason,
      decision,
    }));
  }
}

async function counted(verdict: string, code: string): Promise<number> {
  const text = await (await processMetrics()).text();
  const line = `cuff_policy_decisions_total{verdict="${verdict}",code="${code}"} `;
  return Number(
    text
      .split('\n')
      .find((one) => one.startsWith(line))
      ?.slice(line.length) ?? 0,
  );
}

const choosing =
  (value: string): AskPerson =>
  async () => ({ kind: 'chosen', value });

const enforced = { mode: 'enforce', rule: null, approved: null } as const;

describe.each(DIALECTS.map((one) => [one.name, one] as const))(
  '%s under a policy',
  (_, dialect) => {
    it('refuses what is denied, says why, and writes it down', async () => {
      const before = await counted('deny', 'rule.deny');
      const agent = await Agent.open(dialect, POLICY);
      const { success, refused, text } = await agent.run('echo before; touch denied');
      // Models trained on a tool know its refusals as errors; in ours they are answers.
      const isAnswer = ['cuff_shell', 'bash_recorder'].includes(dialect.name);
      expect([refused, success]).toEqual([true, isAnswer]);
      expect(text).toMatch(/^cuff policy: denied \(rule\.deny\)\./);
      expect(text).toContain('it is only a test');
      expect(text).not.toContain('approve');
      expect(agent.made('denied')).toBe(false);
      expect(agent.decisions()).toEqual([
        {
          command: 'echo before; touch denied',
          end_reason: 'denied',
          decision: { ...enforced, verdict: 'deny', code: 'rule.deny', rule: 'touch denied' },
        },
      ]);
      expect(agent.world.entry()).toMatchObject({ run_id: null, exit_code: null, stdout: null });
      expect(await counted('deny', 'rule.deny')).toBe(before + 1);
    });

    it('runs what is allowed, and the answer is the same as without a policy', async () => {
      const agent = await Agent.open(dialect, POLICY);
      const { success, text } = await agent.run('echo hello');
      expect(success).toBe(true);
      expect(text).toContain('hello');
      expect(text).not.toContain('policy');
      expect(agent.decisions()).toEqual([
        {
          command: 'echo hello',
          end_reason: 'itself',
          decision: { ...enforced, verdict: 'allow', code: 'rule.allow', rule: 'echo *' },
        },
      ]);
    });

    it('tells how to approve what it asks about, and one yes is good for one run', async () => {
      const agent = await Agent.open(dialect, POLICY);
      const refused = await agent.run('touch asked');
      expect(refused.refused).toBe(true);
      expect(refused.text).toMatch(/^cuff policy: needs approval \(default\.ask\)\./);
      const id = /Ask the person to run this, .*: cuff policy approve ([a-z2-7]{8})$/.exec(
        refused.text,
      )?.[1];
      expect((await agent.run('touch asked')).text).toBe(refused.text);
      expect(agent.made('asked')).toBe(false);

      const approvals = new Approvals(agent.world.stateRoot);
      const question = approvals.find(id ?? '');
      expect(question).toMatchObject({ command: 'touch asked', cwd: agent.world.project });
      if (question !== undefined) approvals.grant(question);
      // Not for anything that is only alike.
      expect((await agent.run('touch asked; true')).refused).toBe(true);
      expect((await agent.run('touch asked')).refused).toBe(false);
      expect(agent.made('asked')).toBe(true);
      expect((await agent.run('touch asked')).text).toContain('cuff policy approve');
      const approved = agent.decisions().map(({ decision }) => decision?.approved);
      expect(approved).toEqual([null, null, null, 'grant', null]);
    });

    it('asks the person that is there: once is once', async () => {
      const agent = await Agent.open(dialect, POLICY);
      const asked: string[] = [];
      const ask: AskPerson = async ({ message, choices }) => {
        asked.push(message);
        expect(choices.map(({ value }) => value)).toEqual([
          'deny',
          'once',
          'hour',
          'always',
          'pattern',
        ]);
        return { kind: 'chosen', value: 'once' };
      };
      expect((await agent.run('touch asked', { ask })).refused).toBe(false);
      expect(agent.made('asked')).toBe(true);
      expect(asked).toHaveLength(1);
      expect(asked[0]).toContain('touch asked');
      expect(asked[0]).toContain(agent.world.project);
      expect((await agent.run('touch asked')).refused).toBe(true);
      expect(agent.decisions()[0]?.decision).toEqual({
        ...enforced,
        verdict: 'ask',
        code: 'default.ask',
        approved: 'elicitation',
      });
    });

    it('makes a rule of always, and keeps what else is in the file', async () => {
      const agent = await Agent.open(dialect, POLICY);
      const first = await agent.run("touch 'as*ked'", { ask: choosing('always') });
      expect(first).toMatchObject({ success: true, refused: false });
      expect(first.text).not.toContain('policy');
      expect((await agent.run("touch 'as*ked'")).refused).toBe(false);
      expect((await agent.run('touch asXked')).refused).toBe(true);
      expect(agent.decisions()[1]?.decision).toMatchObject({ code: 'rule.allow', approved: null });
      const text = readFileSync(agent.world.policyFile, 'utf8');
      expect(text.startsWith(POLICY.trimEnd())).toBe(true);
      expect(text).toContain("touch 'as*ked'");
    });

    it('does not run what the person does not want, or says nothing about', async () => {
      const agent = await Agent.open(dialect, POLICY);
      const declined = await agent.run('touch asked', { ask: async () => ({ kind: 'declined' }) });
      expect(declined.text).toMatch(/The person was asked and said no\.$/);
      const again = await agent.run('touch asked', { ask: choosing('once') });
      expect(again.text).toMatch(/said no to this .* not asked again for five minutes\.$/);
      const denied = await agent.run('touch denied2', { ask: choosing('deny') });
      expect(denied.text).toMatch(/The person was asked and said no\.$/);
      const strange = await agent.run('touch other', { ask: choosing('whatever') });
      expect(strange.text).toContain('cuff policy approve');
      const silent = await agent.run('touch other', { ask: async () => ({ kind: 'none' }) });
      expect(silent.text).toContain('cuff policy approve');
      const unseen = await agent.run('touch other', { ask: async () => ({ kind: 'unseen' }) });
      expect(unseen.text).toMatch(
        /The client answered without showing it.*\n.*cuff policy approve/,
      );
      expect(unseen.text).not.toContain('The person was asked');
      expect(['asked', 'denied2', 'other'].some((name) => agent.made(name))).toBe(false);
      expect(agent.decisions().map(({ end_reason }) => end_reason)).toEqual(
        Array.from({ length: 6 }, () => 'denied'),
      );
    });

    it('runs nothing for a caller who left while the person was asked', async () => {
      const agent = await Agent.open(dialect, POLICY);
      const controller = new AbortController();
      const ask: AskPerson = async () => {
        controller.abort();
        return { kind: 'chosen', value: 'once' };
      };
      const { refused } = await agent.run('touch asked', { ask, signal: controller.signal });
      expect(refused).toBe(true);
      expect(agent.made('asked')).toBe(false);
    });

    it('under warn adds one line to what it runs, under record only writes it down', async () => {
      const warned = await Agent.open(dialect, `mode: warn\n${POLICY}`);
      const { text } = await warned.run('touch denied');
      expect(text).toMatch(/\[policy: deny \(rule\.deny\): [^\n]*\]/);
      expect(warned.made('denied')).toBe(true);
      const decision = { ...enforced, verdict: 'deny', code: 'rule.deny', rule: 'touch denied' };
      expect(warned.decisions()[0]?.decision).toEqual({ ...decision, mode: 'warn' });

      const recorded = await Agent.open(dialect, `mode: record\n${POLICY}`);
      expect((await recorded.run('touch denied')).text).not.toContain('policy');
      expect(recorded.made('denied')).toBe(true);
      expect(recorded.decisions()[0]?.decision).toEqual({ ...decision, mode: 'record' });
    });

    it('with mode off is as if there were none', async () => {
      const agent = await Agent.open(dialect, `mode: off\n${POLICY}`);
      expect((await agent.run('touch denied')).refused).toBe(false);
      expect(agent.decisions()[0]?.decision).toBeNull();
    });
  },
);
