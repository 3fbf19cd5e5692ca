// `<sid>.later.jsonl`: what the processes that a command left running printed behind its entry, one
// line for each run when it closes. An entry's own line never changes; readers put both together.
import { namesIn } from '../directories.ts';
import { asString, parseObject } from '../text/json.ts';
import type { Entry, LaterOutput } from '../types.ts';
import { appendBeside, type BesideEnv } from './beside.ts';
import { decodeLater } from './entry.ts';
import { linesIn } from './entry-lines.ts';
import { findSessionFiles, sessionsDir } from './files.ts';
import { entrySequence, isJournalId, LATER } from './ids.ts';
import { openLines, readAllLines } from './packed/source.ts';
import { placeTrouble } from './place.ts';

/**
 * They are on the disk when this resolves. An entry gets one line, and a session that was removed
 * none. Rejects with `journal_unwritable`.
 */
export async function appendLater(
  directory: string,
  sessionId: string,
  all: readonly LaterOutput[],
  env: BesideEnv,
): Promise<void> {
  const files = findSessionFiles(directory, sessionId);
  if (files === undefined) return;
  const known = knownIds(files.later);
  const lines = all
    .filter(({ entry_id }) => !known.has(entry_id))
    .map(({ entry_id, survivors, output }) => ({
      text: JSON.stringify({ entry_id, survivors, output }),
      sequence: entrySequence(entry_id),
    }));
  await appendBeside(files.later, lines, { directory, sessionId, kind: 'late-output' }, env);
}

/** Entries that have a line; the ids of packed ones are readable without a key. */
function knownIds(path: string): ReadonlySet<string> {
  const source = openLines(path);
  const known = new Set(source?.stub?.facts.ids);
  if (source === undefined) return known;
  for (const { bytes } of linesIn(source, source.packedBytes)) {
    const id = asString(parseObject(bytes.toString('utf8'))?.entry_id);
    if (id !== undefined) known.add(id);
  }
  return known;
}

/** Gives an entry what came later. `path` is that of the file beside the entries. */
export function laterOf(path: string): (entry: Entry) => Entry {
  const { found } = readLater(path);
  return (entry) => {
    const later = found.get(entry.entry_id);
    return later === undefined ? entry : { ...entry, later };
  };
}

/** The sessions that have such a file; `known` are names of those files, where they are known. */
export function sessionsWithLater(directory: string, known?: readonly string[]): string[] {
  if (placeTrouble(directory) !== undefined) return [];
  const ending = `${LATER}.jsonl`;
  const names = known ?? namesIn(sessionsDir(directory));
  const ids = names
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length));
  return ids.filter(isJournalId);
}

type ReadLater = {
  /** By the id of the entry. */
  readonly found: ReadonlyMap<string, LaterOutput['output']>;
  /** Lines that are no such output, without an unfinished last one. */
  readonly damagedLines: number;
};

export function readLater(path: string): ReadLater {
  const found = new Map<string, LaterOutput['output']>();
  let damagedLines = 0;
  const lines = (readAllLines(path)?.toString('utf8') ?? '').split('\n');
  lines.pop(); // what has no end may be being written
  for (const line of lines) {
    const json = line === '' ? undefined : parseObject(line);
    const [id, output] = [asString(json?.entry_id), decodeLater(json?.output)];
    if (id !== undefined && output !== undefined) found.set(id, output);
    else if (line !== '') damagedLines += 1;
  }
  return { found, damagedLines };
}
