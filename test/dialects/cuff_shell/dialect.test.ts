// The native dialect: what each tool says and does, shown with real commands.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { FACT_MS_MAX, withTime } from '../../pace.ts';
import { World } from '../../recorder/helper.ts';
import { Native, steady } from './helper.ts';

describe('shell_run', () => {
  it('says how a command ended, whatever it printed', async () => {
    const native = await Native.open();
    const cases: readonly (readonly [string, string])[] = [
      ['echo hi', 'hi\n[exit 0, 0 ms; 1 line, 3 bytes]'],
      ['printf hi', 'hi\n[exit 0, 0 ms; 1 line, 2 bytes]'],
      ['true', '(no output)\n[exit 0, 0 ms]'],
      ['printf "\\e[0m"', '(nothing visible)\n[exit 0, 0 ms; 1 line, 4 bytes]'],
      ['exit 3', '(no output)\n[exit 3, 0 ms]'],
      ['echo e >&2', '[stderr]\ne\n[exit 0, 0 ms; stderr 1 line, 2 bytes]'],
      ['kill -9 $$', '(no output)\n[died of SIGKILL, 0 ms]'],
      [
        'sh -c "kill -9 \\$\\$"; exit',
        '[stderr]\n/bin/bash: line 1: 1 Killed                  sh -c "kill -9 \\$\\$"\n' +
          '[exit 137 (128+SIGKILL), 0 ms; stderr 1 line, 1 bytes]',
      ],
      [
        'echo o; echo e >&2; exit 2',
        'o\n[stderr]\ne\n[exit 2, 0 ms; stdout 1 line, stderr 1 line]',
      ],
    ];
    for (const [command, text] of cases) {
      const said = await native.run(command);
      const shown = steady(said.text)
        .replace(/: +\d+ Killed/, ': 1 Killed')
        .replace(/(Killed.*\n.*)1 line, \d+ bytes/, '$11 line, 1 bytes');
      expect([shown.replace(/\b0 s\b/, '0 ms'), said.success]).toEqual([text, true]);
    }
  });

  it('takes exit 1 of grep, diff, test and cmp for an answer', async () => {
    const native = await Native.open();
    writeFileSync(join(native.world.project, 'a'), 'a\n');
    writeFileSync(join(native.world.project, 'b'), 'b\n');
    for (const [command, meaning] of [
      ['grep x a', 'no match'],
      ['diff a b', 'they differ'],
      ['cmp a b', 'they differ'],
      ['test a = b', 'false'],
      ['[ -e none ]', 'false'],
    ] as const) {
      const said = await native.run(command);
      expect(said.success).toBe(true);
      expect(said.trailer[0]).toMatch(new RegExp(`^exit 1: ${meaning}, `));
    }
    expect((await native.run('grep x none')).trailer[0]).toMatch(/^exit 2, /);
  });

  it('names the stages of a pipeline that failed', async () => {
    const native = await Native.open();
    const said = await native.run('cat none | sort | wc -l');
    expect(said.success).toBe(true);
    expect(said.trailer[1]).toBe('the last pipeline: stage 1 of 3 (cat none) exited 1');
    expect((await native.run('yes | head -n 1')).trailer).toHaveLength(1);
    const go = join(native.world.project, 'go');
    const wait = `until [ -e ${go} ]; do sleep 0.05; done`;
    const later = await native.run(`${wait}; false | true`, { wait_ms: 0 });
    writeFileSync(go, '');
    const { trailer } = await native.call('shell_wait', { id: later.id });
    expect(trailer[1]).toBe('the last pipeline: stage 1 of 2 (false) exited 1');
  });

  it('goes on behind its time and is not killed', async () => {
    const command = 'echo a; until [ -e go ]; do sleep 0.05; done; echo b';
    const { native, said } = await Native.started(command, /^a\n/);
    const go = join(native.world.project, 'go');
    expect(said.success).toBe(true);
    expect(steady(said.text).replace('0 s:', '0 ms:')).toBe(
      'a\n[still running, pid 1, 0 ms: shell_wait {"id":"1a2b3c4d"}]',
    );
    writeFileSync(go, '');
    const end = await native.call('shell_wait', { id: said.id });
    expect(steady(end.text)).toMatch(/^b\n\[exit 0, 0 m?s; 2 lines, 4 bytes\]$/);
    expect(native.world.entry()).toMatchObject({ exit_code: 0, stdout: 'a\nb\n' });
  });

  it('is killed by kill_after_ms alone, with what it printed so far', async () => {
    const attempt = async (kill_after_ms: number) => {
      const native = await Native.open();
      return { native, said: await native.run('echo a; sleep 100', { kill_after_ms }) };
    };
    const { native, said } = await withTime(3_000, attempt, (one) => one.said.body === 'a\n');
    expect(said).toMatchObject({ success: true, body: 'a\n' });
    expect(said.trailer[0]).toMatch(/^died of SIGTERM, killed by kill_after_ms \d+000, /);
    expect(native.world.entry()).toMatchObject({ end_reason: 'timeout', timed_out: true });
    const later = await native.run('sleep 100', { kill_after_ms: 10_000, wait_ms: 0 });
    expect(later.trailer[1]).toMatch(/^kill_after_ms 10000 ends it in [\d.]+ m?s$/);
    const { trailer } = await native.call('shell_wait', { id: later.id });
    expect(trailer[0]).toMatch(/^died of SIGTERM, killed by kill_after_ms 10000, /);
  });

  it('feeds stdin, and without it a command reads nothing', async () => {
    const native = await Native.open();
    expect((await native.run('cat; echo end', { stdin: 'a\nb' })).body).toBe('a\nbend\n');
    expect((await native.run('cat; echo end')).body).toBe('end\n');
    expect((await native.run('wc -c', { stdin: 'x'.repeat(500_000) })).body).toBe('500000\n');
    const tty = await native.run('read x; echo "got $x"', { tty: true, stdin: 'Bob\n' });
    expect(tty.body).toContain('got Bob\n');
  });

  it('has one stream in true order with combined, and a terminal with tty', async () => {
    const native = await Native.open();
    const mixed = 'for i in 1 2 3; do echo o$i; echo e$i >&2; done';
    expect((await native.run(mixed, { combined: true })).body).toBe('o1\ne1\no2\ne2\no3\ne3\n');
    expect((await native.run('tty; stty size', { tty: true })).body).toMatch(
      /^\/dev\/pts\/\d+\n40 120\n$/,
    );
    expect((await native.run('tty')).body).toBe('not a tty\n');
  });

  it('runs in cwd with env, without the secrets of model providers, and says so', async () => {
    const env = { ...process.env, OPENAI_API_KEY: 'sk-12345678' };
    const native = await Native.open({}, new World({ env }));
    const said = await native.run('pwd; echo $A', { cwd: '/', env: { A: 'b c' } });
    expect(said.body).toBe('/\nb c\n');
    const failed = await native.run('set -u; echo "$OPENAI_API_KEY"');
    expect(failed.trailer.at(-1)).toBe('not passed to commands: OPENAI_API_KEY');
    const other = await native.run('echo 401 Unauthorized; exit 1');
    expect(other.trailer.at(-1)).toBe('not passed to commands: OPENAI_API_KEY');
    expect((await native.run('echo plain; exit 1')).trailer).toHaveLength(1);
    expect((await native.run('echo unauthorized')).trailer).toHaveLength(1);
    const secret = await native.run('echo sk-12345678 | wc -c');
    expect(secret.trailer.at(-1)).toBe(
      'the journal has a placeholder in place of the secret in the command',
    );
  });

  it('shows the part that was asked for', async () => {
    const native = await Native.open();
    const shown = async (args: object): Promise<string> =>
      steady((await native.run('seq 10', { max_bytes: 6, ...args })).text).replace(/0 m?s/, '0 ms');
    expect(await shown({})).toBe(
      '1\n[lines 2-9 not shown: shell_read {"id":"1a2b3c4d","from_line":2}]\n10\n' +
        '[exit 0, 0 ms; 10 lines, 21 bytes]',
    );
    expect(await shown({ view: 'tail' })).toBe(
      '[lines 1-8 not shown: shell_read {"id":"1a2b3c4d","from_line":1}]\n9\n10\n' +
        '[exit 0, 0 ms; 10 lines, 21 bytes]',
    );
    expect(await shown({ view: 'head' })).toBe(
      '1\n2\n3\n[lines 4-10 not shown: shell_read {"id":"1a2b3c4d","from_line":4}]\n' +
        '[exit 0, 0 ms; 10 lines, 21 bytes]',
    );
    expect(await shown({ view: 'middle' })).toBe(
      '1\n[lines 2-9 not shown: shell_read {"id":"1a2b3c4d","from_line":2}]\n10\n' +
        '[exit 0, 0 ms; 10 lines, 21 bytes]',
    );
    expect(await shown({ view: 'none' })).toBe(
      '[exit 0, 0 ms; 10 lines not shown: shell_read {"id":"1a2b3c4d"}]',
    );
    const full = await native.run('seq 100000', { view: 'full' });
    expect(full.body.length).toBe(588_895);
  });

  it('says what is different from the last time', async () => {
    const native = await Native.open();
    const file = join(native.world.project, 'file');
    writeFileSync(file, '1\n2\n3\n');
    const compare = { compare: 'previous' };
    const first = await native.run('cat file', compare);
    expect(first.body).toBe('1\n2\n3\n');
    expect(first.trailer[0]).toBe('compare: no earlier run of this command in this directory');
    const same = await native.run('cat file', compare);
    expect(same.body).toBe('(the same output)\n');
    expect(steady(same.trailer[0] ?? '')).toMatch(
      /^compared with run 1a2b3c4d, 0 m?s ago; the whole output: shell_read \{"id":"1a2b3c4d"\}$/,
    );
    writeFileSync(file, '1\n2b\n3\n');
    expect((await native.run('cat file', compare)).body).toBe('@@ -1,3 +1,3 @@\n 1\n-2\n+2b\n 3\n');
    const elsewhere = await native.run('cat file', { ...compare, cwd: '/' });
    expect(elsewhere.trailer[0]).toBe('compare: no earlier run of this command in this directory');
    const running = await native.run('sleep 60', { ...compare, wait_ms: 0 });
    expect(running.trailer[0]).toBe(
      'not compared: that takes a run that is over before wait_ms is',
    );
  });

  it.each([
    [{}, 'shell_run needs the argument command: the text for bash.'],
    [{ command: ' ' }, 'command is empty: give the command to run.'],
    [
      { command: 'x', timeout: 5 },
      'shell_run has no argument "timeout": wait_ms is how long to wait for the answer and never ' +
        'kills, kill_after_ms is the deadline.',
    ],
    [
      { command: 'x', run_in_background: true },
      'shell_run has no argument "run_in_background": start it with wait_ms 0.',
    ],
    [{ comand: 'x' }, `shell_run has no argument "comand"; did you mean 'command'?`],
    [{ command: 'x', wait_ms: -1 }, 'wait_ms must be a whole number from 0 up to 600000, not -1.'],
    [{ command: 'x', cwd: '/none' }, /^Working directory does not exist: \/none\./],
    [{ command: 'x', env: { A: 1 } }, 'env.A must be a string, not 1.'],
    [
      { command: 'x', env: { A: 'y'.repeat(200_000) } },
      'The command could not be started: /bin/bash: Argument list too long.',
    ],
    [
      { command: 'cat', stdin: 'x'.repeat(1_000_001) },
      'stdin may have 1000000 bytes: write a file and read that.',
    ],
  ])('says in one sentence what is wrong with %j', async (args, text) => {
    const native = await Native.open();
    const said = await native.call('shell_run', args);
    expect(said.success).toBe(false);
    expect(said.text).toMatch(text);
  });

  it('refuses one run more than may live, with the list', async () => {
    const native = await Native.open({ max_live_runs: 1 });
    const { id } = await native.run('sleep 60', { wait_ms: 0 });
    const refused = await native.run('true');
    expect(refused.success).toBe(false);
    expect(refused.text).toContain('1 commands are running, and 1 may; this one was not started.');
    expect(refused.text).toContain(`${id} (pid `);
  });

  it('says that it is not in the journal, and why', async () => {
    const native = await Native.open({ recording: { enabled: false } });
    expect((await native.run('true')).trailer).toContain(
      'not in the journal: recording is turned off in the settings',
    );
  });
});

describe('a command that waits for somebody to type', () => {
  it.each(['read x', 'cat', "python3 -c 'input()'", 'true; cat | cat'])(
    'is named as waiting: %s',
    async (command) => {
      const native = await Native.open();
      const { id } = await native.run(command, { tty: true, wait_ms: 0 });
      await vi.waitFor(async () => {
        const { text } = await native.call('shell_wait', { id, wait_ms: 0 });
        expect(text).toMatch(/\[waiting for input: pid \d+ .*; shell_write .*\]/);
      }, FACT_MS_MAX);
      await native.call('shell_kill', { id, signal: 'KILL' });
    },
  );

  it('is not guessed from what it prints', async () => {
    const native = await Native.open();
    const asking = 'printf "Password: "; sleep 60';
    for (const args of [{ tty: true }, {}]) {
      const said = await native.run(asking, { wait_ms: 300, ...args });
      expect(said.text).not.toContain('waiting for input');
      await native.call('shell_kill', { id: said.id });
    }
  });
});
