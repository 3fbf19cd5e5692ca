// What `cuff init` is going to write, as data: one row for each thing that a client can have, and
// one change for each file. Nothing is written here. A client with a file that cannot be understood
// gets nothing and is named; the others are not held up by it.

import { existsSync } from 'node:fs';
import { AppError } from '../../errors.ts';
import { AGENT_IDS, type AgentId } from '../../text/agents.ts';
import { printable } from '../../text/printable.ts';
import { type Context, type Gap, isGap, type Kind, type Part, type Setup } from './agents/agent.ts';
import { SETUPS } from './agents/index.ts';
import { ValueConflict } from './edits.ts';
import { assertInside, type Change, readConfig } from './file.ts';
import { ConfigSyntaxError } from './jsonc.ts';
import { programPath } from './program-path.ts';

type Row = {
  readonly client: AgentId;
  readonly kind: Kind;
  readonly does: 'write' | 'change' | 'nothing' | 'keep' | 'cannot';
  readonly file: string | undefined;
  readonly why: string;
};

type PlannedFile = Change & {
  /** The text behind each edit that changes it. */
  readonly texts: readonly string[];
  readonly mode: number | undefined;
};

export type Plan = {
  readonly rows: readonly Row[];
  readonly files: readonly PlannedFile[];
  /** What a person has to do before it counts. */
  readonly next: readonly string[];
  readonly failed: readonly Failure[];
};

/** A client whose files cannot be read or understood. */
export type Failure = { readonly client: AgentId; readonly error: AppError };

type Draft = { before: string | undefined; text: string; texts: string[]; mode?: number };

export function planOf(
  clients: readonly AgentId[],
  kinds: readonly Kind[],
  context: Context,
  shown: (path: string) => string,
): Plan {
  const rows: Row[] = [];
  const next: string[] = [];
  const failed: Failure[] = [];
  let drafts = new Map<string, Draft>();
  for (const client of clients) {
    // Clients share files: what one of them could not finish is not in the draft of the next.
    const own = new Map(
      [...drafts].map(([path, one]) => [path, { ...one, texts: [...one.texts] }]),
    );
    try {
      const planned = planClient(client, kinds, context, { drafts: own, shown });
      rows.push(...planned.rows);
      next.push(...planned.next);
      drafts = own;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      failed.push({ client, error });
    }
  }
  const files = [...drafts].flatMap(([path, draft]) => fileOf(path, draft));
  return { rows, next, failed, files };
}

type Drafting = {
  readonly drafts: Map<string, Draft>;
  readonly shown: (path: string) => string;
};

function planClient(
  client: AgentId,
  kinds: readonly Kind[],
  context: Context,
  { drafts, shown }: Drafting,
): Pick<Plan, 'rows' | 'next'> {
  const rows: Row[] = [];
  const next: string[] = [];
  for (const part of SETUPS[client].parts(context)) {
    if (!kinds.includes(part.kind)) continue;
    const gap = gapOf(part, context);
    if (gap !== undefined) rows.push({ client, ...gap, does: 'cannot', file: undefined });
    if (gap !== undefined || isGap(part)) continue;
    assertInside(part.file, shown(part.file), rootsOf(SETUPS[client], context));
    const draft = drafts.get(part.file) ?? draftOf(part.file, shown);
    drafts.set(part.file, draft);
    const row = rowOf(client, part, draft, shown);
    rows.push(row);
    if (part.next !== undefined && (row.does === 'write' || row.does === 'change')) {
      next.push(part.next);
    }
  }
  return { rows, next };
}

function gapOf(part: Part | Gap, { noShell }: Context): Gap | undefined {
  if (isGap(part)) return part;
  return part.kind === 'shell' && noShell !== undefined
    ? { kind: 'shell', why: noShell }
    : undefined;
}

/** Directories in which the files of a client may really lie. */
export function rootsOf(setup: Setup, context: Context): readonly string[] {
  if (context.scope === 'project') return [context.cwd];
  return [context.home, ...(setup.places?.(context) ?? [])];
}

function draftOf(path: string, shown: (path: string) => string): Draft {
  const before = readConfig(path, shown(path));
  return { before, text: before ?? '', texts: [] };
}

function fileOf(path: string, { before, text, texts, mode }: Draft): PlannedFile[] {
  return texts.length === 0 ? [] : [{ path, before, after: text, texts, mode }];
}

function rowOf(client: AgentId, part: Part, draft: Draft, shown: (path: string) => string): Row {
  const { kind, file, gets, edits, mode } = part;
  const row = { client, kind, file, why: gets };
  const before = draft.text;
  let text = before;
  const texts: string[] = [];
  try {
    for (const edit of edits) {
      const edited = understood(file, text, shown, () => edit.add(text));
      if (edited !== text) texts.push(edited);
      text = edited;
    }
  } catch (error) {
    if (!(error instanceof ValueConflict)) throw error;
    return { ...row, does: 'keep', why: `${error.message}, which stays` };
  }
  draft.text = text;
  draft.texts.push(...texts);
  if (mode !== undefined) draft.mode = mode;
  if (text === before) return { ...row, does: 'nothing' };
  return { ...row, does: draft.before === undefined ? 'write' : 'change' };
}

/** Throws a sentence that names the place of a mistake in the file. */
export function understood<T>(
  file: string,
  text: string,
  shown: (path: string) => string,
  edit: () => T,
): T {
  try {
    return edit();
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    const lines = text.slice(0, error.offset).split('\n');
    const place = `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
    const where = `${shown(file)}:${place}`;
    throw new AppError('usage', `${where}: ${printable(error.message)}; it was not changed.`);
  }
}

/** Why a client counts as installed; undefined: there is no sign of it. */
export function signOf(client: AgentId, context: Context): string | undefined {
  const { programs, traces } = SETUPS[client];
  const program = programs.find((name) => programPath(name, context.env) !== undefined);
  if (program !== undefined) return `\`${program}\` is on the PATH`;
  return traces(context).find((path) => existsSync(path));
}

export function installedClients(context: Context): readonly AgentId[] {
  return AGENT_IDS.filter((id) => signOf(id, context) !== undefined);
}
