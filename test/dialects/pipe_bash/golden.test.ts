// One golden answer of `pipe_bash` for each thing that can happen, and the document that shows
// them.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../cli/helper.ts';
import { World } from '../../recorder/helper.ts';
import { expectDocumented } from '../documented.ts';
import { golden } from '../golden.ts';
import { BECOME } from '../hard-cases.ts';
import { backgrounded, bash, ended, fullOutput, pipe } from './helper.ts';

const WAIT = 'until test -e go; do sleep 0.01; done';
const LONG = [/x{51200}/g, '(51200 times x)'] as const;

describe('the answers of pipe_bash', () => {
  it.each([
    ['ok', 'echo building; echo "warning: slow" >&2; echo done'],
    ['failure', 'echo "3 tests, 1 failed"; echo "AssertionError: 1 != 2" >&2; exit 1'],
    ['signal', 'echo before; kill -SEGV $$'],
    ['empty', 'true'],
    ['binary', `printf '\\x7fELF\\x02\\x01\\x01\\0\\0\\0\\xff\\xfe\\n'`],
    ['huge', 'seq -f "line %.0f of the log" 8500'],
    ['many-lines', 'seq 3000'],
    ['long-line', `head -c 10485760 /dev/zero | tr '\\0' x`],
    ['split-utf8', `printf 'a\\xe2'; sleep 0.05; printf '\\x82'; sleep 0.05; printf '\\xacb\\n'`],
    [
      'ansi',
      `printf '\\e[1;31merror\\e[0m: \\e]8;;http://x\\e\\\\link\\e]8;;\\e\\\\ \\x9b1mbold\\n'`,
    ],
    ['progress-bar', `for i in 10 50 100; do printf '\\r%3d%%' $i; done; echo`],
    ['survivor', `sleep 100 & ${BECOME}; echo started`],
  ])('%s', async (name, command) => {
    const world = new World();
    const { text } = await bash(await pipe(world), command);
    golden('pipe_bash', name, text, world, [LONG]);
  });

  it('timeout, still-running, finished-later', async () => {
    const until2 = WAIT.replace('go', 'go2');
    const first = `echo compiling; echo "warning: old" >&2; ${WAIT}`;
    const run = await backgrounded(`${first}; echo linking; ${until2}; echo ok`, 'old\n');
    const { world, plugin } = run;
    golden('pipe_bash', 'timeout', run.text, world);
    fs.writeFileSync(join(world.project, 'go'), '');
    const path = fullOutput(run.text);
    await until(() => fs.readFileSync(path, 'utf8').includes('linking'), 'the next line');
    golden('pipe_bash', 'still-running', (await bash(plugin, { check_pid: run.pid })).text, world);
    fs.writeFileSync(join(world.project, 'go2'), '');
    golden('pipe_bash', 'finished-later', (await ended(world, plugin, run.pid)).text, world);
  });

  it('background', async () => {
    const command = 'seq 600; echo "warning: old" >&2; sleep 100';
    const run = await backgrounded(command, 'old\n', { background_notice: 'compact' });
    golden('pipe_bash', 'background', run.text, run.world);
  });

  it('killed', async () => {
    const run = await backgrounded('echo "listening on :3000"; sleep 100', '3000\n');
    golden('pipe_bash', 'killed', (await bash(run.plugin, { kill_pid: run.pid })).text, run.world);
  });

  it('spawn-error', async () => {
    const world = new World();
    const plugin = await pipe(world, { env_overrides: { BIG: 'x'.repeat(200_000) } });
    golden('pipe_bash', 'spawn-error', (await bash(plugin, 'true')).text, world);
  });

  it('bad-arguments', async () => {
    const world = new World();
    const plugin = await pipe(world);
    const { text } = await bash(plugin, { command: 'true', check_pid: 1 });
    golden('pipe_bash', 'bad-arguments', text, world);
  });

  it('unknown-pid', async () => {
    const world = new World();
    golden(
      'pipe_bash',
      'unknown-pid',
      (await bash(await pipe(world), { check_pid: 77 })).text,
      world,
    );
  });
});

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
