// The golden answers of `cuff_shell`.
import { CuffShellPlugin } from '../../../src/dialects/cuff_shell/dialect.ts';
import { ALWAYS, type GoldenCase, type GoldenDialect, type Stage } from '../golden.ts';
import { BECOME, becomes } from '../hard-cases.ts';

type Args = Readonly<Record<string, unknown>>;

const ELF = Buffer.from('7f454c4602010100', 'hex');

/** Executed, unless `success` is false. */
function command(golden: string, text: string, args: Args = {}, success = true): GoldenCase {
  return {
    steps: [
      { after: (stage) => stage.write('bytes', ELF) },
      { after: (stage) => stage.write('names', 'anna\n') },
      { tool: 'shell_run', args: { command: text, ...args }, success, golden },
    ],
  };
}

/** Of the run that an answer named. */
const idOf = (stage: Stage) => stage.found(/"id":"([^"]+)"/);
const waiting =
  (text: string, more: Args = {}) =>
  ({ ms }: Stage) => ({ command: text, wait_ms: ms, ...more });
const run = (text: string, more: Args = {}) => ({ command: text, ...more });

const LATER = 'echo one; until [ -e go ]; do sleep 0.02; done; echo two';
const MORE = 'bad-arguments-more';

export const cuffShell: GoldenDialect = {
  name: 'cuff_shell',
  plugin: CuffShellPlugin,
  between: '\n\n',
  masked: [
    [/\bkill_after_ms \d+/g, 'kill_after_ms 300'],
    [/\b\d+(\.\d+)? m?s\b/g, '12 ms'],
    [/^[0-9a-f]{8}(?= )/gm, '1a2b3c4d'],
    [/((?:\brun |\bid |")(?:\d{8}-\d{6}-)?)[0-9a-f]{8}\b/g, '$11a2b3c4d'],
    ...ALWAYS,
  ],
  cases: [
    command('ok', 'echo one; echo two'),
    command('failure', 'echo checking; echo "x.c:1: no" >&2; exit 2'),
    command('signal', 'echo before; kill -SEGV $$'),
    command('empty', 'true'),
    command('binary', 'cat bytes'),
    command('huge', 'seq 1000000', { max_bytes: 50 }),
    command('huge-failure', 'seq 1000000; exit 1', { max_bytes: 50 }),
    command('long-line', 'head -c 10000000 /dev/zero | tr "\\0" x', { max_bytes: 60 }),
    command('split-utf8', "printf 'a\\xe2\\x82'; sleep 0.1; printf '\\xac b\\n'"),
    command('ansi', "printf '\\e[1;31mred\\e[0m \\e]0;title\\a\\e[38:5:1mplain\\n'"),
    command('progress-bar', "for i in 1 50 100; do printf '\\r%3d%%' $i; done; echo"),
    command('spawn-error', 'true', { cwd: '/none' }, false),
    command('bad-arguments', 'true', { timeout: 5 }, false),
    command('no-match', 'grep nobody-has-this names'),
    command('pipeline', 'cat missing 2>/dev/null | wc -l'),
    command('errors', `seq 200; echo 'x.c:7: error: no such member'; seq 200; exit 2`, {
      max_bytes: 60,
    }),
    command('folded', 'for i in $(seq 200); do echo "batch $i of 200"; done; echo finished'),
    command('grep', 'seq 100', { view: 'grep', pattern: '^9.$', max_bytes: 20 }),
    command('not-shown', 'seq 100', { view: 'none' }),
    command('foreign-arguments', 'echo one', {
      wait_ms: '30000',
      sandbox_permissions: 'require_escalated',
      justification: 'to see one',
    }),
    {
      steps: [
        {
          tool: 'shell_run',
          args: waiting('printf "Name: "; read name; echo "hello $name"', { tty: true }),
          printed: /waiting for input/,
        },
        {
          tool: 'shell_write',
          args: (stage) => ({ id: idOf(stage), text: 'anna\n', wait_ms: stage.ms }),
          printed: /exit 0/,
          golden: 'write',
        },
      ],
    },
    {
      steps: [
        { after: (stage) => stage.write('bytes', ELF) },
        { tool: 'shell_run', args: run('cat bytes') },
        {
          tool: 'shell_read',
          args: (stage) => ({ id: idOf(stage), from_byte: 0 }),
          golden: 'hex',
        },
      ],
    },
    {
      steps: [
        {
          tool: 'shell_run',
          args: ({ ms }) => run('echo begun; sleep 100', { kill_after_ms: ms }),
          printed: /^begun\n/,
          success: true,
          golden: 'timeout',
        },
      ],
    },
    {
      steps: [
        {
          tool: 'shell_run',
          args: run(`sleep 100 & ${BECOME}; echo started`),
          golden: 'background',
        },
        { tool: 'shell_kill', args: (stage) => ({ id: idOf(stage) }), golden: 'background-killed' },
        { tool: 'shell_run', args: run('sleep 100 & echo started') },
        { after: ({ world }) => becomes(world, 'sleep 100') },
        { tool: 'shell_list', golden: 'list' },
      ],
    },
    {
      steps: [
        { tool: 'shell_run', args: waiting(LATER), printed: /^one\n/, golden: 'still-running' },
        { after: (stage) => stage.write('go') },
        { tool: 'shell_wait', args: (stage) => ({ id: idOf(stage) }), golden: 'finished-later' },
      ],
    },
    {
      steps: [
        { tool: 'shell_run', args: waiting('echo on; exec sleep 100'), printed: /^on\n/ },
        { after: ({ world }) => becomes(world, 'sleep 100') },
        { tool: 'shell_kill', args: (stage) => ({ id: idOf(stage) }), golden: 'killed' },
      ],
    },
    {
      steps: [
        {
          tool: 'shell_run',
          args: waiting('printf "Name: "; read name', { tty: true }),
          printed: /waiting for input/,
          golden: 'waiting',
        },
        { tool: 'shell_kill', args: (stage) => ({ id: idOf(stage) }) },
      ],
    },
    {
      steps: [
        { tool: 'shell_run', args: run('seq 1 5 1000', { max_bytes: 0 }) },
        {
          tool: 'shell_read',
          args: (stage) => ({ id: idOf(stage), from_line: 11, lines: 3 }),
          golden: 'read',
        },
        { tool: 'shell_search', args: { pattern: '99', context: 1 }, golden: 'search' },
        { after: (stage) => stage.write('file', 'a\nb\nc\n') },
        { tool: 'shell_run', args: run('cat file') },
        { after: (stage) => stage.write('file', 'a\nB\nc\n') },
        { tool: 'shell_run', args: run('cat file', { compare: 'previous' }), golden: 'compare' },
      ],
    },
    {
      steps: [
        { tool: 'shell_run', golden: MORE },
        { tool: 'shell_run', args: run('true', { wait: 5 }), golden: MORE },
        { tool: 'shell_run', args: run('true', { view: 'last' }), golden: MORE },
        { tool: 'shell_read', args: { id: 'nothing' }, golden: MORE },
        { tool: 'shell_search', args: { pattern: '[', regex: true }, golden: MORE },
      ],
    },
  ],
};
