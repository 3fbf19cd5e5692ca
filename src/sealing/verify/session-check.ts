// One session: its lines against the leaves that speak of it. A line belongs to the leaf that
// commits to its facts; one whose facts were edited is known by its number or by another part. What
// is left over on either side was deleted or put in.
import { ENTRY_PARTS, type EntryPart } from '../../ledger/commitments.ts';
import type { Finding, Place } from './findings.ts';
import type { LeafIndex, SealedEntry, SealedSession } from './leaf-index.ts';
import {
  type EntryLine,
  lineCommitment,
  readEntryLine,
  type SessionLine,
  wholeLines,
} from './lines.ts';

export type SessionFiles = {
  readonly id: string;
  /** The key of its metadata: who seals it. */
  readonly sealedBy: string | undefined;
  /** Its writer was cut off, is at work, or said that it could not seal. */
  readonly cutOff: boolean;
  readonly entries: () => SessionLines;
  readonly later: () => SessionLines;
  readonly edits: () => SessionLines;
};

export type SessionLines = {
  readonly bytes: Uint8Array;
  /** How many more there are that no identity here reads. */
  readonly locked: number;
};

export type SessionContext = {
  readonly sealed: LeafIndex;
  readonly origin: string | undefined;
  readonly place: Place;
  /** Leaves that speak of it; undefined where none does. */
  readonly leaves: SealedSession | undefined;
  /** Of a copied journal: leaves from here on speak of the original alone. */
  readonly forkedAt: number | undefined;
  /** The capture of the run had the intent to enter it in this session. */
  readonly vouched: (run: string, session: string) => boolean;
};

export type SessionCheck = {
  readonly findings: readonly Finding[];
  /** Leaves whose line is there, whatever was done to it. */
  readonly matched: readonly SealedEntry[];
  /** Entries without a leaf that no verdict calls wrong. */
  readonly unsealed: number;
};

export function checkSession(files: SessionFiles, context: SessionContext): SessionCheck {
  return new Comparison(files, context).run();
}

class Comparison {
  readonly #files: SessionFiles;
  readonly #context: SessionContext;
  readonly #findings: Finding[] = [];
  /** By the leaf; its line. */
  readonly #matched = new Map<SealedEntry, number>();
  readonly #expected: ReadonlySet<SealedEntry>;
  /** The last number that is sealed; 0 for none. */
  readonly #last: number;
  #unsealed = 0;

  constructor(files: SessionFiles, context: SessionContext) {
    this.#files = files;
    this.#context = context;
    const entries = context.leaves?.entries ?? [];
    this.#expected = new Set(entries);
    this.#last = entries.reduce((last, { leaf }) => Math.max(last, leaf.sequence), 0);
  }

  run(): SessionCheck {
    const { bytes, locked } = this.#files.entries();
    const lines = wholeLines(bytes).map(readEntryLine);
    const left = lines.flatMap((line, at) => this.#byFacts(line, at));
    const without = left.filter(([line, at]) => !this.#byNumber(line, at));
    this.#withoutLeaf(without.map(([line]) => line));
    if (locked > 0) this.#found({ verdict: 'encrypted', count: locked });
    else this.#missing(lines.filter(({ kind }) => kind === 'unreadable').length);
    this.#order();
    this.#amendments();
    return {
      findings: this.#findings,
      matched: [...this.#matched.keys()],
      unsealed: this.#unsealed,
    };
  }

  #found(finding: Finding): void {
    this.#findings.push({ ...this.#context.place, ...finding });
  }

  /** Returns the line if it has no leaf by its facts. */
  #byFacts(line: SessionLine, at: number): [EntryLine, number][] {
    if (line.kind === 'unreadable') return [];
    const { facts } = line.commitments;
    const leaves = facts ? (this.#context.sealed.byFacts.get(facts) ?? []) : [];
    const own = leaves.find((leaf) => this.#expected.has(leaf));
    const sequence = line.sequence === undefined ? {} : { sequence: line.sequence };
    if (own === undefined && leaves.length > 0) {
      const [{ leaf } = { leaf: undefined }] = leaves;
      this.#found({ verdict: 'foreign_entry', ...sequence, detail: leaf?.session ?? '' });
      return [];
    }
    if (own === undefined) return [[line, at]];
    if (this.#matched.has(own)) this.#found({ verdict: 'entry_twice', ...sequence });
    else this.#match(own, line, at);
    return [];
  }

  /** A line that lost its facts or its salt: the leaf of its number, or of another part. */
  #byNumber(line: EntryLine, at: number): boolean {
    const free = [...this.#expected].filter((one) => !this.#matched.has(one));
    const { text, stdout, stderr } = line.commitments;
    const shares = ({ leaf }: SealedEntry): boolean =>
      (text != null && leaf.text === text) ||
      (stdout != null && leaf.stdout === stdout) ||
      (stderr != null && leaf.stderr === stderr);
    const found =
      free.find(({ leaf }) => leaf.sequence === line.sequence) ?? free.find((one) => shares(one));
    if (found === undefined) return false;
    this.#match(found, line, at);
    return true;
  }

  #match(sealed: SealedEntry, line: EntryLine, at: number): void {
    this.#matched.set(sealed, at);
    const { leaf } = sealed;
    const redacted = this.#context.leaves?.redacted.get(leaf.sequence) ?? new Set<EntryPart>();
    const edited = (part: string): void =>
      this.#found({ verdict: 'edited', sequence: leaf.sequence, part, at: leaf.at });
    if (!line.salted) edited('salt');
    else {
      for (const part of ENTRY_PARTS.filter((one) => line.commitments[one] !== leaf[one])) {
        if (!redacted.has(part) || !line.empty.has(part)) edited(part);
      }
      if (!line.exact) edited('form');
    }
    const about = { sequence: leaf.sequence, at: leaf.at };
    if (sealed.afterEnd) this.#found({ verdict: 'inserted', ...about });
    if (leaf.origin === 'spool') this.#found({ verdict: 'spooled', ...about });
    if (leaf.origin === 'late' && !sealed.afterEnd) {
      this.#found({ verdict: leaf.run === null ? 'late_unexplained' : 'recovered', ...about });
    }
  }

  /** A crash leaves such a line behind all that is sealed; a line of before the ledger is first. */
  #withoutLeaf(lines: readonly EntryLine[]): void {
    const { leaves, origin } = this.#context;
    const { sealedBy } = this.#files;
    const known = this.#expected.size > 0 || leaves?.tombstone !== undefined;
    if (!known && sealedBy !== undefined && sealedBy !== origin) {
      this.#found({ verdict: 'sealed_elsewhere', count: lines.length, detail: sealedBy });
      return;
    }
    const first = [...this.#expected].reduce(
      (a, { leaf }) => Math.min(a, leaf.sequence),
      this.#last,
    );
    const before = (line: EntryLine): boolean =>
      !line.salted && (known ? (line.sequence ?? first) < first : sealedBy === undefined);
    const wrong = lines.filter((line) => !before(line) && !this.#explained(line));
    this.#unsealed += lines.length - wrong.length;
    if (lines.length > wrong.length) {
      this.#found({ verdict: 'unsealed', count: lines.length - wrong.length });
    }
    if (wrong.length === 0) return;
    if (!known) this.#found({ verdict: 'unknown_session', count: wrong.length });
    else {
      for (const { sequence = 0 } of wrong) this.#found({ verdict: 'inserted', sequence });
    }
  }

  /** As the sealer explains an entry without a leaf, and where there was a crash. */
  #explained({ sequence = 0, run, salted }: EntryLine): boolean {
    const { leaves, vouched, place } = this.#context;
    if (!salted) return false;
    if (run !== null && vouched(run, place.session)) return true;
    return this.#files.cutOff && leaves?.closed === undefined && sequence > this.#last;
  }

  #missing(unreadable: number): void {
    const { forkedAt = Number.POSITIVE_INFINITY } = this.#context;
    if (this.#context.leaves?.tombstone !== undefined) return; // its deletion was cut off
    const gone = [...this.#expected]
      .filter((one) => !this.#matched.has(one))
      .filter(
        ({ index, leaf }) => index < forkedAt || leaf.journal === this.#context.place.journal,
      );
    for (const { leaf, index } of gone) {
      const { sequence, at } = leaf;
      this.#found({ verdict: 'missing_entry', sequence, at, leaf: index });
    }
    if (gone.length > 0 && unreadable > 0) {
      this.#found({ verdict: 'unreadable_line', count: unreadable });
    }
  }

  #order(): void {
    const placed = [...this.#matched].toSorted(([, a], [, b]) => a - b);
    let highest = 0;
    for (const [{ leaf }] of placed) {
      const { sequence, at } = leaf;
      if (sequence < highest) this.#found({ verdict: 'reordered', sequence, at });
      highest = Math.max(highest, sequence);
    }
  }

  #amendments(): void {
    const { leaves } = this.#context;
    if (leaves?.tombstone !== undefined) return;
    const files = { 'late-output': this.#files.later, edit: this.#files.edits };
    for (const [kind, bytes] of Object.entries(files)) {
      const wanted = leaves?.amends.filter(({ amends }) => amends === kind) ?? [];
      const lines = bytes();
      if (lines.locked > 0) continue; // what is not there may be among those
      const there = wholeLines(lines.bytes).map(lineCommitment);
      const sealed = new Set(wanted.map(({ line }) => line));
      // A redaction takes the salt of such a line; one of an entry covers the lines of that.
      let excused = leaves?.redactions.filter((one) => one.sequence === 0).length ?? 0;
      for (const { line, sequence, at } of wanted) {
        if (there.includes(line)) continue;
        if (sequence > 0 && leaves?.redacted.has(sequence) === true) continue;
        if (sequence === 0 && excused > 0) excused -= 1;
        else this.#found({ verdict: 'edited', sequence, part: kind, at });
      }
      const more = there.filter((one) => one !== undefined && !sealed.has(one)).length;
      if (more > 0 && leaves !== undefined) {
        this.#found({ verdict: 'unsealed', part: kind, count: more });
      }
    }
  }
}
