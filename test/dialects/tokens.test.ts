// What the answers to 34 commands of every kind cost a model, and that none leaves out what it must
// know. The same script prints the table: `node bench/tokens.mjs`.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

const SCRIPT = join(import.meta.dirname, '..', '..', 'bench', 'tokens.mjs');
const TOKENS_MAX = 25_000;
const TRAILER_TOKENS_MAX = 30;
const MINUTES_MS = 600_000; // a loaded machine

type Measured = {
  readonly dialect: string;
  readonly tokens: number;
  readonly answers: readonly {
    readonly name: string;
    readonly missing: readonly (readonly string[])[];
    readonly trailer: number;
  }[];
};

describe('the answers to 34 commands', () => {
  let all: readonly Measured[] = [];

  beforeAll(async () => {
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [SCRIPT, '--json'], { maxBuffer: 1e8 });
    all = JSON.parse(stdout);
  }, MINUTES_MS);

  it('leave out no key fact in any dialect', () => {
    expect(all).toHaveLength(6);
    for (const { dialect, answers } of all) {
      expect(answers).toHaveLength(34);
      const wrong = answers.filter(({ missing }) => missing.length > 0);
      expect([dialect, wrong.map(({ name, missing }) => [name, missing])]).toEqual([dialect, []]);
    }
  });

  it(`cost at most ${TOKENS_MAX} tokens in cuff_shell, and few for what is said of a run`, () => {
    const own = all.find(({ dialect }) => dialect === 'cuff_shell');
    expect(own?.tokens).toBeLessThanOrEqual(TOKENS_MAX);
    const long = own?.answers.filter(({ trailer }) => trailer >= TRAILER_TOKENS_MAX);
    expect(long?.map(({ name }) => name)).toEqual([]);
  });
});
