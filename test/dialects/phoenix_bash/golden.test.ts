// One golden answer of `phoenix_bash` for each thing that can happen, and the document that shows
// them.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withTime } from '../../pace.ts';
import { expectDocumented } from '../documented.ts';
import { golden } from '../golden.ts';
import { background, bash, newWorld, phoenix } from './helper.ts';

const MORE = [
  [/<pid>\d+/g, '<pid>1234'],
  [/phoenix-\w{6}/g, 'phoenix-XXXXXX'],
  [/x{4096}/g, '(4096 times x)'],
] as const;

describe('the answers of phoenix_bash', () => {
  it.each([
    ['ok', 'echo building; echo "warning: slow" >&2; echo done'],
    ['failure', 'echo "3 tests, 1 failed"; echo "AssertionError: 1 != 2" >&2; exit 1'],
    ['signal', 'echo before; kill -SEGV $$'],
    ['empty', 'true'],
    ['binary', `printf '\\x7fELF\\x02\\x01\\x01\\0\\0\\0\\xff\\xfe\\n'`],
    ['huge', 'seq -f "line %.0f of the log" 1000000'],
    ['long-line', `head -c 10485760 /dev/zero | tr '\\0' x`],
    ['split-utf8', `printf 'a\\xe2'; sleep 0.05; printf '\\x82'; sleep 0.05; printf '\\xacb\\n'`],
    [
      'ansi',
      `printf '\\e[1;31merror\\e[0m: \\e]8;;http://x\\e\\\\link\\e]8;;\\e\\\\ \\x9b1mbold\\n'`,
    ],
    ['progress-bar', `for i in 10 50 100; do printf '\\r%3d%%' $i; done; echo`],
    ['dangerous', 'exit; rm -rf /'],
  ])('%s', async (name, command) => {
    const world = newWorld();
    const { text } = await bash(await phoenix(world), command);
    golden('phoenix_bash', name, text, world, MORE);
  });

  it('timeout', async () => {
    const attempt = async (ms: number) => {
      const world = newWorld();
      const plugin = await phoenix(world, { timeout_seconds: ms / 1000 });
      const { text } = await bash(plugin, 'echo "Compiling cuff v0.1.0"; sleep 100');
      return { world, text };
    };
    const { world, text } = await withTime(3_000, attempt, (one) => one.text.includes('cuff v0'));
    golden('phoenix_bash', 'timeout', text, world, MORE);
  });

  it('background, still-running, finished-later', async () => {
    const world = newWorld();
    const plugin = await phoenix(world);
    const wait = 'until test -e go; do sleep 0.01; done';
    const run = await background(plugin, `echo "listening on :3000"; ${wait}; echo bye >&2`);
    golden('phoenix_bash', 'background', run.text, world, MORE);
    golden('phoenix_bash', 'still-running', await run.has('3000\n'), world, MORE);
    fs.writeFileSync(join(world.project, 'go'), '');
    golden('phoenix_bash', 'finished-later', await run.has('[background'), world, MORE);
  });

  it('killed', async () => {
    const world = newWorld();
    const plugin = await phoenix(world);
    const run = await background(plugin, 'echo "listening on :3000"; sleep 100');
    await run.has('3000\n');
    await bash(plugin, `kill -9 -${run.pid}`);
    golden('phoenix_bash', 'killed', await run.has('[background'), world, MORE);
  });

  it('spawn-error', async () => {
    const world = newWorld();
    const plugin = await phoenix(world, { env_overrides: { BIG: 'x'.repeat(200_000) } });
    golden('phoenix_bash', 'spawn-error', (await bash(plugin, 'true')).text, world);
  });

  it('bad-arguments, no-directory', async () => {
    const world = newWorld();
    const plugin = await phoenix(world);
    const { text } = await bash(plugin, { command: 'true', slow_ok: 'yes' });
    golden('phoenix_bash', 'bad-arguments', text, world);
    fs.rmSync(world.project, { recursive: true });
    golden('phoenix_bash', 'no-directory', (await bash(plugin, 'true')).text, world);
  });
});

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
