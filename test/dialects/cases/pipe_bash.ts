// The golden answers of `pipe_bash`.
import * as fs from 'node:fs';
import { PipeBashPlugin } from '../../../src/dialects/pipe_bash/dialect.ts';
import { until } from '../../cli/helper.ts';
import { ALWAYS, type GoldenCase, type GoldenDialect, type Stage } from '../golden.ts';
import { BECOME } from '../hard-cases.ts';

const WAIT = 'until test -e go; do sleep 0.01; done';
const FIRST_MS = 150;

function command(golden: string, text: string): GoldenCase {
  return { steps: [{ tool: 'bash', args: { command: text }, golden }] };
}

const timed =
  (text: string) =>
  ({ ms }: Stage) => ({ command: text, timeout: ms });

const pidOf = (stage: Stage) => Number(stage.found(/\(pid (\d+)\)/));

const timeout = [
  'echo compiling; echo "warning: old" >&2',
  WAIT,
  `echo linking; ${WAIT.replace('go', 'go2')}`,
  'echo ok',
].join('; ');

export const pipeBash: GoldenDialect = {
  name: 'pipe_bash',
  plugin: PipeBashPlugin,
  masked: [[/x{51200}/g, '(51200 times x)'], ...ALWAYS],
  cases: [
    command('ok', 'echo building; echo "warning: slow" >&2; echo done'),
    command('failure', 'echo "3 tests, 1 failed"; echo "AssertionError: 1 != 2" >&2; exit 1'),
    command('signal', 'echo before; kill -SEGV $$'),
    command('empty', 'true'),
    command('binary', `printf '\\x7fELF\\x02\\x01\\x01\\0\\0\\0\\xff\\xfe\\n'`),
    command('huge', 'seq -f "line %.0f of the log" 8500'),
    command('many-lines', 'seq 3000'),
    command('long-line', `head -c 10485760 /dev/zero | tr '\\0' x`),
    command(
      'split-utf8',
      `printf 'a\\xe2'; sleep 0.05; printf '\\x82'; sleep 0.05; printf '\\xacb\\n'`,
    ),
    command(
      'ansi',
      `printf '\\e[1;31merror\\e[0m: \\e]8;;http://x\\e\\\\link\\e]8;;\\e\\\\ \\x9b1mbold\\n'`,
    ),
    command('progress-bar', `for i in 10 50 100; do printf '\\r%3d%%' $i; done; echo`),
    command('survivor', `sleep 100 & ${BECOME}; echo started`),
    {
      firstMs: FIRST_MS,
      steps: [
        { tool: 'bash', args: timed(timeout), printed: /old\n/, golden: 'timeout' },
        { after: (stage) => goesOn(stage) },
        { tool: 'bash', args: (stage) => ({ check_pid: pidOf(stage) }), golden: 'still-running' },
        { after: (stage) => ends(stage) },
        { tool: 'bash', args: (stage) => ({ check_pid: pidOf(stage) }), golden: 'finished-later' },
      ],
    },
    {
      config: { background_notice: 'compact' },
      firstMs: FIRST_MS,
      steps: [
        {
          tool: 'bash',
          args: timed('seq 600; echo "warning: old" >&2; sleep 100'),
          printed: /old\n/,
          golden: 'background',
        },
      ],
    },
    {
      firstMs: FIRST_MS,
      steps: [
        { tool: 'bash', args: timed('echo "listening on :3000"; sleep 100'), printed: /3000\n/ },
        { tool: 'bash', args: (stage) => ({ kill_pid: pidOf(stage) }), golden: 'killed' },
      ],
    },
    {
      config: { env_overrides: { BIG: 'x'.repeat(200_000) } },
      steps: [{ tool: 'bash', args: { command: 'true' }, golden: 'spawn-error' }],
    },
    {
      steps: [
        { tool: 'bash', args: { command: 'true', check_pid: 1 }, golden: 'bad-arguments' },
        { tool: 'bash', args: { check_pid: 77 }, golden: 'unknown-pid' },
      ],
    },
  ],
};

async function goesOn(stage: Stage): Promise<void> {
  stage.write('go');
  const path = stage.found(/Full output: ([^\]\n]+)/);
  await until(() => fs.readFileSync(path, 'utf8').includes('linking'), 'the next line');
}

async function ends(stage: Stage): Promise<void> {
  stage.write('go2');
  await until(() => stage.world.entries().length > 0, 'an entry');
}
