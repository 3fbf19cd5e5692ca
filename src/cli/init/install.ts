// `cuff init` with hooks, shell and server for any client. One table says what will be written and
// why, then the files are written one by one, each as a whole; `--undo` takes all of it back. An
// agent may do neither: what is written here decides what an agent may do.

import { AppError } from '../../errors.ts';
import { type Registration, register, unregister } from '../../hooks/registered.ts';
import { realOf } from '../../places.ts';
import { AGENT_IDS, AGENTS, type AgentId } from '../../text/agents.ts';
import { unifiedDiff } from '../../text/diff.ts';
import { table } from '../../text/table.ts';
import { refuseAgents } from '../../trust/person.ts';
import { paint, put, say } from '../output.ts';
import { writeOwnShell } from '../own-shell.ts';
import { type Context, KINDS, type Kind } from './agents/agent.ts';
import { contextOf } from './context.ts';
import { type Change, missingDirectories, removeEmpty, replaceConfig } from './file.ts';
import { Ledger, stepOf } from './ledger.ts';
import { type Failure, installedClients, type Plan, planOf, signOf } from './plan.ts';
import { agreed, requirement, tellPolicy } from './run.ts';
import { shown } from './shown.ts';
import { type UndonePart, undoOf } from './undo.ts';

export type InstallOptions = {
  readonly client?: readonly AgentId[];
  readonly all?: boolean;
  readonly hooks?: boolean;
  readonly shell?: boolean;
  readonly mcp?: boolean;
  readonly dialect?: string;
  readonly only?: boolean;
  readonly rewrite?: boolean;
  readonly user?: boolean;
  readonly project?: boolean;
  readonly dryRun?: boolean;
  readonly undo?: boolean;
  readonly yes?: boolean;
};

export async function install(options: InstallOptions): Promise<void> {
  const { env } = process;
  if (options.dryRun !== true) refuseAgents(env, 'change what agents may do');
  if (options.undo === true) return undo(options);
  const required = await requirement(process.cwd(), options);
  const context = contextOf(options, options.project === true ? 'project' : 'user', required);
  const clients = chosen(options, context);
  if (clients.length === 0) return;
  const plan = planOf(clients, kindsOf(options), context, shown);
  const [first] = plan.failed;
  if (first !== undefined && clients.length === 1) throw first.error;
  if (plan.rows.length > 0) await put(rowsOf(plan));
  for (const failure of plan.failed) tellFailure(failure);
  if (options.dryRun === true) return showDiffs(plan.files);
  const writes = plan.files.length > 0;
  if (writes && !(await agreed(plan.files.length, consent(options)))) return;
  if (plan.rows.some(({ kind, file }) => kind === 'shell' && file !== undefined)) {
    // No client is pointed at a shell that is not there, or that is of an older version.
    await writeOwnShell(env);
  }
  if (!writes) {
    enrol(plan, context);
    return say(nothingToDo(plan));
  }
  const ledger = new Ledger(env);
  for (const file of plan.files) {
    attempt(() => {
      ledger.add(file.path, stepOf(file.before, file.texts, missingDirectories(file.path)));
      replaceConfig(file, shown(file.path), file.mode === undefined ? {} : { mode: file.mode });
      say(`${file.before === undefined ? 'Wrote' : 'Changed'} ${shown(file.path)}.`);
    });
  }
  enrol(plan, context);
  for (const words of new Set(plan.next)) say(words);
  say('See whether it works with `cuff doctor --agents`; `cuff init --undo` takes it back.');
  tellPolicy(process.cwd());
}

/** Rules of a policy may be for an agent alone; its name counts where a person set up its hook. */
function enrol({ rows }: Plan, context: Context): void {
  const hooked = rows.filter(({ kind, does }) => kind === 'hooks' && HAS_HOOK.has(does));
  const clients = new Set(hooked.map(({ client }) => client));
  attempt(() => register(process.env, registrations([...clients], [context])));
}

const HAS_HOOK: ReadonlySet<Plan['rows'][number]['does']> = new Set(['write', 'change', 'nothing']);

function registrations(
  clients: readonly AgentId[],
  contexts: readonly Context[],
): readonly Registration[] {
  return contexts.flatMap(({ scope, cwd }) =>
    clients.map((agent) => ({ agent, project: scope === 'project' ? realOf(cwd) : null })),
  );
}

function tellFailure({ client, error }: Failure): void {
  say(`${AGENTS[client].title} gets nothing: ${error.message}`);
  say(`Repair that file, then run: cuff init --client ${client}`);
  process.exitCode = 1;
}

/** One file that cannot be written keeps no other one from it. */
function attempt(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    say(error.message);
    process.exitCode = 1;
  }
}

function nothingToDo({ rows, failed }: Plan): string {
  if (rows.length === 0 || failed.length > 0) return 'Nothing was written.';
  if (rows.some(({ does }) => does !== 'cannot')) return 'Nothing to do: all of it is there.';
  const ways = rows.map(({ client, kind, why }) => `${AGENTS[client].title} ${kind}: ${why}`);
  return `Nothing can be written. ${ways.join('; ')}.`;
}

/** Naming clients, or all of them, is a yes. */
function consent({ client, all, yes, undo: back }: InstallOptions) {
  return { client: client ?? (all === true || back === true ? 'all' : undefined), yes };
}

function kindsOf(options: InstallOptions): readonly Kind[] {
  const named = KINDS.filter((kind) => options[kind] === true);
  return named.length === 0 ? KINDS : named;
}

function chosen(options: InstallOptions, context: Context): readonly AgentId[] {
  if (options.client !== undefined) return AGENT_IDS.filter((id) => options.client?.includes(id));
  const found = installedClients(context);
  for (const id of found) say(`Found ${AGENTS[id].title}: ${signOf(id, context) ?? ''}.`);
  if (found.length === 0) {
    say(`No client found; name one: --client ${AGENT_IDS.join('|')}`);
    process.exitCode = 2;
  }
  return found;
}

const WORDS = {
  write: 'new file',
  change: 'change',
  nothing: 'is there',
  keep: 'left alone',
  cannot: 'not possible',
} as const;

function rowsOf({ rows }: Plan): string {
  return table(
    [
      { title: 'CLIENT' },
      { title: 'PART' },
      { title: 'DOES' },
      { title: 'FILE' },
      { title: 'WHY' },
    ],
    rows.map(({ client, kind, does, file, why }) => [
      AGENTS[client].title,
      kind,
      WORDS[does],
      file === undefined ? '-' : shown(file),
      why,
    ]),
    { styleHead: (text) => paint('dim', text) },
  );
}

async function showDiffs(files: readonly Change[]): Promise<void> {
  for (const { path, before, after } of files) {
    await put(unifiedDiff(shown(path), before, after));
  }
  say('Nothing was written: --dry-run.');
}

async function undo(options: InstallOptions): Promise<void> {
  const ledger = new Ledger(process.env);
  const scopes = (['user', 'project'] as const).filter(
    (scope) => options[scope] === true || (options.user !== true && options.project !== true),
  );
  const contexts = scopes.map((scope) => contextOf(options, scope));
  const clients = options.client ?? AGENT_IDS;
  const undoing = undoOf({ clients, kinds: kindsOf(options), contexts, ledger, shown });
  const { parts, failed } = undoing;
  const files = parts.filter(({ before, after }) => before !== after);
  const unhooked = options.dryRun !== true && kindsOf(options).includes('hooks');
  if (unhooked) unregister(process.env, registrations(clients, contexts));
  for (const error of failed) {
    say(`${error.message} Repair it, then run \`cuff init --undo\` again.`);
    process.exitCode = 1;
  }
  if (options.dryRun === true) return showDiffs(files);
  for (const file of files) attempt(() => takeBack(file, ledger));
  // A directory that was made for one file may have held another, too: the longest paths first.
  const made = files.flatMap((file) => (file.after === undefined ? file.made : []));
  for (const directory of made.sort((a, b) => b.length - a.length)) removeEmpty([directory]);
  for (const { path, left } of parts) {
    if (left) say(`${shown(path)} was changed since; it was left as it is.`);
  }
  if (files.length > 0 || failed.length > 0) return;
  say('Nothing to do: nothing of cuff was found.');
}

function takeBack(file: UndonePart, ledger: Ledger): void {
  const { path, before, after, whole } = file;
  if (!whole) ledger.add(path, stepOf(before, [after ?? ''], []));
  replaceConfig(file, shown(path));
  if (whole) ledger.forget(path);
  say(`${after === undefined ? 'Removed' : 'Changed'} ${shown(path)}.`);
}
