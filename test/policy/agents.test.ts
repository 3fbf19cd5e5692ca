// Rules that are about some agents alone: who they are for, what others are told of them, and what
// another tool gets of them.
import { describe, expect, it } from 'vitest';
import { comparePolicies } from '../../src/policy/backtest/compare.ts';
import { judge } from '../../src/policy/decide.ts';
import { exportPolicy } from '../../src/policy/export/index.ts';
import { lintPolicy } from '../../src/policy/lint.ts';
import { readPolicy } from '../../src/policy/load.ts';
import { unsaved } from '../../src/policy/policy.ts';
import { explain } from '../../src/policy/reasons.ts';
import { HOME, PROJECT, policyOf } from './helper.ts';

const POLICY = `
policies:
  - name: everybody
    commands:
      - pattern: ls
  - name: reading
    agents: [claude-code, codex]
    commands:
      - pattern: git log *
      - pattern: git show *
        agents: [my-bot]
  - name: pushing
    agents: ["Claude Code"]
    commands:
      - pattern: git push *
        decision: deny
      - pattern: git fetch *
        decision: ask
        reason: The person fetches.
      - pattern: git push *
        decision: allow
        args: any
        agents: [codex, my-bot]
`;

const judgement = judge({ policies: [unsaved(policyOf(POLICY))], project: PROJECT, home: HOME });

function said(command: string, agent?: string): string {
  const { verdict, code } = judgement.decide(command, PROJECT, { agent });
  return `${verdict} ${code}`;
}

describe('a rule that names agents', () => {
  it('allows only to those whose name is proven', () => {
    const agents = [
      'claude-code',
      'claude',
      'Claude Code',
      'codex-mcp-client',
      'gemini',
      'x',
      undefined,
    ];
    expect(agents.map((agent) => said('git log -3', agent))).toEqual([
      ...Array(4).fill('allow rule.allow'),
      ...Array(3).fill('ask default.ask'),
    ]);
    expect(said('git show HEAD', 'My-Bot')).toBe('allow rule.allow');
    expect(said('git show HEAD', 'claude-code')).toBe('ask default.ask');
    expect(said('ls')).toBe('allow rule.allow');
  });

  it('denies and asks also where no name is proven, or none that is known', () => {
    const agents = ['claude-code', undefined, 'x', 'my-bot', ''];
    for (const agent of agents) {
      expect(said('git push origin main', agent)).toBe('deny rule.deny');
      expect(said('git fetch', agent)).toBe('ask rule.ask');
    }
    expect(said('git push origin main', 'codex')).toBe('allow rule.allow');
    expect(said('git fetch', 'codex')).toBe('ask default.ask');
    expect(said('git push origin main', 'gemini')).toBe('ask default.ask');
  });

  it('denies processes in the same way', () => {
    const argv = ['git', 'push'];
    const verdict = (agent?: string) => judgement.decideProcess(argv, PROJECT, agent).verdict;
    expect(['claude', undefined, 'x', 'codex', 'gemini'].map(verdict)).toEqual([
      ...['deny', 'deny', 'deny'],
      ...['allow', 'allow'],
    ]);
  });

  it('says for whom it is', () => {
    const text = (command: string, agent?: string): string =>
      explain(judgement.decide(command, PROJECT, { agent }));
    expect(text('git push')).toContain(
      '`git push *` of pushing, for Claude Code, denies `git push`',
    );
    expect(text('git fetch')).toContain(
      'The rule `git fetch *`, for Claude Code, asks about `git fetch`: The person fetches.',
    );
    const alone = 'The rule `git log *` allows it to claude-code, codex alone, by a proven name.';
    expect(text('git log')).toContain(alone);
    expect(text('git log', 'gemini')).toContain(alone);
    expect(text('git stash')).not.toContain('alone');
  });

  it('is proven by its tests without an agent', () => {
    const tests = '{match: [git log], not_match: [ls]}';
    const rule = `{pattern: git log *, agents: [codex], tests: ${tests}}`;
    expect(policyOf(`policies: [{name: x, commands: [${rule}]}]`).policies).toHaveLength(1);
  });
});

describe('names of agents', () => {
  const rule = (agents: string): string =>
    `policies:\n  - name: x\n    commands:\n      - pattern: ls\n        agents: ${agents}\n`;

  it.each([
    ['[]', 5, 17, 'agents: names no agent'],
    ['codex', 5, 17, 'agents: must be a list'],
    ['[3]', 5, 18, 'agents[0]: must be text'],
    ['["a\\nb"]', 5, 17, 'is no name of an agent'],
    ['["`rm`"]', 5, 17, 'is no name of an agent'],
    [`[${'a'.repeat(65)}]`, 5, 17, 'is no name of an agent'],
  ])('are checked: %s', (agents, line, column, words) => {
    const read = readPolicy(rule(agents), { home: HOME });
    if ('policy' in read) throw new Error('it was read');
    expect(read.problems).toMatchObject([
      { line, column, message: expect.stringContaining(words) },
    ]);
  });

  it('that are not known are warned of, at their place', () => {
    const lint = lintPolicy(rule('[claude-code, clade]'), { home: HOME });
    expect(lint).toMatchObject({
      warnings: [
        { line: 5, code: 'agents', message: 'No agent that cuff knows is called `clade`.' },
      ],
    });
    expect(lintPolicy(rule('[claude, Codex, cursor]'), { home: HOME })).toMatchObject({
      warnings: [],
    });
  });

  it('make no duplicate, and no shadow for others', () => {
    const text = `policies: [{name: x, commands: [
      {pattern: ls, agents: [codex]}, {pattern: ls, agents: [claude]},
      {pattern: git log}, {pattern: git log, decision: deny, agents: [codex]}]}]`;
    expect(lintPolicy(text, { home: HOME })).toMatchObject({ warnings: [] });
  });
});

it('another tool gets the rules that are for it, and the others are listed', () => {
  const claude = exportPolicy(policyOf(POLICY), 'claude', { loose: true });
  expect(JSON.parse(claude.text).permissions).toEqual({
    allow: ['Bash(ls)', 'Bash(git log:*)'],
    ask: ['Bash(git fetch:*)'],
    deny: ['Bash(git push:*)'],
  });
  expect(claude.losses).toContainEqual({
    ...{ kind: 'agents', loosens: false, leftOut: true, message: '`agents` names others' },
    items: ['git show *', 'git push *'],
  });
  const gemini = exportPolicy(policyOf(POLICY), 'gemini', { loose: true });
  expect(gemini.text).not.toMatch(/git (?:log|push|fetch)/);
});

it('a change of the agents of a rule is a difference', () => {
  const [before, after] = ['[codex]', '[codex, claude]'].map((agents) =>
    unsaved(policyOf(`policies: [{name: x, commands: [{pattern: ls, agents: ${agents}}]}]`)),
  );
  if (before === undefined || after === undefined) throw new Error('there are two');
  expect(comparePolicies(before, after, [], HOME).rules).toMatchObject([
    { kind: 'changed', pattern: 'ls', fields: ['agents'] },
  ]);
});
