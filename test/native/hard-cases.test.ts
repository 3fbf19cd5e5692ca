// Everything that makes tracing hard, each as a real command: run by itself, traced over sockets
// and pipes, and where its writers are dynamic programs, on a terminal. What it prints and how it
// ends must be the same to the bit; how much the trace knows is counted over all cases and printed
// as a table.
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeTrace } from '../../src/trace/decode/decode.ts';
import { lacking } from '../requirements.ts';
import type { Case } from './cases/case.ts';
import { judge, type Score } from './cases/judge.ts';
import { knownFrom } from './cases/known.ts';
import { buildPrograms, type Programs } from './cases/programs.ts';
import { type Mode, runBare, runnerAndShim, runTraced, type World } from './cases/runs.ts';
import { addUp, scoreTable } from './cases/scores.ts';
import { CASES, lackedBy } from './cases/table.ts';

const found = runnerAndShim();
const noShim = lacking(typeof found === 'string', 'runs cannot be traced here');

let world: World;
let programs: Programs;
/** Root may follow static programs; others only where that cannot stop a set-user-id program. */
let follows = false;
const scores: { readonly name: string; readonly mode: Mode; readonly score: Score }[] = [];
const skipped: string[] = [];

beforeAll(async () => {
  if (typeof found === 'string') return;
  programs = await buildPrograms();
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-hard-cases-')));
  chmodSync(root, 0o755); // other users have their part in some cases
  world = { ...found, root, programs: programs.dir };
  const probe: Case = { name: 'probe', command: 'exit 0', processes: [] };
  const { capture } = await runTraced(world, probe, 'socket');
  follows = decodeTrace(readFileSync(join(capture.dir, 'trace.bin'))).header?.follows === true;
});

afterAll(() => rmSync(world?.root ?? '', { recursive: true, force: true }));

/** Bare and traced in one mode, at the same time. */
async function compare(one: Case, mode: 'socket' | 'pipe' | 'pty'): Promise<void> {
  const bareMode = mode === 'pty' ? 'pty' : 'pipe';
  const [bare, { result, capture, place }] = await Promise.all([
    runBare(world, one, bareMode),
    runTraced(world, one, mode),
  ]);
  const known = knownFrom(capture);
  if (one.followed && !follows) skipped.push(`scores of ${one.name}: nobody may be followed here`);
  else
    scores.push({
      name: one.name,
      mode,
      score: judge(world, one, place, bare.end, capture, known),
    });
  rmSync(place.work, { recursive: true, force: true });
  if (JSON.stringify(result) !== JSON.stringify(bare)) {
    // Whose fault it is: of the case, if two bare runs differ.
    expect(await runBare(world, one, bareMode), 'a second bare run').toEqual(bare);
  }
  expect(result, `traced, ${mode}`).toEqual(bare);
}

describe.skipIf(noShim)('traced as bare', () => {
  for (const one of CASES) {
    test(one.name, async (context) => {
      const why = lackedBy(one, programs, follows);
      if (why !== undefined) {
        skipped.push(`${one.name}: ${why}`);
        context.skip(why);
      }
      await compare(one, 'socket');
      await compare(one, 'pipe');
      if (one.pty) await compare(one, 'pty');
    });
  }
});

describe.skipIf(noShim)('over all hard cases', () => {
  test('starts, ends and bytes are known, and none is wrong', (context) => {
    const of = (mode: Mode): readonly Score[] =>
      scores.filter((one) => one.mode === mode).map(({ score }) => score);
    const missing = CASES.length - of('socket').length - skipped.length;
    if (missing > 0) context.skip(`${missing} cases were not run: no scores over all`);
    process.stdout.write(`${scoreTable(scores, skipped)}\n`);
    expect(of('socket').length).toBeGreaterThanOrEqual(50);
    expect(of('pty').length).toBeGreaterThanOrEqual(50);
    const [socket, pipe, pty] = [addUp(of('socket')), addUp(of('pipe')), addUp(of('pty'))];
    // Who has no shim tells nobody what it writes to a pipe.
    expect(pipe.starts).toBeGreaterThanOrEqual(0.97);
    expect(pipe.ends).toBeGreaterThanOrEqual(0.97);
    expect(pipe.wrong).toBe(0);
    expect(socket.starts).toBeGreaterThanOrEqual(0.98);
    expect(socket.ends).toBeGreaterThanOrEqual(0.98);
    expect([socket.bytes, socket.wrong]).toEqual([1, 0]);
    expect(pty.starts).toBeGreaterThanOrEqual(0.98);
    expect(pty.ends).toBeGreaterThanOrEqual(0.98);
    expect(pty.bytes).toBeGreaterThanOrEqual(0.995);
    expect(pty.wrong).toBe(0);
  });

  for (const transport of ['socket', 'pipe', 'pty'] as const) {
    test(`of 150 writers at once not one byte is somebody else’s (${transport})`, async () => {
      const writer = 'for i in {1..60}; do echo "pid=$$ $i"; echo "pid=$$ e $i" >&2; done\n';
      const command = 'for i in {1..150}; do bash $W/writer & done; wait; exit 0';
      const one: Case = { name: '150 writers', command, files: { writer }, processes: [] };
      const { capture } = await runTraced(world, one, transport);
      const { processes, writers } = knownFrom(capture);
      let [wrong, nobody, lines] = [0, 0, 0];
      for (const { offset, length } of capture.chunks) {
        let at = offset;
        for (const line of capture.output.toString('latin1', offset, offset + length).split('\n')) {
          const owners = new Set(writers.slice(at, at + line.length));
          const process = processes[[...owners][0] ?? -1];
          at += line.length + 1;
          const pid = /^pid=(\d+) (e )?\d+\r?$/.exec(line)?.[1]; // a line may lie in two chunks
          if (pid === undefined) continue;
          lines += 1;
          if (process === undefined) nobody += 1;
          else if (owners.size > 1 || process.pid !== Number(pid)) wrong += 1;
        }
      }
      expect([nobody, wrong]).toEqual([0, 0]);
      expect(lines).toBeGreaterThan(150 * 120 * 0.95);
      expect(processes.filter(({ images }) => images.at(-1)?.argv[0] === 'bash')).toHaveLength(151);
    });
  }
});

/** Told in the documents as well; a change here is a change of a promise. */
describe.skipIf(noShim)('what is known to differ', () => {
  const both = async (command: string): Promise<readonly [string, string]> => {
    const one: Case = { name: 'limit', command, processes: [] };
    const [bare, traced] = [
      await runBare(world, one, 'pipe'),
      await runTraced(world, one, 'socket'),
    ];
    return [bare.stdout, traced.result.stdout];
  };

  test('streams are sockets, for who asks what kind of file they are', async () => {
    expect(await both('test -S /dev/fd/1; echo "$?"')).toEqual(['1\n', '0\n']);
  });

  test('over a socket a static program cannot open /dev/stdout by its name', async () => {
    const text = '$B/say-static P /dev/stdout o x; echo "$?"';
    expect(await both(text)).toEqual(['reopened\nx\n0\n', '96\n']);
  });

  test('/proc/self/environ has what the environment of a program does not show', async () => {
    const text = "grep -zc '^CUFF_TRACE=' /proc/self/environ; exit 0";
    expect(await both(text)).toEqual(['0\n', '1\n']);
  });
});
