// The JSON Schema for editors is what the sources say.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUILTINS } from '../../src/dialects/builtins.ts';
import { settingsSchema } from '../../src/host/settings.ts';

describe('the schema of settings', () => {
  it('that is shipped is the one the sources make: `node scripts/settings-schema.mjs`', () => {
    const path = join(import.meta.dirname, '../../docs/settings.schema.json');
    const made = JSON.parse(JSON.stringify(settingsSchema(BUILTINS)));
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(made);
  });
});
