// The document of `pipe_bash` shows answers and a schema that are real.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { World } from '../../recorder/helper.ts';
import { expectDocumented } from '../documented.ts';
import { pipe } from './helper.ts';

describe('docs/dialects/pipe_bash.md', () => {
  it('shows answers that were really given', () => {
    expect(expectDocumented('docs/dialects/pipe_bash.md', 'pipe_bash')).toEqual([
      'ok',
      'huge',
      'many-lines',
      'timeout',
      'background',
      'still-running',
      'finished-later',
      'killed',
      'signal',
      'survivor',
      'spawn-error',
      'bad-arguments',
      'unknown-pid',
    ]);
  });

  it('shows the schema that agents get', async () => {
    const text = fs.readFileSync(
      join(import.meta.dirname, '../../../docs/dialects/pipe_bash.md'),
      'utf8',
    );
    const [, block = '{}'] = /```json\n(.*?)\n```/s.exec(text) ?? [];
    const [tool] = (await pipe(new World())).getTools();
    const { name, description, parameters: inputSchema } = tool ?? {};
    expect(JSON.parse(block)).toEqual({ name, description, inputSchema });
  });
});
