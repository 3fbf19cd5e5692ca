// Runs and sessions as asciicasts. A run is shown with the times its bytes really came at. In a
// session every command is typed at a prompt when it began; its output comes from its capture
// while that is kept, and from the journal's copy, all at its end, when it is not.

import { StringDecoder } from 'node:string_decoder';
import { type Capture, openCapture, readEvents, type Store } from '../capture/store.ts';
import { isAppError } from '../errors.ts';
import { journalIdTime } from '../journal/ids.ts';
import { OutputReader } from '../shell/output/reader.ts';
import { CastEncoder, type CastEvent, type CastVersion } from '../text/asciicast.ts';
import { missingMark } from '../text/missing.ts';
import { quoteWords } from '../text/printable.ts';
import { redactText } from '../text/secret-words.ts';
import type { Entry } from '../types.ts';
import { sessionEntries } from './sessions.ts';

const SIZE = { cols: 80, rows: 24 }; // where the size of the terminal is unknown
const PIECE_LENGTH = 65_536; // of the journal's copy, in one event
const IDLE_SECONDS_MAX = 2; // between two commands of an agent there may be hours

/** One run. */
export function* castOfRun(capture: Capture, version: CastVersion): Generator<string> {
  const cast = new CastEncoder(version);
  const startedAt = capture.meta?.startedAt ?? capture.meta?.createdAt ?? firstTime(capture);
  const sizes = readEvents(capture).filter((event) => event.type === 'resize');
  const early = sizes.find(({ at, offset }) => offset === 0 || at <= startedAt) ?? SIZE;
  yield cast.header({
    width: early.cols,
    height: early.rows,
    startedAt,
    ...(capture.meta && { command: commandOf(capture.meta) }),
    title: capture.id,
  });
  const later = sizes.filter((event) => event !== early);
  for (const event of outputOf(capture, startedAt)) {
    while (later[0] !== undefined && isBefore(later[0], event, startedAt)) {
      yield cast.event(resized(later[0], startedAt, event.atMs));
      later.shift();
    }
    yield cast.event(event);
  }
  for (const event of later) yield cast.event(resized(event, startedAt, Infinity));
  const outcome = capture.final?.outcome;
  if (capture.final !== undefined && outcome?.kind === 'exited') {
    const data = String(outcome.code);
    yield cast.event({ atMs: capture.final.at - startedAt, code: 'x', data });
  }
}

/** A whole session, as if it had been typed into one terminal. Without a store, no captures. */
export function* castOfSession(
  journal: { readonly directory: string; readonly id: string },
  store: Store | undefined,
  version: CastVersion,
): Generator<string> {
  const cast = new CastEncoder(version);
  let startedAt: number | undefined;
  const head = (at: number): string =>
    cast.header({
      width: SIZE.cols,
      height: SIZE.rows,
      startedAt: at,
      title: journal.id,
      idleSecondsMax: IDLE_SECONDS_MAX,
    });
  for (const entry of sessionEntries(journal.directory, journal.id)) {
    if (startedAt === undefined) {
      startedAt = Date.parse(entry.timestamp);
      yield head(startedAt);
    }
    const atMs = Date.parse(entry.timestamp) - startedAt;
    yield cast.event({ atMs, code: 'm', data: entry.command });
    yield cast.event({ atMs, code: 'o', data: `$ ${terminalLines(entry.command)}\r\n` });
    for (const event of outputOfEntry(entry, store, startedAt)) yield cast.event(event);
  }
  if (startedAt === undefined) yield head(journalIdTime(journal.id) ?? 0);
}

function* outputOfEntry(
  entry: Entry,
  store: Store | undefined,
  startedAt: number,
): Generator<CastEvent> {
  const capture = store === undefined ? undefined : captureOf(entry, store);
  if (capture !== undefined) {
    yield* outputOf(capture, startedAt);
    return;
  }
  const atMs = Date.parse(entry.timestamp) + entry.duration_ms - startedAt;
  for (const text of [entry.stdout, entry.stderr]) {
    for (const piece of pieces(text ?? '')) yield { atMs, code: 'o', data: terminalLines(piece) };
  }
}

function captureOf({ run_id, stdout, stderr }: Entry, store: Store): Capture | undefined {
  // What was taken out of the copy must not come back with the bytes.
  if (run_id === null || [stdout, stderr].some(isRedacted)) return undefined;
  try {
    return openCapture(store, run_id);
  } catch (error) {
    if (isAppError(error)) return undefined; // swept, or no id of a capture: the copy must do
    throw error;
  }
}

function isRedacted(text: string | null): boolean {
  return text?.includes('[REDACTED:') === true;
}

/** What a capture has, a chunk an event. A character may be cut in two by the end of a chunk. */
function* outputOf(capture: Capture, startedAt: number): Generator<Shown> {
  const began = capture.meta?.startedAt ?? startedAt;
  const pty = capture.meta?.transport === 'pty';
  const lines = { pty: new Lines(), stdout: new Lines(), stderr: new Lines() };
  const decoders = { ...lines, unknown: lines.stdout };
  let at = startedAt;
  let end = 0;
  for (const { chunk, bytes } of OutputReader.of(capture).pieces(0)) {
    if (chunk.offset > end) {
      const data = missingMark(chunk.offset - end).replaceAll('\n', '\r\n');
      yield { atMs: at - startedAt, code: 'o', data, offset: end };
    }
    end = chunk.offset + chunk.length;
    // Bytes whose record was lost have no time.
    if (chunk.t !== undefined) at = began + chunk.t;
    else if (chunk.at > 0) at = chunk.at;
    const data = decoders[chunk.channel].decode(bytes, pty);
    if (data !== '') yield { atMs: at - startedAt, code: 'o', data, offset: chunk.offset };
  }
  for (const decoder of Object.values(lines)) {
    const data = decoder.end();
    if (data !== '') yield { atMs: at - startedAt, code: 'o', data, offset: end };
  }
}

/** Output, with the byte of the capture that it begins at. */
type Shown = CastEvent & { readonly offset: number };

type Resize = {
  readonly at: number;
  readonly offset?: number;
  readonly cols: number;
  readonly rows: number;
};

/** Older captures have the time alone, and the clock may have jumped. */
function isBefore({ at, offset }: Resize, shown: Shown, startedAt: number): boolean {
  return offset === undefined ? at - startedAt <= shown.atMs : offset <= shown.offset;
}

/** Bytes of one channel as text. Without a terminal, lines end as a terminal would end them. */
class Lines {
  readonly #decoder = new StringDecoder('utf8');
  #returned = false;

  decode(bytes: Uint8Array, asIs: boolean): string {
    const text = this.#decoder.write(Buffer.from(bytes));
    if (asIs || text === '') return text;
    const started = this.#returned && text.startsWith('\n');
    this.#returned = text.endsWith('\r');
    return started ? `\n${terminalLines(text.slice(1))}` : terminalLines(text);
  }

  end(): string {
    return this.#decoder.end();
  }
}

function terminalLines(text: string): string {
  return text.replace(/(?<!\r)\n/g, '\r\n');
}

/** Of a long text, so that no more than one piece is in memory as an event. */
function* pieces(text: string): Generator<string> {
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = Math.min(at + PIECE_LENGTH, text.length);
    // A \n belongs to the \r before it, and so do the halves of a character to each other.
    while (end < text.length && /[\r\ud800-\udbff]/.test(text.charAt(end - 1))) end++;
    yield text.slice(at, end);
  }
}

function commandOf({ command }: NonNullable<Capture['meta']>): string {
  return redactText(command.kind === 'shell' ? command.text : quoteWords(command.argv));
}

function resized({ at, cols, rows }: Resize, startedAt: number, atMostMs: number): CastEvent {
  return { atMs: Math.min(at - startedAt, atMostMs), code: 'r', data: `${cols}x${rows}` };
}

function firstTime(capture: Capture): number {
  for (const { chunk } of OutputReader.of(capture).pieces(0)) if (chunk.at > 0) return chunk.at;
  return 0;
}
