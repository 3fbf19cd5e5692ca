// Transcripts of agents for tests: the samples that lie beside the repository, and a home directory
// with made-up ones.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type {
  TranscriptCall,
  TranscriptFact,
  TranscriptLine,
  TranscriptParser,
} from '../../../src/recordings/transcripts/call.ts';
import type { JsonObject } from '../../../src/text/json.ts';

const SAMPLES = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'agents-samples');

export const NO_SAMPLES = !existsSync(SAMPLES);

export function sampleText(name: string): string {
  return readFileSync(join(SAMPLES, name), 'utf8');
}

export function linesOf(records: readonly JsonObject[]): readonly TranscriptLine[] {
  return records.map((json, i) => ({ number: i + 1, json }));
}

export function sample(name: string): readonly TranscriptLine[] {
  const lines = sampleText(name).trim().split('\n');
  return linesOf(lines.map((line) => JSON.parse(line)));
}

/** Of a file that says neither its session nor its directory. */
const ORIGIN = { session: 'file', cwd: null };

export function facts(
  parser: TranscriptParser,
  lines: Iterable<TranscriptLine>,
  origin: Parameters<TranscriptParser>[1] = ORIGIN,
): readonly TranscriptFact[] {
  return [...parser(lines, origin)];
}

export function calls(
  parser: TranscriptParser,
  records: readonly JsonObject[],
): readonly TranscriptCall[] {
  return facts(parser, linesOf(records)).flatMap((fact) => (fact.kind === 'call' ? fact.call : []));
}

/** Two records of Claude: a call and its result. */
export function claudeCall(
  id: string,
  command: string,
  {
    at = '2026-11-01T10:00:00.000Z',
    session = 's1',
    cwd = '/srv/app',
    result = {},
    more = {},
  } = {},
): readonly JsonObject[] {
  const common = { sessionId: session, cwd, timestamp: at, ...more };
  const input = { command, description: 'why' };
  const use = { type: 'tool_use', id, name: 'Bash', input };
  const given = { tool_use_id: id, type: 'tool_result', content: 'out', is_error: false };
  return [
    { ...common, type: 'assistant', message: { content: [use] } },
    {
      ...common,
      type: 'user',
      message: { content: [given] },
      toolUseResult: { stdout: 'out', stderr: '', interrupted: false },
      ...result,
    },
  ];
}

/** A home directory with files of agents. */
export class Home {
  readonly path = mkdtempSync(join(tmpdir(), 'cuff-home-'));
  readonly env = { HOME: this.path };

  write(name: string, content: string | Uint8Array): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  lines(name: string, records: readonly JsonObject[]): string {
    return this.write(name, records.map((one) => `${JSON.stringify(one)}\n`).join(''));
  }

  close(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** The entry of the second call of Claude's sample, field for field. */
export const SECOND_OF_CLAUDE = {
  entry_id: expect.stringMatching(/^e_20261117_085239_002-[0-9a-f]{4}$/),
  session_id: expect.stringMatching(/^20261117_085238_[0-9a-f]{8}-[0-9a-f]{4}$/),
  sequence_number: 2,
  timestamp: '2026-11-17T08:52:39.156000Z',
  duration_ms: 433,
  command: 'cd /tmp && false; (exit 3)',
  description: 'stub command 1',
  working_directory: '/tmp/x/t/proj',
  shell: '',
  timeout_seconds: 0,
  timed_out: false,
  exit_code: 3,
  stdout: '',
  stderr: null,
  output_truncated: false,
  output_truncated_bytes: null,
  environment: null,
  agent_id: 'claude',
  conversation_id: 'd44028a0-b5a2-4936-880a-3a57056a3d5b',
  tool_call_id: 'toolu_stub1',
  opencuff_version: expect.any(String),
  plugin_version: 'import',
  run_id: null,
  end_reason: 'itself',
  signal: null,
  trace_id: null,
  context_source: 'self-reported',
  processes: null,
  failed_processes: null,
  process_list: null,
  failed_process_list: null,
  decision: {
    verdict: 'allow',
    code: 'client',
    mode: 'enforce',
    rule: null,
    approved: null,
    by: 'config',
  },
  source: 'transcript',
};
