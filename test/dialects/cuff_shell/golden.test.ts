// Every kind of answer of the native dialect, word for word, and the same answers in its document.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withTime } from '../../pace.ts';
import { expectDocumented } from '../documented.ts';
import { golden } from '../golden.ts';
import { BECOME, becomes } from '../hard-cases.ts';
import { Native, type Said } from './helper.ts';

const MORE = [
  [/\bkill_after_ms \d+/g, 'kill_after_ms 300'],
  [/\b\d+(\.\d+)? m?s\b/g, '12 ms'],
  [/^[0-9a-f]{8}(?= )/gm, '1a2b3c4d'],
  [/((?:\brun |\bid |")(?:\d{8}-\d{6}-)?)[0-9a-f]{8}\b/g, '$11a2b3c4d'],
] as const;

function check(native: Native, name: string, ...said: readonly Said[]): void {
  const text = said.map((one) => one.text).join('\n\n');
  golden('cuff_shell', name, text, native.world, MORE);
}

type Args = Readonly<Record<string, unknown>>;

/** Whether it was executed, and what it is called with. */
const RUNS: readonly (readonly [string, boolean, string, Args])[] = [
  ['ok', true, 'echo one; echo two', {}],
  ['failure', true, 'echo checking; echo "x.c:1: no" >&2; exit 2', {}],
  ['signal', true, 'echo before; kill -SEGV $$', {}],
  ['empty', true, 'true', {}],
  ['binary', true, 'cat bytes', {}],
  ['huge', true, 'seq 1000000', { max_bytes: 50 }],
  ['huge-failure', true, 'seq 1000000; exit 1', { max_bytes: 50 }],
  ['long-line', true, 'head -c 10000000 /dev/zero | tr "\\0" x', { max_bytes: 60 }],
  ['split-utf8', true, "printf 'a\\xe2\\x82'; sleep 0.1; printf '\\xac b\\n'", {}],
  ['ansi', true, "printf '\\e[1;31mred\\e[0m \\e]0;title\\a\\e[38:5:1mplain\\n'", {}],
  ['progress-bar', true, "for i in 1 50 100; do printf '\\r%3d%%' $i; done; echo", {}],
  ['spawn-error', false, 'true', { cwd: '/none' }],
  ['bad-arguments', false, 'true', { timeout: 5 }],
  ['no-match', true, 'grep nobody-has-this names', {}],
  ['pipeline', true, 'cat missing 2>/dev/null | wc -l', {}],
];

describe('the answer of the native dialect', () => {
  it.each(RUNS)('to a command: %s', async (name, success, command, args) => {
    const native = await Native.open();
    writeFileSync(join(native.world.project, 'bytes'), Buffer.from('7f454c4602010100', 'hex'));
    writeFileSync(join(native.world.project, 'names'), 'anna\n');
    const said = await native.run(command, args);
    expect(said.success).toBe(success);
    check(native, name, said);
  });

  it('to a command that is killed: timeout', async () => {
    const attempt = async (kill_after_ms: number) => {
      const native = await Native.open();
      return { native, said: await native.run('echo begun; sleep 100', { kill_after_ms }) };
    };
    const { native, said } = await withTime(3_000, attempt, (one) => one.said.body === 'begun\n');
    expect(said.success).toBe(true);
    check(native, 'timeout', said);
  });

  it('to one that leaves a process behind: background', async () => {
    const native = await Native.open();
    const said = await native.run(`sleep 100 & ${BECOME}; echo started`);
    check(native, 'background', said);
    check(native, 'background-killed', await native.call('shell_kill', { id: said.id }));
    await native.run('sleep 100 & echo started');
    await becomes(native.world, 'sleep 100');
    check(native, 'list', await native.call('shell_list'));
  });

  it('to one that goes on: still-running, finished-later, killed', async () => {
    const command = `echo one; until [ -e go ]; do sleep 0.02; done; echo two`;
    const { native, said } = await Native.started(command, /^one\n/);
    const go = join(native.world.project, 'go');
    check(native, 'still-running', said);
    writeFileSync(go, '');
    check(native, 'finished-later', await native.call('shell_wait', { id: said.id }));
    const sleeping = await Native.started('echo on; exec sleep 100', /^on\n/);
    await becomes(sleeping.native.world, 'sleep 100');
    const killed = await sleeping.native.call('shell_kill', { id: sleeping.said.id });
    check(sleeping.native, 'killed', killed);
  });

  it('to one that waits for input: waiting', async () => {
    const command = 'printf "Name: "; read name';
    const { native, said } = await Native.started(command, /waiting for input/, { tty: true });
    check(native, 'waiting', said);
    await native.call('shell_kill', { id: said.id });
  });

  it('to a reader: read, search, compare', async () => {
    const native = await Native.open();
    const { id } = await native.run('seq 1 5 1000', { max_bytes: 0 });
    const page = { id, from_line: 11, lines: 3 };
    check(native, 'read', await native.call('shell_read', page));
    check(native, 'search', await native.call('shell_search', { pattern: '99', context: 1 }));
    const file = join(native.world.project, 'file');
    writeFileSync(file, 'a\nb\nc\n');
    await native.run('cat file');
    writeFileSync(file, 'a\nB\nc\n');
    check(native, 'compare', await native.run('cat file', { compare: 'previous' }));
  });

  it('to calls that cannot be meant: bad-arguments-more', async () => {
    const native = await Native.open();
    check(
      native,
      'bad-arguments-more',
      await native.call('shell_run', {}),
      await native.call('shell_run', { command: 'true', wait: 5 }),
      await native.call('shell_run', { command: 'true', view: 'last' }),
      await native.call('shell_read', { id: 'nothing' }),
      await native.call('shell_search', { pattern: '[', regex: true }),
    );
  });
});

const DOCUMENT = 'docs/dialects/cuff_shell.md';

describe(DOCUMENT, () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', '..', DOCUMENT), 'utf8');

  it('shows real answers', () => {
    expect(expectDocumented(DOCUMENT, 'cuff_shell').length).toBeGreaterThan(15);
  });

  it('has every tool, argument and limit', async () => {
    const { plugin } = await Native.open();
    for (const tool of plugin.getTools()) {
      const section = text.split(`\n### \`${tool.name}\``)[1]?.split('\n### ')[0] ?? '';
      const { properties = {} } = tool.parameters as { properties?: Record<string, Argument> };
      for (const [name, { type, minimum, maximum, enum: values }] of Object.entries(properties)) {
        const row = section.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
        expect(row, `${tool.name} ${name}`).toContain(`| ${type} `);
        const limits = [minimum, maximum].filter((limit) => limit !== undefined);
        for (const limit of limits) expect(row).toContain(limit.toLocaleString('en-US'));
        for (const value of values ?? []) expect(row).toContain(`\`${value}\``);
      }
    }
  });
});

type Argument = {
  readonly type: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
};
