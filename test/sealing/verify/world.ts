// A small honest writer: journals, a ledger and its anchors in memory, as the real ones are on
// disk. Tests then do to them what attackers and crashes do, and ask what a verification says.
import { encodeEntry } from '../../../src/journal/entry.ts';
import { entryParts, SALT_BYTES, saltedLine } from '../../../src/journal/entry-parts.ts';
import { checkpointText } from '../../../src/ledger/checkpoint.ts';
import {
  commitmentTo,
  ENTRY_PARTS,
  type EntryPart,
  partSalt,
  sha256,
} from '../../../src/ledger/commitments.ts';
import { formatLeaf, type Leaf, type LeafOf } from '../../../src/ledger/leaf.ts';
import { formatNote, signNote } from '../../../src/ledger/note.ts';
import { formatVerifierKey, type SignerKey, signerKey } from '../../../src/ledger/note-keys.ts';
import { leafHash, StoredHashes } from '../../../src/ledger/tree.ts';
import { type Anchor, anchorsIn } from '../../../src/sealing/verify/anchors.ts';
import type { CaptureFiles } from '../../../src/sealing/verify/capture-check.ts';
import {
  type Evidence,
  type Verification,
  verifyEvidence,
} from '../../../src/sealing/verify/verify.ts';
import type { Entry } from '../../../src/types.ts';

export const ORIGIN = 'cuff.local/abcdefghijklm';
export const KEY = signerKey(ORIGIN, new Uint8Array(32).fill(7));
const BEGIN = Date.parse('2026-01-18T14:30:52.123Z');

const MINUTE_MS = 60_000;

/** The same numbers for the same seed. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export type SessionText = {
  journal: string;
  id: string;
  lines: string[];
  sealedBy: string | undefined;
  cutOff: boolean;
  later: string[];
  edits: string[];
};

export class World {
  leaves: string[] = [];
  /** Behind the last leaf, without an end. */
  tail = '';
  sessions: SessionText[] = [];
  checkpoint: string | undefined;
  hashes: Uint8Array = new Uint8Array(0);
  anchors: string[] = [];
  captures = new Map<string, CaptureFiles>();
  vouched = new Set<string>();
  gone: Evidence['gone'][number][] = [];
  now = BEGIN;
  deep = false;
  readonly journals: string[];
  readonly #random: (below: number) => number;

  constructor(random: (below: number) => number, journals = ['journala', 'journalb']) {
    this.#random = random;
    this.journals = journals;
    this.note({ kind: 'key', vkey: formatVerifierKey(KEY.verifier) });
  }

  note(leaf: Leaf): void {
    this.leaves.push(formatLeaf(leaf));
  }

  open(journal: string, id: string): SessionText {
    const session = {
      journal,
      id,
      lines: [],
      sealedBy: ORIGIN,
      cutOff: true,
      later: [],
      edits: [],
    };
    this.sessions.push(session);
    this.note({ kind: 'open', journal, session: id, at: this.now, agent: 'claude' });
    return session;
  }

  close(session: SessionText): void {
    const { journal, id, lines } = session;
    session.cutOff = false;
    const about = { journal, session: id, at: this.now };
    this.note({ ...about, kind: 'close', status: 'complete', count: lines.length });
  }

  /** A line with its salt, and its leaf. */
  entry(session: SessionText, more: Partial<Entry> = {}): { line: string; leaf: LeafOf<'entry'> } {
    this.now += MINUTE_MS;
    const sequence = session.lines.length + 1;
    const entry = entryOf(session.id, sequence, this.now, { ...this.#some(), ...more });
    const salt = Uint8Array.from({ length: SALT_BYTES }, () => this.#random(256));
    const line = `${saltedLine(encodeEntry(entry).slice(0, -1), salt)}\n`;
    return { line, leaf: leafOf(session, line, salt) };
  }

  write(session: SessionText, more: Partial<Entry> = {}): void {
    const { line, leaf } = this.entry(session, more);
    session.lines.push(line);
    this.note(leaf);
  }

  #some(): Partial<Entry> {
    const output = 'x'.repeat(this.#random(200)) + this.#random(1e6);
    return {
      command: `echo ${this.#random(1e6)} "ä"`,
      stdout: `${output}\n`,
      stderr: this.#random(2) === 0 ? null : 'warning\n',
      run_id: this.#random(2) === 0 ? null : `run-${this.#random(1e9)}`,
      environment: { CI: '1', '7': 'number' },
    };
  }

  sign(key: SignerKey = KEY): void {
    const tree = this.tree();
    this.hashes = tree.bytes;
    const text = checkpointText({ origin: ORIGIN, size: tree.size, root: tree.root() });
    this.checkpoint = formatNote(signNote(text, [key]));
  }

  anchor(): void {
    const tree = this.tree();
    const root = Buffer.from(tree.root()).toString('base64');
    const at = new Date(this.now).toISOString();
    this.anchors.push(
      JSON.stringify({ at, kind: 'git', size: tree.size, root, where: 'origin/cuff-seal' }),
    );
  }

  tree(): StoredHashes {
    const tree = new StoredHashes();
    for (const leaf of this.leaves) tree.append(leafHash(leaf));
    return tree;
  }

  evidence({ anchored = true } = {}): Evidence {
    const noted: readonly Anchor[] = anchored ? anchorsIn(this.anchors.join('\n')) : [];
    // As if their places had been read.
    const anchors = noted.map((one) => ({ ...one, source: 'place' as const }));
    return {
      ledger: {
        leaves: Buffer.from(this.leaves.join('') + this.tail),
        hashes: this.hashes,
        checkpoint: this.checkpoint,
        anchors,
        key: KEY.verifier,
      },
      journals: this.journals.map((journal) => ({
        journal,
        directory: `/${journal}`,
        sessions: this.sessions.filter((one) => one.journal === journal).map(filesOf),
      })),
      gone: this.gone,
      captures: {
        now: this.now,
        deep: this.deep,
        capture: (run) => this.captures.get(run),
      },
      vouched: () => (run) => this.vouched.has(run),
    };
  }

  verify(options: { anchored?: boolean } = {}): Verification {
    return verifyEvidence(this.evidence(options));
  }
}

function filesOf({ id, sealedBy, cutOff, lines, later, edits }: SessionText) {
  const plain = (bytes: Buffer) => () => ({ bytes, locked: 0 });
  const bytes = (texts: readonly string[]) => plain(Buffer.from(texts.join(''), 'latin1'));
  return {
    id,
    sealedBy,
    cutOff,
    entries: plain(Buffer.concat(lines.map(bytesOf))),
    later: bytes(later),
    edits: bytes(edits),
  };
}

/** A line whose bytes a test changed is marked by `BYTES` and holds one character for each. */
export const BYTES = '\u0000bytes:';

function bytesOf(line: string): Buffer {
  if (!line.startsWith(BYTES)) return Buffer.from(line);
  return Buffer.from(line.slice(BYTES.length), 'latin1');
}

export function leafOf(session: SessionText, line: string, salt: Uint8Array): LeafOf<'entry'> {
  const json: Entry = JSON.parse(line);
  const commitments = commitmentsOf(json, salt);
  return {
    kind: 'entry',
    journal: session.journal,
    session: session.id,
    sequence: json.sequence_number,
    at: Date.parse(json.timestamp),
    origin: 'live',
    facts: commitments.facts ?? '',
    text: commitments.text,
    stdout: commitments.stdout,
    stderr: commitments.stderr,
    run: json.run_id,
  };
}

function commitmentsOf(json: Entry, salt: Uint8Array): Record<EntryPart, string | null> {
  const parts = entryParts(json);
  const made = ENTRY_PARTS.map((part, place) => {
    const content = parts[part];
    const own = partSalt(salt, place);
    return [part, content === undefined ? null : commitmentTo(sha256(Buffer.from(content)), own)];
  });
  return Object.fromEntries(made);
}

function entryOf(id: string, sequence: number, at: number, more: Partial<Entry>): Entry {
  const plain: Entry = {
    entry_id: `e_20260118_143052_${String(sequence).padStart(3, '0')}-e4f5`,
    session_id: id,
    sequence_number: sequence,
    timestamp: `${new Date(at).toISOString().slice(0, -1)}000Z`,
    duration_ms: 12,
    command: 'true',
    description: null,
    working_directory: '/home/you/project',
    shell: '/bin/bash',
    timeout_seconds: 120,
    timed_out: false,
    exit_code: 0,
    stdout: '',
    stderr: null,
    output_truncated: false,
    output_truncated_bytes: null,
    environment: null,
    agent_id: 'claude',
    conversation_id: null,
    tool_call_id: null,
    opencuff_version: '0.1.0',
    plugin_version: '0.1.0',
    run_id: null,
    end_reason: 'itself',
    signal: null,
    trace_id: null,
    context_source: null,
    processes: null,
    failed_processes: null,
    process_list: null,
    failed_process_list: null,
    decision: null,
  };
  return { ...plain, ...more };
}

/** Two journals, closed sessions and an open one; `anchor` behind the third. */
export function ordinary(seed: number): { world: World; random: (below: number) => number } {
  const random = randomOf(seed);
  const world = new World(random);
  for (let at = 0; at < 4; at += 1) {
    const id = `20260118_14305${at}_a7b3c9d2-e4f${at}`;
    const session = world.open(world.journals[at % 2] ?? '', id);
    const count = 3 + random(5);
    for (let entry = 0; entry < count; entry += 1) world.write(session);
    world.close(session);
    if (at === 2) {
      world.sign();
      world.anchor();
    }
  }
  const open = world.open('journala', '20260118_150000_a7b3c9d2-0000');
  world.write(open);
  world.write(open);
  world.sign();
  return { world, random };
}
