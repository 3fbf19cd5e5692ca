// The document of `phoenix_bash` shows answers, a schema and a description that are real.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectDocumented } from '../documented.ts';
import { newWorld, phoenix } from './helper.ts';

describe('docs/dialects/phoenix_bash.md', () => {
  const path = join(import.meta.dirname, '../../../docs/dialects/phoenix_bash.md');
  const text = (): string => fs.readFileSync(path, 'utf8');

  it('shows answers that were really given', () => {
    expect(expectDocumented('docs/dialects/phoenix_bash.md', 'phoenix_bash')).toEqual([
      'ok',
      'failure',
      'timeout',
      'huge',
      'background',
      'finished-later',
      'killed',
      'dangerous',
      'no-directory',
      'spawn-error',
      'bad-arguments',
    ]);
  });

  it('shows the schema and the description that agents get', async () => {
    const [, block = '{}'] = /```json\n(.*?)\n```/s.exec(text()) ?? [];
    const world = newWorld();
    const [tool] = (await phoenix(world)).getTools();
    expect(JSON.parse(block)).toEqual(tool?.parameters);
    const description = tool?.description.replace(world.project, '/home/you/project') ?? '-';
    expect(text()).toContain(`\`\`\`text\n${description}\n\`\`\``);
  });

  it('calls the safety checks what they are', () => {
    expect(text().replace(/\s+/g, ' ')).toContain('defence in depth, not a security boundary');
  });
});
