// The golden answers of `codex`.
import { expect } from 'vitest';
import { Codex } from '../../../src/dialects/codex/dialect.ts';
import { ALWAYS, type GoldenCase, type GoldenDialect } from '../golden.ts';
import { BECOME } from '../hard-cases.ts';

type Args = Readonly<Record<string, unknown>>;

const SMALL = { max_output_tokens: 100 };
const LINE = 'head -c 10000000 /dev/zero | tr "\\\\0" x; echo; echo end';
const LATER = 'echo ready; until [ -e go ]; do sleep 0.01; done; echo more; exit 7';
const TO_ITS_END = { yield_time_ms: 30_000 };
const CTRL_C = '\u0003';

function command(golden: string, cmd: string, args: Args = {}, config: Args = {}): GoldenCase {
  const given = { cmd, ...TO_ITS_END, ...args };
  return { config, steps: [{ tool: 'exec_command', args: given, golden }] };
}

/** Left running: it does not end within the wait. */
const started = (cmd: string, printed: RegExp, args: Args = {}) =>
  ({
    tool: 'exec_command',
    args: ({ ms }: { readonly ms: number }) => ({ cmd, yield_time_ms: ms, ...args }),
    printed,
  }) as const;

const write = (args: Args) => ({ tool: 'write_stdin', args: { session_id: 1_000, ...args } });

const CANNOT_BE_MEANT: readonly (readonly [string, Args])[] = [
  ['exec_command', {}],
  ['exec_command', { cmd: '' }],
  ['exec_command', { command: 'ls' }],
  ['exec_command', { cmd: ['ls'] }],
  ['exec_command', { cmd: 'ls', yield_time: 5 }],
  ['exec_command', { cmd: 'ls', yield_time_ms: 'soon' }],
  ['exec_command', { cmd: 'ls', yield_time_ms: 0.5 }],
  ['exec_command', { cmd: 'ls', yield_time_ms: -1 }],
  ['exec_command', { cmd: 'ls', max_output_tokens: 1.5 }],
  ['exec_command', { cmd: 'ls', max_output_tokens: 0 }],
  ['exec_command', { cmd: 'ls', tty: 'yes' }],
  ['exec_command', { cmd: 'ls', shell: '' }],
  ['write_stdin', { chars: 'x' }],
  ['write_stdin', { session_id: '1000' }],
  ['write_stdin', { session_id: 7, chars: 'x' }],
];

export const codex: GoldenDialect = {
  name: 'codex',
  plugin: Codex,
  masked: [[/Chunk ID: [0-9a-f]{6}/g, 'Chunk ID: 0a1b2c'], ...ALWAYS],
  cases: [
    { steps: [{ tools: true, golden: 'tools' }] },
    command('ok', 'printf "two\\nlines\\n"; echo and an error >&2'),
    command('failure', 'echo out; echo oops >&2; exit 3'),
    command('signal', 'echo before; kill -TERM $$'),
    command('empty', 'true'),
    command('binary', `printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0'`),
    command('split-utf8', `printf 'caf\\303'; sleep 0.05; printf '\\251 \\360\\237\\230\\200\\n'`),
    command('ansi', `printf '\\033[1;31mred\\033[0m \\033]0;title\\007and plain\\r\\n'`, {
      tty: true,
    }),
    command('progress-bar', `for i in 1 2 3; do printf '\\r%d0%%' $i; done; printf '\\rdone\\n'`),
    command('spawn-error', 'true', { shell: '/bin/not-there' }),
    command('no-directory', 'true', { workdir: 'not-there' }),
    command('huge', 'seq 1 20000', {}, SMALL),
    command('long-line', LINE, {}, SMALL),
    command(
      'errors',
      `seq 400; echo 'x.c:7: error: no such member'; seq 400; exit 2`,
      {},
      { max_output_tokens: 200 },
    ),
    command('no-match', 'grep nobody-has-this /dev/null'),
    command('foreign-arguments', 'echo one', {
      sandbox_permissions: 'require_escalated',
      justification: 'to see one',
      max_output_tokens: '50',
    }),
    command('survivor', `sleep 100 >/dev/null & ${BECOME}; printf started`),
    {
      steps: [
        { ...started(LATER, /ready\n$/), golden: 'background' },
        { after: (stage) => stage.write('go') },
        { ...write(TO_ITS_END), golden: 'finished-later' },
        { ...write({}), golden: 'unknown-session' },
      ],
      facts: ({ world }) =>
        expect(world.entry()).toMatchObject({ exit_code: 7, end_reason: 'itself' }),
    },
    {
      steps: [
        { ...started('echo started; sleep 100', /started/), golden: 'still-running' },
        { ...write({ yield_time_ms: 1 }), golden: ['still-running', 'timeout'] },
      ],
    },
    {
      steps: [
        {
          ...started('read -p "name? " n; echo "hello $n"; sleep 100', /name\? $/, { tty: true }),
          golden: 'terminal',
        },
        {
          tool: 'write_stdin',
          args: ({ ms }) => ({ session_id: 1_000, chars: 'you\n', yield_time_ms: ms }),
          printed: /hello you\n$/,
          golden: 'terminal',
        },
        { ...write({ chars: CTRL_C, ...TO_ITS_END }), golden: 'terminal' },
      ],
    },
    {
      steps: [
        started('echo working; sleep 100', /working/),
        { ...write({ chars: 'x\n' }), success: false, golden: 'killed' },
        { ...write({ chars: CTRL_C, ...TO_ITS_END }), golden: 'killed' },
      ],
      facts: ({ world }) => expect(world.entry()).toMatchObject({ end_reason: 'kill' }),
    },
    {
      steps: CANNOT_BE_MEANT.map(([tool, args]) => {
        return { tool, args, success: false, withCall: true, golden: 'bad-arguments' };
      }),
      facts: ({ world }) => expect(world.entries()).toEqual([]),
    },
  ],
};
