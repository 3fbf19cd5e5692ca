// Whether a policy of the user or the system is enforced, told without a project.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isOwnPolicyEnforced } from '../../src/policies/own-mode.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cuff-own-'));
});
afterEach(() => rmSync(home, { recursive: true }));

function enforced(files: { readonly user?: string; readonly system?: string }): boolean {
  const systemFile = join(home, 'etc', 'policy.yml');
  const userFile = join(home, '.config', 'cuff', 'policy.yml');
  for (const [file, text] of [
    [systemFile, files.system] as const,
    [userFile, files.user] as const,
  ]) {
    mkdirSync(dirname(file), { recursive: true });
    if (text !== undefined) writeFileSync(file, text);
  }
  return isOwnPolicyEnforced({ env: { HOME: home }, systemFile });
}

const says = (mode: string) => `version: 1\nmode: ${mode}\ndefault: allow\n`;

it.each([
  [{}, false],
  [{ user: says('record') }, false],
  [{ user: says('off'), system: says('record') }, false],
  [{ user: says('enforce') }, true],
  [{ system: says('enforce') }, true],
  [{ user: says('off'), system: says('enforce') }, true],
  [{ user: 'mode: record\nno key: 1\n' }, false],
  [{ user: 'mode: enforce\nno key: 1\n' }, true],
  [{ user: 'mode: [' }, true],
])('%j: %s', (files, expected) => {
  expect(enforced(files)).toBe(expected);
});
