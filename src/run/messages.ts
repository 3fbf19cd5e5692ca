// The runner's words. native/orders.c and native/serve.c describe both directions.

import type { Readable } from 'node:stream';
import { ENDED_BY } from '../types.ts';
import { remoteMounts } from './mounts.ts';
import type { GateSpec, RunMessage, RunSpec } from './spec.ts';

/** Calls `deliver` for each message that comes; a line without its newline waits for the rest. */
export function listenTo(
  socket: Readable,
  deliver: (id: string, message: RunMessage) => void,
): void {
  let rest = '';
  socket.on('data', (piece: Buffer) => {
    const lines = (rest + piece.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const parsed = parseMessage(line);
      if (parsed !== undefined) deliver(parsed.id, parsed.message);
    }
  });
}

/** `ID WORD ...` as a message, or undefined for a word this version does not know. */
export function parseMessage(line: string): { id: string; message: RunMessage } | undefined {
  const [id, word, a = '', b = '', ...rest] = line.split(' ');
  if (id === undefined || word === undefined) return undefined;
  const message = parseWord(word, a, b, rest);
  return message === undefined ? undefined : { id, message };
}

function parseWord(word: string, a: string, b: string, rest: string[]): RunMessage | undefined {
  switch (word) {
    case 'started':
      return { kind: 'started', child: { pid: Number(a), startTime: Number(b) } };
    case 'uncaptured':
      return { kind: 'uncaptured', error: a };
    case 'tty':
      return { kind: 'tty', saved: a };
    case 'failed':
      return { kind: 'failed', stage: a, error: b, message: rest.join(' ') };
    case 'exited':
    case 'signaled': {
      const outcome =
        word === 'exited'
          ? ({ kind: 'exited', code: Number(a) } as const)
          : ({ kind: 'signaled', signal: a } as const);
      const [survivors, cause, lostBytes, tookMs] = rest;
      return {
        kind: 'done',
        outcome,
        outputBytes: Number(b),
        lostBytes: Number(lostBytes),
        tookMs: Number(tookMs),
        survivors: Number(survivors),
        endedBy: ENDED_BY.find((name) => name === cause) ?? 'itself',
      };
    }
    case 'starting':
    case 'ended':
    case 'gone':
      return { kind: word };
    default:
      return undefined;
  }
}

function gateWords({ path, strict }: GateSpec): string[] {
  return ['--trace-gate', path, '--trace-gate-strict', strict ? 'yes' : 'no'];
}

/** Starts or withdraws a held run (native/serve.c). */
export function heldWord(starts: boolean): Buffer {
  return Buffer.from(new Uint32Array([0, 0, starts ? 1 : 0]).buffer);
}

/** The words behind `runner run` for this spec; `held`: the start waits for a word (serve.c). */
export function runnerWords(spec: RunSpec, held = false): string[] {
  const words = [spec.id, '--transport', spec.transport, '--stdin', spec.stdin];
  words.push('--session', spec.session, '--sync', spec.sync, '--cwd', spec.cwd);
  const { syncFromBytes = 0 } = spec;
  if (syncFromBytes > 0) words.push('--sync-from', String(syncFromBytes));
  words.push('--cap', String(spec.outputBytesMax), '--grace', String(spec.graceMs));
  words.push('--cols', String(spec.size.cols), '--rows', String(spec.size.rows));
  if (spec.dir !== undefined) words.push('--dir', spec.dir);
  if (spec.killAfterMs !== undefined) words.push('--kill-after', String(spec.killAfterMs));
  if (spec.forward) words.push('--forward');
  if (spec.strict) words.push('--strict');
  if (held) words.push('--held');
  if (remoteMounts().length > 0) words.push('--may-hang');
  const { trace } = spec;
  if (trace) words.push('--trace', trace.shimDir, '--trace-env', trace.envNames.join(','));
  if (trace?.stamps === false) words.push('--trace-stamps', 'no');
  if (trace?.frames === false) words.push('--trace-frames', 'no');
  if (trace?.gate) words.push(...gateWords(trace.gate));
  return [...words, '--', ...spec.argv];
}
