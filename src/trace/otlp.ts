// A trace as OTLP/JSON, what OpenTelemetry collectors take: one span for each process, below the
// span of its parent. Ids are made from the capture's id, so that the same trace exported twice is
// the same trace.

import { fnv64 } from '../text/fnv.ts';
import type { JsonObject } from '../text/json.ts';
import { lastImage } from './processes/process.ts';
import { exitFields, exitText, hasFailed, programName } from './shown.ts';
import type { Trace, TracedProcess } from './trace.ts';

const INTERNAL = 1;
const STATUS = { ok: 1, error: 2 };

export function otlpTrace(trace: Trace): JsonObject {
  const traceId = hex128(trace.captureId);
  const attributes = [text('service.name', 'cuff'), text('cuff.capture_id', trace.captureId)];
  return {
    resourceSpans: [
      {
        resource: { attributes },
        scopeSpans: [
          {
            scope: { name: 'cuff.trace' },
            spans: trace.processes.map((one) => spanOf(one, trace.captureId, traceId)),
          },
        ],
      },
    ],
  };
}

function spanOf(process: TracedProcess, captureId: string, traceId: string): JsonObject {
  const { id, parent, startNs, endNs, exit } = process;
  return {
    traceId,
    spanId: spanId(captureId, id),
    ...(parent !== undefined && { parentSpanId: spanId(captureId, parent) }),
    name: programName(process),
    kind: INTERNAL,
    startTimeUnixNano: String(startNs),
    // A span needs an end; one that is not known is its last sign of life.
    endTimeUnixNano: String(endNs ?? lastImage(process)?.startNs ?? startNs),
    attributes: attributesOf(process),
    ...(exit.kind !== 'unknown' && {
      status: hasFailed(exit)
        ? { code: STATUS.error, message: exitText(exit) }
        : { code: STATUS.ok },
    }),
  };
}

function attributesOf(process: TracedProcess): JsonObject[] {
  const { pid, ppid, exit, bytes, sources } = process;
  const image = lastImage(process);
  const { exit_code: code, signal } = exitFields(exit);
  const found = [
    whole('process.pid', pid),
    whole('process.parent_pid', ppid),
    whole('cuff.bytes.stdout', bytes.stdout),
    whole('cuff.bytes.stderr', bytes.stderr),
    whole('cuff.bytes.pty', bytes.pty),
    list('cuff.sources', sources),
  ];
  if (image !== undefined) {
    found.push(text('process.executable.path', image.exe));
    found.push(list('process.command_args', image.argv));
    found.push(text('process.working_directory', image.cwd));
  }
  if (typeof code === 'number') found.push(whole('process.exit.code', code));
  if (typeof signal === 'string') found.push(text('process.exit.signal', signal));
  return found;
}

function text(key: string, value: string): JsonObject {
  return { key, value: { stringValue: value } };
}

function whole(key: string, value: number): JsonObject {
  return { key, value: { intValue: String(value) } };
}

function list(key: string, values: readonly string[]): JsonObject {
  return { key, value: { arrayValue: { values: values.map((stringValue) => ({ stringValue })) } } };
}

/** Not a secret and not a proof: only the same for the same, and never zero, which means none. */
function hex64(words: string): string {
  const hash = fnv64([Buffer.from(words)]);
  return /^0+$/.test(hash) ? '0000000000000001' : hash;
}

function hex128(captureId: string): string {
  return hex64(`trace ${captureId}`) + hex64(captureId);
}

function spanId(captureId: string, process: number): string {
  return hex64(`${captureId} ${process}`);
}
