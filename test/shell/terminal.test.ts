// `derun run` at a real terminal: programs look and behave as without it, and the terminal is left
// as it was, whatever happens.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createShell } from '../../src/shell/shell.ts';
import { alive, binary, until } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';
import { Terminal, tmuxMissing } from './tmux.ts';

const noTmux = lacking(tmuxMissing(), 'there is no tmux here');

/** meta.json of the newest capture of a terminal; empty while there is none. */
function newest(terminal: Terminal): Record<string, unknown> {
  const sessions = join(terminal.root, 'state', 'sessions');
  const paths = existsSync(sessions) ? readdirSync(sessions) : [];
  const metas = paths
    .map((id) => join(sessions, id, 'meta.json'))
    .map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : ''))
    .filter((text) => text.endsWith('\n')) // the directory is there before its meta.json is whole
    .map((text) => JSON.parse(text));
  return metas.sort((a, b) => (a.created_at < b.created_at ? 1 : -1))[0] ?? {};
}

/** A terminal of the test's own. */
function open(): Terminal {
  const terminal = new Terminal();
  onTestFinished(() => terminal.close());
  return terminal;
}

describe.skipIf(noTmux)('at a terminal', () => {
  test.each([
    ['colours', 'printf "\\033[1;31mred\\033[0m \\033[38;5;208morange\\033[0m\\n"'],
    ['ls', 'ls --color=always /'],
    ['a moving cursor', 'printf "abc\\033[2Dx\\n\\ttab\\n\\033[4mline\\033[0m\\n"'],
  ])('%s look the same with and without derun', async (_, line) => {
    const terminal = open();
    writeFileSync(join(terminal.root, 'script'), line);
    const shown = async (prefix: string): Promise<string> => {
      await terminal.run(`${prefix} bash ${terminal.root}/script`);
      return terminal.screen(true).split('\n').slice(2).join('\n');
    };
    const bare = await shown('');
    expect(bare).toContain('\u001b[');
    expect(await shown('derun run --')).toBe(bare);
  });

  test.each([
    ['vim', 'vim -u NONE -N --noplugin FILE', /FILE".* 200L, \d+B$/, ['Escape', ':q!', 'Enter']],
    ['less', 'less FILE', /FILE$/, ['q']],
  ])('%s shows the same screen with and without derun', async (name, line, last, quit) => {
    const terminal = open();
    const file = join(terminal.root, 'FILE');
    writeFileSync(file, Array.from({ length: 200 }, (_, i) => `line ${i}`).join('\n'));
    const shown = async (prefix: string): Promise<string> => {
      terminal.type('clear');
      await terminal.shows(/^\$$/);
      terminal.type(`${prefix} ${line.replace('FILE', file)}`);
      // The whole of it: the last line of the file that fits, and the last word below.
      await terminal.shows(new RegExp(`line 28\\n.*${last.source}`));
      const screen = terminal.screen(true);
      terminal.press(...quit);
      await terminal.shows(/\n\$$/);
      return screen;
    };
    const bare = await shown('');
    expect(await shown('derun run --'), name).toBe(bare);
    expect(newest(terminal)).toMatchObject({ transport_mode: 'posix-pty', tty_attached: true });
  });

  test('top and a Python prompt work, and a resize reaches them', async () => {
    const terminal = open();
    terminal.type('clear; derun run -- top -d 1');
    await terminal.shows(/PID USER/); // which processes it lists depends on how busy they are
    terminal.press('q');
    await terminal.shows(/\n\$$/);
    terminal.type('clear; derun run -- python3 -q');
    await terminal.shows(/>>>/);
    terminal.type('import os; print(os.get_terminal_size(), 6*7)');
    await terminal.shows(/columns=100, lines=30\) 42/);
    const { session_id: id } = newest(terminal);
    const events = join(terminal.root, 'state', 'sessions', String(id), 'events.jsonl');
    terminal.resize(123, 41);
    // It takes another way than what is typed, by derun itself, and may come later.
    await until(() => readFileSync(events, 'utf8').includes('"cols":123'), 'it was resized');
    terminal.type('print(os.get_terminal_size())');
    await terminal.shows(/columns=123, lines=41/);
    terminal.press('C-d');
    await terminal.shows(/\n\$$/);
    terminal.resize(100, 30);
    expect(readFileSync(events, 'utf8')).toContain('"type":"resize"');
  });

  test('exit codes, Ctrl-C, Ctrl-D and Ctrl-Z are those of the bare command', async () => {
    const terminal = open();
    expect(await terminal.run('derun run -- bash -c "exit 5"; echo rc $?')).toBe('rc 5');
    terminal.type('clear; derun run -- sleep 100');
    await untilRunning(terminal, ['sleep', '100']);
    terminal.press('C-c');
    await terminal.shows(/\n\$$/);
    terminal.type('echo rc $?');
    await terminal.shows(/rc 130/);
    terminal.type('clear; derun run -- cat; echo rc $?');
    await untilRunning(terminal, ['cat']);
    terminal.press('C-d');
    await terminal.shows(/rc 0/);
    terminal.type('clear; derun run -- bash -c "sleep 100; echo later"');
    await untilRunning(terminal, ['bash', '-c', 'sleep 100; echo later']);
    terminal.press('C-z');
    await terminal.shows(/Stopped/);
    expect(await terminal.run('echo back at the prompt')).toBe('back at the prompt');
    terminal.type('clear; fg');
    await terminal.shows(/derun/);
    await untilRunning(terminal, ['bash', '-c', 'sleep 100; echo later']);
    terminal.press('C-c');
    await terminal.shows(/\n\$$/);
    terminal.type('echo rc $?');
    await terminal.shows(/rc 130/);
  });

  test('streams that are no terminal stay none, and the others stay one', async () => {
    const terminal = open();
    const probe = 'for i in 0 1 2; do test -t $i && echo -n "$i " >> FILE; done'.replace(
      'FILE',
      join(terminal.root, 'ttys'),
    );
    writeFileSync(join(terminal.root, 'probe'), probe);
    const ttys = async (line: string): Promise<string> => {
      writeFileSync(join(terminal.root, 'ttys'), '');
      await terminal.run(line);
      return readFileSync(join(terminal.root, 'ttys'), 'utf8');
    };
    const line = `derun run -- bash ${terminal.root}/probe`;
    expect(await ttys(line)).toBe('0 1 2 ');
    expect(await ttys(`${line} </dev/null`)).toBe('1 2 ');
    expect(await ttys(`${line} 2>/dev/null`)).toBe('0 1 ');
    expect(await ttys(`${line} | cat`)).toBe('0 2 ');
    expect(newest(terminal)).toMatchObject({ transport_mode: 'pipe', tty_attached: false });
    expect(await ttys(`${line} >/dev/null`)).toBe('0 2 ');
    expect(newest(terminal)).toMatchObject({ transport_mode: 'pipe' });
    expect(await terminal.run('echo piped | derun run -- cat 2>/dev/null')).toBe('piped');
  });

  test('/dev/tty works and Ctrl-C ends the command also when its output is piped', async () => {
    const terminal = open();
    const text = 'read -r x < /dev/tty; echo got $x; sleep 100';
    terminal.type(`clear; derun run -- bash -c '${text}' | cat`);
    await untilRunning(terminal, ['bash', '-c', text]);
    terminal.type('word');
    await terminal.shows(/got/);
    terminal.press('C-c');
    await terminal.shows(/\n\$$/);
  });

  test('the terminal is as before after exit, SIGTERM and SIGKILL of anybody', async () => {
    const terminal = open();
    const settings = (): Promise<string> => terminal.run('stty -a | md5sum');
    const before = await settings();
    await terminal.run('derun run -- stty -echo raw');
    expect(await settings()).toBe(before);
    for (const who of ['starter_pid', 'runner_pid', 'pid'] as const) {
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        terminal.type('clear; derun run -- sleep 100');
        const meta = await untilRunning(terminal, ['sleep', '100']);
        const pid = Number(meta.pid);
        process.kill(Number(meta[who]), signal);
        await terminal.shows(/\n\$$/);
        // Without its starter the runner gives the terminal back, maybe later than bash prompts.
        const orphan = who === 'starter_pid' && signal === 'SIGKILL';
        if (orphan) await until(() => leads(Number(meta.runner_pid)), 'the runner has let go');
        expect(await settings(), `${signal} to ${who}`).toBe(before);
        if (alive(pid)) process.kill(pid, 'SIGKILL');
        await until(() => !alive(pid), 'the command is gone');
      }
    }
  });
});

/** The newest capture once its command runs and the terminal is the command's. */
async function untilRunning(
  terminal: Terminal,
  command: readonly string[],
): Promise<Record<string, unknown>> {
  const running = (): boolean => {
    const meta = newest(terminal);
    if (JSON.stringify(meta.command) !== JSON.stringify(command)) return false;
    return typeof meta.pid === 'number' && alive(meta.pid) && inForeground(meta);
  };
  await until(running, `${command} runs`);
  return newest(terminal);
}

/** It has a session of its own, as a runner without its starter, once the terminal is restored. */
function leads(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3] === String(pid);
}

/** The runner has made the outer terminal raw, or there is nothing to make raw. */
function inForeground(meta: Record<string, unknown>): boolean {
  if (meta.transport !== 'pty') return true;
  const tty = execFileSync('readlink', [`/proc/${meta.starter_pid}/fd/2`], { encoding: 'utf8' });
  return execFileSync('stty', ['-F', tty.trim(), '-a'], { encoding: 'utf8' }).includes('-icanon');
}

test.skipIf(noTmux)('each of 256 typed bytes arrives unchanged', async () => {
  const terminal = open();

  // The outer terminal is a pty of the library's own: tmux cannot type bytes that are not UTF-8.
  const shell = createShell({ stateRoot: join(terminal.root, 'outer'), runner: 'native' });
  const reader = [
    'import sys, os, tty',
    'tty.setraw(0)',
    'os.write(1, b"ready")',
    'data = b""',
    'while len(data) < 256: data += os.read(0, 256)',
    'os.write(1, data.hex().encode())',
  ].join('\n');
  const argv = [process.execPath, binary('derun'), 'run', '--', 'python3', '-c', reader];
  const env = { CUFF_STATE_ROOT: join(terminal.root, 'inner') };
  const run = shell.start({ kind: 'argv', argv }, { transport: 'pty', stdin: 'orders', env });
  const text = (): string => shell.view(run.id, { kind: 'raw' }).text;
  await until(() => text().includes('ready'), 'the reader is ready');
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
  for (const byte of bytes) run.write(Buffer.from([byte]));
  expect((await run.done).outcome).toEqual({ kind: 'exited', code: 0 });
  expect(text()).toBe(`ready${bytes.toString('hex')}`);
  shell.close();
});
