// An error in the middle of much output is named in every dialect, with its number, whatever part
// of the output the dialect shows; and nothing is searched where nothing failed.
import { describe, expect, it } from 'vitest';
import { call, World } from '../recorder/helper.ts';
import { DIALECTS } from './policy-helper.ts';

const ERROR = 'src/x.c:7: error: no such member';

/** More than any dialect shows, with the error behind the start that bash_recorder shows. */
const LOUD = `seq 1 200000; echo '${ERROR}'; seq 1 20000`;

describe.each(DIALECTS)('$name', ({ name, plugin, tool, argument }) => {
  const answer = async (command: string): Promise<string> => {
    const args = { [argument]: command, ...(name === 'codex' && { yield_time_ms: 30_000 }) };
    return (await call(await new World().open(plugin), tool, args)).text;
  };

  it('names an error that it does not show', async () => {
    const text = await answer(`${LOUD}; exit 2`);
    expect(text).toContain(`200001: ${ERROR}`);
    expect(text).toMatch(/shell_read \{"id":"\w+","from_line":199996,"lines":40\}|199996,200035p/);
  });

  it('does not speak of errors where nothing failed', async () => {
    expect(await answer(LOUD)).not.toContain('200001: ');
  });
});
