// Writes a journal of many sessions as files (the format is described in src/journal/entry.ts):
// commands and outputs as agents make them, one in a thousand with 100 kB of output, and a needle
// in the middle of the journal and of some of its large outputs. Names and lines are those
// of the installed packages, because a search is as fast as the letters of a language differ.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DAYS = 30;
const FIRST = Date.UTC(2026, 0, 1);
const LARGE_EVERY = 10; // sessions, of which one entry is large
const LARGE_LENGTH = 100_000;
const NEEDLE_EVERY = 200; // large outputs

const { directory, sessions, entries, needle } = JSON.parse(process.argv[2]);
const apart = (DAYS * 86_400_000) / sessions;
let seed = 1;
const { paths, lines: texts } = installed();
const COMMANDS = [
  () => 'git status',
  () => 'git diff',
  () => 'npm test',
  () => 'ls -la',
  () => `cat ${pick(paths)}`,
  () => `rg ${word()} src`,
  () => `npm run ${pick(['build', 'lint', 'types'])}`,
  () => `node scripts/${word()}.mjs --${word()}`,
];
const LINES = [
  () => pick(texts),
  () => `${pick(paths)}:${random(400)}: ${pick(texts)}`,
  () => `${pick(paths)}(${random(400)},${random(80)}): error TS${2_000 + random(900)}: ${word()}`,
  () => `-rw-r--r-- 1 dev dev ${random(90_000)} Jan ${1 + random(30)} 14:30 ${word()}.ts`,
  () => `${hex(7)} ${word()}: ${word()} ${word()} ${word()}`,
  () => `    at ${word()} (/projects/demo/${pick(paths)}:${random(400)}:${random(80)})`,
];

mkdirSync(join(directory, 'sessions'), { recursive: true, mode: 0o700 });
let large = 0;
let needles = 0;
for (let i = 0; i < sessions; i += 1) writeSession(FIRST + Math.floor(i * apart), i);
console.log(JSON.stringify({ sessions, entries: sessions * entries, needles }));

function writeSession(start, number) {
  const digits = new Date(start).toISOString().replace(/\D/g, '');
  const id = `${digits.slice(0, 8)}_${digits.slice(8, 14)}_${hex(8)}-${hex(4)}`;
  const lines = [];
  let total = 0;
  for (let sequence = 1; sequence <= entries; sequence += 1) {
    const at = start + Math.floor((sequence * apart) / (entries + 1));
    const entry = entryOf(id, sequence, at);
    const middle = number === sessions >> 1 && sequence === entries >> 1;
    if (middle) {
      entry.stdout += `${needle}\n`;
      needles += 1;
    } else if (number % LARGE_EVERY === 0 && sequence === 1) entry.stdout = largeOutput();
    total += entry.duration_ms;
    lines.push(JSON.stringify(entry));
  }
  const file = (name, text) => {
    writeFileSync(join(directory, 'sessions', `${id}.${name}`), text, { mode: 0o600 });
  };
  file('jsonl', `${lines.join('\n')}\n`);
  file('meta.json', `${JSON.stringify(metadataOf(id, start, total), null, 2)}\n`);
}

function largeOutput() {
  const lines = [];
  for (let length = 0; length < LARGE_LENGTH; length += lines.at(-1).length) {
    lines.push(`${pick(LINES)()}\n`);
  }
  large += 1;
  if (large % NEEDLE_EVERY === 0) {
    lines.splice(lines.length >> 1, 0, `${needle}\n`);
    needles += 1;
  }
  return lines.join('');
}

function entryOf(session_id, sequence_number, at) {
  const iso = new Date(at).toISOString();
  const failed = random(20) === 0;
  const time = iso.slice(0, 19).replace(/[-:]/g, '').replace('T', '_');
  return {
    entry_id: `e_${time}_${String(sequence_number).padStart(3, '0')}`,
    session_id,
    sequence_number,
    timestamp: `${iso.slice(0, -1)}000Z`,
    duration_ms: random(5_000),
    command: pick(COMMANDS)(),
    description: random(2) === 0 ? null : `Check the ${word()} of ${word()}`,
    working_directory: '/projects/demo',
    shell: '/bin/bash',
    timeout_seconds: 120,
    timed_out: false,
    exit_code: failed ? 1 : 0,
    stdout: Array.from({ length: random(6) }, () => `${pick(LINES)()}\n`).join(''),
    stderr: failed ? `Error: ${word()} ${word()} failed\n` : '',
    output_truncated: false,
    output_truncated_bytes: null,
    environment: null,
    agent_id: 'claude-code',
    conversation_id: `conv_${session_id.slice(-13)}`,
    tool_call_id: `toolu_${hex(8)}`,
    opencuff_version: '0.1.0',
    plugin_version: '1.0.0',
    run_id: hex(16),
    end_reason: 'itself',
    signal: null,
    trace_id: null,
    context_source: 'self-reported',
  };
}

function metadataOf(session_id, start, total_duration_ms) {
  const second = (at) => `${new Date(at).toISOString().slice(0, 19)}Z`;
  return {
    session_id,
    created_at: second(start),
    last_updated: second(start + apart),
    entry_count: entries,
    total_duration_ms,
    status: 'complete',
    commands_succeeded: entries,
    commands_failed: 0,
    commands_timed_out: 0,
    working_directory: '/projects/demo',
    agent_id: 'claude-code',
    conversation_id: null,
    end_reason: 'complete',
    owner: null,
  };
}

function random(count) {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return (seed >> 8) % count;
}

function pick(list) {
  return list[random(list.length)];
}

function hex(length) {
  let text = '';
  while (text.length < length) text += random(0x10000).toString(16).padStart(4, '0');
  return text.slice(0, length);
}

function word() {
  return pick(pick(texts).match(/[A-Za-z]{3,}/g) ?? ['index']);
}

function installed() {
  const root = fileURLToPath(new URL('../../node_modules', import.meta.url));
  const files = readdirSync(root, { recursive: true }).sort();
  const paths = files.filter((file) => /\.[a-z]+$/.test(file) && file.length < 80);
  const prose = files.filter((file) => file.endsWith('.md'));
  const lines = prose.flatMap((file) => readFileSync(join(root, file), 'utf8').split('\n'));
  return {
    paths,
    lines: lines.filter((line) => /\w{3}/.test(line)).map((line) => line.slice(0, 120)),
  };
}
