import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  htmlEntry,
  htmlHead,
  htmlSession,
  htmlSessionEnd,
  htmlTail,
  htmlText,
} from '../../src/text/html-log.ts';
import { entryOf } from '../recordings/helper.ts';

const HOSTILE = '</script><script>alert(1)</script><img src=x onerror=alert(1)>&"\'`';
const ID = '20260118_143052_a7b3c9d2-e4f5';

const SESSION = {
  session_id: ID,
  created_at: '2026-01-18T14:30:52Z',
  last_updated: '2026-01-18T14:45:00Z',
  entry_count: 1,
  total_duration_ms: 154_000,
  status: 'complete',
  commands_succeeded: 1,
  commands_failed: 0,
  commands_timed_out: 0,
  working_directory: HOSTILE,
  agent_id: HOSTILE,
  conversation_id: null,
  end_reason: null,
  owner: null,
} as const;

function page(...entries: Parameters<typeof entryOf>[2][]): string {
  const shown = entries.map((facts, i) => htmlEntry(entryOf(ID, i + 1, facts)));
  return [htmlHead(HOSTILE), htmlSession(SESSION), ...shown, htmlSessionEnd(), htmlTail()].join('');
}

it('shows whatever was printed as text, and only as text', () => {
  const facts = { command: HOSTILE, description: HOSTILE, stdout: HOSTILE, stderr: HOSTILE };
  const html = page({ ...facts, working_directory: HOSTILE, signal: HOSTILE, exit_code: null });
  expect(html.match(/<script/g)).toHaveLength(1);
  expect(html.match(/<\/script/g)).toHaveLength(1);
  expect(html).not.toMatch(/<img|onerror=alert\(1\)>/);
  expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#39;');
});

it('allows exactly its own script and style, and nothing from anywhere', () => {
  const html = page({ command: 'true' });
  const sha = (pattern: RegExp): string => {
    const text = pattern.exec(html)?.[1] ?? '';
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  };
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
  expect(policy).toBe(
    `default-src 'none'; style-src ${sha(/<style>([\s\S]*?)<\/style>/)}; ` +
      `script-src ${sha(/<script>([\s\S]*?)<\/script>/)}; base-uri 'none'; form-action 'none'`,
  );
  expect(html).not.toMatch(/https?:|<[^>]*(src|href)=|@import|url\(/);
});

it('shows controls as signs, and leaves tabs and lines', () => {
  expect(htmlText('a\tb\r\nc\rd\0\x1b\x7f\x9b\u202e')).toBe('a\tb\nc␍d␀␛␡\\u{9b}\\u{202e}');
});

it('leaves out what was meant for a terminal', () => {
  const html = page({ command: 'ls', stdout: '\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b[2Jend' });
  expect(html).toContain('\nred end</pre>');
});

it('says how each command ended', () => {
  const html = page(
    { command: 'a' },
    { command: 'b', exit_code: 2 },
    { command: 'c', exit_code: null, timed_out: true },
    { command: 'd', exit_code: null, signal: 'SIGKILL' },
    { command: 'e', stdout: null, stderr: null },
    { command: 'f', stdout: 'x', output_truncated: true, output_truncated_bytes: 5_000_000 },
  );
  expect([...html.matchAll(/<li class="(\w+)"/g)].map(([, kind]) => kind)).toEqual([
    ...['good', 'bad', 'late', 'bad', 'good', 'good'],
  ]);
  expect([...html.matchAll(/class="end">([^<]*)</g)].map(([, words]) => words)).toEqual([
    ...['exit 0', 'exit 2', 'timed out', 'SIGKILL', 'exit 0', 'exit 0'],
  ]);
  expect(html).toContain('<p>Output was not kept.</p>');
  expect(html).toContain('<p>Only the start of 5000000 bytes was kept.</p>');
});

it('keeps the first newline of an output, which HTML would drop', () => {
  expect(page({ command: 'a', stdout: '\nx' })).toContain('aria-label="stdout">\n\nx</pre>');
});
