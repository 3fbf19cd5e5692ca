// The portable backend in a pseudo-terminal, through the optional node-pty: whole output, keys,
// size, and the end the command had.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { portablePty } from '../../src/run/portable.ts';
import { launchPty, loadPty, type PtyModule } from '../../src/run/portable-pty.ts';
import { processAlive } from '../../src/run/processes.ts';
import type { RunSpec } from '../../src/run/spec.ts';
import { lacking } from '../requirements.ts';
import { bash, fakeSink, specOf, start } from './portable-helper.ts';

const noPty = lacking(!(await portablePty()), '@lydell/node-pty does not load here');

const inPty = (argv: readonly string[], changes: Partial<RunSpec> = {}): RunSpec =>
  specOf(argv, { transport: 'pty', ...changes });

describe.skipIf(noPty)('a portable run in a pty', () => {
  it('sees a terminal of the size it was promised', async () => {
    const run = start(
      inPty(bash('tty; stty size; test -t 2 && echo err'), { size: size(101, 33) }),
    );
    expect((await run.message('done')).outcome).toEqual({ kind: 'exited', code: 0 });
    expect(run.sink.text('pty')).toMatch(/^\/dev\/\S+\r\n33 101\r\nerr\r\n$/);
    await run.message('ended');
  });

  it('loses no byte of 100 commands that print 20 KB and exit', async () => {
    // Lines of a known length, so that what is missing is seen at once.
    const text = 'for i in {1..400}; do printf "%049d\\n" $i; done';
    const lengths: number[] = [];
    for (let round = 0; round < 10; round++) {
      const runs = Array.from({ length: 10 }, () => start(inPty(bash(text))));
      for (const run of runs) {
        await run.message('ended');
        lengths.push(run.sink.outputBytes);
      }
    }
    expect(lengths).toEqual(Array.from({ length: 100 }, () => 400 * 51));
  });

  it('waits for bytes that are handed on late', async () => {
    const pty = await loadPty();
    if (pty === undefined) throw new Error('there is no pty');
    // Each piece comes long after the command has gone and its terminal is quiet.
    const late: PtyModule = {
      spawn: (...how) => {
        const terminal = pty.spawn(...how);
        const { pid } = terminal;
        let handedOn = Promise.resolve();
        const onData: typeof terminal.onData = (listener) =>
          terminal.onData((data) => {
            handedOn = handedOn.then(async () => {
              while (processAlive({ pid, startTime: 0 })) await setTimeout(5);
              await setTimeout(400); // node-pty by itself waits for 200
              listener(data);
            });
          });
        return Object.create(terminal, { onData: { value: onData } });
      },
    };
    const go = join(mkdtempSync(join(tmpdir(), 'cuff-pty-')), 'go');
    onTestFinished(() => rmSync(dirname(go), { recursive: true }));
    const { stdin, stdout } = process;
    const read: string[] = [];
    const ended = await new Promise<unknown>((over) => {
      launchPty(
        late,
        inPty(bash(`until test -e ${go}; do sleep 0.01; done; echo one; echo 2`)),
        { stdin, stdout },
        {
          failed: over,
          launched: ({ outputs, onExit }) => {
            writeFileSync(go, ''); // the far end is held by now
            outputs[0]?.listen({ data: (bytes) => read.push(bytes.toString()), end: () => {} });
            onExit(over);
          },
        },
      );
    });
    expect([ended, read.join('')]).toEqual([{ kind: 'exited', code: 0 }, 'one\r\n2\r\n']);
  });

  it('ends with the code or the signal of the command', async () => {
    const code = start(inPty(bash('exit 7')));
    expect((await code.message('done')).outcome).toEqual({ kind: 'exited', code: 7 });
    const signal = start(inPty(bash('kill -USR1 $$')));
    expect((await signal.message('done')).outcome).toEqual({ kind: 'signaled', signal: 'SIGUSR1' });
  });

  it('takes keys as orders, and Ctrl-C as a signal', async () => {
    const run = start(inPty(bash('read x; echo "got $x"; sleep 100'), { stdin: 'orders' }));
    run.handle.write(Buffer.from('abc\r'));
    await run.sink.shows(/got abc/);
    run.handle.write(Buffer.from([3]));
    expect((await run.message('done')).outcome).toEqual({ kind: 'signaled', signal: 'SIGINT' });
  });

  it('follows a resize, and says so', async () => {
    const text = 'trap "stty size" WINCH; echo up; while :; do sleep 0.01; done';
    const run = start(inPty(bash(text)));
    await run.sink.shows(/up/);
    run.handle.resize(50, 20);
    await run.sink.shows(/20 50/);
    expect(run.sink.events).toEqual([
      { type: 'resize', fields: { cols: 80, rows: 24 } },
      { type: 'resize', fields: { cols: 50, rows: 20 } },
    ]);
  });

  it('is killed with its children', async () => {
    const run = start(inPty(bash('sleep 100 & trap "" TERM; echo up; wait'), { graceMs: 50 }));
    await run.sink.shows(/up/);
    run.handle.kill({ signal: 'TERM', graceMs: 50, cause: 'timeout' });
    const done = await run.message('done');
    expect(done).toMatchObject({ endedBy: 'timeout', survivors: 0 });
    await run.message('ended');
  });

  it('shows its output on our own terminal and takes our keys, in raw mode', async () => {
    const modes: boolean[] = [];
    const stdin = Object.assign(new PassThrough(), {
      isTTY: true,
      setRawMode: (raw: boolean) => modes.push(raw),
    });
    const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 66, rows: 22 });
    const streams = { stdin, stdout, stderr: new PassThrough() };
    const run = start(inPty(bash('stty size; read x; echo "got $x"'), attached), { streams });
    await run.sink.shows(/22 66/);
    expect(modes).toEqual([true]);
    stdin.write('keys\r');
    await run.message('ended');
    expect(modes).toEqual([true, false]);
    expect(stdout.read()?.toString()).toBe(run.sink.text('pty'));
    expect(run.sink.text('pty')).toContain('got keys');
  });

  it('goes on when nobody looks any more', async () => {
    const sink = fakeSink();
    const stdout = new PassThrough();
    stdout.destroy();
    const streams = { stdin: new PassThrough(), stdout, stderr: new PassThrough() };
    const run = start(inPty(bash('echo a; read x; echo b'), attached), { sink, streams });
    await run.sink.shows(/a/);
    streams.stdin.end('\n');
    expect((await run.message('done')).outcome).toEqual({ kind: 'exited', code: 0 });
    expect(run.sink.text()).toContain('b\r\n');
  });
});

const attached = { forward: true, stdin: 'inherit', session: 'auto' } as const;

function size(cols: number, rows: number): RunSpec['size'] {
  return { cols, rows };
}
