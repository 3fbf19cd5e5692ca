// The portable backend on its own, for tests: a sink in memory that can fail, streams to forward
// to, and every message in order.
import type { PassThrough, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { portableBackend } from '../../src/run/portable.ts';
import { processAlive } from '../../src/run/processes.ts';
import type { Handle, RunMessage, RunSpec, Sink } from '../../src/run/spec.ts';
import type { Channel, Ended, ProcessId } from '../../src/types.ts';

/** What reached whom, in order: the sink, the listener, or a stream we forward to. */
type Step = string;

export type FakeSink = Sink & {
  readonly steps: Step[];
  readonly events: { type: string; fields: Readonly<Record<string, unknown>> }[];
  readonly finals: { ended: Ended; closed: boolean }[];
  text(channel?: Channel): string;
  bytes(channel?: Channel): Buffer;
  /** Resolves once the text is there. */
  shows(pattern: RegExp): Promise<void>;
};

export function fakeSink(steps: Step[] = [], keepBytesMax = Number.POSITIVE_INFINITY): FakeSink {
  const chunks: { channel: Channel; bytes: Buffer }[] = [];
  const waiting: (() => void)[] = [];
  let outputBytes = 0;
  let lostBytes = 0;
  const bytes = (channel?: Channel): Buffer =>
    Buffer.concat(
      chunks.filter((one) => (channel ?? one.channel) === one.channel).map((one) => one.bytes),
    );
  const sink: FakeSink = {
    steps,
    events: [],
    finals: [],
    started: () => steps.push('sink started'),
    append(channel, piece) {
      steps.push(`sink ${channel}`);
      if (outputBytes + piece.length > keepBytesMax) lostBytes += piece.length;
      else {
        outputBytes += piece.length;
        chunks.push({ channel, bytes: Buffer.from(piece) });
      }
      for (const look of waiting.splice(0)) look();
    },
    event(type, fields) {
      steps.push(`sink ${type}`);
      sink.events.push({ type, fields });
    },
    get outputBytes() {
      return outputBytes;
    },
    get lostBytes() {
      return lostBytes;
    },
    finish(ended, { closed }) {
      steps.push(`sink finish${closed ? ' closed' : ''}`);
      sink.finals.push({ ended, closed });
    },
    bytes,
    text: (channel) => bytes(channel).toString(),
    async shows(pattern) {
      while (!pattern.test(bytes().toString())) {
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
  return sink;
}

export function specOf(argv: readonly string[], changes: Partial<RunSpec> = {}): RunSpec {
  return {
    id: 'test',
    argv,
    env: { ...(process.env as Record<string, string>) },
    cwd: process.cwd(),
    dir: '/nowhere',
    transport: 'pipe',
    stdin: 'null',
    forward: false,
    session: 'own',
    killAfterMs: undefined,
    graceMs: 2_000,
    outputBytesMax: 1_000_000_000,
    strict: false,
    sync: 'late',
    size: { cols: 80, rows: 24 },
    ...changes,
  };
}

export const bash = (text: string): string[] => ['bash', '--noprofile', '--norc', '-c', text];

export type Started = {
  readonly handle: Handle;
  readonly sink: FakeSink;
  readonly messages: RunMessage[];
  /** The first message of that kind; fails when the run ends without one. */
  message<K extends RunMessage['kind']>(kind: K): Promise<Extract<RunMessage, { kind: K }>>;
};

type Streams = { stdin?: PassThrough; stdout: Writable; stderr: Writable };

/** Starts a run and makes sure that nothing of it is left after the test. */
export function start(
  spec: RunSpec,
  options: { readonly sink?: FakeSink; readonly streams?: Streams } = {},
): Started {
  const sink = options.sink ?? fakeSink();
  const messages: RunMessage[] = [];
  const waiting: (() => void)[] = [];
  const over = (): boolean => messages.some(({ kind }) => kind === 'ended' || kind === 'failed');
  const streams = options.streams as unknown as NodeJS.Process | undefined;
  const backend = portableBackend({ openSink: () => sink, ...(streams && { streams }) });
  const handle = backend.start(spec, (message) => {
    messages.push(message);
    sink.steps.push(`said ${message.kind}`);
    for (const look of waiting.splice(0)) look();
  });
  const run: Started = {
    handle,
    sink,
    messages,
    async message(kind) {
      while (true) {
        const found = messages.find((one) => one.kind === kind);
        if (found !== undefined) return found as Extract<RunMessage, { kind: typeof kind }>;
        if (over()) throw new Error(`${JSON.stringify(messages)} without ${kind}`);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
  onTestFinished(async () => {
    if (over()) return;
    handle.kill({ signal: 'KILL', graceMs: 0, cause: 'kill' });
    await run.message('ended');
  });
  return run;
}

/** Until the process is gone; for processes nobody tells us about. */
export async function gone(id: ProcessId): Promise<void> {
  while (processAlive(id)) await new Promise((resolve) => setTimeout(resolve, 5));
}
