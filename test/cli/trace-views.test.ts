// What processes used, told by real programs about themselves and by the trace about them; and the
// views of `cuff trace`: a choice of processes, the most costly, the critical path, two runs.
import { writeFileSync } from 'node:fs';
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
  readonly images: readonly { readonly argv: readonly string[] }[];
  readonly end: string;
  readonly exit_code: number | null;
  readonly cpu_ns: number | null;
  readonly peak_rss_bytes: number | null;
  readonly peak_rss_bytes_at_most?: number;
};
type TraceJson = { readonly processes: readonly ProcessJson[] };

const MIB = 1024 * 1024;

function traced(id: string, ...command: readonly string[]): ReturnType<Cli['cuff']> {
  return cli.cuff('run', '--trace', '--session-id', id, '--', ...command);
}

async function processOf(id: string, word: string): Promise<ProcessJson> {
  const { processes } = await cli.json<TraceJson>('trace', id);
  const found = processes.find(({ images }) => images.at(-1)?.argv.some((one) => one === word));
  if (found === undefined) throw new Error(`no ${word} in ${JSON.stringify(processes)}`);
  return found;
}

// It tells what it has used so far, as the kernel counts it; what it still does is added to that.
const GREEDY = `
const kept = Buffer.alloc(80 * 1024 * 1024, 1);
for (let i = 0; i < 3e7; i += 1) kept[i % kept.length] += i;
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
console.log(JSON.stringify({ cpuNs: (userCPUTime + systemCPUTime) * 1000, peak: maxRSS * 1024 }));
`;

describe.skipIf(noTracing)('what a process used', () => {
  it('is what the process itself sees of it, or a little more', async () => {
    const script = join(cli.root, 'greedy.js');
    writeFileSync(script, GREEDY);
    const { out } = await traced('greedy', 'sh', '-c', `'${process.execPath}' '${script}'; true`);
    const seen: { cpuNs: number; peak: number } = JSON.parse(out);
    const { cpu_ns: cpuNs, peak_rss_bytes: peak } = await processOf('greedy', script);
    expect(cpuNs).toBeGreaterThanOrEqual(seen.cpuNs);
    expect(peak).toBeGreaterThanOrEqual(seen.peak);
    expect(peak).toBeGreaterThan(80 * MIB);
    // The shell only waited: what its child used is not its own.
    const shell = await processOf('greedy', '-c');
    expect(shell.cpu_ns).toBeGreaterThan(0);
    expect(shell.cpu_ns).toBeLessThan(cpuNs ?? 0);
    expect(shell.peak_rss_bytes).toBeLessThan(20 * MIB);
  });

  it('of a small program that a large one starts is no more than a limit', async () => {
    const text = `Buffer.alloc(${40 * MIB}, 1); require('child_process').spawnSync('true')`;
    await traced('small', process.execPath, '-e', text);
    const { peak_rss_bytes: peak, peak_rss_bytes_at_most: most } = await processOf('small', 'true');
    // vfork shares the memory of the large one; a kernel that counts otherwise knows it exactly.
    expect(peak ?? most).toBeGreaterThan(0);
    expect(peak ?? 0).toBeLessThan(20 * MIB);
  });

  it('is not known of one that was killed inside, and never zero', async () => {
    await traced('killed', 'sh', '-c', "sh -c 'kill -9 $$' victim; true");
    const victim = await processOf('killed', 'victim');
    expect(victim).toMatchObject({ end: 'signaled', cpu_ns: null, peak_rss_bytes: null });
    const { out } = await cli.cuff('trace', 'killed', '--failed');
    expect(out).toMatch(/ {2}\? +\? +SIGKILL/);
    const { processes } = await cli.json<TraceJson>('trace', 'killed');
    const zeros = processes.filter((one) => one.cpu_ns === 0 || one.peak_rss_bytes === 0);
    expect(zeros).toEqual([]);
  });

  it('is told by the runner of a command that was killed and waited for no child', async () => {
    await traced('alone', 'sh', '-c', 'kill -9 $$', 'alone');
    const { cpu_ns: cpuNs, end } = await processOf('alone', 'alone');
    expect([end, (cpuNs ?? 0) > 0]).toEqual(['signaled', true]);
    await traced('family', 'sh', '-c', '/bin/true; kill -9 $$', 'family');
    expect((await processOf('family', 'family')).cpu_ns).toBeNull();
  });

  it('is in the exports for other programs, too', async () => {
    const chrome = (await cli.cuff('trace', 'greedy', '--format', 'chrome')).out;
    expect(chrome).toMatch(/"cpu_ns":\d+,"peak_rss_bytes":\d+/);
    const otlp = (await cli.cuff('trace', 'greedy', '--format', 'otlp')).out;
    expect(otlp).toContain('"key":"cuff.cpu_ns"');
  });
});

const LOOP = 'for i in 1 2 3 4; do sh -c "exit 0" step-$i.log; done; sh -c "exit 7" last.log';

describe.skipIf(noTracing)('cuff trace, of some processes', () => {
  beforeAll(() => traced('loop', 'sh', '-c', LOOP));

  const commands = async (...args: readonly string[]): Promise<string[]> => {
    const { out } = await cli.cuff('trace', 'loop', ...args);
    const at = out.split('\n')[0]?.indexOf('COMMAND') ?? 0;
    return out
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.slice(at).replace(/ {2}\[[^\]]*\]/, ''));
  };

  it('folds equal siblings, and --no-fold shows all', async () => {
    expect((await commands()).slice(1)).toEqual([
      "├─ x 4 sh -c 'exit 0' …",
      "└─ sh -c 'exit 7' last.log",
    ]);
    expect(await commands('--no-fold')).toHaveLength(6);
  });

  it('shows those that failed, match, or are not too deep, and says how many', async () => {
    const failed = await cli.cuff('trace', 'loop', '--failed', '--json');
    expect(JSON.parse(failed.out).processes).toHaveLength(2); // the command ends as its last one
    expect((await cli.cuff('trace', 'loop', '--grep', 'step-[12]')).err).toBe(
      '2 of 6 processes.\n',
    );
    expect(await commands('--depth', '0')).toEqual([`sh -c '${LOOP}'  (+ 5 below)`]);
    expect(await commands('--grep', 'last', '--top', 'cpu')).toHaveLength(2); // the loop names it
    expect(await commands('--timeline', '--grep', 'step-3', '--depth', '1')).toHaveLength(1);
  });

  it('ends with 1 if there is none, and with 2 if it was called wrongly', async () => {
    const none = await cli.cuff('trace', 'loop', '--min-time', '900h');
    expect([none.code, none.out, none.err]).toEqual([
      1,
      '',
      'No process of this run is like that.\nSee which there were with `cuff trace loop`.\n',
    ]);
    for (const [args, words] of [
      [['--grep', '('], 'regular expression'],
      [['--min-time', 'soon'], 'duration'],
      [['--depth', '-1'], 'whole number'],
      [['--top', 'fame'], 'time, cpu, memory, bytes'],
      [['--failed', '--critical'], 'cannot be used with'],
      [['--diff'], 'Two runs and --diff go together.'],
      [['loop'], 'Two runs and --diff go together.'],
    ] as const) {
      const { code, err } = await cli.cuff('trace', 'loop', ...args);
      expect([code, err]).toEqual([2, expect.stringContaining(words)]);
    }
  });

  it('has the critical path, also for programs', async () => {
    const rows = await commands('--critical', '--no-fold');
    expect(rows[0]).toContain('sh -c');
    expect(rows.at(-1)).toContain('sh -c');
    const { critical_path: path, processes } = await cli.json<{
      critical_path: { pid: number; start_ns: number; end_ns: number }[];
      processes: { pid: number; start_ns: number; end_ns: number }[];
    }>('trace', 'loop');
    expect(path[0]).toMatchObject({ pid: processes[0]?.pid, start_ns: processes[0]?.start_ns });
    expect(path.at(-1)?.end_ns).toBe(processes[0]?.end_ns);
  });

  it('compares two runs', async () => {
    await traced('again', 'sh', '-c', LOOP.replace('"exit 0"', '"exit $((i / 4))"'));
    const { code, out } = await cli.cuff('trace', 'loop', 'again', '--diff');
    expect(code).toBe(0);
    expect(out).toMatch(/^ended otherwise +exit 0 +exit 1 +sh -c/m);
    const same = await cli.cuff('trace', 'loop', 'loop', '--diff');
    expect([same.out, same.err]).toEqual(['', 'No difference: 6 processes are as they were.\n']);
    await cli.cuff('run', '--session-id', 'plain', '--', 'true');
    const untraced = await cli.cuff('trace', 'loop', 'plain', '--diff');
    expect([untraced.code, untraced.err]).toEqual([
      1,
      expect.stringContaining('plain:\nThis run was not traced'),
    ]);
  });
});

describe.skipIf(noTracing)('the end of a process', () => {
  it('is still to come while it runs, and was not seen if none reported it', async () => {
    const fifo = join(cli.root, 'go');
    const text = `mkfifo '${fifo}'; sh -c 'echo ready; read line <"$1"' held '${fifo}'; true`;
    const command = ['run', '--trace', '--session-id', 'live', '--', 'sh', '-c', text];
    const live = cli.start([process.execPath, binary('cuff'), ...command]);
    await live.seen(/ready/);
    expect(await processOf('live', 'held')).toMatchObject({ end: 'running', exit_code: null });
    const { out } = await cli.cuff('trace', 'live', '--grep', 'held');
    expect(out).toMatch(/\d (?:ms|s) +still runs +out 6 B/);
    writeFileSync(fifo, 'on\n');
    await live.result;
    expect(await processOf('live', 'held')).toMatchObject({ end: 'exited', exit_code: 0 });
  });
});
