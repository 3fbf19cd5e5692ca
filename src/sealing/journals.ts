// The name of a journal in ledgers. It stands in the journal, `seal.json`, with the device and the
// inode of the directory: a copy of the journal is another one, and gets a name of its own and a
// `fork` leaf. Where a journal was seen last stands in the registry of the ledger. The file lies in
// a project and is not trusted: at worst a journal gets another name.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../directories.ts';
import { asCount, asString, parseObject } from '../text/json.ts';
import { newJournalName } from './keys.ts';
import { createWhole, ensureSealDir, openForAppending, readSmall, sealFile } from './place.ts';

const NAME = /^[a-z2-7]{26}$/;

export type KnownJournal = {
  readonly journal: string;
  /** Where it was seen last. */
  readonly directory: string;
  /** Epoch milliseconds. */
  readonly at: number;
};

export type NamedJournal = {
  readonly journal: string;
  /** The name of the journal that this one is a copy of, if it was named just now. */
  readonly copyOf: string | undefined;
};

type Named = {
  readonly journal: string;
  readonly device: number;
  readonly inode: number;
};

function journalNameFile(directory: string): string {
  return join(directory, 'seal.json');
}

/** As its file says; undefined where it has none. Never throws. */
export function journalName(directory: string): string | undefined {
  return namedIn(directory)?.journal;
}

/** The journals of this ledger, each once. Never throws. */
export function knownJournals(stateRoot: string): readonly KnownJournal[] {
  const found = new Map<string, KnownJournal>();
  for (const line of readQuietly(sealFile(stateRoot, 'journals.jsonl')).split('\n')) {
    const json = line === '' ? undefined : parseObject(line);
    const [journal, directory] = [asString(json?.journal), asString(json?.directory)];
    if (journal === undefined || directory === undefined || !NAME.test(journal)) continue;
    found.set(journal, { journal, directory, at: Date.parse(asString(json?.at) ?? '') || 0 });
  }
  return [...found.values()];
}

/** Undefined where there is no directory yet. Throws the error of the system call. */
export function nameJournal(
  stateRoot: string,
  directory: string,
  origin: string | undefined,
  now: number,
): NamedJournal | undefined {
  const there = fs.statSync(directory, { throwIfNoEntry: false });
  if (there === undefined) return undefined;
  const { dev: device, ino: inode } = there;
  const stored = namedIn(directory);
  const seen = knownJournals(stateRoot).find(({ journal }) => journal === stored?.journal);
  const text = (journal: string): string =>
    `${JSON.stringify({ journal, origin: origin ?? null, device, inode })}\n`;
  const path = journalNameFile(directory);
  let named: NamedJournal;
  if (stored === undefined) {
    const journal = newJournalName();
    // Of two processes one gives the name; what is no name of ours is replaced.
    if (createWhole(path, text(journal))) named = { journal, copyOf: undefined };
    else {
      const other = namedIn(directory);
      if (other === undefined) replaceFile(path, text(journal));
      named = { journal: other?.journal ?? journal, copyOf: undefined };
    }
  } else if (isCopy(stored, { device, inode }, directory, seen)) {
    const journal = newJournalName();
    replaceFile(path, text(journal));
    named = { journal, copyOf: stored.journal };
  } else {
    if (stored.device !== device) replaceFile(path, text(stored.journal));
    named = { journal: stored.journal, copyOf: undefined };
  }
  if (seen?.directory !== directory || seen.journal !== named.journal) {
    register(stateRoot, { journal: named.journal, directory, at: now });
  }
  return named;
}

/**
 * A directory that was moved keeps its inode. Devices have other numbers after a restart, so a
 * journal that is where it was, with its inode, is the same. One whose first home still has it is
 * a copy, whatever its file says.
 */
function isCopy(
  stored: Named,
  { device, inode }: Omit<Named, 'journal'>,
  directory: string,
  seen: KnownJournal | undefined,
): boolean {
  if (stored.inode !== inode) return true;
  if (seen === undefined || seen.directory === directory) return false;
  if (stored.device !== device) return true;
  const other = fs.statSync(seen.directory, { throwIfNoEntry: false });
  const moved = other === undefined || (other.ino === inode && other.dev === device);
  return !moved && namedIn(seen.directory)?.journal === stored.journal;
}

/** The name that the journal in this directory has; undefined where there is none. Never throws. */
export function journalNamed(directory: string): string | undefined {
  return namedIn(directory)?.journal;
}

function namedIn(directory: string): Named | undefined {
  const json = parseObject(readQuietly(journalNameFile(directory)));
  const journal = asString(json?.journal);
  const [device, inode] = [asCount(json?.device), asCount(json?.inode)];
  if (journal === undefined || !NAME.test(journal)) return undefined;
  return { journal, device: device ?? 0, inode: inode ?? 0 };
}

function register(stateRoot: string, { journal, directory, at }: KnownJournal): void {
  try {
    ensureSealDir(stateRoot);
    const line = JSON.stringify({ journal, directory, at: new Date(at).toISOString() });
    const fd = openForAppending(sealFile(stateRoot, 'journals.jsonl'));
    try {
      fs.writeSync(fd, `${line}\n`);
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    // A state root that cannot be written: the next process that can writes it down.
  }
}

function readQuietly(path: string): string {
  try {
    return readSmall(path) ?? '';
  } catch {
    return ''; // as if it had no name
  }
}
