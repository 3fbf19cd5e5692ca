// `cuff init --undo` where nothing but init's own lines may go.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Place } from './helper.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.close());

function home(name: string, text: string): void {
  const path = join(place.home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const inHome = (name: string): string => readFileSync(join(place.home, name), 'utf8');

describe('--undo of a file that the user has changed since', () => {
  const later = (name: string): void => {
    home(name, inHome(name).replace('{', '{ "later": 1,'));
  };

  it.each([
    ['--client gemini', '.gemini/settings.json', { mcpServers: {}, hooks: {} }],
    ['--client claude --mcp', '.claude.json', { mcpServers: {} }],
    ['--client claude', '.claude/settings.json', { env: {}, hooks: { PreToolUse: [] } }],
    ['--client cursor', '.cursor/hooks.json', { hooks: {} }],
    ['--client cursor', '.cursor/hooks.json', { hooks: { stop: [{ command: 'x' }] } }],
    ['--client cursor', '.cursor/hooks.json', { version: 1, hooks: {} }],
    ['--client cursor --mcp', '.cursor/mcp.json', { mcpServers: {} }],
    ['--client vscode --mcp', '.config/Code/User/mcp.json', { servers: {} }],
    ['--client opencode', '.config/opencode/opencode.json', { mcp: {} }],
    ['--client pi', '.pi/agent/settings.json', { x: {} }],
  ])('%s %s leaves empty objects of the user alone (%#)', async (args, name, mine) => {
    home(name, `${JSON.stringify(mine, null, 2)}\n`);
    await place.init(`${args} --user`);
    expect(inHome(name)).not.toBe(`${JSON.stringify(mine, null, 2)}\n`);
    later(name);
    await place.init('--undo');
    expect(JSON.parse(inHome(name))).toEqual({ later: 1, ...mine });
  });

  it.each([
    ['--client cursor --hooks', '.cursor/hooks.json'],
    ['--client gemini', '.gemini/settings.json'],
    ['--client claude --mcp', '.claude.json'],
  ])('%s leaves nothing of ours in a file that init made', async (args, name) => {
    await place.init(`${args} --user`);
    later(name);
    await place.init('--undo');
    expect(JSON.parse(inHome(name))).toEqual({ later: 1 });
  });

  it('keeps the version of the format for hooks that the user added to ours', async () => {
    await place.init('--client cursor --hooks');
    const name = '.cursor/hooks.json';
    home(name, inHome(name).replace('"hooks": {', '"hooks": { "stop": [{"command": "x"}],'));
    await place.init('--undo');
    const hooks = { stop: [{ command: 'x' }] };
    expect(JSON.parse(inHome(name))).toEqual({ version: 1, hooks });
  });

  it('keeps an empty table of the user', async () => {
    home('.codex/config.toml', '[shell_environment_policy.set]\n');
    await place.init('--client codex --shell');
    home('.codex/config.toml', `${inHome('.codex/config.toml')}# later\n`);
    await place.init('--undo');
    const lines = inHome('.codex/config.toml')
      .split('\n')
      .filter((line) => line.trim() !== '');
    expect(lines).toEqual(['[shell_environment_policy.set]', '# later']);
  });
});
