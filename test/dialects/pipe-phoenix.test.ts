// What holds for both dialects with a tool called `bash`: nothing hangs, nothing is lost, and what
// executes commands can be put in from outside.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUILTINS } from '../../src/dialects/builtins.ts';
import type { Shell } from '../../src/shell/shell.ts';
import { alive, processesWith } from '../cli/helper.ts';
import { expectNoWait } from '../pace.ts';
import { call, World } from '../recorder/helper.ts';
import { SOON_MS } from './hard-cases.ts';

const NAMES = ['pipe_bash', 'phoenix_bash'] as const;

async function open(name: (typeof NAMES)[number], world = new World(), config: unknown = {}) {
  const dialect = BUILTINS[name];
  if (dialect === undefined) throw new Error(name);
  const plugin = await world.open(dialect, config);
  return (command: string) => call(plugin, 'bash', { command });
}

describe.each(NAMES)('%s', (name) => {
  it.each([
    'sleep 100 &',
    'sleep 100 >/dev/null &',
    '(sleep 100 &)',
    'nohup sleep 100 &',
    'setsid sleep 100 &',
    'coproc sleep 100',
    'sleep 100 & disown',
  ])('answers %s at once and leaves it alive', async (command) => {
    const mark = `CUFF_LEFT=${name}-${Math.random()}`;
    const bash = await open(name);
    const leaves = async () =>
      expect((await bash(`export ${mark}; ${command}`)).success).toBe(true);
    await expectNoWait(SOON_MS, () => bash('true'), leaves);
    const left = processesWith(mark);
    expect(left.length).toBeGreaterThan(0);
    expect(left.every(alive)).toBe(true);
  });

  it('has the last bytes of 50 commands that print much', async () => {
    const bash = await open(name);
    for (let turn = 0; turn < 50; turn += 1) {
      const { text } = await bash('yes hello | head -n 5000; printf marker');
      expect(text).toMatch(name === 'pipe_bash' ? /hello\nmarker\n\nstderr:/ : /hello\nmarker$/);
    }
  });

  it('has the byte and the exit code of 1000 commands', async () => {
    const bash = await open(name);
    const wanted =
      name === 'pipe_bash'
        ? 'stdout:\nx\n\nstderr:\n\nexit code: 3'
        : '[command failed: exit code 3]\nx';
    for (let turn = 0; turn < 125; turn += 1) {
      const eight = Array.from({ length: 8 }, () => bash('printf x; exit 3'));
      for (const answer of await Promise.all(eight)) {
        expect(answer).toMatchObject({ success: false, text: wanted });
      }
    }
  });
});

describe('the parts of both', () => {
  it('are units of their own, each with tests', () => {
    const root = join(import.meta.dirname, '..', '..');
    const units = {
      'src/dialects/pipe_bash': ['dialect.ts', 'tools.ts', 'words.ts'],
      'src/shell/output': ['new-output.ts'],
      'src/text': ['sanitize.ts', 'cut.ts'],
      'test/dialects/pipe_bash': ['dialect.test.ts', 'background.test.ts', 'output.test.ts'],
      'test/text': ['sanitize.test.ts', 'cut.test.ts'],
    };
    for (const [directory, files] of Object.entries(units)) {
      expect(readdirSync(join(root, directory))).toEqual(expect.arrayContaining(files));
    }
  });

  it('execute with what the house lends them', async () => {
    const world = new World();
    const asked: unknown[] = [];
    const controlled: Shell = {
      ...world.shell,
      start(command, options) {
        asked.push(command);
        return world.shell.start({ kind: 'argv', argv: ['printf', 'controlled'] }, options);
      },
    };
    const lent = { ...world.services, shell: () => controlled };
    const dialect = BUILTINS.pipe_bash;
    if (dialect === undefined) throw new Error('no pipe_bash');
    const plugin = new dialect({}, lent);
    await plugin.initialize();
    const { text } = await call(plugin, 'bash', { command: 'rm everything' });
    await plugin.shutdown();
    expect(asked).toEqual([{ kind: 'shell', text: 'rm everything', shell: '/bin/bash' }]);
    expect(text).toBe('stdout:\ncontrolled\n\nstderr:\n\nexit code: 0');
  });
});
