// A journal as one page that needs nothing else: no network, no files beside it, light and dark. A
// timeline of entries with what they printed, a search box, and a button that plays them in order.
// Written piece by piece, so that a large journal never lies in memory. Whatever a command printed
// is only ever text: it is escaped, and the page allows no script or style but its own two.

import { createHash } from 'node:crypto';
import type { Entry, SessionMetadata } from '../types.ts';
import { secondsText, spanText, timeText } from './dates.ts';
import { SCRIPT, STYLE } from './html-log-assets.ts';
import { sanitize } from './sanitize.ts';
import { decodeUtf8 } from './utf8.ts';

export function htmlHead(title: string): string {
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(STYLE)}'`,
    `script-src '${hashOf(SCRIPT)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const safe = htmlText(title);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${safe}</title>
<style>${STYLE}</style>
<h1>${safe}</h1>
<nav>
<input id="find" type="search" placeholder="Find in commands and output" aria-label="Find">
<button id="play" type="button">Play</button>
<button id="open" type="button">Open all</button>
<span id="said" role="status"></span>
</nav>
`;
}

/** `seal`: how it is sealed, in one word. */
export function htmlSession(session: SessionMetadata, seal?: string): string {
  const facts = [
    `${timeText(session.created_at)} UTC`,
    spanText(session.total_duration_ms),
    session.status,
    session.working_directory,
    ...(session.agent_id === null ? [] : [session.agent_id]),
    ...(seal === undefined ? [] : [seal]),
  ];
  return `<section>
<h2><code>${htmlText(session.session_id)}</code></h2>
<p>${htmlText(facts.join(' · '))}</p>
<ol>
`;
}

export function htmlEntry(entry: Entry): string {
  const { kind, words } = ending(entry);
  const output = [
    block('out', 'stdout', entry.stdout),
    block('err', 'stderr', entry.stderr),
    ...(entry.output_truncated ? [`<p>${truncation(entry)}</p>\n`] : []),
    ...laterBlocks(entry),
  ].join('');
  const kept = entry.stdout !== null || entry.stderr !== null;
  const none = kept ? 'No output.' : 'Output was not kept.';
  return `<li class="${kind}"><details>
<summary><time>${timeText(entry.timestamp)}</time><code>${htmlText(entry.command)}</code>\
<span class="facts"><span class="end">${htmlText(words)}</span> · \
${secondsText(entry.duration_ms)}</span></summary>
${entry.description === null ? '' : `<p>${htmlText(entry.description)}</p>\n`}\
<p>${htmlText(entry.working_directory)}</p>
${output === '' ? `<p>${none}</p>\n` : output}</details></li>
`;
}

export function htmlSessionEnd(): string {
  return '</ol>\n</section>\n';
}

export function htmlTail(): string {
  return `<script>${SCRIPT}</script>\n</html>\n`;
}

/** Output of the processes that the command left running. */
function laterBlocks({ survivors = [], later }: Entry): string[] {
  const left = survivors.map(({ pid, command }) => `${pid} ${command}`).join(', ');
  return [
    ...(left === '' ? [] : [`<p>Left running: ${htmlText(left)}</p>\n`]),
    block('out', 'stdout, later', later?.stdout ?? null),
    block('err', 'stderr, later', later?.stderr ?? null),
    ...(later?.truncated === true ? ['<p>Only the start of what came later was kept.</p>\n'] : []),
  ];
}

function block(name: string, label: string, text: string | null): string {
  if (text === null || text === '') return '';
  // A newline right behind <pre> is dropped by readers of HTML; this one is for them.
  return `<pre class="${name}" aria-label="${label}">\n${htmlText(uncoloured(text))}</pre>\n`;
}

/** Colours, moves of the cursor and titles are meant for a terminal, not for a page. */
function uncoloured(text: string): string {
  return text.includes('\x1b') ? decodeUtf8(sanitize(Buffer.from(text))) : text;
}

function truncation({ output_truncated_bytes: bytes }: Entry): string {
  return bytes === null ? 'Only the start was kept.' : `Only the start of ${bytes} bytes was kept.`;
}

function ending(entry: Entry): { readonly kind: 'good' | 'bad' | 'late'; readonly words: string } {
  if (entry.timed_out) return { kind: 'late', words: 'timed out' };
  if (entry.exit_code === 0) return { kind: 'good', words: 'exit 0' };
  if (entry.exit_code !== null) return { kind: 'bad', words: `exit ${entry.exit_code}` };
  return { kind: 'bad', words: entry.signal ?? entry.end_reason };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

// Controls but tab and newline, and what turns the direction of the text beside it.
const SPECIAL = /[&<>"']|[\0-\x08\x0b-\x1f\x7f-\x9f]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text for between tags and inside quoted attributes. Controls become visible signs. */
export function htmlText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(SPECIAL, (character) => {
    const entity = ENTITIES[character];
    if (entity !== undefined) return entity;
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : `\\u{${code.toString(16)}}`;
  });
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
