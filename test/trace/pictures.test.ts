// A trace for eyes: the tree and the timeline; and for other programs: Chrome's format and OTLP.
import { describe, expect, it } from 'vitest';
import { chromeTrace } from '../../src/trace/chrome.ts';
import { otlpTrace } from '../../src/trace/otlp.ts';
import { spanText } from '../../src/trace/shown.ts';
import { renderTimeline } from '../../src/trace/timeline.ts';
import { renderTree } from '../../src/trace/tree.ts';
import { HEADER } from './encode.ts';
import { exampleTrace } from './example.ts';
import { exit, fork, reap, start } from './frames.ts';

const trace = exampleTrace();
const paint = (format: string, text: string): string => `<${format}>${text}</${format}>`;

const TREE = `\
PID    TIME  END       OUTPUT    COMMAND
 10   21 ms  exit 0              sh -c 'sort x | wc; ./go\\x1b[31m'  [/project]
 11  6.0 ms  exit 2    err 21 B  ├─ sort x
 12  6.0 ms  exit 0    out 24 B  ├─ env wc
                                 │     → wc  [/project/sub]
 13   10 ms  exit 137  err 7 B   └─ (sh)
 14  8.0 ms  SIGKILL   out 12 B     └─ rg --files '[API_KEY]' (static)
 99          not seen  out 13 B  pid 99
`;

const TIMELINE = `\
PID   START    TIME  0                           21 ms  COMMAND
 10  0.0 ms   21 ms  █████████████████████████████████  sh -c 'sort x | wc; ./go\\x1b[31m'
 11  2.0 ms  6.0 ms     ██████████                      sort x  (exit 2)
 12  3.0 ms  6.0 ms      ███████████                    wc
 13   10 ms   10 ms                 █████████████████   (sh)  (exit 137)
 14   11 ms  8.0 ms                   █████████████     rg --files '[API_KEY]' (static)  (SIGKILL)
 99   13 ms                              ████████████▷  pid 99
`;

describe('the tree', () => {
  it('shows who started whom, how it ended, and what it printed', () => {
    expect(renderTree(trace)).toBe(TREE);
  });

  it('fits a terminal, and failed ones stand out', () => {
    const lines = renderTree(trace, { width: 48, paint }).split('\n');
    const plain = lines.map((line) => line.replace(/<[^>]*>/g, ''));
    expect(Math.max(...plain.map((line) => line.length))).toBeLessThanOrEqual(48);
    expect(lines.filter((line) => line.includes('<red>'))).toHaveLength(3);
    expect(lines.find((line) => line.includes(' 11 '))).toContain('<red>exit 2');
  });

  it('lets nothing through that a terminal would obey', () => {
    for (const picture of [renderTree(trace), renderTimeline(trace)]) {
      expect(picture).not.toMatch(/[^\n\P{Cc}]/u);
      expect(picture).toContain('\\x1b[31m');
    }
  });

  it('of ten thousand processes in a chain, or side by side, is soon there', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => i + 2);
    const chain = many.map((pid) => fork(pid, pid, pid - 1));
    const flat = many.map((pid) => fork(pid, pid, 1));
    for (const frames of [chain, flat]) {
      const lines = renderTree(exampleTrace([start(0, 1, ['sh']), ...frames], 0)).split('\n');
      expect(lines.length).toBeGreaterThan(10_000);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(250);
    }
  });
});

describe('the timeline', () => {
  it('has a bar for each process', () => {
    expect(renderTimeline(trace)).toBe(TIMELINE);
  });

  it('fits a terminal', () => {
    const lines = renderTimeline(trace, { width: 70 }).split('\n');
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(70);
  });

  it('is empty for no processes', () => {
    const none = { ...trace, processes: [] };
    expect(renderTimeline(none).split('\n')).toHaveLength(2);
    expect(renderTree(none).split('\n')).toHaveLength(2);
  });
});

describe('a span of time', () => {
  it('has the unit that fits it', () => {
    const words = [0n, 400_000n, 12_345_678n, 3_210_000_000n, 125_000_000_000n].map(spanText);
    expect(words).toEqual(['0.0 ms', '0.4 ms', '12 ms', '3.21 s', '2 min 5 s']);
  });
});

describe('Chrome’s format', () => {
  const chrome = chromeTrace(trace) as { traceEvents: Record<string, unknown>[] };
  const { traceEvents } = chrome;

  it('has a complete event for each program', () => {
    const complete = traceEvents.filter(({ ph }) => ph === 'X');
    expect(complete.map(({ name, pid, tid, ts, dur }) => [name, pid, tid, ts, dur])).toEqual([
      ["sh -c 'sort x | wc; ./go\u001b[31m'", 10, 10, 0, 21_000],
      ['sort x', 11, 11, 2100, 5900],
      ['env wc', 12, 12, 3100, 900],
      ['wc', 12, 12, 4000, 5000],
      ["sh -c 'sort x | wc; ./go\u001b[31m'", 13, 13, 10_000, 10_000],
      ["rg --files '[API_KEY]'", 14, 14, 11_100, 7900],
      ['pid 99', 99, 99, 13_000, 8000],
    ]);
    expect(complete[1]?.args).toEqual({
      argv: ['sort', 'x'],
      exe: '/bin/sort',
      cwd: '/project',
      exit_code: 2,
      bytes: { stdout: 0, stderr: 21, pty: 0 },
    });
  });

  it('keeps the names of processes apart that were given the same pid', () => {
    const again = exampleTrace(
      [
        start(0, 20, ['sh']),
        start(10, 30, ['first'], { parent: 20 }),
        exit(20, 30, 0),
        reap(21, 20, 30, 0),
        start(30, 30, ['second'], { parent: 20 }),
        reap(40, 20, 30, 9),
      ],
      0,
    );
    const { traceEvents: events } = chromeTrace(again) as typeof chrome;
    const named = events.filter(({ ph, pid }) => ph === 'M' && Number(pid) % 4_194_304 === 30);
    const names = named.filter(({ name }) => name === 'process_name');
    expect(names.map(({ pid, args }) => [pid, args])).toEqual([
      [30, { name: 'first' }],
      [4_194_334, { name: 'second (pid 30)' }],
    ]);
    const second = events.find(({ ph, name }) => ph === 'X' && name === 'second');
    expect(second).toMatchObject({ pid: 4_194_334, tid: 4_194_334, args: { pid: 30 } });
  });

  it('names every process', () => {
    const names = traceEvents.filter(({ name }) => name === 'process_name');
    expect(names.map(({ ph, pid, args }) => [ph, pid, args])).toEqual([
      ['M', 10, { name: 'sh' }],
      ['M', 11, { name: 'sort' }],
      ['M', 12, { name: 'wc' }],
      ['M', 13, { name: '(sh)' }],
      ['M', 14, { name: 'rg' }],
      ['M', 99, { name: 'pid 99' }],
    ]);
  });
});

describe('OTLP', () => {
  type Span = Readonly<Record<string, unknown>>;
  const json = JSON.parse(JSON.stringify(otlpTrace(trace)));
  const [{ resource, scopeSpans }] = json.resourceSpans;
  const spans: Span[] = scopeSpans[0].spans;

  it('has a span for each process, below that of its parent', () => {
    expect(resource.attributes[0]).toEqual({
      key: 'service.name',
      value: { stringValue: 'cuff' },
    });
    const place = (span: Span) => spans.findIndex(({ spanId }) => spanId === span.parentSpanId);
    expect(spans.map((span) => [span.name, place(span)])).toEqual([
      ['sh', -1],
      ['sort', 0],
      ['wc', 0],
      ['(sh)', 0],
      ['rg', 3],
      ['pid 99', -1],
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(6);
    expect(spans[0]?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(spans[0]?.spanId).toMatch(/^[0-9a-f]{16}$/);
  });

  it('says how each ended, in the words of the conventions', () => {
    expect(spans[1]).toMatchObject({
      kind: 1,
      startTimeUnixNano: String(HEADER.startedNs + 2_000_000n),
      endTimeUnixNano: String(HEADER.startedNs + 8_000_000n),
      status: { code: 2, message: 'exit 2' },
    });
    expect(spans[1]?.attributes).toEqual(
      expect.arrayContaining([
        { key: 'process.pid', value: { intValue: '11' } },
        { key: 'process.parent_pid', value: { intValue: '10' } },
        { key: 'process.executable.path', value: { stringValue: '/bin/sort' } },
        {
          key: 'process.command_args',
          value: { arrayValue: { values: [{ stringValue: 'sort' }, { stringValue: 'x' }] } },
        },
        { key: 'process.exit.code', value: { intValue: '2' } },
      ]),
    );
    expect(spans[4]).toMatchObject({ status: { code: 2, message: 'SIGKILL' } });
    expect(spans[2]).toMatchObject({ status: { code: 1 } });
    expect(spans[5]?.status).toBeUndefined();
  });

  it('is the same each time, and another one for another capture', () => {
    expect(otlpTrace(exampleTrace())).toEqual(otlpTrace(trace));
    const other = JSON.parse(JSON.stringify(otlpTrace({ ...trace, captureId: 'other' })));
    expect(other.resourceSpans[0].scopeSpans[0].spans[0].traceId).not.toBe(spans[0]?.traceId);
  });
});
