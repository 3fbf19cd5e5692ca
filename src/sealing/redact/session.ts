// Takes parts out of the entries of one session. First the leaves say which, then the file of the
// entries is replaced, then lines beside it are written over. Each step may be the last one before
// a crash: the same redaction finds what is left to do, and says nothing twice.

import { AppError } from '../../errors.ts';
import { claimBeside } from '../../journal/beside.ts';
import { type Claim, claimSession } from '../../journal/claim.ts';
import { linesOf } from '../../journal/entry-lines.ts';
import { type SaltedLine, saltedLineOf } from '../../journal/entry-parts.ts';
import { findSessionFiles } from '../../journal/files.ts';
import { entrySequence } from '../../journal/ids.ts';
import { repackLines } from '../../journal/packed/pack.ts';
import { storedMetadata } from '../../journal/reader.ts';
import {
  type LineChange,
  overwriteLines,
  type Repack,
  replaceLines,
} from '../../journal/rewrite.ts';
import { ENTRY_PARTS, type EntryPart } from '../../ledger/commitments.ts';
import type { Leaf } from '../../ledger/leaf.ts';
import { asCount, asString, type JsonObject } from '../../text/json.ts';
import { printable } from '../../text/printable.ts';
import { sayFirst, unsigned } from '../first.ts';
import { lineWithout, unsalted } from './line.ts';
import { entryKey, type RedactContext, saidBefore } from './said.ts';

export type SessionPlan = {
  /** What goes of an entry; `bytes` are those of its line. */
  readonly parts: (json: JsonObject, bytes: Buffer) => readonly EntryPart[];
  /** What stays of a value that names the entry. */
  readonly masked?: (value: unknown) => unknown;
  /** What stays of a line that is no entry; undefined: all of it. */
  readonly damaged?: (bytes: Buffer) => Buffer | undefined;
  /** What stays of a line beside the entries; undefined: all of it. */
  readonly beside: (kind: BesideKind, json: JsonObject) => JsonObject | undefined;
};

type BesideKind = 'late-output' | 'edit';

export type RedactedLine = {
  /** Of the entry; 0 for a line that belongs to none. */
  readonly sequence: number;
  readonly parts: readonly EntryPart[];
};

type Found = RedactedLine & { readonly change: LineChange };

type Findings = {
  readonly entries: readonly Found[];
  readonly damaged: readonly LineChange[];
  readonly later: readonly Found[];
  readonly edits: readonly Found[];
};

/** What the plan would take out. */
export function findInSession(
  directory: string,
  session: string,
  plan: SessionPlan,
): readonly RedactedLine[] {
  const { entries, later, edits } = findingsIn(directory, session, plan);
  return merged([...entries, ...later, ...edits]);
}

/** The process that writes it lives, so its files may change at any moment. */
export function isLive(
  directory: string,
  session: string,
  { store }: Pick<RedactContext, 'store'>,
): boolean {
  const owner = storedMetadata(directory, session)?.owner;
  return owner != null && store.alive({ pid: owner.pid, startTime: owner.start_time });
}

/** Says what was taken out. Rejects with `usage` for a session that is written at the moment. */
export async function redactSession(
  directory: string,
  session: string,
  plan: SessionPlan,
  context: RedactContext,
): Promise<readonly RedactedLine[]> {
  const { ledger, store, owner, why, disk } = context;
  const claim = isLive(directory, session, context)
    ? undefined
    : claimSession(directory, session, owner, store.alive, disk);
  if (claim === undefined) throw live(session);
  let beside: Claim | undefined;
  try {
    beside = await claimBeside(directory, session, { owner, alive: store.alive }, disk);
    const files = findSessionFiles(directory, session);
    const findings = findingsIn(directory, session, plan);
    const { entries, damaged, later, edits } = findings;
    const lines = merged([...entries, ...later, ...edits]);
    if (files === undefined) return [];
    const journal = ledger?.journal(directory);
    if (ledger !== undefined) {
      if (journal === undefined) throw unsigned('the journal has no name in it');
      const { entries: before } = saidBefore(store.root);
      const at = store.now();
      const leaves = lines.flatMap(({ sequence, parts }): Leaf[] => {
        const said = before.get(entryKey(journal, session, sequence));
        const covered = sequence > 0 && parts.every((part) => said?.has(part) === true);
        return covered ? [] : [{ kind: 'redact', journal, session, sequence, at, parts, why }];
      });
      const each = leaves.length > 0 ? [...leaves, ...editLeaves(edits, leaves)] : leaves;
      await sayFirst(ledger, each);
    }
    const changes = [...entries.map(({ change }) => change), ...damaged];
    changes.sort((a, b) => a.offset - b.offset);
    const terms = { disk, repack: repacking(session, context) };
    if (changes.length > 0) await replaceLines(files.entries, changes, terms);
    for (const [path, found] of [
      [files.later, later],
      [files.edits, edits],
    ] as const) {
      if (found.length === 0) continue;
      const own = found.map(({ change }) => change);
      await overwriteLines(path, own, terms);
    }
    return lines;
  } finally {
    beside?.release();
    claim.release();
  }
}

/** What was packed stays packed, and encrypted for those who are to read it now. */
function repacking(session: string, { recipients, disk }: RedactContext): Repack {
  return async (path, lines) => {
    const whom = recipients();
    if (whom.length > 0) return repackLines(path, lines, { recipients: whom, disk });
    const which = `The session ${printable(session)} is encrypted`;
    throw new AppError('encryption_failed', `${which}, and your settings name no recipients.`, {
      hint: 'Nothing was redacted in it. Set encryption.recipients again, and redact again.',
    });
  };
}

/** A verifier excuses one line of edits for each leaf, so each needs its own. */
function editLeaves(edits: readonly Found[], leaves: readonly Leaf[]): Leaf[] {
  const one = leaves.find((leaf) => leaf.kind === 'redact' && leaf.sequence === 0);
  return one === undefined ? [] : edits.slice(1).map(() => one);
}

function live(session: string): AppError {
  return new AppError('usage', `The session ${printable(session)} is being written.`, {
    hint: 'Nothing was redacted in it. End its agent, or wait for it, and redact again.',
  });
}

function findingsIn(directory: string, session: string, plan: SessionPlan): Findings {
  const files = findSessionFiles(directory, session);
  const damaged: LineChange[] = [];
  if (files === undefined) return { entries: [], damaged, later: [], edits: [] };
  const entries: Found[] = [];
  for (const { bytes, offset } of linesOf(files.entries, 0)) {
    const end = offset + bytes.length;
    const line = entryLine(bytes);
    const sequence = asCount(line?.json.sequence_number);
    if (line === undefined || sequence === undefined) {
      const text = plan.damaged?.(bytes);
      if (text !== undefined) damaged.push({ offset, end, text });
      continue;
    }
    const parts = inOrder(plan.parts(line.json, bytes));
    if (parts.length === 0) continue;
    const text = Buffer.from(lineWithout(line, parts, plan.masked));
    entries.push({ sequence, parts, change: { offset, end, text } });
  }
  const later = besideIn(files.later, 'late-output', plan);
  return { entries, damaged, later, edits: besideIn(files.edits, 'edit', plan) };
}

function entryLine(bytes: Buffer): SaltedLine | undefined {
  return bytes.length === 0 ? undefined : saltedLineOf(bytes.toString('utf8'));
}

function besideIn(path: string, kind: BesideKind, plan: SessionPlan): Found[] {
  const found: Found[] = [];
  for (const { bytes, offset, complete } of linesOf(path, 0)) {
    const json = complete ? entryLine(bytes)?.json : undefined;
    const kept = json && plan.beside(kind, json);
    if (json === undefined || kept === undefined) continue;
    const text = Buffer.from(JSON.stringify(unsalted(kept)));
    const change = { offset, end: offset + bytes.length, text };
    const sequence = kind === 'edit' ? 0 : entrySequence(asString(json.entry_id) ?? '');
    found.push({ sequence, parts: kind === 'edit' ? ['text'] : laterParts(json, kept), change });
  }
  return found;
}

/** Which parts of its entry a line of later output belongs to. */
function laterParts(before: JsonObject, after: JsonObject): readonly EntryPart[] {
  const outputs = [before.output, after.output] as readonly (JsonObject | undefined)[];
  const differs = (key: string): boolean => outputs[0]?.[key] !== outputs[1]?.[key];
  const parts = ENTRY_PARTS.filter(
    (part) => (part === 'stdout' || part === 'stderr') && differs(part),
  );
  return parts.length > 0 ? parts : ['text'];
}

/** Each entry once. */
function merged(found: readonly RedactedLine[]): readonly RedactedLine[] {
  const all = new Map<number, readonly EntryPart[]>();
  for (const { sequence, parts } of found) {
    all.set(sequence, inOrder([...(all.get(sequence) ?? []), ...parts]));
  }
  return [...all].map(([sequence, parts]) => ({ sequence, parts }));
}

function inOrder(parts: readonly EntryPart[]): readonly EntryPart[] {
  return ENTRY_PARTS.filter((part) => parts.includes(part));
}
