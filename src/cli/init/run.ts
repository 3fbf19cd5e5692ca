// `cuff init`: gives cuff to a client as an MCP server, and a project its settings file.
// Everything is planned and shown before anything is written; a file that cannot be understood
// stops it all.

import { existsSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../../errors.ts';
import { findSettings } from '../../host/settings.ts';
import { homeOf } from '../../places.ts';
import { hasPolicy } from '../../policies/places.ts';
import { unifiedDiff } from '../../text/diff.ts';
import { askYes } from '../confirm.ts';
import { put, say } from '../output.ts';
import {
  CLIENT_NAMES,
  type Client,
  type ClientName,
  clientOf,
  type ServerCommand,
} from './clients.ts';
import {
  assertInside,
  type Change,
  missingDirectories,
  readConfig,
  replaceConfig,
} from './file.ts';
import { Ledger, stepOf } from './ledger.ts';
import { understood as parsed } from './plan.ts';
import { type FoundServer, findServer } from './server.ts';
import { SETTINGS_TEMPLATE } from './settings.ts';
import { shown } from './shown.ts';

type Options = {
  readonly client?: readonly ClientName[];
  readonly dialect?: string;
  readonly only?: boolean;
  readonly print?: boolean;
  readonly remove?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
};

/** Gives the clients of the project, or the one that is named, the server alone. */
export async function initServers(options: Options): Promise<void> {
  const cwd = process.cwd();
  const all = CLIENT_NAMES.map((name) => ({ name, client: clientOf(name, cwd, process.env) }));
  const named = all
    .filter(({ name }) => options.client?.includes(name))
    .map(({ client }) => client);
  const required = await requirement(cwd, options);
  const server = { ...findServer(process.env, process.argv[1] ?? ''), required };
  if (options.print === true) return print(named, server, options);
  const chosen = named.length === 0 ? found(all, options) : named;
  for (const client of chosen) assertInside(client.file, shown(client.file), rootsOf(client, cwd));
  const others = all.map(({ client }) => client).filter((client) => !chosen.includes(client));
  const changes = options.remove
    ? [...removals(chosen), ...settingsRemoval(cwd, others)]
    : [...chosen.flatMap((client) => addition(client, server, options)), ...settingsAddition(cwd)];
  if (changes.length === 0) return say(nothing(chosen, options));
  for (const change of changes) {
    await put(unifiedDiff(shown(change.path), change.before, change.after));
  }
  if (options.dryRun === true) return say('Nothing was written: --dry-run.');
  if (!(await agreed(changes.length, options))) return;
  for (const change of changes) {
    const { path, before, after } = change;
    if (after !== undefined && options.remove !== true) note(path, before, after);
    replaceConfig(change, shown(path));
    const verb = before === undefined ? 'Wrote' : 'Changed';
    say(`${after === undefined ? 'Removed' : verb} ${shown(path)}.`);
    if (after !== undefined && path === settingsFile(cwd)) await trustOwn(cwd, path, after);
  }
  if (options.remove !== true) advise(chosen, server, cwd);
}

/** Where its file may really lie: one of the project does not lead into the home. */
function rootsOf({ file, shared }: Client, cwd: string): readonly string[] {
  return shared ? [cwd] : [homeOf(process.env), dirname(file)];
}

/** So that `--undo` gives back every byte. Without a state root it takes out the lines. */
function note(path: string, before: string | undefined, after: string): void {
  try {
    new Ledger(process.env).add(path, stepOf(before, [after], missingDirectories(path)));
  } catch {
    // What is asked for does not depend on it.
  }
}

/** Why a client should not work without the server, if it should not. */
export async function requirement(
  cwd: string,
  { only, remove }: { readonly only?: boolean; readonly remove?: boolean },
): Promise<string | undefined> {
  if (remove === true) return undefined;
  if (only === true) return '--only';
  const [{ openPolicy }, { storeOf }] = await Promise.all([
    import('../../policies/engine.ts'),
    import('../../shell/captures.ts'),
  ]);
  const { env } = process;
  const { root: stateRoot } = storeOf(env);
  const engine = await openPolicy({ project: cwd, env, stateRoot, watch: false, halts: true });
  engine.close();
  return engine.inForce?.mode === 'enforce' ? 'a policy enforces' : undefined;
}

type Server = Omit<FoundServer, 'required'> & { readonly required: string | undefined };

async function print([named, second]: readonly Client[], server: Server, options: Options) {
  if (named === undefined || second !== undefined || options.remove === true) {
    throw new AppError('usage', '--print shows what belongs into the configuration of a client.', {
      hint: `Say which one: cuff init --print --client ${CLIENT_NAMES.join('|')}`,
    });
  }
  await put(named.add('', speaking(server, named, options)));
  say(`It belongs into ${shown(named.file)}.`);
  tellRequired([named], server);
}

function tellRequired(chosen: readonly Client[], { required }: Server): void {
  if (required === undefined) return;
  for (const { title, canRequire } of chosen) {
    if (canRequire) say(`${title} will not start without cuff (required = true): ${required}.`);
  }
}

/** The clients that seem to be used here or, for --remove, those that have cuff. */
function found(
  all: readonly { readonly name: ClientName; readonly client: Client }[],
  { remove }: Options,
): Client[] {
  const fits = ({ client }: { readonly client: Client }): boolean =>
    remove ? understood(client, (text) => client.has(text)) : client.present;
  const these = all.filter(fits);
  const names = these.map(({ client }) => `${client.title} (${shown(client.file)})`);
  if (names.length > 0) say(`Found ${names.join(', ')}.`);
  else if (!remove) say(`No client found here; name one: --client ${CLIENT_NAMES.join('|')}`);
  return these.map(({ client }) => client);
}

function addition(client: Client, server: Server, options: Options): Change[] {
  const before = readConfig(client.file, shown(client.file));
  const after = understood(client, (text) => client.add(text, speaking(server, client, options)));
  return after === before ? [] : [{ path: client.file, before, after }];
}

/** The server with the tools that the client's model knows, or with those that were asked for. */
function speaking(server: Server, client: Client, { dialect }: Options): ServerCommand {
  const { command, required } = server;
  const spoken = ['--dialect', dialect ?? client.dialect];
  const args = [...server.args, ...spoken, ...client.args];
  return { command, args, required: required !== undefined };
}

function removals(clients: readonly Client[]): Change[] {
  return clients.flatMap((client) => {
    const before = readConfig(client.file, shown(client.file));
    const after = understood(client, (text) => client.remove(text));
    if (before === undefined || after === before) return [];
    if (after.trim() !== '') return [{ path: client.file, before, after }];
    // A link to a file elsewhere is kept.
    const kept = isLink(client.file) ? client.empty : undefined;
    return [{ path: client.file, before, after: kept }];
  });
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function settingsFile(cwd: string): string {
  return join(cwd, 'settings.yml');
}

/** A person who has it written trusts it; an agent cannot. */
async function trustOwn(cwd: string, path: string, text: string): Promise<void> {
  const { env } = process;
  const [{ isPerson }, { trustFile }] = await Promise.all([
    import('../../trust/person.ts'),
    import('../../trust/trust.ts'),
  ]);
  if (isPerson(env)) trustFile(cwd, env, path, text);
  else say(`${shown(path)} waits for a person to run \`cuff trust\` at a terminal.`);
}

function settingsAddition(cwd: string): Change[] {
  if (findSettings(cwd, process.env) !== undefined) return [];
  return [{ path: settingsFile(cwd), before: undefined, after: SETTINGS_TEMPLATE }];
}

/** If it is as we wrote it and no other client uses cuff. */
function settingsRemoval(cwd: string, others: readonly Client[]): Change[] {
  const path = settingsFile(cwd);
  const used = others.some((client) => understood(client, (text) => client.has(text)));
  const before = used ? undefined : readConfig(path, shown(path));
  return before === SETTINGS_TEMPLATE ? [{ path, before, after: undefined }] : [];
}

/** Applies `edit` to the client's file. Throws a sentence that names the place of a mistake. */
function understood<T>(client: Client, edit: (text: string) => T): T {
  const text = readConfig(client.file, shown(client.file)) ?? '';
  return parsed(client.file, text, shown, () => edit(text));
}

function nothing(chosen: readonly Client[], { remove }: Options): string {
  if (chosen.length === 0) return 'Nothing to do.';
  const files = chosen.map(({ file }) => shown(file)).join(', ');
  return `Nothing to do: cuff is ${remove ? 'not' : 'already'} in ${files}.`;
}

/** Naming a client is a yes; otherwise the person at the terminal has to say it. */
export async function agreed(
  count: number,
  { client, yes }: { readonly client?: unknown; readonly yes?: boolean | undefined },
): Promise<boolean> {
  if (yes === true || client !== undefined) return true;
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    say('Nothing was written. Say --yes for all of it, or --client for one.');
    process.exitCode = 2;
    return false;
  }
  const files = count === 1 ? 'this file' : `these ${count} files`;
  const agrees = await askYes(`Write ${files}?`, process.stderr);
  if (!agrees) say('Nothing was written.');
  return agrees;
}

function advise(chosen: readonly Client[], server: Server, cwd: string): void {
  const { note } = server;
  tellRequired(chosen, server);
  if (note !== undefined && chosen.some(({ shared }) => shared)) say(note);
  const ignored = readConfig(join(cwd, '.gitignore'), '.gitignore') ?? '';
  const repository = existsSync(join(cwd, '.git'));
  if (repository && !/^\/?\.cuff(\/|$)/m.test(ignored)) {
    say('Add .cuff/ to .gitignore: it contains recorded output; do not commit it.');
  }
  const titles = chosen.map(({ title }) => title).join(', ');
  if (titles !== '') say(`Start ${titles} again, and it has the tools of cuff.`);
  tellPolicy(cwd);
}

export function tellPolicy(cwd: string): void {
  if (hasPolicy({ project: cwd, env: process.env })) return;
  say('Without a policy agents may run everything. Write a first one: cuff policy init');
}
