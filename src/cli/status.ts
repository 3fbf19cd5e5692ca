// `cuff status`: the servers that are alive, the runs that are live, and what is in the journals.

import type { Command } from 'commander';
import type { KnownServer } from '../ops/servers.ts';
import type { JournalTotals, Status } from '../ops/status.ts';
import type { JsonObject } from '../text/json.ts';
import { printable } from '../text/printable.ts';
import { table } from '../text/table.ts';
import { paint, put, putJson, say, shortAge, terminalWidth } from './output.ts';
import { captureJson, commandText, stateText } from './show.ts';
import { uncapturedJson, uncapturedRuns, uncapturedWords } from './uncaptured.ts';

export function addStatusCommand(program: Command): void {
  program
    .command('status')
    .description('servers that are alive, live runs, and what is in the journal')
    .option('--json', 'one JSON document')
    .addHelpText('after', '\nExamples:\n  cuff status\n  cuff status --json')
    .action(status);
}

/**
 * `--json`: {"servers":[{pid, started_at, updated_at, version, project_directory, directory,
 * commands, entries, recording_errors, health}], "runs":[as in `cuff ls`], "journals":[{directory,
 * sessions, active_sessions, entries}], "notices":[what waits for trust here], "uncaptured":[as in
 * `cuff ls`]}. Exit 1 when a server is not healthy.
 */
async function status({ json }: { readonly json?: boolean }): Promise<void> {
  const [{ statusOf }, { storeOf }] = await Promise.all([
    import('../ops/status.ts'),
    import('../shell/captures.ts'),
  ]);
  const store = storeOf(process.env);
  const uncaptured = uncapturedRuns(store.root);
  // First, because the state root that took no capture may not be listed either.
  if (!json) for (const words of uncapturedWords(uncaptured)) say(words);
  const found = statusOf(store, await journalDirectory());
  if (found.servers.some(({ health }) => health.healthy === false)) process.exitCode = 1;
  const notices = await ownNotices(found);
  if (json) {
    const more = { ...(notices.length > 0 && { notices }), ...uncapturedJson(uncaptured) };
    await putJson({ ...statusJson(found), ...more });
    return;
  }
  await show(found);
  for (const notice of notices) say(notice);
}

/** What waits for trust here, unless a server here says it: that may have been told to trust. */
async function ownNotices({ servers }: Status): Promise<readonly string[]> {
  const [cwd, { trustNotices }] = [process.cwd(), await import('../policies/trust-notices.ts')];
  if (servers.some(({ projectDirectory }) => projectDirectory === cwd)) return [];
  return trustNotices(cwd, process.env);
}

/** Settings that name another place are read only when there are some that do. */
async function journalDirectory(): Promise<string> {
  const { usualDirectory } = await import('../recordings/directory.ts');
  const usual = usualDirectory(process.cwd(), process.env);
  if (usual !== undefined) return usual;
  const { journalSettings } = await import('./record/record-settings.ts');
  return (await journalSettings(process.cwd(), process.env)).directory;
}

async function show({ servers, runs, journals }: Status): Promise<void> {
  const options = { ...terminalWidth(), styleHead: (text: string) => paint('dim', text) };
  if (servers.length === 0) say('No server is running.');
  else {
    const health = (text: string): string => paint(text.trim() === 'ok' ? 'green' : 'yellow', text);
    const columns = [
      { title: 'SERVER' },
      { title: 'AGE', align: 'right' as const },
      { title: 'HEALTH', style: health },
      { title: 'COMMANDS', align: 'right' as const },
      { title: 'ENTRIES', align: 'right' as const },
      { title: 'ERRORS', align: 'right' as const },
      { title: 'PROJECT' },
    ];
    await put(table(columns, servers.map(serverRow), options));
    for (const reason of servers.flatMap(reasonsOf)) say(printable(reason));
  }
  if (runs.length > 0) {
    const rows = runs.map(({ capture }) => [
      capture.id,
      stateText(capture),
      shortAge(Date.now() - capture.createdAt),
      commandText(capture),
    ]);
    const columns = [
      { title: 'RUN' },
      { title: 'STATE' },
      { title: 'AGE', align: 'right' as const },
      { title: 'COMMAND' },
    ];
    await put(`\n${table(columns, rows, options)}`);
  }
  const columns = [
    { title: 'JOURNAL' },
    { title: 'SESSIONS', align: 'right' as const },
    { title: 'ACTIVE', align: 'right' as const },
    { title: 'ENTRIES', align: 'right' as const },
  ];
  await put(`\n${table(columns, journals.map(journalRow), options)}`);
}

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

function statusJson({ servers, runs, journals }: Status): JsonObject {
  return {
    servers: servers.map(({ counters, ...server }) => ({
      pid: server.pid,
      started_at: new Date(server.startedAt).toISOString(),
      updated_at: new Date(server.updatedAt).toISOString(),
      version: server.version,
      project_directory: server.projectDirectory,
      directory: server.directory,
      commands: counters.commands,
      entries: counters.entries,
      recording_errors: counters.recordingErrors,
      health: server.health,
    })),
    runs: runs.map(({ capture }) => captureJson(capture)),
    journals: journals.map((journal) => ({
      directory: journal.directory,
      sessions: journal.sessions,
      active_sessions: journal.activeSessions,
      entries: journal.entries,
    })),
  };
}
