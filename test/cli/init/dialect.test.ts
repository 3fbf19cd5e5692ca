// Which tools `cuff init` asks for in the configuration of a client.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DIALECT_NAMES } from '../../../src/cli/init/init.ts';
import { SHELLS } from '../../../src/dialects/builtins.ts';
import { Place } from './helper.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.close());

describe('the dialect', () => {
  it('is the one that is asked for', async () => {
    const { out } = await place.init('--client claude --dialect pipe_bash --print');
    const { cuff } = JSON.parse(out).mcpServers;
    expect(cuff.args).toEqual(['mcp', '--dialect', 'pipe_bash']);
  });

  it('must be one that there is', async () => {
    expect([...DIALECT_NAMES].sort()).toEqual([...SHELLS].sort());
    const { code, err } = await place.init('--client claude --dialect zsh');
    expect([code, place.files()]).toEqual([2, {}]);
    expect(err).toContain('Allowed choices are bash_recorder, cuff_shell,');
  });
});

describe('what a client is told besides', () => {
  it('is to load the tools of cuff at once, for Claude Code alone', async () => {
    const { out } = await place.init('--client claude --print');
    expect(JSON.parse(out).mcpServers.cuff.alwaysLoad).toBe(true);
    expect((await place.init('--client cursor --print')).out).not.toContain('alwaysLoad');
  });

  it('is not to work without cuff, for Codex and on demand', async () => {
    expect((await place.init('--client codex')).code).toBe(0);
    expect(place.files()['home/.codex/config.toml']).not.toContain('required');
    const { code, err } = await place.init('--client codex --only');
    expect([code, err]).toEqual([
      0,
      expect.stringContaining('Codex will not start without cuff (required = true): --only.\n'),
    ]);
    expect(place.files()['home/.codex/config.toml']).toMatch(/^required = true$/m);
    expect((await place.init('--client codex --remove')).code).toBe(0);
    expect(place.files()['home/.codex/config.toml']).toBeUndefined();
  });

  it('is so where a policy enforces, or cannot be read', async () => {
    place.write('.cuff/policy.yml', 'mode: warn\ndefault: allow\n');
    expect((await place.init('--client codex --print')).out).not.toContain('required');
    for (const policy of ['default: ask\n', '{']) {
      place.write('.cuff/policy.yml', policy);
      const { out, err } = await place.init('--client codex --print');
      expect(out).toMatch(/^required = true$/m);
      expect(err).toContain('(required = true): a policy enforces.');
    }
    expect((await place.init('--client claude --print')).err).not.toContain('required');
  });
});
