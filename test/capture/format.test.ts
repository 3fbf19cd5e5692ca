import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CaptureEvent, decodeEvent, encodeEvent } from '../../src/capture/event.ts';
import {
  decodeFinal,
  decodeIndex,
  decodeMeta,
  encodeFinal,
  encodeIndex,
  encodeMeta,
  type IndexRecord,
} from '../../src/capture/format.ts';
import type { CaptureFinal, CaptureMeta, Survivor } from '../../src/types.ts';
import { CHILD, finalOf, indexOf, metaOf, NOW, RUNNER } from './helper.ts';

const time = fc.integer({ min: 0, max: Date.UTC(9999, 0) });
const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const process_ = fc.record({ pid: fc.integer({ min: 1, max: 4_194_304 }), startTime: count });
const survivor: fc.Arbitrary<Survivor> = fc
  .tuple(process_, fc.string(), fc.boolean())
  .map(([id, command, holdsOutput]) => ({ ...id, command, holdsOutput }));

describe('meta.json', () => {
  it('has the keys of the format, in their order', () => {
    const meta = metaOf('one', { command: { kind: 'shell', text: 'echo hi' }, killAfterMs: 5_000 });
    const first = encodeMeta(meta, ['bash', '-c', 'echo hi']);
    expect(first).toBe(
      '{"schema_version":"v1alpha1","session_id":"one","command":["bash","-c","echo hi"],' +
        '"shell_text":"echo hi","working_directory":"/tmp",' +
        '"created_at":"2026-11-15T21:38:35.123Z","retention_seconds":86400,' +
        '"transport_mode":"pipe","transport":"pipe","tty_attached":false,' +
        '"starter_pid":100,"starter_start":1000,"kill_after_ms":5000,' +
        '"output_bytes_max":1073741824}\n',
    );
    const launched = { ...meta, runner: RUNNER, child: CHILD, startedAt: NOW };
    expect(encodeMeta(launched, ['bash', '-c', 'echo hi'])).toBe(
      `${first.slice(0, -2)},"runner_pid":200,"runner_start":2000,"pid":300,"pid_start":3000,` +
        '"started_at":"2026-11-15T21:38:35.123Z"}\n',
    );
  });

  it('comes back as it was written', () => {
    const argv = fc.array(fc.string(), { minLength: 1, maxLength: 4 });
    const meta = fc.record<CaptureMeta>(
      {
        id: fc.stringMatching(/^[a-z0-9]{1,20}$/),
        command: fc.oneof(
          fc.record({ kind: fc.constant('shell' as const), text: fc.string() }),
          argv.map((one) => ({ kind: 'argv' as const, argv: one })),
        ),
        cwd: fc.string(),
        createdAt: time,
        retentionSeconds: count,
        transport: fc.constantFrom('pipe', 'merged', 'socket', 'pty'),
        transportMode: fc.constantFrom('pipe', 'posix-pty', 'windows-conpty'),
        ttyAttached: fc.boolean(),
        starter: process_,
        killAfterMs: count,
        outputBytesMax: count,
        trace: fc.oneof(
          fc.record({
            enabled: fc.constant(true as const),
            mode: fc.constantFrom('socket', 'pipe', 'pty'),
          }),
          fc.record({ enabled: fc.constant(false as const), reason: fc.string() }),
        ),
        runner: process_,
        child: process_,
        startedAt: time,
      },
      {
        requiredKeys: [
          'id',
          'command',
          'cwd',
          'createdAt',
          'retentionSeconds',
          'transport',
          'transportMode',
          'ttyAttached',
          'starter',
          'outputBytesMax',
        ],
      },
    );
    fc.assert(
      fc.property(meta, argv, (one, other) => {
        const started = one.command.kind === 'argv' ? one.command.argv : other;
        expect(decodeMeta(encodeMeta(one, started))).toEqual({ ...one, argv: started });
      }),
    );
  });

  it('without a retention of its own it gets the one that is asked for', () => {
    const text = encodeMeta(metaOf('one'), ['x']).replace('"retention_seconds":86400,', '');
    expect([decodeMeta(text)?.retentionSeconds, decodeMeta(text, 7)?.retentionSeconds]).toEqual([
      86_400, 7,
    ]);
  });

  it('says whether it is traced, and nothing where nobody asked or nobody can tell', () => {
    const on = { enabled: true, mode: 'socket' } as const;
    expect(encodeMeta(metaOf('one', { trace: on }), [])).toContain(
      ',"output_bytes_max":1073741824,"trace":{"enabled":true,"mode":"socket"}}\n',
    );
    for (const [text, trace] of [
      ['{"enabled":true,"mode":"socket"}', on],
      ['{"enabled":false,"reason":"x"}', { enabled: false, reason: 'x' }],
      ['{"enabled":true,"mode":"carrier"}', undefined],
      ['{"enabled":false}', undefined],
      ['{"enabled":1,"mode":"socket","reason":"x"}', undefined],
      ['[]', undefined],
    ] as const) {
      const meta = encodeMeta(metaOf('one'), []).replace(/\}\n$/, `,"trace":${text}}\n`);
      expect([text, decodeMeta(meta)?.trace]).toEqual([text, trace]);
    }
  });

  it('a clock that gives no time does not stop it', () => {
    for (const at of [Number.NaN, -1, Number.POSITIVE_INFINITY, 9e15]) {
      expect(decodeMeta(encodeMeta(metaOf('one', { createdAt: at }), []))?.id).toBe('one');
    }
  });
});

describe('final.json', () => {
  it('has the keys of the format, in their order', () => {
    const survivors = [{ pid: 7, startTime: 8, command: 'sleep 100', holdsOutput: true }];
    const final = finalOf({ outputBytes: 3, lostBytes: 1, outputClosed: false, survivors });
    expect(encodeFinal(final, 'one')).toBe(
      '{"schema_version":"v1alpha1","session_id":"one","state":"exited","exit_code":0,' +
        '"signal":null,"error":null,"message":null,"ended_by":"itself",' +
        '"ended_at":"2026-11-15T21:38:35.123Z","output_bytes":3,"lost_bytes":1,' +
        '"output_closed":false,' +
        '"survivors":[{"pid":7,"start_time":8,"command":"sleep 100","holds_output":true}]}\n',
    );
  });

  it('comes back as it was written', () => {
    const outcome = fc.oneof(
      fc.record({ kind: fc.constant('exited' as const), code: fc.nat(255) }),
      fc.record({ kind: fc.constant('signaled' as const), signal: fc.string() }),
      fc.record({ kind: fc.constant('failed' as const), error: fc.string(), message: fc.string() }),
    );
    const final: fc.Arbitrary<CaptureFinal> = fc.record({
      outcome,
      state: fc.constant('exited' as const),
      at: time,
      endedBy: fc.constantFrom('itself', 'timeout', 'kill', 'shutdown', 'cancelled', 'capture'),
      outputBytes: count,
      lostBytes: count,
      outputClosed: fc.boolean(),
      survivors: fc.array(survivor, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(final, (one) => {
        const state = one.outcome.kind;
        expect(decodeFinal(encodeFinal(one, 'x'))).toEqual({ ...one, state });
      }),
    );
  });
});

describe('index.jsonl', () => {
  it('a record has offset, length, channel and timestamp, and running totals', () => {
    const parts = [
      { bytes: 'a\nb\n' },
      { bytes: 'oops\n', channel: 'stderr' as const, t: 1_200, pid: 42 },
    ];
    expect(indexOf(parts).map(encodeIndex)).toEqual([
      '{"offset":0,"length":4,"channel":"stdout","timestamp":"2026-11-15T21:38:35.123Z",' +
        '"lines":2,"total_bytes":[4,0],"total_lines":[2,0]}\n',
      '{"offset":4,"length":5,"channel":"stderr","timestamp":"2026-11-15T21:38:35.123Z",' +
        '"lines":1,"total_bytes":[4,5],"total_lines":[2,1],"t":1200,"pid":42}\n',
    ]);
    expect(indexOf(parts).map(encodeIndex).map(decodeIndex)).toEqual(indexOf(parts));
    const [pty] = indexOf([{ bytes: 'x', channel: 'pty' }]);
    expect(pty && decodeIndex(encodeIndex(pty))).toEqual(pty);
  });

  it('a record that cannot be true is none', () => {
    const good = indexOf([{ bytes: 'abc\n' }])[0] as IndexRecord;
    const wrong: Record<string, unknown>[] = [
      { offset: 1 }, // the totals say otherwise
      { offset: -1 },
      { offset: 0.5 },
      { offset: '0' },
      { length: 3 },
      { length: 0, totalBytes: [0, 0] },
      { lines: 5 },
      { totalBytes: [0, 4] },
      { totalBytes: [4] },
      { totalBytes: [4, 0, 0] },
      { totalLines: [0, 1] },
      { channel: 'stdin' },
    ];
    for (const change of wrong) {
      const text = encodeIndex({ ...good, ...change } as IndexRecord);
      expect(decodeIndex(text), JSON.stringify(change)).toBe(undefined);
    }
    expect(decodeIndex(encodeIndex(good).replace('2026-11-15T', 'noon'))).toBe(undefined);
  });
});

describe('events.jsonl', () => {
  const at = NOW;
  const known: [CaptureEvent, string][] = [
    [{ type: 'resize', at, cols: 80, rows: 24 }, '"cols":80,"rows":24'],
    [
      { type: 'signal', at, signal: 'SIGINT', from: 'terminal' },
      '"signal":"SIGINT","from":"terminal"',
    ],
    [
      { type: 'gap', at, offset: 5, lostBytes: 7, reason: 'ENOSPC' },
      '"offset":5,"lost_bytes":7,"reason":"ENOSPC"',
    ],
    [{ type: 'shell_exited', at, end: { kind: 'exited', code: 3 } }, '"exit_code":3'],
    [
      { type: 'shell_exited', at, end: { kind: 'signaled', signal: 'SIGKILL' } },
      '"signal":"SIGKILL"',
    ],
    [
      {
        type: 'survivors',
        at,
        processes: [{ pid: 1, startTime: 2, command: 'x', holdsOutput: false }],
      },
      '"processes":[{"pid":1,"start_time":2,"command":"x","holds_output":false}]',
    ],
    [{ type: 'trace', at, reason: 'no room' }, '"enabled":false,"reason":"no room"'],
    [
      { type: 'kill', at, signal: 'SIGTERM', by: 'order', died: [1], alive: [2] },
      '"signal":"SIGTERM","by":"order","died":[1],"alive":[2]',
    ],
  ];

  it.each(known)('%j', (event, keys) => {
    const text = `{"type":"${event.type}","timestamp":"2026-11-15T21:38:35.123Z",${keys}}\n`;
    expect(encodeEvent(event)).toBe(text);
    expect(decodeEvent(text)).toEqual(event);
    if (event.type !== 'gap') {
      const placed = text.replace('Z",', 'Z","offset":12,');
      expect(encodeEvent({ ...event, offset: 12 })).toBe(placed);
      expect(decodeEvent(placed)).toEqual({ ...event, offset: 12 });
    }
    for (const key of keys.match(/"\w+":/g) ?? []) {
      const broken = text.replace(key, '"other":');
      const optional = key === '"from":' || key === '"holds_output":';
      if (!optional) expect(decodeEvent(broken), broken).toBe(undefined);
    }
  });

  it('an event of a later version is passed over', () => {
    expect(decodeEvent('{"type":"policy","timestamp":"2026-11-15T21:38:35.123Z"}')).toBe(undefined);
  });
});

describe('decoders', () => {
  const decoders = [decodeMeta, decodeFinal, decodeIndex, decodeEvent] as const;

  it('never throw, whatever they are given', () => {
    const json = fc.oneof(
      fc.json(),
      fc.string(),
      fc.jsonValue().map((one) => JSON.stringify(one)),
    );
    fc.assert(
      fc.property(json, (text) => {
        for (const decode of decoders) decode(text);
      }),
    );
  });

  it('a value of the wrong kind in any key is undefined or left out, never passed on', () => {
    const texts = [
      [encodeMeta(metaOf('one', { runner: RUNNER, child: CHILD }), ['x']), decodeMeta],
      [encodeFinal(finalOf(), 'one'), decodeFinal],
      ...indexOf([{ bytes: 'x', pid: 1 }]).map((one) => [encodeIndex(one), decodeIndex] as const),
    ] as const;
    for (const [text, decode] of texts) {
      const whole = JSON.parse(text) as Record<string, unknown>;
      for (const key of Object.keys(whole)) {
        for (const value of [null, -1, 1.5, 2 ** 60, 'x', [], {}, [null], true]) {
          const decoded = JSON.stringify(decode(JSON.stringify({ ...whole, [key]: value })) ?? {});
          expect(decoded).not.toMatch(/-1|1\.5|1152921504606846976/);
        }
      }
    }
  });

  it('keys they do not know are ignored', () => {
    const text = encodeFinal(finalOf(), 'one').replace('{', '{"later":{"a":[1]},');
    expect(decodeFinal(text)).toEqual(finalOf());
  });
});
