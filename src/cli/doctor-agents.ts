// `cuff doctor --agents`: whether cuff works with each client: live, registered but not firing,
// not set up, or no such client here. Exit 1 when a hook is registered and does not fire.

import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lastSeen } from '../hooks/notes.ts';
import { AGENT_IDS, AGENTS, type AgentId } from '../text/agents.ts';
import { counted } from '../text/plural.ts';
import { table } from '../text/table.ts';
import { type Context, isGap, type Part } from './init/agents/agent.ts';
import { claudeDirectory } from './init/agents/claude.ts';
import { codexTrust } from './init/agents/codex.ts';
import { SETUPS } from './init/agents/index.ts';
import { installedPlugins } from './init/agents/plugins.ts';
import { contextOf } from './init/context.ts';
import { readConfig } from './init/file.ts';
import { ConfigSyntaxError, readJson } from './init/jsonc.ts';
import { signOf } from './init/plan.ts';
import { hookCommands, probe } from './init/probe.ts';
import { shown } from './init/shown.ts';
import { paint, put, putJson, say } from './output.ts';

type Status = 'live' | 'not firing' | 'not set up' | 'absent';

type AgentReport = {
  readonly client: AgentId;
  readonly status: Status;
  /** The file that the hook is registered in. */
  readonly file: string | null;
  readonly found: string;
  /** What to do. */
  readonly hint: string | null;
  /** When a hook of this client was last called. */
  readonly last_event_at: string | null;
  /** Its commands run in the shell that records. */
  readonly shell: 'live' | 'gone' | 'not set up' | 'none';
};

const COLOURS = {
  live: 'green',
  'not firing': 'red',
  'not set up': 'yellow',
  absent: 'dim',
} as const;

/** `--json`: {"ok","agents":[AgentReport...],"transcripts":{"client","days","soon"}}. */
export async function doctorAgents({ json }: { readonly json?: boolean }): Promise<void> {
  const contexts = [contextOf({}, 'user'), contextOf({}, 'project')] as const;
  const seen = lastSeen(process.env);
  const agents: AgentReport[] = [];
  for (const id of AGENT_IDS) agents.push(await reportOf(id, contexts, seen.get(id)));
  const ok = agents.every(({ status, shell }) => status !== 'not firing' && shell !== 'gone');
  if (!ok) process.exitCode = 1;
  const transcripts = claudeTranscripts(contexts[0], Date.now());
  if (json === true) return putJson({ ok, agents, transcripts });
  await put(rows(agents));
  if (transcripts.soon > 0) {
    say(
      `Claude Code deletes ${counted(transcripts.soon, 'transcript')} within ${SOON_DAYS} days ` +
        `(after ${transcripts.days} days). Keep them: cuff record import --from claude`,
    );
  }
}

async function reportOf(
  client: AgentId,
  contexts: readonly [Context, Context],
  seen: number | undefined,
): Promise<AgentReport> {
  const last = seen === undefined ? null : new Date(seen).toISOString();
  const shell = shellOf(client, contexts);
  const base = { client, file: null, hint: null, last_event_at: last, shell };
  const sign = signOf(client, contexts[0]);
  // VS Code reads the file of Claude Code: a hook in there is no sign of VS Code.
  const borrowed = client === 'vscode' && sign === undefined;
  const registered = borrowed
    ? []
    : [...contexts.flatMap((one) => hooksOf(client, one)), ...pluginHooks(client, contexts[0])];
  const setUp = `cuff init --client ${client} --hooks --shell`;
  if (registered.length === 0) {
    if (sign === undefined) return { ...base, status: 'absent', found: 'no sign of it here' };
    if (shell === 'live') return { ...base, status: 'live', found: 'its shell records' };
    const why = SETUPS[client].parts(contexts[0]).find(({ kind }) => kind === 'hooks');
    const none = why !== undefined && isGap(why) ? `cuff exec ${client}` : setUp;
    return { ...base, status: 'not set up', found: sign, hint: none };
  }
  for (const one of registered) {
    const { file } = one;
    const told = await tried(client, one);
    if (told.why === undefined) continue;
    return { ...base, status: 'not firing', file, found: told.why, hint: told.hint ?? setUp };
  }
  const { file } = registered[0] ?? { file: null };
  const event = last === null ? 'no real event so far' : `last real event ${last}`;
  return { ...base, status: 'live', file, found: `denied what it must deny; ${event}` };
}

type Registered = {
  readonly file: string;
  readonly text: string;
  readonly context: Context;
  /** What the client calls the plugin that brought it. */
  readonly plugin?: string;
};

/** The files of this client that have a hook of ours. */
function hooksOf(id: AgentId, context: Context): Registered[] {
  return partsOf(id, context, 'hooks').flatMap(({ file, edits }) => {
    const text = textOf(file);
    const has = text !== undefined && edits.some((edit) => attempt(() => edit.has(text)));
    return has ? [{ file, text, context }] : [];
  });
}

/** Those that our plugin brought, where it is known how the client keeps plugins. */
function pluginHooks(id: AgentId, context: Context): Registered[] {
  return installedPlugins(id, context).flatMap(({ name, folder }) => {
    const file = join(folder, 'hooks', 'hooks.json');
    const text = textOf(file);
    if (text === undefined) return [];
    const lines = attempt(() => hookCommands(id, file, text)) ?? [];
    return lines.length === 0 ? [] : [{ file, text, context, plugin: name }];
  });
}

function partsOf(id: AgentId, context: Context, kind: Part['kind']): Part[] {
  const parts = attempt(() => SETUPS[id].parts(context)) ?? [];
  return parts.flatMap((part) => (!isGap(part) && part.kind === kind ? [part] : []));
}

async function tried(
  id: AgentId,
  { file, text, context, plugin }: Registered,
): Promise<{ readonly why?: string; readonly hint?: string }> {
  if (attempt(() => readJson(text, ['disableAllHooks'])) === true) {
    return { why: 'disableAllHooks is set', hint: `take it out of ${shown(file)}` };
  }
  for (const command of attempt(() => hookCommands(id, file, text)) ?? []) {
    const result = await probe(id, command, process.env);
    if (result.kind === 'failed') return { why: result.why };
  }
  if (id === 'codex' && !codexTrust(context, file, plugin)) {
    return { why: 'Codex has not been told to trust it', hint: 'start codex, "Hooks need review"' };
  }
  return {};
}

function shellOf(id: AgentId, contexts: readonly Context[]): AgentReport['shell'] {
  const parts = contexts.flatMap((context) =>
    partsOf(id, context, 'shell').map((part) => ({ part, context })),
  );
  if (parts.length === 0) return 'none';
  const set = parts.filter(({ part: { file, edits } }) => {
    const text = textOf(file);
    return text !== undefined && edits.some((edit) => attempt(() => edit.has(text)));
  });
  if (set.length === 0) return 'not set up';
  return set.every(({ context: { shell } }) => existsSync(shell.bash)) ? 'live' : 'gone';
}

function textOf(file: string): string | undefined {
  try {
    return readConfig(file, file);
  } catch {
    return undefined; // one that cannot be read has nothing that works
  }
}

/** What a file says that may be broken: then nothing. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return undefined;
    throw error;
  }
}

const SOON_DAYS = 7;
const DAYS_DEFAULT = 30; // what Claude Code takes where its settings say nothing
const DAY_MS = 86_400_000;
const FILES_MAX = 100_000;

/** Transcripts that Claude Code is going to delete, which it does by their age. */
function claudeTranscripts(context: Context, now: number) {
  const root = claudeDirectory(context);
  const settings = textOf(join(root, 'settings.json')) ?? '';
  const said = attempt(() => readJson(settings, ['cleanupPeriodDays']));
  const days = typeof said === 'number' && said >= 0 ? said : DAYS_DEFAULT;
  const before = now - Math.max(0, days - SOON_DAYS) * DAY_MS;
  const soon = filesBelow(join(root, 'projects')).filter((file) => {
    const stat = lstatSync(file, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.mtimeMs < before;
  }).length;
  return { client: 'claude', days, soon };
}

function filesBelow(root: string): string[] {
  const names = (directory: string): string[] => {
    try {
      return readdirSync(directory);
    } catch {
      return []; // not there, or a file
    }
  };
  return names(root)
    .flatMap((project) => names(join(root, project)).map((name) => join(root, project, name)))
    .filter((file) => file.endsWith('.jsonl'))
    .slice(0, FILES_MAX);
}

function rows(agents: readonly AgentReport[]): string {
  const lines = agents.flatMap(({ client, status, shell, file, found, hint }) => {
    const place = file === null ? '' : ` (${shown(file)})`;
    const first = { status, cells: [AGENTS[client].title, status, shell, found + place] };
    return hint === null ? [first] : [first, { status, cells: ['', '', '', `-> ${hint}`] }];
  });
  const style = (text: string, row: number): string =>
    paint(COLOURS[lines[row]?.status ?? 'absent'], text);
  return table(
    [{ title: 'CLIENT' }, { title: 'HOOKS', style }, { title: 'SHELL' }, { title: 'FOUND' }],
    lines.map(({ cells }) => cells),
    { styleHead: (text) => paint('dim', text) },
  );
}
