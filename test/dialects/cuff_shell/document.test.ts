// The document of `cuff_shell` shows real answers, and every tool with its arguments and limits.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectDocumented } from '../documented.ts';
import { Native } from './helper.ts';

const DOCUMENT = 'docs/dialects/cuff_shell.md';

describe(DOCUMENT, () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', '..', DOCUMENT), 'utf8');

  it('shows real answers', () => {
    expect(expectDocumented(DOCUMENT, 'cuff_shell').length).toBeGreaterThan(15);
  });

  it('has every tool, argument and limit', async () => {
    const { plugin } = await Native.open();
    for (const tool of plugin.getTools()) {
      const section = text.split(`\n### \`${tool.name}\``)[1]?.split('\n### ')[0] ?? '';
      const { properties = {} } = tool.parameters as { properties?: Record<string, Argument> };
      for (const [name, { type, minimum, maximum, enum: values }] of Object.entries(properties)) {
        const row = section.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
        expect(row, `${tool.name} ${name}`).toContain(`| ${type} `);
        const limits = [minimum, maximum].filter((limit) => limit !== undefined);
        for (const limit of limits) expect(row).toContain(limit.toLocaleString('en-US'));
        for (const value of values ?? []) expect(row).toContain(`\`${value}\``);
      }
    }
  });
});

type Argument = {
  readonly type: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
};
