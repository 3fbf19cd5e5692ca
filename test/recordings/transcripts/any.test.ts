// Parsers get whatever a file holds: they never throw, and what they make of it can be written.
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { decodeEntry, encodeEntry } from '../../../src/journal/entry.ts';
import { TRANSCRIPT_AGENTS } from '../../../src/recordings/transcripts/agents.ts';
import { draftOf } from '../../../src/recordings/transcripts/draft.ts';
import {
  PARSERS,
  TranscriptTally,
  transcriptFacts,
} from '../../../src/recordings/transcripts/read.ts';
import type { JsonObject } from '../../../src/text/json.ts';
import { redactor } from '../../../src/text/redact.ts';
import { lacking } from '../../requirements.ts';
import { seedOf } from '../../seed.ts';
import { facts, Home, linesOf, NO_SAMPLES, sampleText } from './helper.ts';

const TERMS = {
  captureOutput: true,
  outputBytesMax: 1000,
  redactOutput: redactor({}),
  redactCommand: redactor({}),
};

/** Names that parsers look at, so that random records reach deep into them. */
const WORDS = [
  ...['type', 'message', 'content', 'tool_use', 'tool_result', 'id', 'name', 'input', 'command'],
  ...['Bash', 'bash', 'assistant', 'user', 'toolUseResult', 'is_error', 'payload', 'item', 'parts'],
  ...[
    'response_item',
    'event_msg',
    'function_call',
    'arguments',
    'call_id',
    'output',
    'exec_command',
  ],
  ...['toolCalls', 'args', 'result', 'functionResponse', 'response', 'run_shell_command', 'status'],
  ...['functionCall', 'toolCallResult', 'callId', 'tool', 'callID', 'state', 'metadata', 'exit'],
  ...['data', 'toolCallId', 'toolName', 'shellExecution', 'exitCode', 'role', 'toolResult', 'text'],
  ...['tool_call', 'commands', 'run_commands', 'Edit', 'file_path', 'edits', 'timestamp', 'cwd'],
  ...['__proto__', 'constructor', 'toString', '../../x', 'sessionId', 'item_completed', 'duration'],
];

const word = fc.constantFrom(...WORDS);
const leaf = fc.oneof(
  word,
  fc.string(),
  fc.double(),
  fc.constantFrom(1e308, -0, 2 ** 53, '\0', '\u001b[31m', '\ud800', '1e400', null, true),
);
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(word, tie('value'), { maxKeys: 6 }),
  ),
})).value;
const records = fc.array(fc.dictionary(word, value, { maxKeys: 8 }), { maxLength: 6 });

function check(agent: (typeof TRANSCRIPT_AGENTS)[number], given: readonly JsonObject[]): void {
  for (const fact of facts(PARSERS[agent], linesOf(given))) {
    if (fact.kind !== 'call') continue;
    const { call } = fact;
    expect(call.exitCode === null || Number.isInteger(call.exitCode)).toBe(true);
    expect(call.end !== 'denied' || call.exitCode === null).toBe(true);
    const draft = draftOf(call, 0, TERMS);
    const entry = { ...draft, entry_id: 'e', session_id: 's', sequence_number: 1 };
    expect(decodeEntry(encodeEntry(entry))).toBeDefined();
  }
}

it.each(TRANSCRIPT_AGENTS)('any records of %s', (agent) => {
  fc.assert(
    fc.property(records, (given) => check(agent, given)),
    { seed: seedOf('properties'), numRuns: 300 },
  );
});

const SAMPLES = {
  claude: 'claude-2.1.325.jsonl',
  codex: 'codex-0.166.0-rollout.jsonl',
  gemini: 'gemini-0.61.0-session.jsonl',
  qwen: 'qwen-0.24.4.jsonl',
  copilot: 'copilot-1.0.102-events.jsonl',
  pi: 'pi-1.5.0.jsonl',
  cline: 'hook-stdin-cline.jsonl',
} as const;

/** One value of a real record replaced by any other. */
function replaced(json: unknown, at: number, by: unknown): unknown {
  let left = at;
  const walk = (one: unknown): unknown => {
    left -= 1;
    if (left === 0) return by;
    if (Array.isArray(one)) return one.map(walk);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, walk(inner)]));
  };
  return walk(json);
}

it
  .skipIf(lacking(NO_SAMPLES, 'there are no samples'))
  .each(Object.keys(SAMPLES) as (keyof typeof SAMPLES)[])(
  'a sample of %s with any one value replaced',
  (agent) => {
    const lines = sampleText(SAMPLES[agent]).trim().split('\n');
    const sample: readonly JsonObject[] = lines.slice(0, 4).map((line) => JSON.parse(line));
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 200 }), value, (at, by) => {
        const given = replaced(sample, at, by);
        check(
          agent,
          (Array.isArray(given) ? given : []).filter((one) => Object(one) === one),
        );
      }),
      { seed: seedOf('properties'), numRuns: 300 },
    );
  },
);

it('any bytes in the place of any transcript', () => {
  const home = new Home();
  onTestFinished(() => home.close());
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    records.map((given) => Buffer.from(given.map((one) => JSON.stringify(one)).join('\n'))),
  );
  fc.assert(
    fc.property(bytes, (content) => {
      home.write('.claude/projects/p/a.jsonl', content);
      home.write('.gemini/tmp/p/chats/session-a.json', content);
      home.write('.cline/data/sessions/a/a.messages.json', content);
      home.write('.local/share/opencode/opencode.db', content);
      home.write('.local/share/opencode/storage/part/m/p.json', content);
      const query = { agents: TRANSCRIPT_AGENTS, env: home.env, projects: [] };
      for (const _ of transcriptFacts(query, new TranscriptTally()));
    }),
    { seed: seedOf('properties'), numRuns: 60 },
  );
});
