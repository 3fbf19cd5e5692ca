// Joins the portable backend to the capture format: the writer stores what the backend reports.
// Also `cuff run` without the native runner: the same orders, given to the portable backend.

import { type CaptureEvent, decodeEvent } from '../capture/event.ts';
import { decodeMeta } from '../capture/format.ts';
import { readTextIn } from '../capture/paths.ts';
import { rewriteMeta } from '../capture/store.ts';
import { openWriter } from '../capture/writer.ts';
import { AppError } from '../errors.ts';
import { portableBackend, portablePty } from '../run/portable.ts';
import { thisProcess } from '../run/processes.ts';
import type { Listener, RunSpec, Sink } from '../run/spec.ts';
import type { Survivor } from '../types.ts';

export { portablePty };

export function portableSink(spec: RunSpec): Sink {
  const { dir } = spec;
  if (dir === undefined) throw new AppError('state_unwritable', 'There is no capture to write to.');
  let began = performance.now();
  const elapsed = (): number => performance.now() - began;
  const writer = openWriter(dir, spec, { now: Date.now, elapsed });
  return {
    started(child) {
      began = performance.now();
      try {
        const meta = decodeMeta(readTextIn(dir, 'meta.json') ?? '');
        if (meta === undefined) return; // the capture was removed: the run goes on without it
        const launched = { child, runner: thisProcess(), startedAt: Date.now() };
        rewriteMeta(dir, { ...meta, ...launched }, meta.argv);
      } catch {
        // A full or read-only disk: the run goes on with an incomplete capture.
      }
    },
    append(channel, bytes) {
      spec.memory?.add(channel, bytes);
      writer.append(channel, bytes);
    },
    event(type, fields) {
      const event = discreet(spec, asEvent(type, fields));
      if (event !== undefined) writer.event(event);
    },
    get outputBytes() {
      return writer.outputBytes;
    },
    get lostBytes() {
      return writer.lostBytes;
    },
    finish(ended, { closed, survivors }) {
      writer.finish({
        ...ended,
        state: ended.outcome.kind,
        outputClosed: closed,
        survivors: survivors.map((one) => named(spec, one)),
      });
    },
  };
}

export function startPortable(spec: RunSpec, listener: Listener): (order: string) => void {
  const handle = portableBackend({ openSink: portableSink }).start(spec, listener);
  return (order) => {
    const [word, value = ''] = order.split(' ');
    if (word === 'signal') handle.signal(value);
    if (word === 'cont') handle.signal('SIGCONT');
    if (word === 'resize') handle.resize(process.stdout.columns ?? 80, process.stdout.rows ?? 24);
  };
}

function discreet(spec: RunSpec, event: CaptureEvent | undefined): CaptureEvent | undefined {
  if (event?.type !== 'survivors') return event;
  return { ...event, processes: event.processes.map((one) => named(spec, one)) };
}

/** A run whose output must not reach the disk does not write down arguments either. */
function named({ memory }: RunSpec, survivor: Survivor): Survivor {
  if (memory === undefined) return survivor;
  return { ...survivor, command: survivor.command.split(' ', 1)[0] ?? '' };
}

/** Maps the backend's plain fields to an event of the format; undefined if they are none. */
function asEvent(
  type: string,
  fields: Readonly<Record<string, unknown>>,
): CaptureEvent | undefined {
  return decodeEvent(JSON.stringify({ type, timestamp: new Date().toISOString(), ...fields }));
}
