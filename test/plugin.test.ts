// The plugin directory as its four clients read it: the manifests have what each of them asks for,
// names and tools are real ones, and nothing is said twice.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { isHookEntry } from '../src/cli/init/edits.ts';
import type { Json } from '../src/cli/init/jsonc.ts';
import { BUILTINS } from '../src/dialects/builtins.ts';
import { AGENTS } from '../src/text/agents.ts';

const FOLDER = join(import.meta.dirname, '../dist/plugin');
const FILES: ReadonlyMap<string, string> = new Map(
  readdirSync(FOLDER, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [relative(FOLDER, path), readFileSync(path, 'utf8')]),
);
const json = (name: string) => JSON.parse(FILES.get(name) ?? '');

type Group = { readonly matcher?: string; readonly hooks: readonly Record<string, unknown>[] };

describe('the manifests', () => {
  it('are of this version, and the marketplace has the directory', () => {
    const plugin = json('cuff/.claude-plugin/plugin.json');
    expect([plugin.name, plugin.version]).toEqual(['cuff', packageJson.version]);
    const extension = json('cuff/gemini-extension.json');
    expect([extension.name, extension.version]).toEqual(['cuff', packageJson.version]);
    const { name, owner, plugins } = json('.claude-plugin/marketplace.json');
    expect([name, owner, plugins[0]]).toEqual([
      'cuff',
      { name: 'cuff' },
      { name: 'cuff', source: './cuff', description: packageJson.description },
    ]);
    expect(
      [...FILES.keys()].every((path) => path.startsWith('.') || path.startsWith('cuff/')),
    ).toBe(true);
  });

  it('start one server, with the dialect whose tools the skill names', () => {
    const server = { command: 'cuff', args: ['mcp', '--dialect', 'cuff_shell'] };
    expect(json('cuff/gemini-extension.json').mcpServers).toEqual({ cuff: server });
    expect(json('cuff/.mcp.json').mcpServers).toEqual({ cuff: { ...server, alwaysLoad: true } });
    expect(Object.keys(BUILTINS)).toContain('cuff_shell');
  });
});

describe('the hooks', () => {
  const { hooks } = json('cuff/hooks/hooks.json') as { hooks: Record<string, readonly Group[]> };

  it('are those of all four clients, one line each', () => {
    expect(Object.keys(hooks)).toEqual([
      ...['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'SessionStart', 'SessionEnd'],
      ...['BeforeTool', 'AfterTool'],
    ]);
    for (const groups of Object.values(hooks)) {
      expect(groups).toHaveLength(1);
      expect(groups.every((group) => isHookEntry(group as unknown as Json))).toBe(true);
      expect(groups[0]?.hooks.map(({ type, command }) => [type, command])).toEqual([
        ['command', 'cuff hook'],
      ]);
    }
  });

  it('wait ten seconds, in the unit of the client, and no time where the unit is unknown', () => {
    const times = Object.entries(hooks).map(([name, [group]]) => [name, group?.hooks[0]?.timeout]);
    expect(Object.fromEntries(times)).toEqual({
      ...{ PreToolUse: 10, PostToolUse: 10, PostToolUseFailure: 10 },
      ...{ SessionStart: undefined, SessionEnd: undefined },
      ...{ BeforeTool: 10_000, AfterTool: 10_000 },
    });
  });

  it('match every tool that runs commands, and those that write files', () => {
    const matches = (event: string, tool: string): boolean =>
      new RegExp(`^(?:${hooks[event]?.[0]?.matcher})$`).test(tool);
    const claude = [...AGENTS.claude.shellTools, ...AGENTS.claude.fileTools, 'apply_patch', 'bash'];
    expect(claude.filter((tool) => !matches('PreToolUse', tool))).toEqual([]);
    const gemini = [...AGENTS.gemini.shellTools, ...AGENTS.gemini.fileTools];
    expect(gemini.filter((tool) => !matches('BeforeTool', tool))).toEqual([]);
    expect(matches('PreToolUse', 'Read')).toBe(false);
  });
});

describe('the skill', () => {
  const text = FILES.get('cuff/skills/cuff/SKILL.md') ?? '';

  it('has a name and a description that fit into a list of skills', () => {
    const [, head = ''] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
    const fields = Object.fromEntries(
      head.split('\n').map((line) => line.split(/: (.*)/).slice(0, 2)),
    );
    expect(Object.keys(fields)).toEqual(['name', 'description']);
    expect(fields.name).toBe('cuff');
    expect(fields.description?.length).toBeLessThan(1_024);
    expect(text.split('\n').length).toBeLessThan(40);
  });

  it('names tools that there are', () => {
    const page = readFileSync(join(import.meta.dirname, '../docs/dialects/cuff_shell.md'), 'utf8');
    const derun = readFileSync(join(import.meta.dirname, '../docs/dialects/derun.md'), 'utf8');
    const named = new Set(text.match(/`(?:shell|derun)_\w+/g)?.map((word) => word.slice(1)));
    expect(named.size).toBeGreaterThan(4);
    for (const tool of named) expect(page + derun).toContain(tool);
  });
});
