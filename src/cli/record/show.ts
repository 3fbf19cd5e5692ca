// `cuff record show`: one session, what was run in it, and with --entries --output what it printed.

import { AppError } from '../../errors.ts';
import {
  type SessionReport,
  sessionEntries,
  sessionNamed,
  sessionReport,
  shortId,
} from '../../record.ts';
import { secondsText, spanText, timeText } from '../../text/dates.ts';
import { printable, printableJson } from '../../text/printable.ts';
import { displayWidth } from '../../text/table.ts';
import type { Entry } from '../../types.ts';
import { paint, put, putJson, say } from '../output.ts';
import type { Flags } from './flags.ts';
import { damagedLines, endOf } from './words.ts';

const NAME_WIDTH = 20;
const NAME_WIDTH_MAX = 60; // a longer command is a script; its start is enough to know it

/**
 * `--format json` and `yaml`: {"session":{...},"top_commands":[{"command","count"}]}, and with
 * --entries "entries":[...], whose stdout and stderr are there with --output.
 */
export async function show(flags: Flags): Promise<void> {
  const [entries, output] = [flags.on('--entries'), flags.on('--output')];
  if (output && !entries) {
    throw new AppError('usage', '--output needs --entries', {
      hint: 'Hint: Use --entries --output to see what each command printed',
    });
  }
  const directory = await flags.directory();
  const id = sessionNamed(directory, flags.operand());
  const report = sessionReport(directory, id);
  const format = flags.format();
  const all = (): Iterable<Partial<Entry>> => facts(sessionEntries(directory, id), output);
  if (report.damagedLines > 0) say(damagedLines(report.damagedLines));
  if (format === 'json') return putDocument(report, entries ? all() : undefined);
  if (format === 'yaml') return putYaml(report, entries ? all() : undefined);
  await put(summary(report));
  if (!entries) return;
  await put('\nEntries:\n');
  for (const entry of sessionEntries(directory, id)) {
    await put(entryLine(entry));
    if (output) await put(entryOutput(entry));
  }
}

function summary({ metadata, top }: SessionReport): string {
  const name = (command: string): string => shortened(printable(command));
  const width = Math.max(NAME_WIDTH, ...top.map(({ command }) => displayWidth(name(command)) + 1));
  const padded = (text: string): string => text + ' '.repeat(width - displayWidth(text));
  const lines = [
    `Session: ${printable(shortId(metadata.session_id))}`,
    `Started: ${timeText(metadata.created_at)}`,
    `Duration: ${spanText(metadata.total_duration_ms)}`,
    `Working Directory: ${printable(metadata.working_directory)}`,
    '',
    `Commands: ${metadata.entry_count} total`,
    `  ✓ Succeeded: ${metadata.commands_succeeded}`,
    `  ✗ Failed: ${metadata.commands_failed}`,
    `  ⏱ Timed out: ${metadata.commands_timed_out}`,
  ];
  const calls = top.map(
    ({ command, count }) =>
      `  ${padded(name(command))}- ${count} ${count === 1 ? 'call' : 'calls'}`,
  );
  const commands = calls.length === 0 ? [] : ['', 'Top Commands:', ...calls];
  return [...lines, ...commands].map((line) => `${line}\n`).join('');
}

function shortened(text: string): string {
  return text.length <= NAME_WIDTH_MAX ? text : `${text.slice(0, NAME_WIDTH_MAX - 1)}…`;
}

const SIGNS = { '✓': 'green', '✗': 'red', '⏱': 'yellow' } as const;

/** `    1  14:30:52  ✓ exit 0     1.5s  git status` */
function entryLine(entry: Entry): string {
  const { sign, words } = endOf(entry);
  const colour = SIGNS[sign as keyof typeof SIGNS];
  const number = String(entry.sequence_number).padStart(5);
  const facts = `${paint(colour, sign)} ${printable(words).padEnd(9)}`;
  const time = timeText(entry.timestamp);
  const duration = secondsText(entry.duration_ms).padStart(8);
  return `${number}  ${time}  ${facts}  ${duration}  ${printable(entry.command)}\n`;
}

function entryOutput(entry: Entry): string {
  const blocks = [
    ...lines(entry.stdout).map((line) => `       ${line}`),
    ...lines(entry.stderr).map((line) => `     ! ${line}`),
    ...(entry.stdout === null && entry.stderr === null ? ['       (output was not kept)'] : []),
    ...(entry.output_truncated ? [`       (only the start of ${sizeOf(entry)} was kept)`] : []),
  ];
  return blocks.map((line) => `${line}\n`).join('');
}

function sizeOf({ output_truncated_bytes: bytes }: Entry): string {
  return bytes === null ? 'it' : `${bytes} bytes`;
}

/** Lines a terminal may show: tabs stay, a carriage return at the end goes. */
function lines(text: string | null): string[] {
  if (text === null || text === '') return [];
  const whole = text.endsWith('\n') ? text.slice(0, -1) : text;
  return whole.split(/\r?\n/).map((line) => line.split('\t').map(printable).join('\t'));
}

function* facts(entries: Iterable<Entry>, output: boolean): Generator<Partial<Entry>> {
  for (const entry of entries) {
    const { stdout: _, stderr: __, ...rest } = entry;
    yield output ? entry : rest;
  }
}

/** Entry by entry: a session may be larger than memory. */
async function putDocument(
  { metadata: session, top: top_commands }: SessionReport,
  entries: Iterable<Partial<Entry>> | undefined,
): Promise<void> {
  if (entries === undefined) return putJson({ session, top_commands });
  await put(`${printableJson({ session, top_commands }).slice(0, -1)},"entries":[`);
  let between = '';
  for (const entry of entries) {
    await put(between + printableJson(entry));
    between = ',';
  }
  await put(']}\n');
}

async function putYaml(
  { metadata: session, top: top_commands }: SessionReport,
  entries: Iterable<Partial<Entry>> | undefined,
): Promise<void> {
  const { yaml } = await import('./yaml.ts');
  await put(yaml({ session, top_commands }));
  if (entries === undefined) return;
  let head = 'entries:\n';
  for (const entry of entries) {
    await put(head + yaml([entry]));
    head = '';
  }
  if (head !== '') await put('entries: []\n');
}
