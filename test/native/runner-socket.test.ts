// Streams that name their writers: nothing is lost, nobody gets another's bytes, and a command sees
// no difference to pipes. Who wrote without having reported is looked up.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';
import {
  bash,
  framesOf,
  type Left,
  leftIn,
  misjudged,
  newDir,
  plain,
  root,
  run,
  runnerPath,
  shimDir,
  start,
  traces,
} from './runner-helper.ts';

const noTracing = lacking(!traces, 'a traced run needs the runner and a C compiler');
const NEW_SPACE = ['unshare', '--pid', '--fork', '--mount-proc'];
const noSpaces = lacking(
  spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status !== 0,
  'a new pid namespace needs root',
);
const noStatic = lacking(plain === '', 'there is no static libc here');

function lineCount({ text }: Left): number {
  return text.split('\n').length - 1;
}

describe.skipIf(noTracing)('over sockets', () => {
  test('150 writers at once lose nothing, and every byte is its writer’s', async () => {
    const lines = 'for i in {1..100}; do echo $BASHPID line $i; done';
    const writers = `for w in {1..75}; do (${lines}) & (${lines} >&2) & done; wait`;
    const left = await run(bash(writers));
    expect(lineCount(left)).toBe(15_000);
    expect(misjudged(left)).toEqual([]);
    expect(new Set(left.chunks.map(({ pid }) => pid)).size).toBe(150);
    const covered = left.chunks.reduce((sum, { length }) => sum + length, 0);
    expect(covered).toBe(left.output.length);
  });

  test('writers that take turns at every line are told apart in merged output, too', async () => {
    const source = join(root, 'turns.py');
    const program = `import os, sys
for i in range(20000):
    os.write(1 + i % 2, b"%d x\\n" % os.getpid())
`;
    writeFileSync(source, program);
    const left = await run(bash(`for w in {1..8}; do python3 ${source} & done; wait`), {
      transport: 'merged',
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: process.env.HOME ?? '/' },
    });
    expect(lineCount(left)).toBe(160_000);
    expect(misjudged(left)).toEqual([]);
    expect(new Set(left.chunks.map(({ channel }) => channel))).toEqual(new Set(['stdout']));
  });

  test('merged output is in true order', async () => {
    const left = await run(bash('for i in {1..500}; do echo o$i; echo e$i >&2; done'), {
      transport: 'merged',
    });
    const expected = Array.from({ length: 500 }, (_, i) => `o${i + 1}\ne${i + 1}\n`).join('');
    expect(left.text).toBe(expected);
  });
});

describe.skipIf(noTracing)('whoever watches its stdout', () => {
  const program = (name: string, text: string): string => {
    const path = join(root, name);
    writeFileSync(path, text);
    return path;
  };

  test.each(['socket', 'pipe', 'merged'] as const)(
    'over %s finds nothing to read there, and no end',
    async (transport) => {
      const source = `import select
p = select.poll()
for fd in (1, 2):
    p.register(fd, select.POLLIN | select.POLLRDHUP)
found = p.poll(0)
readable, _, _ = select.select([1, 2], [], [], 0)
print(found, readable)
`;
      const left = await run(['python3', program('watches.py', source)], { transport });
      expect(left.text).toBe('[] []\n');
    },
  );

  test('with asyncio does not lose a byte', async () => {
    const source = `import asyncio, sys
async def main():
    loop = asyncio.get_running_loop()
    mixin = asyncio.streams.FlowControlMixin
    transport, protocol = await loop.connect_write_pipe(mixin, sys.stdout)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    for i in range(3):
        await asyncio.sleep(0.01)
        writer.write(b"line %d\\n" % i)
        await writer.drain()
    sys.stderr.write("closing: %s\\n" % transport.is_closing())
asyncio.run(main())
`;
    const left = await run(['python3', program('asynchronous.py', source)]);
    expect(left.text.split('\n').sort()).toEqual(
      ['', 'closing: False', 'line 0', 'line 1', 'line 2'].sort(),
    );
  });

  test('is told when its reader leaves', async () => {
    const source = `import os, select, signal
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
os.write(1, b"x" * 100)
p = select.poll()
p.register(1, 0)
try:
    while not p.poll(20):
        os.write(1, b"x")
except BrokenPipeError:
    pass
os._exit(9 if p.poll(10000) else 8)
`;
    const command = `python3 ${program('told.py', source)}`;
    expect(inFrontOfHead('socket', command)).toEqual(['9', '']);
    expect(inFrontOfHead('pipe', command)).toEqual(['9', '']);
  });
});

/** How the runner ends in front of a reader that leaves, and what is on its stderr. */
function inFrontOfHead(transport: string, command: string, reader = 'head -c 1'): string[] {
  const words = ['--dir', newDir(), '--transport', transport, '--forward', '--trace', shimDir];
  const quoted = [runnerPath, 'run', 'x', ...words, '--'].map((word) => `'${word}'`);
  const piped = `${quoted.join(' ')} ${command} 3>&- | ${reader} > /dev/null`;
  const text = `${piped}; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', text], { encoding: 'utf8' });
  return [stdout.trim(), stderr];
}

describe.skipIf(noTracing)('a reader that leaves', () => {
  test.each([
    ['yes'],
    ['bash -c "while :; do echo line; done"'],
    ['bash -c "yes | cat"'],
    ['head -c 100000000 /dev/zero'],
  ])('ends %s by SIGPIPE, without a word on stderr', async (command) => {
    for (let round = 0; round < 10; round += 1) {
      expect(inFrontOfHead('socket', command)).toEqual(['141', '']);
    }
    expect(inFrontOfHead('pipe', command)).toEqual(['141', '']);
  });

  test('lets a command that is done writing go on to its end', async () => {
    const text = 'head -c 300000 /dev/zero | tr "\\\\0" x; sleep 0.1; exit 7';
    const shown = inFrontOfHead('socket', `bash -c '${text}'`, 'head -c 300000');
    expect(shown).toEqual(['7', '']);
  });
});

describe.skipIf(noTracing)('a writer that did not report', () => {
  test.skipIf(noStatic)('is looked up once, while it is there', async () => {
    const live = start([...bash(`${plain} wait; exit 0`)], {
      trace: { shimDir, envNames: ['PATH'] },
    });
    const [, pid = ''] = await live.shows(/plain (\d+)\n/);
    const found = framesOf(live.left(), 'start', Number(pid)).filter((f) => f.source === 'proc');
    expect(found).toEqual([
      {
        type: 'start',
        source: 'proc',
        atNs: expect.any(BigInt),
        who: { pid: Number(pid), space: 0 },
        parent: expect.any(Number),
        uid: process.getuid?.(),
        startTicks: expect.any(Number),
        inner: undefined,
        exe: plain,
        cwd: root,
        argv: [plain, 'wait'],
        args: 2,
        cut: false,
        redacted: false,
        envCount: expect.any(Number),
        env: { PATH: '/usr/bin:/bin' },
        isStatic: false,
      },
    ]);
  });

  test('is not looked up again for every byte, and not when the runner started it', async () => {
    const left = await run(bash('for i in {1..2000}; do echo $i; done'));
    expect(left.chunks.length).toBeGreaterThan(0);
    expect(framesOf(left, 'start').map(({ source }) => source)).toEqual(['runner']);
  });

  test.skipIf(noSpaces)('in another pid namespace is known by both of its pids', async () => {
    const live = start([...NEW_SPACE, ...bash('echo up $$; sleep 100')]);
    await live.shows(/up 1\n/);
    await until(() => live.left().chunks.length > 0, 'its bytes are in the index');
    const { chunks, frames } = live.left();
    const [{ pid } = { pid: 0 }] = chunks;
    const found = frames.filter((frame) => frame.type === 'start' && frame.who.pid === pid);
    expect(found).toMatchObject([
      { source: 'proc', inner: { pid: 1, space: expect.any(Number) }, argv: expect.any(Array) },
    ]);
    live.handle.kill({ signal: 'KILL', graceMs: 0, cause: 'kill' });
    await live.over;
  });

  test('is looked up soon in a file that somebody has filled with heads of nothing', async () => {
    const fifo = join(root, 'looked-up');
    spawnSync('mkfifo', [fifo]);
    const timed = async (piece: Buffer): Promise<{ left: Left; ms: number }> => {
      const file = join(root, 'filling');
      writeFileSync(file, Buffer.alloc(1 << 20, piece));
      const began = performance.now();
      const live = start(
        bash(`cat ${file} >> "$CUFF_TRACE"; sh -c 'echo $$ up; read x < ${fifo}'; exit 0`),
      );
      await live.shows(/up/); // it is looked up before its bytes are kept
      writeFileSync(fifo, '\n');
      await live.over;
      return { left: live.left(), ms: performance.now() - began };
    };
    // Each says that 64 KiB belong to it.
    const head = Buffer.from('CFFR\0\0\0\0\0\0\x01\0', 'latin1');
    const pair = async () => [await timed(Buffer.alloc(12)), await timed(head)] as const;
    // The machine may be busy elsewhere in some of them.
    let [harmless, heads] = await pair();
    for (let i = 0; i < 9 && heads.ms >= 10 * harmless.ms; i++) [harmless, heads] = await pair();
    expect(heads.ms).toBeLessThan(10 * harmless.ms);
    const [pid] = heads.left.text.split(' ');
    const found = framesOf(heads.left, 'start', Number(pid));
    expect(found.map(({ source }) => source)).toEqual(['proc']);
  });

  test('that is gone before anybody can look leaves its bytes with its pid', async () => {
    const left = await run(bash('for i in {1..50}; do bash -c "echo \\$\\$ here"; done'));
    expect(lineCount(left)).toBe(50);
    expect(misjudged(left)).toEqual([]);
  });
});

test.skipIf(noTracing)(
  'a terminal as stderr stays one, and then both streams are told about',
  async () => {
    const dir = newDir();
    const inner = ['--dir', dir, '--transport', 'socket', '--forward', '--trace', shimDir];
    const text = 'test -t 2 && test -S /dev/fd/1 && echo yes; test -t 2 && echo terminal >&2';
    const words = [runnerPath, 'run', 'inner', ...inner, '--', ...bash(text)];
    const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    const outer = await run(bash(`${quoted} | cat`), { transport: 'pty', traced: false });
    expect(outer.text.split('\r\n').sort()).toEqual(['', 'terminal', 'yes']);
    const left = leftIn(dir);
    expect(left.header).toMatchObject({ mode: 'pipe', merged: false });
    const named = left.chunks.map(({ channel, pid }) => [channel, pid !== undefined]);
    expect(named.sort()).toEqual([
      ['stderr', false],
      ['stdout', true],
    ]);
  },
);
