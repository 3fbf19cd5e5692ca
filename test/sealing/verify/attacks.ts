// What attackers and crashes do to a record: each changes a world, on history that is anchored.
import { checkpointText } from '../../../src/ledger/checkpoint.ts';
import { formatLeaf, type LeafOf, parseLeaf } from '../../../src/ledger/leaf.ts';
import { formatNote, signNote } from '../../../src/ledger/note.ts';
import { signerKey } from '../../../src/ledger/note-keys.ts';
import type { Verdict } from '../../../src/sealing/verify/findings.ts';
import type { Entry } from '../../../src/types.ts';
import { BYTES, leafOf, ORIGIN, type SessionText, type World } from './world.ts';

type Random = (below: number) => number;

export type Attack = {
  readonly name: string;
  readonly does: (world: World, random: Random) => void;
  /** At least one of these is found. */
  readonly verdicts: readonly Verdict[];
};

function pick<T>(from: readonly T[], random: Random): T {
  const one = from[random(from.length)];
  if (one === undefined) throw new Error('nothing to choose from');
  return one;
}

/** A closed session that the anchor covers, and a place in it. */
function target(world: World, random: Random): { session: SessionText; at: number } {
  const session = pick(world.sessions.slice(0, 3), random);
  return { session, at: random(session.lines.length) };
}

function changed(line: string, change: (entry: Entry) => Partial<Entry>): string {
  const entry: Entry = JSON.parse(line);
  return `${JSON.stringify({ ...entry, ...change(entry) })}\n`;
}

const FIELDS: readonly ((entry: Entry) => Partial<Entry>)[] = [
  ({ exit_code }) => ({ exit_code: (exit_code ?? 0) + 1 }),
  ({ command }) => ({ command: `${command} ` }),
  ({ stdout }) => ({ stdout: `${stdout}more` }),
  ({ stderr }) => ({ stderr: stderr === null ? 'bad' : null }),
  () => ({ working_directory: '/' }),
  () => ({ environment: null }),
  ({ sequence_number }) => ({ sequence_number: sequence_number + 40 }),
  () => ({ session_id: 'other' }),
  () => ({ timestamp: '2020-01-01T00:00:00.000000Z' }),
];

/** One of them, then signed with the key that was stolen. */
function indexOfLeaf(world: World, session: SessionText, at: number): number {
  return world.leaves.findIndex((line) => {
    const leaf = parseLeaf(line);
    if (leaf?.kind !== 'entry' || leaf.session !== session.id) return false;
    return leaf.sequence === at + 1;
  });
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'edit a field',
    verdicts: ['edited'],
    does: (world, random) => {
      const { session, at } = target(world, random);
      session.lines[at] = changed(session.lines[at] ?? '', pick(FIELDS, random));
    },
  },
  {
    name: 'flip any byte',
    verdicts: ['edited', 'unreadable_line'],
    does: (world, random) => {
      const { session, at } = target(world, random);
      const bytes = Buffer.from(session.lines[at] ?? '');
      const place = random(bytes.length - 1);
      bytes[place] = (bytes[place] ?? 0) ^ (1 << random(8));
      session.lines[at] = `${BYTES}${bytes.toString('latin1')}`;
    },
  },
  {
    name: 'strip the salt',
    verdicts: ['edited'],
    does: (world, random) => {
      const { session, at } = target(world, random);
      session.lines[at] = (session.lines[at] ?? '').replace(/,"salt":"[^"]*"/, '');
    },
  },
  {
    name: 'delete an entry',
    verdicts: ['missing_entry'],
    does: (world, random) => {
      const { session, at } = target(world, random);
      session.lines.splice(at, 1);
    },
  },
  {
    name: 'truncate a session',
    verdicts: ['missing_entry'],
    does: (world, random) => {
      const { session, at } = target(world, random);
      session.lines.length = at;
    },
  },
  {
    name: 'swap two entries',
    verdicts: ['reordered'],
    does: (world, random) => {
      const { session } = target(world, random);
      const at = random(session.lines.length - 1);
      const [one = '', two = ''] = session.lines.slice(at, at + 2);
      session.lines.splice(at, 2, two, one);
    },
  },
  {
    name: 'append a forged entry to a closed session',
    verdicts: ['inserted'],
    does: (world, random) => {
      const { session } = target(world, random);
      session.lines.push(world.entry(session).line);
    },
  },
  {
    // The leaves are a file: the next signer signs what it finds there.
    name: 'append a forged entry to a closed session, and its leaf to the ledger',
    verdicts: ['inserted'],
    does: (world, random) => {
      const { session } = target(world, random);
      const { line, leaf } = world.entry(session);
      session.lines.push(line);
      world.note(leaf);
      world.sign();
    },
  },
  {
    // Its metadata says `active` again, and a sealer takes that for a crash.
    name: 'have a forged entry of a closed session sealed as a late one',
    verdicts: ['inserted'],
    does: (world, random) => {
      const { session } = target(world, random);
      const { line, leaf } = world.entry(session, { run_id: null });
      session.lines.push(line);
      session.cutOff = true;
      world.note({ ...leaf, origin: 'late', run: '.' });
      world.sign();
    },
  },
  {
    name: 'put a forged entry in front of sealed ones',
    verdicts: ['inserted'],
    does: (world, random) => {
      const { session, at } = target(world, random);
      const { line } = world.entry(session);
      const salted = random(2) === 0 ? line : line.replace(/,"salt":"[^"]*"/, '');
      session.lines.splice(at, 0, salted);
    },
  },
  {
    name: 'copy an entry elsewhere',
    verdicts: ['foreign_entry', 'entry_twice'],
    does: (world, random) => {
      const { session, at } = target(world, random);
      const other = pick(world.sessions, random);
      other.lines.splice(random(other.lines.length + 1), 0, session.lines[at] ?? '');
    },
  },
  {
    name: 'delete a session',
    verdicts: ['missing_session'],
    does: (world, random) => {
      const { session } = target(world, random);
      world.sessions = world.sessions.filter((one) => one !== session);
    },
  },
  {
    name: 'forge a session',
    verdicts: ['unknown_session'],
    does: (world, random) => {
      const forged: SessionText = {
        ...target(world, random).session,
        id: '20260118_160000_a7b3c9d2-ffff',
        lines: [],
      };
      for (let at = 0; at <= random(4); at += 1) forged.lines.push(world.entry(forged).line);
      world.sessions.push(forged);
    },
  },
  {
    name: 'edit a leaf',
    verdicts: ['ledger_edited'],
    does: (world, random) => {
      const { session, at } = target(world, random);
      const index = indexOfLeaf(world, session, at);
      world.leaves[index] = (world.leaves[index] ?? '').replace(' live ', ' spool ');
    },
  },
  {
    name: 'delete an entry and its leaf',
    verdicts: ['ledger_truncated'],
    does: (world, random) => {
      const { session } = target(world, random);
      const at = session.lines.length - 1;
      world.leaves.splice(indexOfLeaf(world, session, at), 1);
      session.lines.splice(at, 1);
    },
  },
  {
    name: 'truncate the ledger',
    verdicts: ['ledger_truncated'],
    does: (world, random) => {
      world.leaves.length = 1 + random(world.leaves.length - 1);
    },
  },
  {
    name: 'sign with another key',
    verdicts: ['checkpoint_bad'],
    does: (world, random) => {
      editWithLeaf(world, random);
      world.sign(signerKey(ORIGIN, new Uint8Array(32).fill(8)));
    },
  },
];

/** An entry and its leaf, so that they fit each other. */
function editWithLeaf(world: World, random: Random): void {
  const { session, at } = target(world, random);
  const line = changed(session.lines[at] ?? '', ({ stdout }) => ({ stdout: `${stdout}!` }));
  const salt = Buffer.from(JSON.parse(line).salt, 'base64url');
  world.leaves[indexOfLeaf(world, session, at)] = formatLeaf(leafOf(session, line, salt));
  session.lines[at] = line;
}

/** With the stolen key everything below the anchor can be made to fit. */
export const STOLEN: readonly Attack[] = [
  {
    name: 'edit an entry and sign again',
    verdicts: ['history_rewritten'],
    does: (world, random) => {
      editWithLeaf(world, random);
      world.sign();
    },
  },
  {
    name: 'delete a session and sign again',
    verdicts: ['history_rewritten', 'rolled_back'],
    does: (world, random) => {
      const { session } = target(world, random);
      world.sessions = world.sessions.filter((one) => one !== session);
      world.leaves = world.leaves.filter((leaf) => !leaf.includes(` ${session.id} `));
      world.sign();
    },
  },
  {
    name: 'truncate the ledger and its sessions, and sign again',
    verdicts: ['rolled_back'],
    does: (world, random) => {
      rollBack(world, 1 + random(anchoredSize(world) - 1));
      const text = checkpointText({ origin: ORIGIN, ...headOf(world) });
      world.checkpoint = formatNote(
        signNote(text, [signerKey(ORIGIN, new Uint8Array(32).fill(7))]),
      );
    },
  },
  {
    name: 'roll everything back to nothing and go on',
    verdicts: ['rolled_back', 'history_rewritten'],
    does: (world, random) => {
      rollBack(world, 1);
      const session = world.open('journala', '20260118_170000_a7b3c9d2-1111');
      for (let at = 0; at <= random(60); at += 1) world.write(session);
      world.close(session);
      world.sign();
    },
  },
];

function anchoredSize(world: World): number {
  return JSON.parse(world.anchors.at(-1) ?? '{}').size;
}

function headOf(world: World) {
  const tree = world.tree();
  return { size: tree.size, root: tree.root() };
}

/** As a backup of that moment would have it. */
function rollBack(world: World, size: number): void {
  world.leaves.length = size;
  const kept = world.leaves.map(parseLeaf).filter((leaf) => leaf?.kind === 'entry');
  const numbers = (id: string): readonly number[] =>
    kept
      .filter((leaf): leaf is LeafOf<'entry'> => leaf?.kind === 'entry')
      .filter(({ session }) => session === id)
      .map(({ sequence }) => sequence);
  for (const session of world.sessions) {
    const there = numbers(session.id);
    session.lines = session.lines.slice(0, there.length);
  }
  world.sessions = world.sessions.filter(({ lines }) => lines.length > 0);
  world.hashes = world.tree().bytes;
}

/** What a crash leaves; none of it is an attack. */
export const CRASHES: readonly Attack[] = [
  {
    name: 'an entry without a leaf',
    verdicts: ['unsealed'],
    does: (world) => {
      const open = world.sessions.at(-1);
      open?.lines.push(world.entry(open).line);
    },
  },
  {
    name: 'a torn leaf behind what was signed',
    verdicts: [],
    does: (world, random) => {
      const open = world.sessions.at(-1);
      if (open === undefined) return;
      const whole = formatLeaf(world.entry(open).leaf);
      world.tail = random(2) === 0 ? whole.slice(0, random(whole.length - 1)) : '\0'.repeat(40);
    },
  },
  {
    name: 'a torn line in the journal, and the entry once more',
    verdicts: ['recovered'],
    does: (world, random) => {
      const open = world.sessions.at(-1);
      if (open === undefined) return;
      const { line, leaf } = world.entry(open, { run_id: 'run-torn' });
      const at = open.lines.length;
      open.lines.push(`${line.slice(0, 1 + random(line.length - 3))}\n`, line);
      world.note({ ...leaf, sequence: at + 1, origin: 'late' });
      world.sign();
    },
  },
  {
    name: 'an entry without a leaf, in a session that another process ended',
    verdicts: ['recovered'],
    does: (world) => {
      const open = world.sessions.at(-1);
      if (open === undefined) return;
      const { line, leaf } = world.entry(open, { run_id: null });
      open.lines.push(line);
      world.close(open);
      world.note({ ...leaf, origin: 'late', run: '.' });
      world.sign();
    },
  },
  {
    name: 'damaged hashes',
    verdicts: [],
    does: (world, random) => {
      const bytes = Buffer.from(world.hashes);
      world.hashes = bytes.subarray(0, random(bytes.length));
    },
  },
  {
    name: 'no checkpoint',
    verdicts: ['unsigned'],
    does: (world) => {
      world.checkpoint = undefined;
    },
  },
];
