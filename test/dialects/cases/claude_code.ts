// The golden answers of `claude_code`.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ClaudeCode } from '../../../src/dialects/claude_code/dialect.ts';
import { until } from '../../cli/helper.ts';
import { ALWAYS, type GoldenCase, type GoldenDialect, type Stage, type Step } from '../golden.ts';
import { BECOME, becomes } from '../hard-cases.ts';

type Args = Readonly<Record<string, unknown>>;

const SMALL = { max_output_chars: 1_000 };
const LINE = 'head -c 10000000 /dev/zero | tr "\\\\0" x; echo; echo end';
const LATER = 'echo ready; until [ -e go ]; do sleep 0.01; done; echo more; exit 7';

function command(golden: string, text: string, config: Args = {}): GoldenCase {
  return { config, steps: [{ tool: 'Bash', args: { command: text }, golden }] };
}

const inBackground = (text: string) => ({ command: text, run_in_background: true });
const output = { tool: 'BashOutput', args: { bash_id: 'bash_1' } } as const;
const kill = { tool: 'KillShell', args: { shell_id: 'bash_1' } } as const;
/** The shell is done, and its entry written. */
const over: Step = { tool: 'TaskOutput', args: { task_id: 'bash_1', timeout: 60_000 } };

/** The file that an answer named has these words. */
const printed =
  (words: string): ((stage: Stage) => Promise<void>) =>
  async (stage) => {
    const path = stage.found(/(\/\S+\/output\.bin)/);
    const text = (): string => (existsSync(path) ? readFileSync(path, 'latin1') : '');
    await until(() => text().includes(words), `${words} in ${path}`);
  };

const CANNOT_BE_MEANT: readonly (readonly [string, Args])[] = [
  ['Bash', {}],
  ['Bash', { command: ' ' }],
  ['Bash', { comand: 'ls' }],
  ['Bash', { command: 'ls', timeout: 'soon' }],
  ['Bash', { command: 'ls', timeout: 0 }],
  ['Bash', { command: 'ls', timeout: 1.5 }],
  ['Bash', { cmd: 'ls' }],
  ['Bash', { command: 'ls', run_in_background: 'yes' }],
  ['BashOutput', { shell_id: 'bash_1' }],
  ['BashOutput', { bash_id: 'bash_1' }],
  ['BashOutput', { bash_id: 'bash_1', filter: '(' }],
  ['TaskOutput', { task_id: 'bash_1' }],
  ['TaskOutput', { task_id: 'bash_1', timeout: 600_001 }],
  ['TaskStop', {}],
];

const SIMPLE: readonly GoldenCase[] = [
  { steps: [{ tools: true, golden: 'tools' }] },
  command('errors', `seq 400; echo 'x.c:7: error: no such member'; seq 400; exit 2`, {
    max_output_chars: 1_000,
  }),
  command('no-match', 'grep nobody-has-this /dev/null'),
  {
    steps: [
      {
        tool: 'Bash',
        args: { command: 'echo one', timeout: '5000', dangerouslyDisableSandbox: true },
        golden: 'foreign-arguments',
      },
    ],
  },
  command('ok', 'printf "two\\nlines\\n"; echo and an error >&2'),
  command('failure', 'echo out; echo oops >&2; exit 3'),
  command('signal', 'echo before; kill -TERM $$'),
  command('empty', 'true'),
  command('binary', `printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0'`),
  command(
    'split-utf8',
    `printf 'caf\\303'; sleep 0.05; printf '\\251 \\360\\237'; printf '\\230\\200\\n'`,
  ),
  command(
    'ansi',
    `printf '\\033[1;31mred\\033[0m \\033]0;title\\007and \\033[38:2::1:2:3mplain\\033[m\\r\\n'`,
  ),
  command(
    'progress-bar',
    `for i in 1 2 3; do printf '\\r%d0%%' $i; done; printf '\\rdone\\033[K\\nok\\n'`,
  ),
  command('huge', 'seq 1 20000', SMALL),
  command('long-line', LINE, SMALL),
  command('survivor', `sleep 100 >/dev/null & ${BECOME}; echo started`),
  {
    ...command('spawn-error', 'true', { working_directory: 'not-there' }),
    facts: ({ world }) => expect(world.entries()).toEqual([]),
  },
  {
    steps: [
      { tool: 'Bash', args: { command: 'mkdir gone && cd gone' } },
      { after: ({ world }) => rmSync(join(world.project, 'gone'), { recursive: true }) },
      { tool: 'Bash', args: { command: 'pwd' }, golden: 'directory-gone' },
      { tool: 'Bash', args: { command: 'pwd' } },
    ],
    facts: ({ texts, world }) => expect(texts.at(-1)).toBe(world.project),
  },
  {
    steps: CANNOT_BE_MEANT.map(([tool, args]) => {
      return { tool, args, success: false, withCall: true, golden: 'bad-arguments' };
    }),
    facts: ({ world }) => expect(world.entries()).toEqual([]),
  },
];

const LONGER: readonly GoldenCase[] = [
  {
    steps: [
      {
        tool: 'Bash',
        args: ({ ms }) => ({ command: 'echo before; sleep 100', timeout: ms }),
        printed: /before/,
        golden: 'timeout',
      },
    ],
    facts: ({ world, ms }) =>
      expect(world.entry()).toMatchObject({ timed_out: true, timeout_seconds: ms / 1000 }),
  },
  {
    config: { on_timeout: 'background' },
    steps: [
      {
        tool: 'Bash',
        args: ({ ms }) => ({ command: 'echo a; sleep 100', timeout: ms }),
        success: true,
        golden: 'moved-to-background',
      },
      { after: printed('a\n') },
      { ...output, printed: /<status>running<\/status>\n\n<stdout>\na\n\n<\/stdout>/ },
    ],
  },
  {
    steps: [
      { tool: 'Bash', args: inBackground(LATER), golden: 'background' },
      { after: printed('ready') },
      { ...output, golden: 'still-running' },
      { tool: 'TaskOutput', args: { task_id: 'bash_1', block: false }, golden: 'task-output' },
      { after: (stage) => stage.write('go') },
      over,
      { ...output, golden: 'finished-later' },
    ],
  },
  {
    steps: [
      { tool: 'Bash', args: inBackground('echo working; sleep 100') },
      { after: printed('working') },
      { tool: 'Bash', args: inBackground('sleep 100') },
      { ...kill, success: true, golden: 'killed' },
      { ...output, success: true, golden: 'killed' },
      { ...kill, success: false, golden: 'killed' },
      { tool: 'KillShell', args: { shell_id: 'bash_9' }, success: false, golden: 'killed' },
      { tool: 'TaskStop', args: { task_id: 'bash_2' }, success: true, golden: 'killed' },
    ],
    facts: ({ world }) =>
      expect(world.entries().map(({ end_reason }) => end_reason)).toEqual(['kill', 'kill']),
  },
  {
    steps: [
      { tool: 'Bash', args: inBackground('sleep 654 & echo started') },
      { after: printed('started') },
      over,
      { after: ({ world }) => becomes(world, 'sleep 654') },
      { ...output, success: true, golden: 'left-running' },
      { tool: 'TaskOutput', args: { task_id: 'bash_1' }, success: true, golden: 'left-running' },
      { ...kill, success: true, golden: 'left-running' },
      { ...output, success: true, golden: 'left-running' },
      { ...kill, success: false, golden: 'left-running' },
    ],
  },
];

export const claudeCode: GoldenDialect = {
  name: 'claude_code',
  plugin: ClaudeCode,
  masked: ALWAYS,
  cases: [...SIMPLE, ...LONGER],
};
