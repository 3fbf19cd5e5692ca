// A terminal session that was recorded elsewhere becomes a capture under the state root: every
// event of output at the time it had. Its id is made from its bytes, so that the same file is the
// same capture. It is pinned: no other copy is left once the file is gone.

import {
  type Capture,
  createCapture,
  openCapture,
  pinCapture,
  type Store,
} from '../capture/store.ts';
import { openWriter, type Writer } from '../capture/writer.ts';
import { AppError, isAppError } from '../errors.ts';
import { OUTPUT_BYTES_MAX, RETENTION_SECONDS_DEFAULT } from '../limits.ts';
import { thisProcess } from '../run/processes.ts';
import {
  CastDecoder,
  type CastVersion,
  decodeCastHeader,
  isCastFiller,
} from '../text/asciicast.ts';
import type { CaptureMeta, Outcome } from '../types.ts';
import { LineSource } from './file-lines.ts';

const REFUSED_MAX = 1000; // of more, only the number is kept

export type ImportedCast = {
  readonly sha256: string;
  readonly again: boolean;
  /** The id of the capture. */
  readonly runId: string;
  readonly version: CastVersion;
  readonly events: number;
  /** The first of them. */
  readonly refused: readonly { readonly line: number; readonly problem: string }[];
  readonly refusedCount: number;
};

type Header = NonNullable<ReturnType<typeof decodeCastHeader>>;

/** Undefined when the file is no asciicast. */
export function importCast(store: Store, path: string): ImportedCast | undefined {
  const source = new LineSource(path);
  try {
    const header = headerOf(source);
    if (header === undefined) return undefined;
    const sha256 = source.hash();
    const runId = `cast-${sha256.slice(0, 16)}`;
    const known = { sha256, runId, version: header.version };
    const nothing = { events: 0, refused: [], refusedCount: 0 };
    if (isThere(store, runId)) return { ...known, again: true, ...nothing };
    return { ...known, again: false, ...write(store, source, header, runId) };
  } finally {
    source.close();
  }
}

function headerOf(source: LineSource): Header | undefined {
  for (const { bytes } of source.lines()) {
    return bytes === undefined ? undefined : decodeCastHeader(bytes.toString('utf8'));
  }
  return undefined;
}

function isThere(store: Store, id: string): boolean {
  let capture: Capture;
  try {
    capture = openCapture(store, id);
  } catch (error) {
    if (isAppError(error) && error.code === 'session_not_found') return false;
    throw error;
  }
  if (capture.final !== undefined) return true;
  throw new AppError('session_exists', `Capture '${id}' is there, but not whole`, {
    hint: `Hint: Its import was interrupted or goes on; else remove ${capture.dir} and try again`,
  });
}

function write(store: Store, source: LineSource, header: Header, id: string) {
  const meta = metaFor(store, source, header, id);
  const dir = createCapture(store, meta, ['sh', '-c', shownCommand(header)]);
  let at = meta.createdAt;
  const writer = openWriter(dir, meta, { now: () => at, elapsed: () => at - meta.createdAt });
  writer.event({ type: 'resize', at, cols: header.width, rows: header.height });
  const decoder = new CastDecoder(header.version);
  const refused: { line: number; problem: string }[] = [];
  let outcome: Outcome = { kind: 'exited', code: 0 };
  let [events, refusedCount] = [0, 0];
  for (const { bytes, number } of source.lines()) {
    const text = bytes?.toString('utf8') ?? '';
    if (number === 1 || (bytes !== undefined && isCastFiller(text, header.version))) continue;
    const event = decoder.event(text);
    if (event === undefined) {
      refusedCount += 1;
      if (refused.length < REFUSED_MAX) refused.push({ line: number, problem: 'not an event' });
      continue;
    }
    at = meta.createdAt + Math.round(event.atMs);
    events += 1;
    outcome = exitOf(event) ?? outcome;
    keep(writer, event, at);
  }
  writer.finish({
    at,
    outcome,
    state: outcome.kind,
    endedBy: 'itself',
    outputClosed: true,
    survivors: [],
  });
  pinCapture(store, id, true);
  return { events, refused, refusedCount };
}

type Event = NonNullable<ReturnType<CastDecoder['event']>>;

function keep(writer: Writer, { code, data }: Event, at: number): void {
  if (code === 'o') writer.append('pty', Buffer.from(data));
  const [, cols, rows] = code === 'r' ? (/^(\d{1,5})x(\d{1,5})$/.exec(data) ?? []) : [];
  if (cols !== undefined) writer.event({ type: 'resize', at, cols: +cols, rows: Number(rows) });
}

function exitOf({ code, data }: Event): Outcome | undefined {
  return code === 'x' && /^\d{1,3}$/.test(data)
    ? { kind: 'exited', code: Number(data) }
    : undefined;
}

function metaFor(store: Store, source: LineSource, header: Header, id: string): CaptureMeta {
  const createdAt = header.startedAt > 0 ? header.startedAt : Math.floor(source.modifiedAt);
  const ageSeconds = Math.max(0, Math.ceil((store.now() - createdAt) / 1000));
  const self = thisProcess();
  return {
    id,
    command: { kind: 'shell', text: shownCommand(header) },
    cwd: process.cwd(),
    createdAt,
    // Counted from its end, which may be years ago.
    retentionSeconds: ageSeconds + RETENTION_SECONDS_DEFAULT,
    transport: 'pty',
    transportMode: 'posix-pty',
    ttyAttached: true,
    starter: self,
    outputBytesMax: OUTPUT_BYTES_MAX,
  };
}

function shownCommand({ command, title }: Header): string {
  return command ?? title ?? 'asciicast';
}
