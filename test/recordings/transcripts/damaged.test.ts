// Transcripts that a crash, a full disk or another program has damaged: an import never throws or
// hangs, makes up no command, takes every call whose lines are whole, and takes nothing twice.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeEntry } from '../../../src/journal/entry.ts';
import { importTranscripts } from '../../../src/recordings/import-transcripts.ts';
import type { TranscriptAgent } from '../../../src/recordings/transcripts/agents.ts';
import type { TranscriptCall } from '../../../src/recordings/transcripts/call.ts';
import { TranscriptTally, transcriptFacts } from '../../../src/recordings/transcripts/read.ts';
import { asObject, asStrings, parseJson } from '../../../src/text/json.ts';
import { quoteWords } from '../../../src/text/printable.ts';
import { redactor } from '../../../src/text/redact.ts';
import type { Entry } from '../../../src/types.ts';
import { lacking } from '../../requirements.ts';
import { seedOf } from '../../seed.ts';
import { Home, NO_SAMPLES, sampleText } from './helper.ts';

const LONG = process.env.CUFF_LONG === '1';
const RUNS = { seed: seedOf('properties'), numRuns: LONG ? 5000 : 100 };
const IMPORTS = { seed: seedOf('properties'), numRuns: LONG ? 400 : 10 };

type Sample = { readonly agent: TranscriptAgent; readonly file: string; readonly text: string };

function sampleOf(agent: TranscriptAgent, name: string, file: string): Sample {
  return { agent, file, text: NO_SAMPLES ? '' : sampleText(name) };
}

function opencodeSample(): Sample {
  const file = '.local/share/opencode/storage/part/m/p.json';
  if (NO_SAMPLES) return { agent: 'opencode', file, text: '' };
  const [{ data, session_id }] = JSON.parse(sampleText('opencode-1.18.33-rows.json')).part;
  return { agent: 'opencode', file, text: JSON.stringify({ ...data, sessionID: session_id }) };
}

const SAMPLES: Readonly<Record<string, Sample>> = {
  claude: sampleOf('claude', 'claude-2.1.325.jsonl', '.claude/projects/p/s.jsonl'),
  codex: sampleOf('codex', 'codex-0.166.0-rollout.jsonl', '.codex/sessions/2026/rollout-s.jsonl'),
  'codex in code mode': sampleOf(
    'codex',
    'codex-0.166.0-code-mode-rollout.jsonl',
    '.codex/sessions/2026/rollout-s.jsonl',
  ),
  copilot: sampleOf('copilot', 'copilot-1.0.102-events.jsonl', '.copilot/session-state/s.jsonl'),
  gemini: sampleOf('gemini', 'gemini-0.61.0-session.jsonl', '.gemini/tmp/p/chats/s.jsonl'),
  opencode: opencodeSample(),
  pi: sampleOf('pi', 'pi-1.5.0.jsonl', '.pi/agent/sessions/p/s.jsonl'),
  qwen: sampleOf('qwen', 'qwen-0.24.4.jsonl', '.qwen/projects/p/chats/s.jsonl'),
};

/** What became of a file, and which of its lines are not what they were. */
type Damaged = { readonly bytes: Buffer; readonly touched: ReadonlySet<number> };

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.close());

/** As all transcripts of the agent give them, without the places of their lines. */
function callsOf({ agent, file }: Sample, bytes: Uint8Array): readonly TranscriptCall[] {
  home.write(file, bytes);
  const tally = new TranscriptTally();
  const facts = transcriptFacts({ agents: [agent], env: home.env, projects: [] }, tally);
  return [...facts].flatMap((fact) => (fact.kind === 'call' ? fact.call : []));
}

function unplaced(call: TranscriptCall): Omit<TranscriptCall, 'line'> {
  const { line: _, ...rest } = call;
  return rest;
}

function linesIn(text: string): readonly string[] {
  return text.replace(/\n$/, '').split('\n');
}

/** The calls of a sample, each with the lines without which it would be another one. */
function dependenciesOf(sample: Sample) {
  const lines = linesIn(sample.text);
  const whole = callsOf(sample, Buffer.from(sample.text)).map(unplaced);
  const needs = whole.map(() => new Set<number>());
  for (const index of lines.keys()) {
    const without = lines.filter((_, at) => at !== index).join('\n');
    const left = callsOf(sample, Buffer.from(without)).map((one) => JSON.stringify(unplaced(one)));
    for (const [at, call] of whole.entries()) {
      if (!left.includes(JSON.stringify(call))) needs[at]?.add(index);
    }
  }
  return whole.map((call, at) => ({ call, needs: needs[at] ?? new Set<number>() }));
}

const untouched = (needs: ReadonlySet<number>, { touched }: Damaged): boolean =>
  [...needs].every((line) => !touched.has(line));

/** Which calls they are, each once in its session. */
function namesOf(calls: readonly Omit<TranscriptCall, 'line'>[]): ReadonlySet<string> {
  const keys = calls.map(({ session, call }) => `${session}\0${call}`);
  expect(new Set(keys).size).toBe(keys.length);
  return new Set(calls.map(({ call, command }) => `${call} ${command}`));
}

/** The text stands in this record, as itself or as the words of a command line. */
function says(value: unknown, command: string): boolean {
  if (value === command) return true;
  if (typeof value === 'string') {
    const inner = value.startsWith('{') ? parseJson(value) : undefined;
    return inner !== undefined && says(inner, command);
  }
  const words = asStrings(value);
  if (words !== undefined && quoteWords(words) === command) return true;
  const inner = Array.isArray(value) ? value : Object.values(asObject(value) ?? {});
  return inner.some((one) => says(one, command));
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length - 1;
}

/** `at` and `by` as parts of the whole, so that one choice fits each sample. */
type Change = { readonly at: number; readonly byte: number };

const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 10, 34, 92, 123, 125));

function overwritten({ text }: Sample, changes: readonly Change[]): Damaged {
  const bytes = Buffer.from(text);
  const latin = bytes.toString('latin1');
  const touched = new Set<number>();
  for (const { at, byte } of changes) {
    const index = Math.floor(at * bytes.length);
    if (bytes[index] === byte) continue;
    touched.add(lineOf(latin, index));
    if (latin[index] === '\n') touched.add(lineOf(latin, index) + 1);
    bytes[index] = byte;
  }
  return { bytes, touched };
}

/** A crash of the machine leaves blocks of zeros. */
function zeroed(sample: Sample, at: number, length: number): Damaged {
  const size = Buffer.byteLength(sample.text);
  const count = Math.min(length, size - Math.floor(at * size));
  const changes = Array.from({ length: count }, (_, i) => ({ at: at + i / size, byte: 0 }));
  return overwritten(sample, changes);
}

function cut({ text }: Sample, at: number): Damaged {
  const whole = Buffer.from(text);
  const bytes = whole.subarray(0, Math.floor(at * whole.length));
  const lines = linesIn(text);
  const kept = linesIn(bytes.toString('latin1'));
  const touched = lines.flatMap((line, index) =>
    kept[index] === Buffer.from(line).toString('latin1') ? [] : [index],
  );
  return { bytes, touched: new Set(touched) };
}

function retyped({ text }: Sample, at: number, inside: number, by: unknown): Damaged {
  const lines = [...linesIn(text)];
  const index = Math.floor(at * lines.length);
  let left = Math.floor(inside * 80);
  const walk = (one: unknown): unknown => {
    left -= 1;
    if (left === 0) return by;
    if (Array.isArray(one)) return one.map(walk);
    const object = asObject(one);
    if (object === undefined) return one;
    return Object.fromEntries(Object.entries(object).map(([key, inner]) => [key, walk(inner)]));
  };
  lines[index] = JSON.stringify(walk(parseJson(lines[index] ?? ''))) ?? 'null';
  return { bytes: Buffer.from(lines.join('\n')), touched: new Set([index]) };
}

const damage = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: place }),
  fc.record({
    kind: fc.constant('flip' as const),
    changes: fc.array(fc.record({ at: place, byte }), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant('zeros' as const),
    at: place,
    length: fc.integer({ min: 1, max: 3000 }),
  }),
  fc.record({
    kind: fc.constant('type' as const),
    at: place,
    inside: place,
    by: fc.jsonValue({ maxDepth: 3 }),
  }),
);
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

function damagedBy(given: Damage, sample: Sample): Damaged {
  if (given.kind === 'cut') return cut(sample, given.at);
  if (given.kind === 'flip') return overwritten(sample, given.changes);
  if (given.kind === 'zeros') return zeroed(sample, given.at, given.length);
  return retyped(sample, given.at, given.inside, given.by);
}

/** An id that damage has made equal to another one says that both are one call. */
function ambiguous(sample: Sample, damaged: Damaged, id: string): boolean {
  const count = (text: string): number => text.split(JSON.stringify(id)).length;
  return count(damaged.bytes.toString('utf8')) > count(sample.text);
}

const noSamples = lacking(NO_SAMPLES, 'there are no samples');

describe.skipIf(noSamples).each(Object.entries(SAMPLES))('a transcript of %s', (_, sample) => {
  it('that is damaged gives the calls that are whole, and makes up none', () => {
    const expected = dependenciesOf(sample);
    expect(expected).not.toEqual([]);
    fc.assert(
      fc.property(damage, (given) => {
        const damaged = damagedBy(given, sample);
        const found = callsOf(sample, damaged.bytes);
        const calls = found.map(unplaced);
        for (const { call, needs } of expected) {
          if (untouched(needs, damaged) && !ambiguous(sample, damaged, call.call)) {
            expect(calls).toContainEqual(call);
          }
        }
        const lines = linesIn(damaged.bytes.toString('utf8'));
        for (const { line, command } of found) {
          expect(says(parseJson(lines[line - 1] ?? ''), command)).toBe(true);
        }
        namesOf(found);
      }),
      RUNS,
    );
  });

  it.skipIf(lacking(sample.file.endsWith('.json'), 'it is one document, without lines'))(
    'whose lines stand twice, or in another order, has no call more or less',
    () => {
      const lines = linesIn(sample.text);
      const whole = callsOf(sample, Buffer.from(sample.text)).map(unplaced);
      const index = fc.nat({ max: lines.length - 1 });
      fc.assert(
        fc.property(fc.boolean(), index, index, (doubled, from, to) => {
          const changed = [...lines];
          const [moved = ''] = doubled ? [lines[from]] : changed.splice(from, 1);
          // A copy stands behind its line, as a writer that tries again leaves it.
          changed.splice(doubled ? Math.max(from, to) + 1 : to, 0, moved);
          const found = callsOf(sample, Buffer.from(changed.join('\n'))).map(unplaced);
          if (doubled) expect(new Set(found)).toEqual(new Set(whole));
          expect(namesOf(found)).toEqual(namesOf(whole));
        }),
        RUNS,
      );
    },
  );

  it('is imported once, however often, and whole when it is whole again', async () => {
    const expected = dependenciesOf(sample);
    await fc.assert(
      fc.asyncProperty(damage, async (given) => {
        const damaged = damagedBy(given, sample);
        const directory = mkdtempSync(join(tmpdir(), 'cuff-import-'));
        try {
          home.write(sample.file, damaged.bytes);
          const first = await imported(sample, directory);
          expect(entriesIn(directory)).toHaveLength(first);
          expect(await imported(sample, directory)).toBe(0);
          home.write(sample.file, sample.text);
          await imported(sample, directory);
          expect(await imported(sample, directory)).toBe(0);
          const entries = entriesIn(directory);
          for (const { call, needs } of expected) {
            if (ambiguous(sample, damaged, call.call)) continue;
            const own = entries.filter((entry) => entry.tool_call_id === call.call);
            expect(own).not.toEqual([]);
            if (!untouched(needs, damaged)) continue;
            const { command, exitCode: exit_code, session: conversation_id } = call;
            expect(own).toMatchObject([{ command, exit_code, conversation_id }]);
          }
        } finally {
          rmSync(directory, { recursive: true });
        }
      }),
      IMPORTS,
    );
  });
});

async function imported({ agent }: Sample, directory: string): Promise<number> {
  const terms = {
    captureOutput: true,
    outputBytesMax: 1000,
    redactOutput: redactor({}),
    redactCommand: redactor({}),
  };
  const now = (): number => Date.now() + 7_200_000; // its session is over
  const job = { directory, agents: [agent], env: home.env, terms, dryRun: false, now };
  return (await importTranscripts(job)).commands;
}

function entriesIn(directory: string): readonly Entry[] {
  const sessions = join(directory, 'sessions');
  mkdirSync(sessions, { recursive: true });
  const names = readdirSync(sessions).filter((name) => /^[^.]+\.jsonl$/.test(name));
  const lines = names.flatMap((name) => readFileSync(join(sessions, name), 'utf8').split('\n'));
  return lines.flatMap((line) => decodeEntry(line) ?? []);
}

describe('lines without measure', () => {
  const MIB = 1024 * 1024;

  it('that are longer than any of an agent, or deep, cost no other its call', () => {
    const { agent, file } = { agent: 'pi' as const, file: '.pi/agent/sessions/p/s.jsonl' };
    const ask = (id: string, command: string) =>
      JSON.stringify({
        type: 'message',
        message: {
          role: 'assistant',
          content: [{ type: 'toolCall', id, name: 'bash', arguments: { command } }],
        },
      });
    const result = (id: string, text: string) =>
      JSON.stringify({
        type: 'message',
        message: { role: 'toolResult', toolCallId: id, content: [{ text }] },
      });
    const lines = [
      ask('a', 'echo a'),
      ask('long', 'x'.repeat(2 * MIB)),
      `${'['.repeat(MIB)}${']'.repeat(MIB)}`,
      `{"message":${'{"message":'.repeat(MIB / 8)}1${'}'.repeat(MIB / 8)}}`,
      result('a', 'o'.repeat(33 * MIB)),
      result('a', 'said'),
      ask('b', 'echo b'),
      result('b', 'o'.repeat(2 * MIB)),
    ];
    const sample = { agent, file, text: '' };
    const found = callsOf(sample, Buffer.from(`${lines.join('\n')}\n`));
    expect(found.map(({ command, output, truncated }) => [command, output?.length, truncated])) //
      .toEqual([
        ['echo a', 4, false],
        ['echo b', MIB, true],
      ]);
  });
});
