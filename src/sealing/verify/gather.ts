// Reads from the disk what a verification is made of. Nothing is written; what cannot be read is as
// if it were not there, and the verification says so.
import { constants } from 'node:buffer';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { pieces } from '../../capture/byte-source.ts';
import { finalText, splitFinal } from '../../capture/final-salt.ts';
import { findSource } from '../../capture/open-source.ts';
import { captureDir, isSessionId } from '../../capture/paths.ts';
import { openCapture, readState, type Store } from '../../capture/store.ts';
import { wholeText } from '../../capture/words.ts';
import { errnoOf } from '../../errors.ts';
import { findSessionFiles, readText } from '../../journal/files.ts';
import { openLines, readAll } from '../../journal/packed/source.ts';
import { journalSessionIds } from '../../journal/reader.ts';
import { parseVerifierKey, type VerifierKey } from '../../ledger/note-keys.ts';
import { asCount, asObject, asString, parseObject } from '../../text/json.ts';
import { introductionsIn } from '../introductions.ts';
import { type Anchor, anchorsIn } from './anchors.ts';
import type { CaptureFiles } from './capture-check.ts';
import type { JournalFiles } from './journal-check.ts';
import type { LedgerFiles } from './ledger-check.ts';
import type { OutsideReading } from './outside.ts';
import type { SessionFiles, SessionLines } from './session-check.ts';
import type { Evidence } from './verify.ts';

export type GatherOptions = {
  readonly store: Store;
  /** Of journals; all that the ledger knows where none is given. */
  readonly directories: readonly string[] | 'all';
  /** In the place of the ledger's own. */
  readonly key?: VerifierKey | undefined;
  /** The key of a day, that a person kept. */
  readonly epoch?: VerifierKey | undefined;
  /** That a person brought. */
  readonly anchors?: readonly Anchor[];
  /** What the places of the anchors say. */
  readonly outside?: readonly OutsideReading[];
  readonly deep?: boolean;
  readonly only?: string | undefined;
};

export function gatherEvidence(options: GatherOptions): Evidence {
  const { store, directories, only } = options;
  const known = knownJournals(store.root);
  const wanted = directories === 'all' ? known.map(({ directory }) => directory) : directories;
  const there = [...new Set(wanted)].filter((directory) => fs.existsSync(directory));
  // Also where there is a journal: it may have another name, and then it is another one.
  const gone = known.filter(({ directory }) => wanted.includes(directory));
  return {
    ledger: ledgerFiles(options),
    journals: there.map((directory) => journalFiles(directory, store)),
    gone: only === undefined ? gone : [],
    captures: {
      now: store.now(),
      deep: options.deep === true,
      capture: (run) => captureFiles(store, run),
    },
    vouched: (directory) => (run, session) => vouches(store, directory, run, session),
    only,
  };
}

function ledgerFiles({
  store,
  key,
  epoch,
  anchors = [],
  outside = [],
}: GatherOptions): LedgerFiles {
  const bytes = (name: string): Buffer => readBytes(join(sealDir(store.root), name));
  const text = (name: string): string => textOf(bytes(name));
  return {
    leaves: bytes('leaves'),
    hashes: bytes('hashes'),
    checkpoint: text('checkpoint') || undefined,
    anchors: [...anchorsIn(text('anchors.jsonl')), ...anchors],
    outside,
    key: key ?? parseVerifierKey(text('vkey').trim()),
    introductions: introductionsIn(text('introductions')),
    epoch,
  };
}

export function sealDir(stateRoot: string): string {
  return join(stateRoot, 'seal');
}

/** Where the ledger saw its journals last. */
function knownJournals(stateRoot: string): Evidence['gone'] {
  const found = new Map<string, Evidence['gone'][number]>();
  const text = textOf(readBytes(join(sealDir(stateRoot), 'journals.jsonl')));
  for (const line of text.split('\n')) {
    const json = line === '' ? undefined : parseObject(line);
    const [journal, directory] = [asString(json?.journal), asString(json?.directory)];
    if (journal === undefined || directory === undefined) continue;
    found.set(journal, { journal, directory, at: Date.parse(asString(json?.at) ?? '') || 0 });
  }
  return [...found.values()];
}

function journalFiles(directory: string, store: Store): JournalFiles {
  const named = parseObject(readText(join(directory, 'seal.json')) ?? '');
  return {
    journal: asString(named?.journal),
    directory,
    sessions: journalSessionIds(directory).flatMap(
      (id) => sessionFiles(directory, id, store) ?? [],
    ),
  };
}

function sessionFiles(directory: string, id: string, store: Store): SessionFiles | undefined {
  const files = findSessionFiles(directory, id);
  if (files === undefined) return undefined;
  const metadata = parseObject(readText(files.metadata) ?? '');
  const owner = asObject(metadata?.owner);
  const [pid, startTime] = [asCount(owner?.pid), asCount(owner?.start_time)];
  const alive = pid !== undefined && startTime !== undefined && store.alive({ pid, startTime });
  return {
    id,
    sealedBy: asString(metadata?.sealed_by),
    // Without its metadata the session was cut off, or is as good as forged; its lines say which.
    cutOff: alive || metadata?.status === 'active' || metadata?.unsealed !== undefined,
    entries: () => linesIn(files.entries),
    later: () => linesIn(files.later),
    edits: () => linesIn(files.edits),
  };
}

/** Lines that are encrypted for others are counted. */
function linesIn(path: string): SessionLines {
  const source = openLines(path);
  if (source === undefined) return { bytes: Buffer.alloc(0), locked: 0 };
  try {
    return { bytes: readAll(source, 0), locked: 0 };
  } catch (error) {
    if (errnoOf(error) !== 'decryption_failed') throw error;
    return { bytes: readAll(source, source.packedBytes), locked: source.stub?.facts.lines ?? 0 };
  } finally {
    source.close();
  }
}

/** The capture of the run had the intent to enter it in this session. */
function vouches(store: Store, directory: string, run: string, session: string): boolean {
  try {
    const { meta } = openCapture(store, run);
    return meta?.journal?.directory === directory && meta.journal.sessionId === session;
  } catch {
    return false; // swept away, or none that we may read
  }
}

const FILES = {
  meta: 'meta.json',
  output: 'output.bin',
  index: 'index.jsonl',
  events: 'events.jsonl',
  trace: 'trace.bin',
  final: 'final.json',
} as const;

function captureFiles(store: Store, run: string): CaptureFiles | undefined {
  if (!isSessionId(run)) return undefined;
  const dir = captureDir(store.root, run);
  try {
    if (readState(dir).meta === undefined) return undefined;
    return { salt: finalText(dir)?.salt, digest: (part) => partDigest(dir, part, store.decrypt) };
  } catch {
    return undefined; // not there, or not ours
  }
}

function partDigest(dir: string, part: keyof typeof FILES, decrypt: Store['decrypt']) {
  try {
    if (part === 'meta') return textDigest(wholeText(dir, FILES.meta, decrypt));
    if (part !== 'final') return fileDigest(dir, FILES[part], decrypt);
    const final = wholeText(dir, FILES.final, decrypt);
    return textDigest(final && splitFinal(final).text);
  } catch (error) {
    // There is none, or it is damaged; only what we have no key for may be as it was sealed.
    return errnoOf(error) === 'decryption_failed' ? 'locked' : undefined;
  }
}

function textDigest(text: string | undefined): Buffer | undefined {
  return text === undefined ? undefined : createHash('sha256').update(text).digest();
}

function fileDigest(dir: string, name: string, decrypt: Store['decrypt']): Buffer | undefined {
  const source = findSource(dir, name, decrypt);
  if (source === undefined) return undefined;
  try {
    const hash = createHash('sha256');
    for (const piece of pieces(source, 0, source.size)) hash.update(piece);
    return hash.digest();
  } finally {
    source.close();
  }
}

/** More than a string can have is nothing that we wrote. */
function textOf(bytes: Buffer): string {
  return bytes.length > constants.MAX_STRING_LENGTH ? '' : bytes.toString('utf8');
}

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;

/** Of a regular file; empty where there is none that we may read. */
function readBytes(path: string): Buffer {
  let fd: number | undefined;
  try {
    fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    return fs.fstatSync(fd).isFile() ? fs.readFileSync(fd) : Buffer.alloc(0);
  } catch {
    return Buffer.alloc(0); // as if it were not there
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}
