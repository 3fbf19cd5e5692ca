// Secrets in what was recorded: in the entries of a journal, and in the captures that belong to it
// or to no journal. A leak says where a secret of which kind is, never the secret: the same secret
// has the same mark all over one report. A mark is a hash with a salt that is forgotten with the
// report, so that short passwords cannot be guessed from it.

import { createHash, randomBytes } from 'node:crypto';
import { captureDir } from '../capture/paths.ts';
import { readOutput } from '../capture/reader.ts';
import type { Capture } from '../capture/store.ts';
import { captureIds, openCapture, type Store } from '../capture/store.ts';
import { errnoOf } from '../errors.ts';
import type { LineDamage } from '../journal/entry-lines.ts';
import { recipientTexts } from '../sealing/redact/encrypted.ts';
import { SecretFinder } from '../text/secrets/finder.ts';
import type { KnownValues } from '../text/secrets/known-values.ts';
import { withoutSecrets } from '../text/secrets/masked.ts';
import type { Encoding } from '../text/secrets/views.ts';
import type { Entry } from '../types.ts';
import { sessionEntries, sessionsSince } from './sessions.ts';

/** What can be redacted by itself: the words of a command, or what it printed. */
type LeakPart = 'text' | 'stdout' | 'stderr';

export type Leak = {
  readonly kind: string;
  /** The variable that has it as its value, if it is a known one. */
  readonly variable: string | null;
  readonly mark: string;
  readonly part: LeakPart;
  readonly encodings: readonly Encoding[];
  /** How often it is there. */
  readonly count: number;
  /** The command, without secrets. */
  readonly command: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly agent: string | null;
  readonly runId: string | null;
  readonly entry: { readonly sessionId: string; readonly sequence: number } | null;
  readonly kept: readonly ('journal' | 'capture')[];
};

export type LeakReport = {
  readonly leaks: readonly Leak[];
  readonly commands: number;
  readonly captures: number;
  readonly notSearched: {
    readonly damagedLines: number;
    readonly captures: number;
    /** For whom those of the captures are encrypted that we have no identity for. */
    readonly recipients: readonly string[];
  };
};

export type LeakQuery = {
  readonly directory: string;
  readonly store: Store;
  readonly since: number | undefined;
  readonly known: KnownValues;
  readonly step: () => void;
};

const READ_BYTES = 1_048_576;

/** The newest first. */
export function findLeaks(query: LeakQuery): LeakReport {
  const { directory, store, since, step } = query;
  const leaks = new Leaks(query.known);
  const damage: LineDamage = { lines: 0 };
  let commands = 0;
  for (const id of sessionsSince(directory, since)) {
    for (const entry of sessionEntries(directory, id, damage)) {
      step();
      if (since !== undefined && Date.parse(entry.timestamp) < since) continue;
      commands += 1;
      leaks.inEntry(entry);
    }
  }
  let [captures, unread] = [0, 0];
  const recipients = new Set<string>();
  for (const id of captureIds(store)) {
    step();
    try {
      const capture = openCapture(store, id);
      if (!isWanted(capture, directory, since)) continue;
      leaks.inCapture(capture);
      captures += 1;
    } catch (error) {
      unread += 1; // swept meanwhile, damaged, encrypted, or of another user: counted, and said
      if (errnoOf(error) !== 'decryption_failed') continue;
      for (const one of recipientTexts(captureDir(store.root, id))) recipients.add(one);
    }
  }
  const notSearched = {
    damagedLines: damage.lines,
    captures: unread,
    recipients: [...recipients],
  };
  return { leaks: leaks.result(), commands, captures, notSearched };
}

function isWanted({ meta }: Capture, directory: string, since: number | undefined): boolean {
  if (meta === undefined) return true;
  const other = meta.journal !== undefined && meta.journal.directory !== directory;
  return !other && (since === undefined || meta.createdAt >= since);
}

/** What a leak says about the run that it is in. */
type Place = Pick<Leak, 'command' | 'at' | 'agent' | 'runId' | 'entry'>;

type Building = { leak: Leak; readonly counts: Record<'journal' | 'capture', number> };

class Leaks {
  readonly #known: KnownValues;
  readonly #salt = randomBytes(16);
  readonly #found = new Map<string, Building>();

  constructor(known: KnownValues) {
    this.#known = known;
  }

  inEntry(entry: Entry): void {
    const place = {
      command: entry.command,
      at: Date.parse(entry.timestamp),
      agent: entry.agent_id,
      runId: entry.run_id,
      entry: { sessionId: entry.session_id, sequence: entry.sequence_number },
    };
    const { later } = entry;
    const words = [entry.command, entry.description, ...Object.values(entry.environment ?? {})];
    const processes = [...(entry.process_list ?? []), ...(entry.failed_process_list ?? [])];
    this.#look('text', 'journal', place, [...words, ...processes]);
    this.#look('stdout', 'journal', place, [entry.stdout, later?.stdout]);
    this.#look('stderr', 'journal', place, [entry.stderr, later?.stderr]);
  }

  inCapture(capture: Capture): void {
    const { meta, id } = capture;
    const words = meta?.command.kind === 'shell' ? [meta.command.text] : (meta?.argv ?? []);
    const draft = meta?.journal?.draft;
    const place = {
      command: draft?.command ?? words.join(' '),
      at: meta?.createdAt ?? capture.final?.at ?? 0,
      agent: draft?.agent_id ?? null,
      runId: id,
      entry: null,
    };
    this.#look('text', 'capture', place, [...words, draft?.command, draft?.description]);
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#search(stream, 'capture', place, outputOf(capture, stream));
    }
  }

  #look(
    part: LeakPart,
    where: 'journal' | 'capture',
    place: Place,
    texts: readonly (string | null | undefined)[],
  ): void {
    for (const text of texts) {
      if (text) this.#search(part, where, place, [Buffer.from(text)]);
    }
  }

  #search(
    part: LeakPart,
    where: 'journal' | 'capture',
    place: Place,
    pieces: Iterable<Uint8Array>,
  ): void {
    const finder = new SecretFinder(this.#known);
    for (const piece of pieces) {
      for (const one of finder.push(piece)) this.#add(part, where, place, one);
    }
    for (const one of finder.end()) this.#add(part, where, place, one);
  }

  #add(
    part: LeakPart,
    where: 'journal' | 'capture',
    place: Place,
    found: ReturnType<SecretFinder['end']>[number],
  ): void {
    const mark = this.#markOf(found.secret);
    const run = place.runId ?? `${place.entry?.sessionId} ${place.entry?.sequence}`;
    const key = `${run} ${part} ${mark}`;
    const known = this.#found.get(key);
    const counts = known?.counts ?? { journal: 0, capture: 0 };
    counts[where] += 1;
    const before = known?.leak;
    const leak: Leak = {
      ...(before ?? { ...place, command: '', mark, part }),
      command: before?.command ?? withoutSecrets(place.command, this.#known),
      kind: before === undefined || before.kind === 'variable' ? found.kind : before.kind,
      variable: before?.variable ?? found.name ?? null,
      encodings: [...new Set([...(before?.encodings ?? []), found.encoding])],
      // The journal has a part of what the capture has.
      count: Math.max(counts.journal, counts.capture),
      kept: (['journal', 'capture'] as const).filter((one) => counts[one] > 0),
    };
    this.#found.set(key, { leak, counts });
  }

  #markOf(secret: string): string {
    const hash = createHash('sha256').update(this.#salt).update(secret.trim());
    return hash.digest('hex').slice(0, 8);
  }

  result(): readonly Leak[] {
    return [...this.#found.values()].map(({ leak }) => leak).sort((a, b) => b.at - a.at);
  }
}

/** One stream of it, a piece at a time; what is not kept of it is passed over. */
function* outputOf(capture: Capture, stream: 'stdout' | 'stderr'): Generator<Uint8Array> {
  for (let cursor = 0; ; ) {
    const { chunks, nextCursor, eof } = readOutput(capture, cursor, READ_BYTES, stream);
    for (const { bytes } of chunks) yield bytes;
    if (eof || nextCursor === cursor) return;
    cursor = nextCursor;
  }
}
