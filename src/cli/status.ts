// `cuff status`: the servers that are alive, the runs that are live, what is in the journals, and
// how much room captures take.

import type { Command } from 'commander';
import { stateRoot } from '../capture/paths.ts';
import { unrecordedCommands, unrecordedJson } from '../hooks/shell/unrecorded.ts';
import type { KnownServer } from '../ops/servers.ts';
import type { JournalTotals, Status } from '../ops/status.ts';
import type { AnchorState } from '../sealing/anchors/state.ts';
import { commandText } from '../shell/capture-json.ts';
import { uncapturedJson, uncapturedRuns } from '../shell/uncaptured.ts';
import { printable } from '../text/printable.ts';
import type { Column } from '../text/table.ts';
import { examples, JSON_DOCUMENT } from './help.ts';
import { journalHere } from './journal-here.ts';
import { paint, put, putJson, say, shortAge } from './output.ts';
import { roomWords } from './room-words.ts';
import { shownTable, stateText } from './show.ts';
import { uncapturedWords, unrecordedWords } from './uncaptured.ts';

export function addStatusCommand(program: Command): void {
  program
    .command('status')
    .description('servers that are alive, live runs, what is in the journal, room of captures')
    .option('--json', JSON_DOCUMENT)
    .addHelpText('after', examples('cuff status', 'cuff status --json'))
    .action(status);
}

/**
 * `--json`: {"servers":[{pid, started_at, updated_at, version, project_directory, directory,
 * commands, entries, recording_errors, health}], "runs":[as in `cuff ls`], "journals":[{directory,
 * sessions, active_sessions, entries}], "captures":{count, disk_bytes, packed, packed_bytes,
 * plain_bytes}, "notices":[what waits for trust here], "uncaptured":[as in `cuff ls`],
 * "unrecorded":[{count, last_at, reason}], "anchors":{last, failed}}. Exit 1 when a server is not
 * healthy.
 */
async function status({ json }: { readonly json?: boolean }): Promise<void> {
  const root = stateRoot(process.env);
  const [uncaptured, unrecorded] = [uncapturedRuns(root), unrecordedCommands(root)];
  // First, because the state root that took no capture may not be listed either.
  const said = [...uncapturedWords(uncaptured), ...unrecordedWords(unrecorded)];
  if (!json) for (const words of said) say(words);
  const found = await statusHere();
  if (found.servers.some(({ health }) => health.healthy === false)) process.exitCode = 1;
  const notices = await ownNotices(found);
  const { anchorState, anchorStateJson } = await import('../sealing/anchors/state.ts');
  const anchors = anchorState(root);
  if (json) {
    const without = { ...uncapturedJson(uncaptured), ...unrecordedJson(unrecorded) };
    const known = anchors !== undefined && { anchors: anchorStateJson(anchors) };
    const { statusJson } = await import('../ops/status.ts');
    const shown = { ...statusJson(found), ...(notices.length > 0 && { notices }), ...known };
    await putJson({ ...shown, ...without });
    return;
  }
  await show(found);
  if (anchors !== undefined) await showAnchors(anchors);
  for (const notice of notices) say(notice);
}

async function showAnchors(state: AnchorState): Promise<void> {
  const { failedAnchorTexts, lastAnchorText } = await import('../sealing/anchors/state.ts');
  const last = lastAnchorText(state, Date.now());
  if (last !== undefined) await put(`\nLedger anchored ${last}\n`);
  for (const words of failedAnchorTexts(state)) say(words);
}

/** Of the journal of this directory, of all servers and of all live runs. */
export async function statusHere(): Promise<Status> {
  const [{ statusOf }, { storeOf }] = await Promise.all([
    import('../ops/status.ts'),
    import('../shell/captures.ts'),
  ]);
  return statusOf(storeOf(process.env), await journalHere());
}

/** The files that wait for trust; none if a server runs here, because it reports its own. */
async function ownNotices({ servers }: Status): Promise<readonly string[]> {
  const [cwd, { trustNotices }] = [process.cwd(), await import('../policies/trust-notices.ts')];
  if (servers.some(({ projectDirectory }) => projectDirectory === cwd)) return [];
  return trustNotices(cwd, process.env);
}

async function show({ servers, runs, journals, captures }: Status): Promise<void> {
  if (servers.length === 0) say('No server is running.');
  else {
    await put(shownTable(SERVER_COLUMNS, servers.map(serverRow)));
    for (const reason of servers.flatMap(reasonsOf)) say(printable(reason));
  }
  if (runs.length > 0) {
    const rows = runs.map(({ capture }) => [
      capture.id,
      stateText(capture),
      shortAge(Date.now() - capture.createdAt),
      commandText(capture),
    ]);
    await put(`\n${shownTable(RUN_COLUMNS, rows)}`);
  }
  await put(`\n${shownTable(JOURNAL_COLUMNS, journals.map(journalRow))}`);
  if (captures.captures > 0) await put(`\n${roomWords(captures)}\n`);
}

const SERVER_COLUMNS: readonly Column[] = [
  { title: 'SERVER' },
  { title: 'AGE', align: 'right' },
  { title: 'HEALTH', style: (text) => paint(text.trim() === 'ok' ? 'green' : 'yellow', text) },
  { title: 'COMMANDS', align: 'right' },
  { title: 'ENTRIES', align: 'right' },
  { title: 'ERRORS', align: 'right' },
  { title: 'PROJECT' },
];

const RUN_COLUMNS: readonly Column[] = [
  { title: 'RUN' },
  { title: 'STATE' },
  { title: 'AGE', align: 'right' },
  { title: 'COMMAND' },
];

const JOURNAL_COLUMNS: readonly Column[] = [
  { title: 'JOURNAL' },
  { title: 'SESSIONS', align: 'right' },
  { title: 'ACTIVE', align: 'right' },
  { title: 'ENTRIES', align: 'right' },
];

function serverRow(server: KnownServer): string[] {
  const { pid, startedAt, health, counters, projectDirectory } = server;
  return [
    String(pid),
    shortAge(Date.now() - startedAt),
    health.healthy === false ? 'bad' : 'ok',
    String(counters.commands),
    String(counters.entries),
    String(counters.recordingErrors),
    projectDirectory,
  ];
}

function reasonsOf({ pid, health }: KnownServer): string[] {
  const reasons = [health.reasons, health.notices].filter(Array.isArray).flat();
  return reasons.map((reason) => `${pid}: ${reason}`);
}

function journalRow({ directory, sessions, activeSessions, entries }: JournalTotals): string[] {
  return [directory, String(sessions), String(activeSessions), String(entries)];
}
