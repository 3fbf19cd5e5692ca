// What `cuff init --undo` gives back. A file that only init has changed becomes what it was, byte
// for byte; one that the user has changed, too, loses the lines of cuff and nothing else.

import { lstatSync, readFileSync } from 'node:fs';
import { AppError } from '../../errors.ts';
import { AGENT_IDS, type AgentId } from '../../text/agents.ts';
import { type Context, isGap, type Kind, type Part } from './agents/agent.ts';
import { claudeSettings, usesClaude } from './agents/claude.ts';
import { SETUPS } from './agents/index.ts';
import type { Additions, Edit } from './edits.ts';
import { assertInside, type Change, readConfig } from './file.ts';
import { type Ledger, undone } from './ledger.ts';
import { rootsOf, understood } from './plan.ts';

export type UndonePart = Change & {
  /** Directories that were made for the file, innermost first. */
  readonly made: readonly string[];
  /** Nothing of cuff is in the file any more. */
  readonly whole: boolean;
  /** A file of cuff's own that the user has changed. */
  readonly left: boolean;
};

type Request = {
  readonly clients: readonly AgentId[];
  readonly kinds: readonly Kind[];
  readonly contexts: readonly Context[];
  readonly ledger: Ledger;
  readonly shown: (path: string) => string;
};

type Known = {
  readonly chosen: Edit[];
  readonly others: Edit[];
  readonly roots: readonly string[];
};

export type Undoing = {
  readonly parts: readonly UndonePart[];
  /** Why a file cannot be given back; the others can. */
  readonly failed: readonly AppError[];
};

export function undoOf(request: Request): Undoing {
  const failed: AppError[] = [];
  const parts = [...filesOf(request)].flatMap(([path, known]) => {
    try {
      return undoneFile(path, known, request);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (request.ledger.steps(path).length > 0 || namesCuff(path)) failed.push(error);
      return [];
    }
  });
  return { parts, failed };
}

/** A file that cannot be understood, and has nothing of cuff in it, is not our concern. */
function namesCuff(path: string): boolean {
  try {
    return readFileSync(path).includes('cuff');
  } catch {
    return false; // it cannot be read, and no ledger tells of it
  }
}

function undoneFile(
  path: string,
  { chosen, others, roots }: Known,
  { ledger, shown }: Request,
): readonly UndonePart[] {
  const before = chosen.length === 0 ? undefined : readConfig(path, shown(path));
  if (before === undefined) return [];
  assertInside(path, shown(path), roots);
  const steps = ledger.steps(path);
  const inserted = steps.flatMap(({ splices }) => splices.map((splice) => splice.inserted));
  const ours = ({ common }: Edit): boolean =>
    common === undefined || inserted.some((text) => text.includes(common));
  const has = (edit: Edit): boolean =>
    ours(edit) && understood(path, before, shown, () => edit.has(before));
  const whole = !others.some(has);
  const { text, exact, made } = whole
    ? undone(steps, before)
    : { text: before, exact: false, made: [] };
  // Without a ledger nothing tells what init added; then what is empty goes with its lines.
  const known = steps.length > 0;
  const added: Additions = (what) => !known || inserted.some((one) => what.test(one));
  const created = !known || steps.some((step) => step.before === null);
  const rest = { path, text: text ?? '', added, created };
  const after = exact ? text : without(rest, chosen.filter(ours), shown);
  const left = after !== undefined && chosen.filter(ours).some((edit) => edit.has(after));
  return [{ path, before, after, made, whole, left }];
}

/** Every file that a part of a client may be in, with the edits that are asked for and the rest. */
function filesOf({ clients, kinds, contexts }: Request): Map<string, Known> {
  const files = new Map<string, Known>();
  for (const context of contexts) {
    for (const id of AGENT_IDS) {
      for (const part of partsOf(id, context)) {
        const roots = rootsOf(SETUPS[id], context);
        const known = files.get(part.file) ?? { chosen: [], others: [], roots };
        files.set(part.file, known);
        const asked = clients.includes(id) && kinds.includes(part.kind);
        (asked && !isClaudes(part, id, clients, context) ? known.chosen : known.others).push(
          ...part.edits,
        );
      }
    }
  }
  for (const { chosen, others } of files.values()) {
    const names = new Set(chosen.map(({ name }) => name));
    others.splice(0, others.length, ...others.filter(({ name }) => !names.has(name)));
  }
  return files;
}

/** The hooks of VS Code are those of Claude Code, if that is installed, and go with it. */
function isClaudes(
  { file }: Part,
  id: AgentId,
  clients: readonly AgentId[],
  context: Context,
): boolean {
  if (id !== 'vscode' || file !== claudeSettings(context)) return false;
  return !clients.includes('claude') && usesClaude(context);
}

/** With the lines of `--only` and `--rewrite`, which may have been given then and not now. */
function partsOf(id: AgentId, context: Context): Part[] {
  const everything = { ...context, only: true, required: '--only', rewrite: true };
  return SETUPS[id].parts(everything).flatMap((part) => (isGap(part) ? [] : [part]));
}

type Rest = {
  readonly path: string;
  readonly text: string;
  readonly added: Additions;
  /** Init made the file. */
  readonly created: boolean;
};

function without(
  { path, text, added, created }: Rest,
  edits: readonly Edit[],
  shown: (path: string) => string,
): string | undefined {
  const after = understood(path, text, shown, () =>
    edits.reduceRight((now, edit) => edit.remove(now, added), text),
  );
  if (after.trim() !== '') return after;
  // A link to a file elsewhere is kept, and so is a file that the user had.
  const link = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!link && created) return undefined;
  return /\.jsonc?$/.test(path) ? '{}\n' : after;
}
