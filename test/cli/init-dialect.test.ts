// Which tools `cuff init` asks for in the configuration of a client.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DIALECT_NAMES } from '../../src/cli/init.ts';
import { SHELLS } from '../../src/dialects/builtins.ts';
import { Place } from './init-helper.ts';

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
