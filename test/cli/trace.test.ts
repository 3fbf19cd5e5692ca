// `cuff trace` in front of real runs: the tree, the same for programs, one process's bytes alone,
// and one clear sentence where there is nothing to show.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lacking } from '../requirements.ts';
import { untraceable } from '../tracing/helper.ts';
import { binary, Cli } from './helper.ts';

const noTracing = lacking(untraceable, 'runs cannot be traced here');

const cli = new Cli();
afterAll(() => cli.close());

type ProcessJson = {
  readonly pid: number;
  readonly ppid: number;
  readonly start_ns: number;
  readonly end_ns: number | null;
  readonly images: readonly { readonly exe: string; readonly argv: readonly string[] }[];
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly bytes: Readonly<Record<'stdout' | 'stderr' | 'pty', number>>;
  readonly sources: readonly string[];
};

type TraceJson = {
  readonly capture_id: string;
  readonly enabled: boolean;
  readonly reason?: string;
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly processes: readonly ProcessJson[];
  readonly unattributed_bytes: number;
  readonly untraced: readonly unknown[];
};

const json = (id: string): Promise<TraceJson> => cli.json<TraceJson>('trace', id);

function trace(id: string, ...command: readonly string[]): ReturnType<Cli['cuff']> {
  return cli.cuff('run', '--trace', '--session-id', id, '--', ...command);
}

function isThere({ processes }: TraceJson, ...argv: readonly string[]): boolean {
  return processes.some(({ images }) => images.at(-1)?.argv.join(' ') === argv.join(' '));
}

/** The process that was this at its end. */
function named({ processes }: TraceJson, ...argv: readonly string[]): ProcessJson {
  const found = processes.find(({ images }) => images.at(-1)?.argv.join(' ') === argv.join(' '));
  if (found === undefined) throw new Error(`no ${argv.join(' ')} in ${JSON.stringify(processes)}`);
  return found;
}

/** Pids, times and places differ each time. */
function steady(text: string): string {
  return text
    .replace(/\d+(\.\d+)? (ms|s)\b/g, 'T ms')
    .replace(/ +T ms +(?:<?T ms|\?) +(?:(?:≤ )?[\d.]+ [KMG]?i?B|\?) /g, ' T ms ')
    .replace(/^ *\d+ +/gm, 'P ')
    .replaceAll(process.cwd(), '/here')
    .replace(/ {2,}/g, ' ')
    .replace(/^ /gm, '');
}

const PIPELINE = 'cat missing | wc -l; sh -c "echo inner >&2; exit 7"; echo done';

describe.skipIf(noTracing)('cuff trace', () => {
  beforeAll(() => trace('pipeline', 'sh', '-c', PIPELINE));

  it('shows who started whom, how each ended, and how much each wrote', async () => {
    const { code, out, err } = await cli.cuff('trace', 'pipeline');
    expect([code, err]).toEqual([0, '']);
    const lines = steady(out).trimEnd().split('\n');
    expect(lines[0]).toBe('PID TIME CPU MEMORY END OUTPUT COMMAND');
    expect(lines[1]).toBe(`P T ms exit 0 out 5 B sh -c '${PIPELINE}' [/here]`);
    expect(
      lines
        .slice(2, 4)
        .map((line) => line.replace(/[├└]─/, '─'))
        .sort(),
    ).toEqual(['P T ms exit 0 out 2 B ─ wc -l', 'P T ms exit 1 err 40 B ─ cat missing']);
    expect(lines.slice(4)).toEqual(["P T ms exit 7 err 6 B └─ sh -c 'echo inner >&2; exit 7'"]);
    expect((await cli.cuff('trace', 'pipel', '--tree')).out).toBe(out);
  });

  it('gives the same as one JSON document', async () => {
    const found = await json('pipeline');
    expect(found).toMatchObject({
      capture_id: 'pipeline',
      enabled: true,
      mode: 'socket',
      capabilities: { shim: true, socket: true, ptrace: expect.any(Boolean) },
      unattributed_bytes: 0,
      untraced: [],
    });
    const [root] = found.processes;
    expect(root?.sources).toEqual(['runner', 'shim']);
    expect(named(found, 'cat', 'missing')).toEqual({
      pid: expect.any(Number),
      ppid: root?.pid,
      start_ns: expect.any(Number),
      end_ns: expect.any(Number),
      images: [
        {
          exe: expect.stringMatching(/\/cat$/),
          argv: ['cat', 'missing'],
          cwd: process.cwd(),
          start_ns: expect.any(Number),
        },
      ],
      end: 'exited',
      exit_code: 1,
      signal: null,
      cpu_ns: expect.any(Number),
      peak_rss_bytes: expect.any(Number),
      bytes: { stdout: 0, stderr: 40, pty: 0 },
      sources: ['parent', 'shim'],
    });
  });

  it('gives the bytes of one process alone, from the middle of a pipeline too', async () => {
    const found = await json('pipeline');
    const output = async (...argv: readonly string[]): Promise<string> =>
      (await cli.cuff('trace', 'pipeline', '--output', String(named(found, ...argv).pid))).out;
    expect(await output('cat', 'missing')).toBe('cat: missing: No such file or directory\n');
    expect(await output('wc', '-l')).toBe('0\n');
    expect(await output('sh', '-c', PIPELINE)).toBe('done\n');
    await trace('both', 'sh', '-c', 'echo out; echo err >&2; head -c 300000 /dev/zero');
    const both = await json('both');
    const [shell] = both.processes;
    const args = ['trace', 'both', '--output', String(shell?.pid)];
    expect((await cli.cuff(...args, '--stderr')).out).toBe('err\n');
    expect((await cli.cuff(...args, '--stdout')).out).toBe('out\n');
    const zeros = String(named(both, 'head', '-c', '300000', '/dev/zero').pid);
    const { stdout } = await cli.cuff('trace', 'both', '--output', zeros);
    expect(stdout.equals(Buffer.alloc(300_000))).toBe(true);
  });

  it('draws bars, and speaks to other programs', async () => {
    const { out } = await cli.cuff('trace', 'pipeline', '--timeline');
    expect(out).toMatch(/^ *PID +START +TIME +0 +[\d.]+ m?s +COMMAND\n/);
    expect(out.match(/█/g)?.length).toBeGreaterThan(4);
    expect(out).toContain("sh -c 'echo inner >&2; exit 7'  (exit 7)\n");
    const chrome = JSON.parse((await cli.cuff('trace', 'pipeline', '--format', 'chrome')).out);
    expect(chrome.traceEvents.filter(({ ph }: { ph: string }) => ph === 'X')).toHaveLength(4);
    const otlp = JSON.parse((await cli.cuff('trace', 'pipeline', '--format', 'otlp')).out);
    expect(otlp.resourceSpans[0].scopeSpans[0].spans).toHaveLength(4);
  });

  it('knows who wrote what on a terminal, too', async () => {
    const words = ['run', '--trace', '--tty', '--session-id', 'tty', '--', 'sh', '-c'];
    await cli.cuff(...words, 'env echo one; sleep 0.05; env echo two');
    const found = await json('tty');
    expect(found).toMatchObject({ enabled: true, mode: 'pty', capabilities: { socket: false } });
    const { pid, bytes } = named(found, 'echo', 'two');
    expect(bytes).toEqual({ stdout: 0, stderr: 0, pty: 5 });
    expect((await cli.cuff('trace', 'tty', '--output', String(pid))).out).toBe('two\r\n');
  });

  it('shows what is known so far of a run that goes on', async () => {
    const words = ['run', '--trace', '--session-id', 'live', '--'];
    const live = cli.start([process.execPath, binary('cuff'), ...words, 'sh', '-c', SLOW]);
    await live.seen(/ready/);
    let found = await json('live');
    // The shell says so when it has forked, which is before that is another program, and what it
    // said was printed before it was recorded.
    const printed = (): number => named(found, 'sh', '-c', SLOW).bytes.stdout;
    while (!isThere(found, 'sleep', '100') || printed() === 0) found = await json('live');
    expect(named(found, 'sleep', '100')).toMatchObject({ exit_code: null, end_ns: null });
    expect(printed()).toBe(6);
    await cli.cuff('kill', 'live', '--grace', '0');
    await live.result;
    expect(named(await json('live'), 'sleep', '100').signal).toMatch(/^SIG(TERM|KILL)$/);
  });

  it('shows nothing that a terminal would obey, whatever a program is called', async () => {
    await trace('rude', 'sh', '-c', 'env true "$(printf "\\033]0;x\\007\\033[31m\\nnext")"; true');
    for (const flags of [[], ['--timeline']]) {
      const { out } = await cli.cuff('trace', 'rude', ...flags);
      expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
      expect(out).toContain('\\x1b]0;x');
    }
  });

  it('is mentioned where captures are listed', async () => {
    const { sessions } = await cli.json<{ sessions: { session_id: string; trace: unknown }[] }>(
      'ls',
    );
    expect(sessions.find((one) => one.session_id === 'pipeline')?.trace).toEqual({
      enabled: true,
      mode: 'socket',
    });
  });
});

const SLOW = 'sleep 100 & echo ready; wait';

describe('a run without a trace', () => {
  beforeAll(() => cli.run('plain', 'true'));

  it('is told by one sentence, with the reason and what to do', async () => {
    const { code, out, err } = await cli.cuff('trace', 'plain');
    expect([code, out, err]).toEqual([
      1,
      '',
      'This run was not traced: tracing was not requested.\n' +
        'Trace the next one: `cuff run --trace -- CMD`, or `recording.trace` in settings.yml.\n',
    ]);
    await cli.with({ CUFF_SHIM: 'off' }, 'run', '--trace', '--session-id', 'off', '--', 'true');
    for (const flags of [[], ['--timeline'], ['--output', '1'], ['--format', 'otlp']]) {
      const said = await cli.cuff('trace', 'off', ...flags);
      expect([said.code, said.out, said.err]).toEqual([
        1,
        '',
        'This run was not traced: CUFF_SHIM=off.\nSee what tracing needs with `cuff doctor`.\n',
      ]);
    }
  });

  it('is a document for programs all the same', async () => {
    const { code, out } = await cli.cuff('trace', 'plain', '--json');
    expect([code, JSON.parse(out)]).toEqual([
      1,
      {
        capture_id: 'plain',
        enabled: false,
        reason: 'tracing was not requested',
        capabilities: { shim: false, socket: false, ptrace: false },
        processes: [],
        unattributed_bytes: 0,
        untraced: [],
      },
    ]);
  });

  it.skipIf(noTracing)('may have lost it, or never got it', async () => {
    await trace('lost', 'true');
    const path = join(cli.dir('lost'), 'trace.bin');
    const bytes = readFileSync(path);
    const reason = async (): Promise<string> =>
      (await cli.cuff('trace', 'lost')).err.split('\n')[0] ?? '';
    writeFileSync(path, bytes.subarray(0, 100));
    expect(await reason()).toContain('its trace.bin is no trace that this version can read.');
    rmSync(path);
    expect(await reason()).toContain('its trace.bin is gone, or could not be made.');
    const event = { type: 'trace', timestamp: '2026-11-16T08:00:00.000Z', enabled: false };
    appendFileSync(
      join(cli.dir('lost'), 'events.jsonl'),
      `${JSON.stringify({ ...event, reason: 'trace.bin cannot be made: ENOSPC' })}\n`,
    );
    expect(await reason()).toBe('This run was not traced: trace.bin cannot be made: ENOSPC.');
    writeFileSync(path, Buffer.concat([bytes, Buffer.from('CFFR and more rubbish')]));
    const { code, out, err } = await cli.cuff('trace', 'lost');
    expect([code, out.split('\n').length, err]).toEqual([
      0,
      3,
      'A part of the trace is damaged and left out.\n',
    ]);
  });

  it.skipIf(noTracing)('is a document also where something else is in its place', async () => {
    await trace('other', 'true');
    const path = join(cli.dir('other'), 'trace.bin');
    const bytes = readFileSync(path);
    const told = async (): Promise<readonly unknown[]> => {
      const { code, out } = await cli.cuff('trace', 'other', '--json');
      const { enabled, reason } = JSON.parse(out);
      return [code, enabled, reason];
    };
    for (const put of [() => mkdirSync(path), () => symlinkSync('/etc/hostname', path)]) {
      rmSync(path);
      put();
      expect(await told()).toEqual([1, false, 'in the place of its trace.bin is something else']);
      rmSync(path, { recursive: true });
      writeFileSync(path, bytes);
    }
    // No program of ours makes it so long, but somebody may: then it does not fit into a buffer.
    truncateSync(path, 5 * 1024 ** 3);
    expect(await told()).toEqual([0, true, undefined]);
    expect((await json('other')).untraced).toEqual([
      { reason: 'damaged_bytes', bytes: 5 * 1024 ** 3 - bytes.length },
    ]);
  });

  it.skipIf(noTracing)('has no process that it did not have', async () => {
    await trace('few', 'true');
    const { code, out, err } = await cli.cuff('trace', 'few', '--output', '1');
    expect([code, out, err]).toEqual([
      1,
      '',
      'No process of this run had the pid 1.\nSee which there were with `cuff trace few`.\n',
    ]);
    expect(existsSync(join(cli.dir('few'), 'trace.bin'))).toBe(true);
  });

  it('is called wrongly with exit 2', async () => {
    for (const args of [
      [],
      ['plain', '--tree', '--json'],
      ['plain', '--output', 'x'],
      ['plain', '--output', '1', '--json'],
      ['plain', '--format', 'svg'],
    ]) {
      expect([args, (await cli.cuff('trace', ...args)).code]).toEqual([args, 2]);
    }
    expect((await cli.cuff('trace', 'no-such-run')).code).toBe(1);
  });
});
