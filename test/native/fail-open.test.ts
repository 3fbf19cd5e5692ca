// Whatever happens to what tracing needs, a command prints and ends as it does by itself. Every
// fault is met by a workload that has a bit of everything; nothing may hang, and no byte be added.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeTrace } from '../../src/trace/decode/decode.ts';
import type { Frame } from '../../src/trace/decode/format.ts';
import { lacking } from '../requirements.ts';
import { FILE_FAULTS } from './cases/faults-file.ts';
import { LIVE_FAULTS } from './cases/faults-live.ts';
import { buildPrograms } from './cases/programs.ts';
import { type Place, runnerAndShim, type World } from './cases/runs.ts';
import { alone, SHIM_TAIL, traced, WORKLOAD, withOwnShim } from './cases/workload.ts';

const found = runnerAndShim();
const noShim = lacking(typeof found === 'string', 'runs cannot be traced here');
const noRoot = lacking(process.getuid?.() !== 0, 'some faults need to be root');

let world: World;
let good: Buffer;
const bare = new Map<string, Awaited<ReturnType<typeof alone>>>();

/** The command by itself, once for each text. */
async function expected(text: string | undefined, before: readonly string[] = []) {
  const key = JSON.stringify([text, before]);
  const made = bare.get(key) ?? (await alone(world, { ...(text && { text }), before }));
  bare.set(key, made);
  return made;
}

beforeAll(async () => {
  if (typeof found === 'string') return;
  const { dir } = await buildPrograms();
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-fail-open-')));
  chmodSync(root, 0o755);
  world = { ...found, root, programs: dir };
  good = readFileSync(join((await traced(world, { text: 'exit 0' })).dir, 'trace.bin'));
});

afterAll(() => rmSync(world?.root ?? '', { recursive: true, force: true }));

describe.skipIf(noShim)('a shim finds', () => {
  for (const fault of FILE_FAULTS) {
    test(fault.name, async (context) => {
      if (noRoot && fault.root) context.skip('only root can do that');
      const dir = mkdtempSync(join(world.root, 'file-'));
      chmodSync(dir, 0o755);
      const path = fault.make(join(dir, 'trace.bin'), good, dir);
      const { before } = fault;
      try {
        const env = { CUFF_TRACE: path, LD_PRELOAD: `${world.shim}${SHIM_TAIL}` };
        const ran = await alone(world, { env, ...(before && { before }) });
        expect(ran).toEqual(await expected(undefined, before));
      } finally {
        fault.cleanUp?.(dir);
      }
    });
  }
});

describe.skipIf(noShim)('a traced command', () => {
  for (const fault of LIVE_FAULTS) {
    test(fault.name, async (context) => {
      if (noRoot && fault.root) context.skip('only root can do that');
      const own = withOwnShim(world);
      const { text, before, prepare, meanwhile } = fault;
      const {
        dir,
        place: _,
        ...ran
      } = await traced(own, {
        ...(text && { text }),
        ...(before && { before }),
        prepare: (made) => prepare?.(made, own),
        meanwhile: (live) => meanwhile?.(live, own),
      });
      fault.cleanUp?.(dir);
      expect(ran).toEqual(await expected(text, before));
    });
  }
});

/** A workload that says by a second FIFO that it is done, and prints into a file. */
const QUIET = `exec > $W/log 2>&1; ${WORKLOAD.replace(/exit 7$/, 'echo over > $W/end; exit 7')}`;

/** Until the command is done, although nobody may be there to hear of its end. */
function whenOver({ work }: Place): Promise<string> {
  execFileSync('mkfifo', [join(work, 'end')]);
  return readFile(join(work, 'end'), 'utf8');
}

/** The words of all programs that were started, by their own word or their parent's. */
function startsIn(dir: string, wanted: (frame: Frame) => boolean = () => true): string[] {
  return decodeTrace(readFileSync(join(dir, 'trace.bin'))).frames.flatMap((frame) =>
    (frame.type === 'start' || frame.type === 'exec') && wanted(frame)
      ? [frame.argv.join(' ').replaceAll(`${world.programs}/`, '')]
      : [],
  );
}

describe.skipIf(noShim)('a recorder', () => {
  async function bareLog(): Promise<string> {
    let log = '';
    let over: Promise<string> | undefined;
    await alone(world, {
      text: QUIET,
      meanwhile: ({ place }) => {
        over = whenOver(place).finally(() => {
          log = readFileSync(join(place.work, 'log'), 'utf8');
        });
      },
    });
    await over;
    return log;
  }

  test('that says nothing for a while holds up nobody', async () => {
    // It goes on only when the command is over, so that a command that waited for it would hang.
    let over: Promise<void> | undefined;
    const ran = await traced(world, {
      text: QUIET,
      meanwhile({ child, place }) {
        const { pid = 0 } = child;
        process.kill(pid, 'SIGSTOP');
        over = whenOver(place).then(() => {
          process.kill(pid, 'SIGCONT');
        });
      },
    });
    await over;
    expect(readFileSync(join(ran.place.work, 'log'), 'utf8')).toBe(await bareLog());
    expect(ran.end).toBe('exit 7');
  });

  test('that is killed changes nothing, and what comes later is still written down', async () => {
    let over: Promise<string> | undefined;
    const ran = await traced(world, {
      text: QUIET,
      meanwhile({ child, place }) {
        over = whenOver(place);
        child.kill('SIGKILL');
      },
    });
    expect(await over).toBe('over\n');
    expect(ran.end).toBe('signal SIGKILL');
    expect(readFileSync(join(ran.place.work, 'log'), 'utf8')).toBe(await bareLog());
    for (const words of ['say o three', 'start vfork', 'say o six x 5', 'waits wait4']) {
      expect(startsIn(ran.dir).filter((argv) => argv.startsWith(words))).not.toEqual([]);
    }
  });

  test('that is killed lets a static program go that it followed', async () => {
    const text =
      'exec > $W/log 2>&1; $B/say-static R $W/go o on x 4; echo "$?"; echo over > $W/end';
    let over: Promise<string> | undefined;
    const ran = await traced(world, {
      text,
      meanwhile({ child, place }) {
        over = whenOver(place);
        child.kill('SIGKILL');
      },
    });
    expect(await over).toBe('over\n');
    expect(readFileSync(join(ran.place.work, 'log'), 'utf8')).toBe('on\n4\n');
  });

  test('that starts again has lost no frame', async () => {
    let first: readonly Frame[] = [];
    const { dir } = await traced(world, {
      meanwhile({ dir: live }) {
        first = decodeTrace(readFileSync(join(live, 'trace.bin'))).frames;
      },
    });
    const { frames, damagedBytes } = decodeTrace(readFileSync(join(dir, 'trace.bin')));
    expect(first.length).toBeGreaterThan(3);
    expect(frames.slice(0, first.length)).toEqual(first);
    expect([damagedBytes, frames.filter(({ type }) => type === 'drop')]).toEqual([0, []]);
    const inner = [
      'say o one e two x 3',
      'say o three',
      'say o six x 5',
      'say o empty e nothing x 6',
    ];
    expect(startsIn(dir)).toEqual(expect.arrayContaining(inner));
    const undisturbed = await traced(world, {});
    // What the runner looks up in /proc, because it wrote and cannot report, it may find, or find
    // as a zombie, or not find any more: only what was told is the same each time.
    const told = (from: string): string[] =>
      startsIn(from, ({ source }) => source !== 'proc').toSorted();
    expect(told(dir)).toEqual(told(undisturbed.dir));
  });

  test('inside another one: both see their own', async () => {
    const words = 'run inner --transport socket --stdin null --session own --sync late --forward';
    const inner = `$B/say o one e two x 3; $B/say-static o three x 4
      $B/start fork $B/say o four; exit 5`;
    const text = `mkdir $W/in
      $RUNNER ${words} --dir $W/in --trace $SHIM --cwd $W -- bash -c '${inner}'
      echo "inner $?"; $B/say o after; exit 6`;
    const env = { RUNNER: world.runner, SHIM: world.shim };
    const { dir, place, ...ran } = await traced(world, { text, env });
    const expectedOut = 'one\nthree\nfour\nfork: exit 0\ninner 5\nafter\n';
    expect(ran).toEqual({ end: 'exit 6', stdout: expectedOut, stderr: 'two\n' });
    const own = ['say o one e two x 3', 'say-static o three x 4', 'say o four'];
    expect(startsIn(join(place.work, 'in'))).toEqual(expect.arrayContaining(own));
    expect(startsIn(dir)).toContain('say o after');
    expect(startsIn(dir).filter((argv) => argv === 'say o one e two x 3')).toEqual([]);
  });
});
