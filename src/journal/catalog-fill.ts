// Brings the catalog up to date from the session files, in transactions of their own, so that it
// can stop after each of them and several processes can do it at once: what a file has beyond its
// watermark is looked up again inside the transaction; the second process finds nothing to do.
import { Batch, type Portion } from './catalog-batch.ts';
import {
  entryAt,
  type FileState,
  fileState,
  isAs,
  isLive,
  look,
  stateFrom,
  stateText,
} from './catalog-look.ts';
import { inTransaction } from './catalog-schema.ts';
import type { LineDamage } from './entry-lines.ts';
import { isJournalId } from './ids.ts';
import { expectedEntries } from './metadata.ts';
import { readEntries, storedMetadata } from './reader.ts';
import { wholeLines } from './search.ts';
import { SequenceCheck, type SequenceState } from './sequence.ts';
import type { Database } from './sqlite.ts';

/** Everything there is to do, a step at a time. */
export function* catchUp(
  database: Database,
  directory: string,
  now: () => number,
  portion: Portion,
): Generator<void, void, undefined> {
  const { names, gone, about } = yield* look(database, directory, now());
  // What is gone is found to be so again, as everything is, inside its transaction.
  yield* takeIn(database, directory, [...gone, ...names], portion);
  const news = Object.entries(about);
  if (news.length > 0) {
    inTransaction(database, () => {
      for (const one of news) database.run('INSERT OR REPLACE INTO about VALUES (?, ?)', ...one);
    });
  }
}

/** Reads what is new in these sessions. */
export function* takeIn(
  database: Database,
  directory: string,
  names: readonly string[],
  portion: Portion,
): Generator<void, void, undefined> {
  const waiting = [...names].reverse();
  const isDone = (name: string) => !isStale(database, directory, name);
  for (let next = waiting.at(-1); next !== undefined; next = waiting.at(-1)) {
    if (isDone(next)) waiting.pop();
    else {
      inTransaction(database, () => {
        const batch = new Batch(database, portion);
        for (
          let name = waiting.at(-1);
          name !== undefined && batch.hasRoom;
          name = waiting.at(-1)
        ) {
          if (isDone(name) || takeInSession(database, directory, name, batch)) waiting.pop();
        }
        batch.store();
      });
      yield* mergeWords(database, portion);
    }
    yield;
  }
}

/**
 * Every transaction leaves a piece of the index of words, and a search has to look into each. Left
 * to itself SQLite puts them together now and then for so long that a server would stand still.
 */
function* mergeWords(database: Database, { pages }: Portion): Generator<void, void, undefined> {
  const changes = () => Number(database.all('SELECT total_changes() AS count')[0]?.count);
  for (;;) {
    const before = changes();
    inTransaction(database, () => {
      database.run("INSERT INTO words (words, rank) VALUES ('merge', ?)", pages);
    });
    if (changes() - before < 2) return; // how it says that there was nothing to do
    yield;
  }
}

type Session = FileState & {
  readonly id: number;
  readonly live: boolean;
  readonly watermark: number;
  readonly damaged: number;
  readonly sequence: SequenceState;
};

function findSession(database: Database, name: string): Session | undefined {
  const [row] = database.all('SELECT * FROM sessions WHERE name = ?', name);
  if (row === undefined) return undefined;
  const number = (key: string) => Number(row[key]);
  return {
    id: number('id'),
    live: row.live === 1,
    ...stateFrom(String(row.state)),
    watermark: number('watermark'),
    damaged: number('damaged'),
    sequence: {
      last: number('last'),
      count: number('count'),
      skipped: number('skipped'),
      repeated: number('repeated'),
      backward: number('backward'),
    },
  };
}

function isStale(database: Database, directory: string, name: string): boolean {
  const session = findSession(database, name);
  if (session === undefined || !isAs(session, fileState(directory, name))) return true;
  return session.live && !isLive(storedMetadata(directory, name));
}

/** True when all of it is taken in. */
function takeInSession(database: Database, directory: string, name: string, batch: Batch): boolean {
  // Before it is read: what is written meanwhile makes it look changed the next time.
  const metadata = storedMetadata(directory, name);
  const state = fileState(directory, name);
  let session = findSession(database, name);
  if (session !== undefined && !isContinued(database, directory, name, session, state)) {
    if (!batch.takeOut(session.id)) return false;
    database.run('DELETE FROM sessions WHERE id = ?', session.id);
    session = undefined;
  }
  if (state === undefined) return true;
  session ??= addSession(database, name);
  const sequence = new SequenceCheck(expectedEntries(metadata), session.sequence);
  const damage: LineDamage = { lines: 0, sequence };
  let watermark = session.watermark;
  let until = { damaged: 0, ...sequence.state };
  let complete = true;
  for (const { entry, offset, end } of readEntries(directory, name, watermark, damage)) {
    // A damaged line can have several entries, which share its end.
    if (!batch.hasRoom && end !== watermark) {
      complete = false;
      break;
    }
    batch.takeIn(session.id, entry, offset);
    watermark = end;
    until = { damaged: damage.lines, ...sequence.state };
  }
  if (complete) {
    watermark = damage.end ?? watermark;
    until = { damaged: wholeLines(damage), ...sequence.state };
  }
  const partOf = metadata?.part_of ?? '';
  const read = complete ? state : { ino: state.ino, size: watermark, ctime: 0 };
  database.run(
    `UPDATE sessions SET live = ?, state = ?, watermark = ?, damaged = ?, last = ?,
      count = ?, skipped = ?, repeated = ?, backward = ?, missing = ?, part_of = ? WHERE id = ?`,
    ...[Number(isLive(metadata)), stateText(read), watermark, session.damaged + until.damaged],
    ...[until.last, until.count, until.skipped, until.repeated, until.backward],
    complete ? sequence.faults.missing : 0, // of the part that was read nothing is missing
    ...[isJournalId(partOf) ? partOf : null, session.id],
  );
  return complete;
}

function addSession(database: Database, name: string): Session {
  database.run(
    'INSERT INTO sessions VALUES (NULL, ?, 1, ?, 0, NULL, 0, 0, 0, 0, 0, 0, 0, NULL)',
    name,
    '0 0 0',
  );
  const session = findSession(database, name);
  if (session === undefined) throw new Error('a row that was just inserted is missing');
  return session;
}

/** The file is the one that was read, and all that happened to it is that it became longer. */
function isContinued(
  database: Database,
  directory: string,
  name: string,
  session: Session,
  state: FileState | undefined,
): boolean {
  if (state === undefined) return false;
  if (isAs(session, state) || session.watermark === 0) return true;
  if (state.ino !== session.ino || state.size <= session.size) return false;
  // An inode can be that of a file that was removed. One entry that was read tells whether it is.
  const sql = `SELECT entry_id, offset FROM entries WHERE session = ?
    ORDER BY entry_id DESC LIMIT 1`;
  const [row] = database.all(sql, session.id);
  return entryAt(directory, name, Number(row?.offset), String(row?.entry_id)) !== undefined;
}
