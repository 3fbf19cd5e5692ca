// `for await (const event of run)`, and what an AbortSignal does, on both backends.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AppError, isAppError, type RunEvent } from '../../src/index.ts';
import {
  alive,
  bytesOf,
  describeBackends,
  gone,
  lacks,
  shows,
  type World,
  world,
} from '../shell/backends.ts';

type Output = Extract<RunEvent, { type: 'output' }>;

async function all(events: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const list: RunEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

function bytesIn(events: readonly RunEvent[], channel?: Output['channel']): Buffer {
  const outputs = events.filter((event) => event.type === 'output');
  const wanted = outputs.filter((event) => (channel ?? event.channel) === event.channel);
  return Buffer.concat(wanted.map(({ bytes }) => bytes));
}

/** The types in order, with outputs in a row as one. */
function shape(events: readonly RunEvent[]): string[] {
  const types = events.map(({ type }) => type);
  return types.filter((type, index) => type !== types[index - 1] || type !== 'output');
}

/** How many files of its capture this process has open or watches. */
function openFiles({ root }: World): number {
  if (!existsSync('/proc/self/fd')) return 0;
  return readdirSync('/proc/self/fd').filter((fd) => linkOf(fd).startsWith(root)).length;
}

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return ''; // closed since it was listed
  }
}

describeBackends('the events of a run', (backend) => {
  it('start with the process, end with the end, and have every byte in between', async () => {
    const home = world(backend);
    const run = home.start(
      'printf out; sleep 0.02; printf err >&2; sleep 0.02; printf more; exit 3',
    );
    const events = await all(run);
    expect(shape(events)).toEqual(['started', 'output', 'done']);
    expect(events[0]).toEqual({ type: 'started', process: await run.started });
    expect(events.at(-1)).toEqual({ type: 'done', ended: await run.done, survivors: [] });
    expect(bytesIn(events, 'stdout').toString()).toBe('outmore');
    expect(bytesIn(events, 'stderr').toString()).toBe('err');
  });

  it('equal the capture, for a reader now, a slow one, and one that comes later', async () => {
    const home = world(backend);
    const run = home.start(
      'for i in {1..3000}; do echo $i; echo e$i >&2; done; head -c 3000000 /dev/urandom',
    );
    const slow = async (): Promise<RunEvent[]> => {
      const list: RunEvent[] = [];
      for await (const event of run.events()) {
        list.push(event);
        if (list.length % 10 === 0) await new Promise((next) => setTimeout(next, 1));
      }
      return list;
    };
    const together = await Promise.all([all(run), slow(), all(run.events())]);
    const readers = [...together, await all(run)];
    for (const events of readers) {
      for (const channel of ['stdout', 'stderr'] as const) {
        expect(bytesIn(events, channel).equals(bytesOf(home, run.id, channel))).toBe(true);
      }
      let next = 0;
      for (const event of events) {
        if (event.type !== 'output') continue;
        expect(event.offset).toBe(next);
        next += event.bytes.length;
      }
    }
  });

  it('come while the command runs', async () => {
    const home = world(backend);
    const run = home.start('echo ready; read line; echo "got $line"', { stdin: 'orders' });
    let text = '';
    for await (const event of run) {
      if (event.type !== 'output') continue;
      text += Buffer.from(event.bytes).toString();
      if (text === 'ready\n') run.write('hello\n');
    }
    expect(text).toBe('ready\ngot hello\n');
  });

  it('end with the shell although a survivor prints on, or else with the survivor', async () => {
    const home = world(backend);
    const run = home.start('(until [ -e go ]; do sleep 0.01; done; echo late) & echo early');
    const first = await all(run);
    expect(shape(first)).toEqual(['started', 'output', 'done']);
    expect(first.at(-1)).toMatchObject({
      survivors: expect.arrayContaining([expect.objectContaining({ holdsOutput: true })]),
    });
    const whole: RunEvent[] = [];
    for await (const event of run.events({ until: 'closed' })) {
      whole.push(event);
      if (event.type === 'done') writeFileSync(join(home.dir, 'go'), '');
    }
    expect(shape(whole)).toEqual(['started', 'output', 'done', 'output', 'closed']);
    expect(bytesIn(whole).toString()).toBe('early\nlate\n');
  });

  it('a command that could not be started has only its end', async () => {
    const run = world(backend).start({ kind: 'argv', argv: ['no-such-program'] });
    const outcome = { kind: 'failed', error: 'ENOENT', message: expect.any(String) };
    const ended = { at: expect.any(Number), outcome, endedBy: 'itself' };
    expect(await all(run.events({ until: 'closed' }))).toEqual([
      { type: 'done', ended, survivors: [] },
      { type: 'closed' },
    ]);
  });

  it('a reader that leaves lets go of everything, and the run goes on', async () => {
    const home = world(backend);
    const run = home.start('echo one; read _; echo two', { stdin: 'orders' });
    await shows(home, run.id, /one/);
    const before = openFiles(home);
    for await (const event of run) if (event.type === 'output') break;
    expect(openFiles(home)).toBe(before);
    run.endInput();
    expect(bytesIn(await all(run)).toString()).toBe('one\ntwo\n');
  });

  it('a reader that leaves while it waits is let go at once, wherever it waits', async () => {
    const home = world(backend);
    const run = home.start('sleep 100 & echo one; read _', { stdin: 'orders' });
    const over = { done: true, value: undefined };
    const leave = async (events: AsyncIterator<RunEvent>): Promise<void> => {
      const waiting = events.next();
      expect(await events.return?.()).toEqual(over);
      expect(await waiting).toEqual(over);
      expect(await events.next()).toEqual(over);
    };
    await shows(home, run.id, /one/);
    let before = openFiles(home);
    const first = run.events();
    expect(await first.next()).toMatchObject({ value: { type: 'started' } });
    expect(await first.next()).toMatchObject({ value: { type: 'output' } });
    await leave(first);
    expect(openFiles(home)).toBe(before);
    run.endInput();
    const second = run.events({ until: 'closed' });
    for await (const { type } of {
      [Symbol.asyncIterator]: () => ({ next: () => second.next() }),
    }) {
      if (type === 'done') break;
    }
    before = openFiles(home);
    await leave(second);
    expect(openFiles(home)).toBe(before);
    await run.kill({ signal: 'KILL' });
  });
});

describeBackends('an AbortSignal', (backend) => {
  it('ends the run, and says who wanted it', async () => {
    const home = world(backend);
    const controller = new AbortController();
    const run = home.start('echo on; sleep 100', { signal: controller.signal });
    await shows(home, run.id, /on/);
    controller.abort();
    expect(await run.done).toMatchObject({
      outcome: { kind: 'signaled', signal: 'SIGTERM' },
      endedBy: 'cancelled',
    });
  });

  it('that was aborted before starts nothing, and leaves no capture', () => {
    const home = world(backend);
    let error: unknown;
    try {
      home.start('touch made', { signal: AbortSignal.abort() });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(AppError);
    expect(isAppError(error) && error.code).toBe('cancelled');
    expect(home.shell.list()).toEqual([]);
  });

  it('that is aborted when the shell is done leaves survivors alone', async () => {
    const home = world(backend);
    const controller = new AbortController();
    const run = home.start('sleep 100 & echo $!', { signal: controller.signal });
    await run.done;
    controller.abort();
    const [pid] = await shows(home, run.id, /\d+/);
    expect(alive(Number(pid))).toBe(true);
    await run.kill({ signal: 'KILL' });
    await gone(Number(pid));
  });
});

describeBackends('closing a shell', (backend) => {
  it('a run that goes on ends as it ends, whoever waits for it', async () => {
    const home = world(backend);
    if (lacks(backend, 'a run outlives its starter')) return;
    const run = home.start('until [ -e go ]; do sleep 0.01; done; echo late; exit 7');
    await run.started;
    home.shell.close();
    expect(await run.wait(300)).toBeUndefined();
    writeFileSync(join(home.dir, 'go'), '');
    expect(await run.done).toMatchObject({ outcome: { kind: 'exited', code: 7 } });
    expect(bytesIn(await all(run.events({ until: 'closed' }))).toString()).toBe('late\n');
  });

  it('a run that goes on can still be killed', async () => {
    const home = world(backend);
    if (lacks(backend, 'a run outlives its starter')) return;
    const run = home.start('echo $$; exec sleep 100');
    const [pid] = await shows(home, run.id, /\d+/);
    home.shell.close();
    expect(await run.kill()).toMatchObject({ endedBy: 'kill' });
    await gone(Number(pid));
  });

  it('a program that has let go of its runs ends', async () => {
    const home = world(backend);
    if (lacks(backend, 'a run outlives its starter')) return;
    const program = `
      import { createShell } from 'cuff';
      const shell = createShell({ stateRoot: ${JSON.stringify(home.root)} });
      const run = shell.start('sleep 100');
      await run.started;
      shell.close();
      run.done.then(() => console.log('never'));
      console.log(run.id);
    `;
    const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: join(import.meta.dirname, '..', '..'),
      encoding: 'utf8',
    });
    const id = home.shell.list()[0]?.id ?? '';
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${id}\n` });
    expect(await home.shell.kill(id)).toMatchObject({ endedBy: 'kill' });
  });
});
