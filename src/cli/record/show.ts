// `cuff record show`: one session, what was run in it, and with --entries --output what it printed.

import { AppError } from '../../errors.ts';
import { type EditRecord, readEdits } from '../../journal/edits.ts';
import { shortId } from '../../journal/ids.ts';
import { isEntryId } from '../../recordings/entry.ts';
import { sealOf } from '../../recordings/seals.ts';
import {
  type SessionReport,
  sessionEntries,
  sessionNamed,
  sessionReport,
} from '../../recordings/sessions.ts';
import type { Badge } from '../../sealing/badges.ts';
import { spanText, timeText } from '../../text/dates.ts';
import { counted } from '../../text/plural.ts';
import { printable, printableJson } from '../../text/printable.ts';
import { displayWidth } from '../../text/table.ts';
import type { Entry } from '../../types.ts';
import { put, putJson, say } from '../output.ts';
import { editLine, entryLine, entryOutput } from './entry-words.ts';
import type { Flags } from './flags.ts';
import { damagedLines, NO_RECORDINGS, sequenceWords, shortCommand } from './words.ts';

const NAME_WIDTH = 20;

/**
 * `--format json` and `yaml`: {"session":{...},"top_commands":[{"command","count"}]}, with
 * "seal":"anchored" or another word of src/sealing/badges.ts where it was sealed, and with
 * --entries "entries":[...], whose stdout and stderr are there with --output. Where entries are not
 * those that were written, "sequence_faults":{"skipped","repeated","backward","missing"}. Files
 * that the agent's own tools wrote are "edits":[...], if there are any.
 */
export async function show(flags: Flags): Promise<void> {
  const [entries, output] = [flags.on('--entries'), flags.on('--output')];
  if (output && !entries) {
    throw new AppError('usage', '--output needs --entries', {
      hint: 'Hint: Use --entries --output to see what each command printed',
    });
  }
  const { directory, exists } = await flags.journal();
  if (!exists) return nothingRecorded();
  if (isEntryId(flags.operand())) {
    const { showEntry } = await import('./show-entry.ts');
    return showEntry(directory, flags);
  }
  const id = sessionNamed(directory, flags.operand());
  const report = { ...sessionReport(directory, id), seal: sealOf(directory, id) };
  const format = flags.format();
  const all = (): Iterable<Partial<Entry>> => facts(sessionEntries(directory, id), output);
  if (report.damagedLines > 0) say(damagedLines(report.damagedLines));
  if (report.sequence !== undefined) say(sequenceWords(printable(shortId(id)), report.sequence));
  const edits = entries ? readEdits(directory, id) : [];
  if (format === 'json') return putDocument(report, entries ? all() : undefined, edits);
  if (format === 'yaml') return putYaml(report, entries ? all() : undefined, edits);
  await put(summary(report));
  if (!entries) return;
  await put('\nEntries:\n');
  const waiting = [...edits].sort((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp));
  for (const entry of sessionEntries(directory, id)) {
    const at = Date.parse(entry.timestamp);
    const before = waiting.findIndex(({ timestamp }) => Date.parse(timestamp) > at);
    const earlier = waiting.splice(0, before < 0 ? waiting.length : before);
    await put(earlier.map(editLine).join('') + entryLine(entry));
    if (output) await put(entryOutput(entry));
  }
  await put(waiting.map(editLine).join(''));
}

function nothingRecorded(): Promise<void> {
  process.exitCode = 1; // a session was asked for, and there is none
  return put(NO_RECORDINGS);
}

type SealedReport = SessionReport & { readonly seal: Badge | undefined };

function summary({ metadata, top, seal }: SealedReport): string {
  const width = Math.max(
    NAME_WIDTH,
    ...top.map(({ command }) => displayWidth(shortCommand(command)) + 1),
  );
  const padded = (text: string): string => text + ' '.repeat(width - displayWidth(text));
  const lines = [
    `Session: ${printable(shortId(metadata.session_id))}`,
    `Started: ${timeText(metadata.created_at)}`,
    `Duration: ${spanText(metadata.total_duration_ms)}`,
    `Working Directory: ${printable(metadata.working_directory)}`,
    ...(seal === undefined ? [] : [`Seal: ${seal}`]),
    '',
    `Commands: ${metadata.entry_count} total`,
    `  ✓ Succeeded: ${metadata.commands_succeeded}`,
    `  ✗ Failed: ${metadata.commands_failed}`,
    `  ⏱ Timed out: ${metadata.commands_timed_out}`,
  ];
  const calls = top.map(
    ({ command, count }) => `  ${padded(shortCommand(command))}- ${counted(count, 'call')}`,
  );
  const commands = calls.length === 0 ? [] : ['', 'Top Commands:', ...calls];
  return [...lines, ...commands].map((line) => `${line}\n`).join('');
}

function* facts(entries: Iterable<Entry>, output: boolean): Generator<Partial<Entry>> {
  for (const entry of entries) {
    const { stdout: _, stderr: __, ...rest } = entry;
    yield output ? entry : rest;
  }
}

function documentOf({ metadata: session, top: top_commands, sequence, seal }: SealedReport) {
  const faults = sequence === undefined ? {} : { sequence_faults: sequence };
  return { session, ...(seal !== undefined && { seal }), top_commands, ...faults };
}

/** Entry by entry: a session may be larger than memory. */
async function putDocument(
  report: SealedReport,
  entries: Iterable<Partial<Entry>> | undefined,
  edits: readonly EditRecord[],
): Promise<void> {
  if (entries === undefined) return putJson(documentOf(report));
  await put(`${printableJson(documentOf(report)).slice(0, -1)},"entries":[`);
  let between = '';
  for (const entry of entries) {
    await put(between + printableJson(entry));
    between = ',';
  }
  await put(edits.length === 0 ? ']}\n' : `],"edits":${printableJson(edits)}}\n`);
}

async function putYaml(
  report: SealedReport,
  entries: Iterable<Partial<Entry>> | undefined,
  edits: readonly EditRecord[],
): Promise<void> {
  const { yaml } = await import('./yaml.ts');
  await put(yaml(documentOf(report)));
  if (entries === undefined) return;
  let head = 'entries:\n';
  for (const entry of entries) {
    await put(head + yaml([entry]));
    head = '';
  }
  if (head !== '') await put('entries: []\n');
  if (edits.length > 0) await put(yaml({ edits }));
}
