// The format that others read: pinned with literals, and round trips for everything else.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeEntry,
  decodeMetadata,
  encodeEntry,
  encodeMetadata,
  entryTimestamp,
  wholeSeconds,
} from '../../src/journal/entry.ts';
import type { Entry, SessionMetadata } from '../../src/types.ts';
import { decisions } from './decisions.ts';
import { draftOf, NOW } from './helper.ts';

const ID = '20260118_143052_a7b3c9d2-e4f5';
const ENTRY: Entry = {
  entry_id: 'e_20260118_143052_001',
  session_id: ID,
  sequence_number: 1,
  ...draftOf(),
};

// The example entry of the seed, field for field.
const SEED_ENTRY = {
  entry_id: 'e_20260118_143052_001',
  session_id: ID,
  sequence_number: 1,
  timestamp: '2026-01-18T14:30:52.123456Z',
  duration_ms: 1523,
  command: 'git status',
  description: 'Check working tree status',
  working_directory: '/Users/dev/myproject',
  shell: '/bin/bash',
  timeout_seconds: 120,
  timed_out: false,
  exit_code: 0,
  stdout:
    "On branch main\nYour branch is up to date with 'origin/main'.\n\n" +
    'nothing to commit, working tree clean\n',
  stderr: '',
  output_truncated: false,
  output_truncated_bytes: null,
  environment: null,
  agent_id: 'claude-code',
  conversation_id: 'conv_abc123',
  tool_call_id: 'tc_xyz789',
  opencuff_version: '0.1.0',
  plugin_version: '1.0.0',
};

const REQUIRED = [
  'entry_id',
  'session_id',
  'sequence_number',
  'timestamp',
  'duration_ms',
  'command',
  'working_directory',
  'shell',
  'timeout_seconds',
  'timed_out',
  'output_truncated',
  'opencuff_version',
  'plugin_version',
];

const string = fc.string({ unit: 'binary', maxLength: 40 });
const stringOrNull = fc.option(string);
const count = fc.nat();
const time = fc.integer({ min: 0, max: 4_000_000_000_000 }).map(entryTimestamp);
const entries: fc.Arbitrary<Entry> = fc.record({
  entry_id: string,
  session_id: string,
  sequence_number: fc.integer({ min: 1 }),
  timestamp: time,
  duration_ms: count,
  command: string,
  description: stringOrNull,
  working_directory: string,
  shell: string,
  timeout_seconds: fc.nat(),
  timed_out: fc.boolean(),
  exit_code: fc.option(fc.integer()),
  stdout: stringOrNull,
  stderr: stringOrNull,
  output_truncated: fc.boolean(),
  output_truncated_bytes: fc.option(count),
  environment: fc.option(fc.dictionary(string, string, { noNullPrototype: true })),
  agent_id: stringOrNull,
  conversation_id: stringOrNull,
  tool_call_id: stringOrNull,
  opencuff_version: string,
  plugin_version: string,
  run_id: stringOrNull,
  end_reason: fc.constantFrom('itself', 'timeout', 'kill', 'cancelled', 'interrupted', 'denied'),
  signal: stringOrNull,
  trace_id: stringOrNull,
  context_source: fc.constantFrom('self-reported', null),
  processes: fc.option(count),
  failed_processes: fc.option(count),
  process_list: fc.option(fc.array(string)),
  failed_process_list: fc.option(fc.array(string)),
  decision: decisions,
});

describe('an entry', () => {
  it('is one line with these keys in this order', () => {
    expect(encodeEntry(ENTRY)).toBe(
      '{"entry_id":"e_20260118_143052_001","session_id":"20260118_143052_a7b3c9d2-e4f5",' +
        '"sequence_number":1,"timestamp":"2026-01-18T14:30:52.123000Z","duration_ms":1523,' +
        '"command":"git status","description":"Check working tree status",' +
        '"working_directory":"/projects/demo","shell":"/bin/bash","timeout_seconds":120,' +
        '"timed_out":false,"exit_code":0,"stdout":"On branch main\\n","stderr":"",' +
        '"output_truncated":false,"output_truncated_bytes":null,"environment":null,' +
        '"agent_id":"claude-code","conversation_id":"conv_abc123","tool_call_id":"tc_xyz789",' +
        '"opencuff_version":"0.1.0","plugin_version":"1.0.0",' +
        '"run_id":"20260118-143052-0000abcd","end_reason":"itself","signal":null,' +
        '"trace_id":null,"context_source":"self-reported","processes":null,' +
        '"failed_processes":null,"process_list":null,"failed_process_list":null,' +
        '"decision":null}\n',
    );
  });

  it('has the order of its keys whatever the order they came in', () => {
    const turned = Object.fromEntries(Object.entries(ENTRY).reverse()) as Entry;
    expect(encodeEntry(turned)).toBe(encodeEntry(ENTRY));
  });

  it('comes back as it went, whatever characters are in it', () => {
    fc.assert(
      fc.property(entries, (entry) => {
        const line = encodeEntry(entry);
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(decodeEntry(line)).toEqual(entry);
      }),
    );
  });

  it('of the seed is understood, and lacks only what is ours', () => {
    expect(decodeEntry(JSON.stringify(SEED_ENTRY))).toEqual({
      ...SEED_ENTRY,
      run_id: null,
      end_reason: 'itself',
      signal: null,
      trace_id: null,
      context_source: null,
      processes: null,
      failed_processes: null,
      process_list: null,
      failed_process_list: null,
      decision: null,
    });
  });

  it('needs exactly the required keys; every other one may be missing and is null', () => {
    for (const key of Object.keys(ENTRY)) {
      const { [key]: _, ...rest } = { ...ENTRY } as Record<string, unknown>;
      const decoded = decodeEntry(JSON.stringify(rest));
      if (REQUIRED.includes(key)) expect([key, decoded]).toEqual([key, undefined]);
      else if (key === 'end_reason') expect(decoded?.end_reason).toBe('itself');
      else expect(decoded).toEqual({ ...ENTRY, [key]: null });
    }
  });

  it.each([
    ['sequence_number', 0],
    ['sequence_number', 1.5],
    ['sequence_number', '1'],
    ['duration_ms', -1],
    ['duration_ms', 1e300],
    ['timeout_seconds', -1],
    ['timestamp', 'yesterday'],
    ['timestamp', 5],
    ['timestamp', '5'],
    ['timestamp', '2026-13-18T14:30:52Z'],
    ['timed_out', 'no'],
    ['timed_out', null],
    ['exit_code', 0.5],
    ['exit_code', '0'],
    ['stdout', 7],
    ['environment', []],
    ['environment', { PATH: 1 }],
    ['environment', 'PATH'],
    ['command', null],
    ['output_truncated', 1],
  ])('with %s = %j is refused', (key, value) => {
    expect(decodeEntry(JSON.stringify({ ...ENTRY, [key]: value }))).toBeUndefined();
  });

  it.each(['', '{}', '[]', 'null', '"text"', '{"entry_id":', 'x'])('is not %j', (text) => {
    expect(decodeEntry(text)).toBeUndefined();
  });

  it('that timed out elsewhere says so in our words, too', () => {
    const { end_reason: _, ...rest } = { ...ENTRY, timed_out: true, exit_code: null };
    expect(decodeEntry(JSON.stringify(rest))?.end_reason).toBe('timeout');
  });

  it('with keys of a later version loses only those', () => {
    expect(decodeEntry(JSON.stringify({ ...ENTRY, decision: 'allow' }))).toEqual(ENTRY);
  });
});

describe('session metadata', () => {
  const METADATA: SessionMetadata = {
    session_id: ID,
    created_at: '2026-01-18T14:30:52Z',
    last_updated: '2026-01-18T14:45:00Z',
    entry_count: 15,
    total_duration_ms: 45_000,
    status: 'complete',
    commands_succeeded: 12,
    commands_failed: 2,
    commands_timed_out: 1,
    working_directory: '/projects/demo',
    agent_id: 'claude-code',
    conversation_id: null,
    end_reason: 'day_change',
    owner: { pid: 4321, start_time: 987_654 },
  };

  it('comes back as it went', () => {
    expect(decodeMetadata(encodeMetadata(METADATA))).toEqual(METADATA);
  });

  it('of another writer lacks only what is ours', () => {
    const { end_reason: _, owner: __, ...theirs } = METADATA;
    const expected = { ...METADATA, end_reason: null, owner: null };
    expect(decodeMetadata(JSON.stringify(theirs))).toEqual(expected);
  });

  it.each([
    ['status', 'config_reload'],
    ['status', undefined],
    ['entry_count', -1],
    ['entry_count', undefined],
    ['created_at', 'once'],
    ['working_directory', null],
    ['agent_id', 7],
  ])('with %s = %j is refused', (key, value) => {
    expect(decodeMetadata(JSON.stringify({ ...METADATA, [key]: value }))).toBeUndefined();
  });

  it('with half an owner has none', () => {
    const text = JSON.stringify({ ...METADATA, owner: { pid: 7 } });
    expect(decodeMetadata(text)).toEqual({ ...METADATA, owner: null });
  });
});

it('times of entries have six digits behind the second, others none', () => {
  expect(entryTimestamp(NOW)).toBe('2026-01-18T14:30:52.123000Z');
  expect(wholeSeconds(NOW)).toBe('2026-01-18T14:30:52Z');
});
