// What erases something of the record is for persons: an agent is refused by its variables, and
// inside of a run of ours, and nothing is gone.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AGENT_VARIABLES } from '../../src/text/agents.ts';
import { binary, Cli, type Result } from './helper.ts';

const cli = new Cli();
const project = join(cli.root, 'project');
const NODE = [process.execPath, binary('cuff')];

afterAll(() => cli.close());

function cuff(args: readonly string[], agent?: string): Promise<Result> {
  const none = [...AGENT_VARIABLES].flatMap((name) => ['-u', name]);
  const own = agent === undefined ? [] : [`${agent}=1`];
  const words = ['env', ...none, ...own, ...NODE, ...args];
  const { child, result } = cli.start(words, { cwd: project });
  child.stdin?.end();
  return result;
}

const sessions = (): string[] => readdirSync(join(project, '.cuff', 'recordings', 'sessions'));

beforeAll(async () => {
  mkdirSync(join(project, '.git'), { recursive: true });
  await cuff(['run', '--session-id', 'kept', '--retention', '1s', '--journal', '--', 'true']);
  await cuff(['pin', 'kept']);
});

const COMMANDS: readonly (readonly [args: readonly string[], words: string])[] = [
  [['record', 'clean', '--older-than', '2035-01-01', '--force'], 'delete what was recorded'],
  [['sweep'], 'delete what was recorded'],
  [['pin', '--off', 'kept'], 'let go of what is kept'],
  [['redact', '--secret', 'some-secret', '--yes'], 'redact what was recorded'],
];

it.each(COMMANDS)('an agent cannot: cuff %s', async (args, words) => {
  const before = sessions();
  for (const call of [cuff(args, 'CLAUDECODE'), cuff(['run', '--', ...NODE, ...args])]) {
    const { code, out, err } = await call;
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`An agent cannot ${words}`);
  }
  expect(sessions()).toEqual(before);
  expect(readdirSync(join(cli.root, 'sessions', 'kept'))).toContain('pinned');
});

it('nothing is erased, by a person either, that the ledger cannot speak of', async () => {
  const before = sessions();
  const key = join(cli.root, 'seal', 'key');
  rmSync(key);
  writeFileSync(key, 'no key');
  for (const args of [COMMANDS[0]?.[0] ?? [], ['pin', '--off', 'kept']]) {
    const { code, err } = await cuff(args);
    expect([args, code]).toEqual([args, 1]);
    expect(err).toContain('The ledger cannot be written (key_gone).');
  }
  expect(sessions()).toEqual(before);
  expect(readdirSync(join(cli.root, 'sessions', 'kept'))).toContain('pinned');
});
