// The end-to-end scenarios of tracing, with the names they have had from the first draft on, and
// what they grew out of: children that hung, starts that stalled, secrets that were written down.
// They run one after the other; CUFF_TRACE_LOG in the environment of a command keeps the words of
// its shims.
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeTrace } from '../../src/trace/decode/decode.ts';
import type { Frame, StartFrame } from '../../src/trace/decode/format.ts';
import { lacking } from '../requirements.ts';
import type { Case, Words } from './cases/case.ts';
import { knownFrom } from './cases/known.ts';
import { buildPrograms, hasTool } from './cases/programs.ts';
import { type Mode, PATH, runBare, runnerAndShim, runTraced, type World } from './cases/runs.ts';
import { alone, SHIM_TAIL } from './cases/workload.ts';

const found = runnerAndShim();
const noShim = lacking(typeof found === 'string', 'runs cannot be traced here');
const noPython = lacking(!hasTool('python3', PATH), 'Python is not installed');

let world: World;

beforeAll(async () => {
  if (typeof found === 'string') return;
  const { dir } = await buildPrograms();
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-scenarios-')));
  chmodSync(root, 0o755);
  world = { ...found, root, programs: dir };
});

afterAll(() => rmSync(world?.root ?? '', { recursive: true, force: true }));

function scenario(command: string | Words, more: Partial<Case> = {}): Case {
  return { name: 'scenario', command, processes: [], ...more };
}

const framesOf = (dir: string): readonly Frame[] =>
  decodeTrace(readFileSync(join(dir, 'trace.bin'))).frames;

function starts(frames: readonly Frame[]): StartFrame[] {
  return frames.filter((frame): frame is StartFrame => frame.type === 'start');
}

describe.skipIf(noShim)('scenario', () => {
  test('shim_injection_smoke_with_socket', async () => {
    const one = scenario(['$B/helper', 'hello', '5'], {
      env: { AH_SHELL_TEST_LOG: '$W/crumbs', LANG: 'C' },
    });
    const flags = ['--trace-env', 'LANG,AH_SHELL_TEST_LOG'];
    const { result, capture, place } = await runTraced(world, one, 'socket', { flags });
    expect(result).toEqual({ end: 'exit 5', stdout: 'helper out hello\n', stderr: 'helper err\n' });
    expect(readFileSync(join(place.work, 'crumbs'), 'utf8')).toBe(
      'helper: started\nhelper: ends\n',
    );
    const { header, frames, damagedBytes } = decodeTrace(
      readFileSync(join(capture.dir, 'trace.bin')),
    );
    expect(header).toMatchObject({ captureId: 'case', mode: 'socket', merged: false });
    expect(damagedBytes).toBe(0);
    // What the process says about itself, first of all that it says.
    const own = frames.filter(({ source }) => source === 'shim');
    const helper = join(world.programs, 'helper');
    expect(own[0]).toMatchObject({
      type: 'start',
      who: { pid: capture.chunks[0]?.pid, space: 0 },
      parent: header?.runnerPid,
      exe: realpathSync(helper),
      cwd: place.work,
      argv: [helper, 'hello', '5'],
      args: 3,
      env: { LANG: 'C', AH_SHELL_TEST_LOG: join(place.work, 'crumbs') },
    });
    expect(own.at(-1)).toMatchObject({ type: 'exit', code: 5 });
    expect(knownFrom(capture).processes).toMatchObject([{ end: 'exit 5' }]);
  });

  test.skipIf(noPython)('shim_shell_and_interpreter_coverage', async () => {
    const inner = 'import subprocess; subprocess.run(["sh", "-c", "python3 -c 1; exit 3"])';
    const text = `bash -c 'sh -c "python3 $W/a.py; exit 4"; dash -c "exit 5"; exit 6'; exit 7`;
    const one = scenario(text, { files: { 'a.py': inner } });
    const { result, capture } = await runTraced(world, one, 'socket');
    expect(result).toEqual(await runBare(world, one, 'pipe'));
    const { processes } = knownFrom(capture);
    const shown = processes.map(({ images, end }) => `${images.at(-1)?.argv[0]} ${end}`);
    expect(shown).toEqual([
      ...['bash exit 7', 'bash exit 6', 'sh exit 4', 'python3 exit 0', 'sh exit 3'],
      ...['python3 exit 0', 'dash exit 5'],
    ]);
    const told = starts(framesOf(capture.dir)).filter(({ source }) => source === 'shim');
    for (const name of ['bash', 'sh', 'dash', 'python3']) {
      expect(told.map(({ argv }) => argv[0])).toContain(name);
    }
  });

  test('shim_output_capture', async () => {
    const text = `for i in 1 2 3 4 5; do echo "bash out $i"; echo "bash err $i" >&2
      $B/say w "say out $i" r "say err $i"; $B/say D "dup $i" v "vector $i"; done; exit 0`;
    const lines = [1, 2, 3, 4, 5].flatMap((i) => [
      ...[`bash out ${i}`, `bash err ${i}`, `say out ${i}`, `say err ${i}`],
      ...[`dup ${i}`, `dup ${i} again`, `vector ${i}`],
    ]);
    for (const transport of ['merged', 'pty', 'socket'] as const) {
      const { capture } = await runTraced(world, scenario(text), transport);
      const { processes, writers } = knownFrom(capture);
      const got: string[] = [];
      for (const [line, at] of linesOf(capture.output.toString('latin1'))) {
        got.push(line);
        const argv = processes[writers[at] ?? -1]?.images.at(-1)?.argv ?? [];
        expect([transport, line, argv[0]]).toEqual([
          transport,
          line,
          line.startsWith('bash') ? 'bash' : join(world.programs, 'say'),
        ]);
      }
      // One socket or terminal for both keeps the order; two keep the order of each.
      const sorted = (all: readonly string[]): string[] => {
        const isErr = (line: string): boolean => line.includes(' err ');
        return [...all.filter((line) => !isErr(line)), ...all.filter(isErr)];
      };
      if (transport === 'socket') expect(sorted(got)).toEqual(sorted(lines));
      else expect(got).toEqual(lines);
    }
  });

  test('sendmsg is attributed like any write', async () => {
    const one = scenario('$B/say m "a message" w written; echo bash; exit 0');
    const { capture } = await runTraced(world, one, 'socket');
    const { processes, writers } = knownFrom(capture);
    const by = [...linesOf(capture.output.toString())].map(([line, at]) => [
      line,
      processes[writers[at] ?? -1]?.images.at(-1)?.argv[0],
    ]);
    const say = join(world.programs, 'say');
    expect(by).toEqual([
      ['a message', say],
      ['written', say],
      ['bash', 'bash'],
    ]);
  });

  test('what shims write is no output of anybody', async () => {
    const text = '$B/say o one w two D three e four x 3; (echo five); exit 4';
    const quiet = await runBare(world, scenario(text), 'pipe');
    const silent = await runTraced(world, scenario(text), 'pipe');
    expect(silent.result).toEqual(quiet);
    const env = { AH_CMDTRACE_LOG: '$W/log' };
    const logged = await runTraced(world, scenario(text, { env }), 'pipe');
    expect(logged.result).toEqual(quiet);
    expect(readFileSync(join(logged.place.work, 'log'), 'utf8')).toMatch(/^cuff-shim\[\d+\] /);
    const loud = await runTraced(
      world,
      scenario(text, { env: { CUFF_TRACE_LOG: 'stderr' } }),
      'pipe',
    );
    expect(loud.result).toMatchObject({ end: quiet.end, stdout: quiet.stdout });
    const own = loud.result.stderr.replaceAll(/^cuff-shim\[\d+\] .*\n/gm, '');
    expect(own).toBe(quiet.stderr);
    expect(own.length).toBeLessThan(loud.result.stderr.length);
    for (const { capture } of [silent, logged, loud]) {
      const written = { stdout: 0, stderr: 0, pty: 0 };
      for (const frame of framesOf(capture.dir)) {
        if (frame.type !== 'write') continue;
        for (const { stream, length } of frame.writes) written[stream] += length;
      }
      const { stdout, stderr } = quiet;
      expect(written).toEqual({ stdout: stdout.length, stderr: stderr.length, pty: 0 });
    }
  });

  test('all scenarios use the library that was built once', async () => {
    const library = join(world.shim, '$LIB/libcuff-shim.so');
    const before = statSync(library);
    for (let i = 0; i < 3; i += 1) await runTraced(world, scenario('$B/helper'), 'socket');
    const { ino, size, mtimeMs } = statSync(library);
    expect({ ino, size, mtimeMs }).toEqual({
      ino: before.ino,
      size: before.size,
      mtimeMs: before.mtimeMs,
    });
    expect(size).toBeGreaterThan(0);
    expect(runnerAndShim()).toMatchObject({ shim: world.shim });
  });
});

function* linesOf(text: string): Generator<readonly [string, number]> {
  let at = 0;
  for (const line of text.split('\n')) {
    if (line !== '') yield [line.replace(/\r$/, ''), at];
    at += line.length + 1;
  }
}

describe.skipIf(noShim)('under load', () => {
  const ROUNDS_MAX = 8;
  const herd = 'for i in {1..100}; do bash -c "exit 0" & python3 -S -c 0 & done; wait; echo all';

  test.skipIf(noPython)(
    '200 programs that start at once without a recorder do not stall',
    async () => {
      const env = { CUFF_TRACE: '/nowhere/trace.bin', LD_PRELOAD: `${world.shim}${SHIM_TAIL}` };
      const times = { bare: [] as number[], dead: [] as number[] };
      // A stall would be a wait of somebody's; what the library itself takes is a few percent.
      // A machine that is busy elsewhere may be so more than once, but hardly every time.
      const stalls = (): boolean => Math.min(...times.dead) >= Math.min(...times.bare) * 1.5 + 200;
      for (let round = 0; round < 2 || (round < ROUNDS_MAX && stalls()); round += 1) {
        for (const side of ['bare', 'dead'] as const) {
          const started = performance.now();
          const ran = await alone(world, { text: herd, ...(side === 'dead' && { env }) });
          times[side].push(performance.now() - started);
          expect(ran).toEqual({ end: 'exit 0', stdout: 'all\n', stderr: '' });
        }
      }
      expect(Math.min(...times.dead)).toBeLessThan(Math.min(...times.bare) * 1.5 + 200);
    },
  );

  test.skipIf(noPython)('children of a busy Python never hang', async () => {
    const program = `
import concurrent.futures, subprocess, sys
def work(n):
    return sum(subprocess.run([sys.argv[1], "x", str(i % 7)]).returncode for i in range(50))
with concurrent.futures.ThreadPoolExecutor(4) as pool: print(sum(pool.map(work, range(4))))
`;
    const one = scenario(['python3', '-c', program, '$B/say']);
    const { result, capture } = await runTraced(world, one, 'socket');
    const sum = 4 * Array.from({ length: 50 }, (_, i) => i % 7).reduce((a, b) => a + b);
    expect(result).toEqual({ end: 'exit 0', stdout: `${sum}\n`, stderr: '' });
    const children = knownFrom(capture).processes.slice(1);
    expect(children).toHaveLength(200);
    for (const { images, end } of children) expect(end).toBe(`exit ${images.at(-1)?.argv[2]}`);
  });
});

describe.skipIf(noShim)('what is secret', () => {
  const secrets = ['tok-5f1c0ffee5', 'pass-90badcafe9', 'key-7deadbeef77', 'sec-3feedface33'];
  const [token = '', password = '', key = '', secret = ''] = secrets;
  const env = { API_TOKEN: token, DB_PASSWORD: password, MY_KEY: key };
  const files = { hidden: `${secret}\n` };

  /** The names of files of the capture with a secret in them, and how many starts were redacted. */
  async function leaks(text: string, transport: Mode): Promise<readonly [string[], number]> {
    const flags = ['--trace-env', 'PATH,API_TOKEN,DB_PASSWORD,MY_KEY,LATER_SECRET'];
    const one = scenario(text, { files, env });
    const { result, capture } = await runTraced(world, one, transport, { flags });
    expect(result.end).toBe('exit 0');
    const told = starts(framesOf(capture.dir));
    expect(told.some(({ env: kept }) => kept.PATH !== undefined)).toBe(true);
    const names = readdirSync(capture.dir).filter((name) => {
      const bytes = readFileSync(join(capture.dir, name)).toString('latin1');
      return name !== 'output.bin' && secrets.some((value) => bytes.includes(value));
    });
    return [names, told.filter(({ redacted }) => redacted).length];
  }

  test('is in no file of a trace', async () => {
    const text = `read -r LATER_SECRET < $W/hidden; export LATER_SECRET
      $B/say o x "$API_TOKEN"; $B/say-static o x "--password=$DB_PASSWORD"
      $B/say o x "$LATER_SECRET"
      $B/start spawn $B/say o x "$MY_KEY"; $B/start vfork $B/say-static o x "$API_TOKEN"
      $B/start memfd $B/say o x "$LATER_SECRET"; $B/say-32 o x "$DB_PASSWORD"
      bash -c 'exec "$0" "$@"' $B/say o x "a $API_TOKEN b"
      /nowhere/program "$API_TOKEN" 2>/dev/null
      NEW_TOKEN=$(cat $W/hidden) $B/say o x "$LATER_SECRET"; exit 0`;
    for (const transport of ['socket', 'pty', 'pipe'] as const) {
      const [names, redacted] = await leaks(text, transport);
      expect(names).toEqual([]);
      expect(redacted).toBeGreaterThanOrEqual(8);
    }
  });

  test('is in none when it has left the environment, or is on its way there', async () => {
    const text = `env -i $B/say o x "$API_TOKEN"; env -i $B/say-static o x "$API_TOKEN"
      env LATER_TOKEN="$(cat $W/hidden)" $B/say o x
      env LATER_TOKEN="$(cat $W/hidden)" $B/say-static o x
      bash -c 'x=$MY_KEY; unset MY_KEY; $B/say o x "$x"; $B/start spawn $B/say o x "$x"'; exit 0`;
    for (const transport of ['socket', 'pty'] as const) {
      expect((await leaks(text, transport))[0]).toEqual([]);
    }
  });
});
