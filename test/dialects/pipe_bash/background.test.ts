// `pipe_bash` with commands that outlast their timeout: what is told then, what a check gives, what
// a kill ends, and who may ask. What a command prints when is decided by files it waits for.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sanitize } from '../../../src/text/sanitize.ts';
import { alive, until } from '../../cli/helper.ts';
import { conversation, World } from '../../recorder/helper.ts';
import { BECOME } from '../hard-cases.ts';
import {
  added,
  addedUntil,
  background,
  backgrounded,
  bash,
  ended,
  fullOutput,
  pipe,
  text,
} from './helper.ts';

/** Shell text that waits for a file in the project. */
function wait(name: string): string {
  return `while ! test -e ${name}; do sleep 0.01; done`;
}

function say(world: World, name: string): void {
  fs.writeFileSync(join(world.project, name), '');
}

describe('a command of pipe_bash that outlasts its timeout', () => {
  it('goes on in the background, and the answer says how to go on', async () => {
    const run = await backgrounded('echo out; echo err >&2; sleep 100; echo never', '\nerr\n');
    const { world, pid, text: answer, seconds } = run;
    const path = fullOutput(answer);
    expect(answer).toBe(
      `[Command backgrounded after ${seconds} timeout (pid ${pid}). Partial output:\n\n` +
        `stdout:\nout\n\nstderr:\nerr\n\nFull output: ${path}\n` +
        'Use check_pid or kill_pid to manage.]',
    );
    expect(fs.readFileSync(path, 'utf8')).toBe('out\nerr\n');
    expect(alive(pid)).toBe(true);
    expect(world.entries()).toEqual([]);
  });

  it('is named by its pid where one command more is refused', async () => {
    const plugin = await pipe(new World(), { max_live_runs: 1 });
    const { pid } = await background(plugin, 'sleep 100');
    expect(await bash(plugin, 'true')).toMatchObject({
      success: false,
      text:
        '1 commands are running, and 1 may; this one was not started. ' +
        `Wait for one of these or kill it:\n  pid ${pid}: sleep 100`,
    });
    await bash(plugin, { kill_pid: pid });
    expect((await bash(plugin, 'true')).success).toBe(true);
  });

  it('is told in fewer words and lines if the settings say so', async () => {
    const config = { background_notice: 'compact' };
    const run = await backgrounded('seq 600; seq 150 >&2; sleep 100', '\n150\n\n', config);
    const { pid, text: answer, seconds } = run;
    const lines = (from: number, to: number): string =>
      Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join('');
    expect(answer).toBe(
      `[Command backgrounded after ${seconds} (pid ${pid}).\n\n` +
        `stdout (last 500 lines):\n${lines(101, 600)}\n` +
        `stderr (last 100 lines):\n${lines(51, 150)}\nFull output: ${fullOutput(answer)}]`,
    );
  });

  it('writes on into the file that was named', async () => {
    const world = new World();
    const plugin = await pipe(world);
    const { text: answer } = await background(
      plugin,
      `echo one; ${wait('go')}; printf '\\e[1mtwo\\e[0m\\n' >&2; ${wait('end')}; echo three`,
    );
    const path = fullOutput(answer);
    const written = (): string => fs.readFileSync(path, 'utf8');
    say(world, 'go');
    await until(() => written() === 'one\ntwo\n', 'the file goes on');
    say(world, 'end');
    await until(() => written() === 'one\ntwo\nthree\n', 'the file has the end');
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
  });

  it('names the file in the directory of the settings', async () => {
    const config = { offload_directory: '.' };
    const { world, text: answer } = await backgrounded('echo x; sleep 100', '\nx\n', config);
    expect(fullOutput(answer).slice(world.project.length)).toMatch(
      /^\/pipe-bash-[0-9a-f]{8}\.log$/,
    );
    expect(fs.readFileSync(fullOutput(answer), 'utf8')).toBe('x\n');
  });
});

describe('check_pid of pipe_bash', () => {
  it('gives what is new since the last check, and nothing twice', async () => {
    const {
      world,
      plugin,
      pid,
      text: answer,
    } = await backgrounded(
      `echo zero; ${wait('a')}; echo one; echo two >&2; ${wait('b')}; echo three; sleep 100`,
      'zero',
    );
    const full = `Full output: ${fullOutput(answer)}]`;
    const none = `[Process ${pid} still running.\n\nNew output since last check (0 lines):\n\n`;
    expect(await text(bash(plugin, { check_pid: pid }))).toBe(`${none}${full}`);
    say(world, 'a');
    await until(() => fs.readFileSync(fullOutput(answer), 'utf8').includes('two'), 'it prints');
    expect(await text(bash(plugin, { check_pid: pid }))).toBe(
      `${none.replace('(0 lines):\n', '(2 lines):\none\ntwo\n')}${full}`,
    );
    say(world, 'b');
    expect(await addedUntil(plugin, pid, 'three\n')).toBe('three\n');
    expect(await added(plugin, pid)).toBe('');
  });

  it('gives characters and sequences whole that were cut by a check', async () => {
    const pieces = ['a\\xe2', '\\x82', '\\xacb\\e[3', '1mred\\e]0;ti', 'tle\\a end', '\\r', '\\n'];
    const command = pieces.map((piece, at) => `printf '${piece}'; ${wait(`${at}`)}; `).join('');
    const run = await backgrounded(`${command} sleep 100`, '\na\n');
    const { world, plugin, pid, text: answer } = run;
    const id = world.shell.list()[0]?.id ?? '';
    let all = /\nstdout:\n(.*)\n\nstderr/s.exec(answer)?.[1] ?? '';
    for (let at = 0; at < pieces.length; at += 1) {
      const size = world.shell.read(id).nextCursor;
      say(world, `${at}`);
      if (at < pieces.length - 1) {
        await until(() => world.shell.read(id).nextCursor > size, 'the next piece');
      }
      all += await added(plugin, pid);
    }
    const raw = world.shell.read(id).chunks.map(({ bytes }) => bytes);
    expect(all).toBe('a€bred end\n');
    expect(all).toBe(Buffer.from(sanitize(Buffer.concat(raw))).toString());
  });

  it('shows the last 2000 lines of more, and says how many there are', async () => {
    const world = new World();
    const plugin = await pipe(world);
    const { pid, text: answer } = await background(plugin, `${wait('a')}; seq 30000; sleep 100`);
    say(world, 'a');
    await until(() => fs.readFileSync(fullOutput(answer), 'utf8').endsWith('30000\n'), 'all');
    const check = await text(bash(plugin, { check_pid: pid }));
    expect(check).toContain('New output since last check (last 2000 of 30000 lines):\n28001\n');
    expect(check).toContain(`\n30000\n\nFull output: ${fullOutput(answer)}]`);
  });

  it('says how it ended, as often as it is asked', async () => {
    const world = new World();
    const plugin = await pipe(world);
    const { pid, text: answer } = await background(
      plugin,
      `seq 2500; ${wait('a')}; echo end >&2; exit 0`,
    );
    say(world, 'a');
    const check = await ended(world, plugin, pid);
    const lines = Array.from({ length: 2000 }, (_, index) => `${501 + index}\n`).join('');
    expect(check).toMatchObject({
      success: true,
      text:
        `[Process ${pid} exited with code 0.\n\nstdout (last 2000 lines):\n${lines}\n` +
        `stderr:\nend\n\nFull output: ${fullOutput(answer)}]`,
    });
    expect(await bash(plugin, { check_pid: pid })).toEqual(check);
    expect(world.entry()).toMatchObject({ exit_code: 0, end_reason: 'itself' });
  });

  it('is an error when the command failed', async () => {
    const world = new World();
    const plugin = await pipe(world);
    const { pid } = await background(plugin, `${wait('a')}; exit 3`);
    say(world, 'a');
    const { success, text: answer } = await ended(world, plugin, pid);
    expect(success).toBe(false);
    expect(answer).toContain(`[Process ${pid} exited with code 3.\n\nstdout:\n\nstderr:\n\nFull`);
  });
});

describe('kill_pid of pipe_bash', () => {
  it('ends the whole tree with SIGKILL and gives the final output', async () => {
    const {
      world,
      plugin,
      pid,
      text: answer,
    } = await backgrounded(
      `trap 'echo no' TERM; setsid sleep 1000 & echo $!; echo up; (sleep 1001; :); wait`,
      'up\n',
    );
    const child = Number(/stdout:\n(\d+)\nup/.exec(answer)?.[1]);
    await until(() => alive(child), 'the child');
    expect(await text(bash(plugin, { kill_pid: pid }))).toBe(
      `[Process ${pid} was killed by SIGKILL.\n\nstdout:\n${child}\nup\n\nstderr:\n\n` +
        `Full output: ${fullOutput(answer)}]`,
    );
    expect([pid, child].filter(alive)).toEqual([]);
    expect(world.entry()).toMatchObject({ end_reason: 'kill', signal: 'SIGKILL' });
    // Who asks again is told the same.
    expect(await text(bash(plugin, { kill_pid: pid }))).toContain('was killed by SIGKILL');
  });

  it('ends what a process left that is over itself', async () => {
    const world = new World();
    const plugin = await pipe(world);
    const { pid } = await background(plugin, `${wait('a')}; sleep 1000 & ${BECOME}; echo $!`);
    say(world, 'a');
    const { text: answer } = await ended(world, plugin, pid);
    const child = Number(/stdout:\n(\d+)/.exec(answer)?.[1]);
    expect(answer).toContain(`\nStill running in the background: pid ${child} (sleep 1000)]`);
    expect(alive(child)).toBe(true);
    const killed = await text(bash(plugin, { kill_pid: pid }));
    expect(killed).toContain('exited with code 0');
    expect(killed).not.toContain('Still running');
    expect(alive(child)).toBe(false);
    expect((await bash(plugin, { check_pid: pid })).text).not.toContain('Still running');
  });
});

describe('the background processes of pipe_bash', () => {
  it('belong to a conversation', async () => {
    const plugin = await pipe(new World());
    const { pid } = await background(plugin, 'sleep 100', conversation('one'));
    const unknown = {
      success: false,
      text: `There is no backgrounded process ${pid} in this conversation.`,
    };
    for (const other of [conversation('two'), {}, { connection: 'A' }]) {
      expect(await bash(plugin, { check_pid: pid }, other)).toEqual(unknown);
      expect(await bash(plugin, { kill_pid: pid }, other)).toEqual(unknown);
    }
    expect((await bash(plugin, { kill_pid: pid }, conversation('one'))).success).toBe(true);
  });

  it('are not those that were waited for, nor anybody else on the machine', async () => {
    const world = new World();
    const plugin = await pipe(world);
    const answer = await text(bash(plugin, 'echo $$'));
    for (const pid of [Number(/\d+/.exec(answer)?.[0]), process.pid]) {
      expect((await bash(plugin, { kill_pid: pid })).text).toBe(
        `There is no backgrounded process ${pid} in this conversation.`,
      );
    }
  });

  it('are ended with the server, and the file has all they printed', async () => {
    const {
      world,
      plugin,
      pid,
      text: answer,
    } = await backgrounded('trap "echo bye; exit" TERM; sleep 100 & echo up; wait', 'up\n');
    await world.stop(plugin);
    expect(alive(pid)).toBe(false);
    expect(fs.readFileSync(fullOutput(answer), 'utf8')).toBe('up\nbye\n');
    expect(world.entry().end_reason).toBe('shutdown');
  });
});
