// docs/agents.md names the files that init really writes, and the versions of the table of agents.
// No command of an agent may write one of those files.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Context, isGap, type Kind } from '../../../src/cli/init/agents/agent.ts';
import { SETUPS } from '../../../src/cli/init/agents/index.ts';
import { protectedPaths } from '../../../src/policy/protected.ts';
import { AGENT_IDS, AGENTS } from '../../../src/text/agents.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/agents.md'), 'utf8');

const CONTEXT: Context = {
  cwd: '/p',
  home: '/nowhere',
  env: {},
  scope: 'user',
  cuff: 'cuff',
  server: { command: 'cuff', args: ['mcp'], note: undefined },
  dialect: undefined,
  only: false,
  required: undefined,
  claudeFileShared: false,
  rewrite: false,
  shell: { bash: '/s/shells/bash', bashEnv: '/s/bash-env', captures: '/s/sessions' },
};

describe.each(AGENT_IDS)('the row of %s', (id) => {
  const row = PAGE.split('\n').find((line) => line.startsWith(`| ${id} |`)) ?? '';
  const [, , ...cells] = row.split('|').map((cell) => cell.trim());

  it.each([
    ['hooks', 0],
    ['shell', 1],
    ['mcp', 2],
  ] as const)('says where its %s is', (kind: Kind, column) => {
    const parts = SETUPS[id].parts(CONTEXT).filter((part) => part.kind === kind);
    const files = parts.flatMap((part) => (isGap(part) ? [] : [part.file]));
    const named = [...(cells[column] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    const [gap] = parts.flatMap((part) => (isGap(part) ? [part.why] : []));
    const by = /`(cuff exec \w+)`/.exec(gap ?? '')?.[1];
    const wanted = files.map((file) => file.replace('/nowhere', '~'));
    expect(named).toEqual(wanted.length > 0 || by === undefined ? wanted : [by]);
    if (named.length === 0) expect(cells[column]).toBe('none');
  });

  it('says which version was tried', () => {
    expect(cells[3]).toBe(AGENTS[id].triedWith ?? 'documents only');
  });
});

it.each(['user', 'project'] as const)('no command may write what init writes for a %s', (scope) => {
  const roots = { home: '/nowhere', project: '/p' };
  const { control } = protectedPaths(roots, { more: [], opened: [] });
  const context: Context = { ...CONTEXT, scope, only: true, required: '--only' };
  const files = AGENT_IDS.flatMap((id) => SETUPS[id].parts(context)).flatMap((part) =>
    isGap(part) ? [] : [part.file],
  );
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((file) => !control(file))).toEqual([]);
});
