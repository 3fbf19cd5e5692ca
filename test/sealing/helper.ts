// A ledger, a journal and a state root in a temporary directory, and what can be said of them by
// the code of src/ledger alone.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { BesideEnv } from '../../src/journal/beside.ts';
import { type EntryParts, entryParts, saltedLineOf } from '../../src/journal/entry-parts.ts';
import type { Disk, JournalEnv } from '../../src/journal/files.ts';
import { type Checkpoint, checkpointOf } from '../../src/ledger/checkpoint.ts';
import { commitmentTo, ENTRY_PARTS, partSalt, sha256 } from '../../src/ledger/commitments.ts';
import { type LeafKind, type LeafOf, parseLeaf } from '../../src/ledger/leaf.ts';
import { checkSignature, parseNote } from '../../src/ledger/note.ts';
import { parseVerifierKey } from '../../src/ledger/note-keys.ts';
import { leafHash, StoredHashes } from '../../src/ledger/tree.ts';
import { sealLate } from '../../src/sealing/late.ts';
import { Ledger } from '../../src/sealing/ledger.ts';
import type { Anchor } from '../../src/sealing/verify/anchors.ts';
import { isWrong } from '../../src/sealing/verify/findings.ts';
import { gatherEvidence } from '../../src/sealing/verify/gather.ts';
import { type Verification, verifyEvidence } from '../../src/sealing/verify/verify.ts';
import { openStore } from '../../src/shell/store.ts';
import type { ProcessId } from '../../src/types.ts';

export const ME: ProcessId = { pid: process.pid, startTime: 1 };

export class SealWorld {
  readonly dir = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'cuff-seal-')));
  readonly root = join(this.dir, 'state');
  readonly journal = join(this.dir, 'project', '.cuff', 'recordings');
  readonly troubles: string[] = [];
  readonly #living: ProcessId[] = [ME];
  time = Date.parse('2026-01-18T14:30:52.123Z');

  constructor() {
    onTestFinished(() => fs.rmSync(this.dir, { recursive: true, force: true }));
  }

  readonly alive = (one: ProcessId): boolean =>
    this.#living.some(({ pid, startTime }) => one.pid === pid && one.startTime === startTime);

  /** `owner`: as if another process had it. */
  ledger({ disk, owner = ME }: { disk?: Disk; owner?: ProcessId } = {}): Ledger {
    if (!this.alive(owner)) this.#living.push(owner);
    const ledger = new Ledger({
      stateRoot: this.root,
      owner,
      alive: this.alive,
      now: () => this.time,
      disk,
      // Tests sign when they mean to.
      later: () => () => undefined,
      log: (_, message, fields) => this.troubles.push(`${message}: ${fields?.error}`),
    });
    onTestFinished(() => ledger.close());
    return ledger;
  }

  /** The process is gone. */
  kill(owner: ProcessId): void {
    this.#living.splice(this.#living.indexOf(owner), 1);
  }

  env(ledger: Ledger | undefined, more: Partial<JournalEnv> = {}): BesideEnv & JournalEnv {
    const idle = (): (() => void) => () => undefined;
    const writers = { owner: ME, alive: this.alive };
    return { now: () => this.time, later: idle, seal: ledger?.sealOf(), writers, ...more };
  }

  async late(ledger: Ledger, owner: ProcessId = ME): Promise<number> {
    const store = { ...openStore(this.root), alive: this.alive };
    return sealLate({ ledger, store, directory: this.journal, owner });
  }

  /** What `cuff verify` finds in the files as they are. */
  verify(anchors: readonly Anchor[] = [], only?: string): Verification {
    const store = { ...openStore(this.root), alive: this.alive, now: () => this.time };
    return verifyEvidence(gatherEvidence({ store, directories: [this.journal], anchors, only }));
  }

  /** Verdicts that speak of an attack. */
  wrongs(anchors: readonly Anchor[] = []): string[] {
    return this.verify(anchors)
      .findings.filter(isWrong)
      .map(({ verdict }) => verdict);
  }

  path(name: string): string {
    return join(this.root, 'seal', name);
  }

  bytes(name: string): Buffer {
    return fs.readFileSync(this.path(name));
  }

  get lines(): string[] {
    return fs.existsSync(this.path('leaves')) ? linesOf(this.bytes('leaves').toString()) : [];
  }

  /** Lines that are no leaf are what a crash left. */
  leaves<K extends LeafKind>(kind: K): LeafOf<K>[] {
    const all = this.lines.map(parseLeaf).filter((leaf) => leaf?.kind === kind);
    return all as unknown as LeafOf<K>[];
  }

  /** The checkpoint, whose signature was checked with the key beside it. */
  get checkpoint(): Checkpoint | undefined {
    if (!fs.existsSync(this.path('checkpoint'))) return undefined;
    const note = parseNote(this.bytes('checkpoint').toString());
    const key = parseVerifierKey(this.bytes('vkey').toString().trim());
    if (note === undefined || key === undefined) throw new Error('no note or no key');
    if (checkSignature(note, key) !== 'verified') throw new Error('the signature is wrong');
    return checkpointOf(note);
  }

  /** The root of the first lines, by a tree in memory. */
  rootOf(count: number): string {
    const tree = new StoredHashes();
    for (const line of this.lines.slice(0, count)) tree.append(leafHash(line));
    return Buffer.from(tree.root()).toString('hex');
  }

  /** What is signed is the tree over the first leaves; how many. */
  signed(): number {
    const { checkpoint } = this;
    if (checkpoint === undefined) return 0;
    const root = Buffer.from(checkpoint.root).toString('hex');
    if (root !== this.rootOf(checkpoint.size)) throw new Error('another root was signed');
    return checkpoint.size;
  }

  session(id: string): string {
    return join(this.journal, 'sessions', `${id}.jsonl`);
  }
}

export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n/g) ?? [];
}

/** The commitments of an entry's line, by the slow way. */
export function commitmentsOf(line: string) {
  const salted = saltedLineOf(line.trimEnd());
  if (salted?.salt === undefined) throw new Error('the line has no salt');
  const parts: EntryParts = entryParts(salted.json);
  const { salt } = salted;
  const all = ENTRY_PARTS.map((part, place) => {
    const bytes = parts[part];
    if (bytes === undefined) return [part, null];
    return [part, commitmentTo(sha256(Buffer.from(bytes)), partSalt(salt, place))];
  });
  return Object.fromEntries(all) as Record<(typeof ENTRY_PARTS)[number], string | null>;
}
