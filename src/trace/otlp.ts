// A trace as OTLP/JSON, what OpenTelemetry collectors take: one span for each process, below the
// span of its parent. Ids are made from the capture's id, so that the same trace exported twice is
// the same trace.

import { fnv64 } from '../text/fnv.ts';
import { defined, type JsonObject } from '../text/json.ts';
import { lastImage } from './processes/process.ts';
import { exitFields, exitText, hasFailed, programName, usageFields } from './shown.ts';
import type { Trace, TracedProcess } from './trace.ts';

const INTERNAL = 1;
const STATUS = { ok: 1, error: 2 };

export function otlpTrace(trace: Trace): JsonObject {
  const traceId = hex128(trace.captureId);
  const resource = { 'service.name': 'cuff', 'cuff.capture_id': trace.captureId };
  return {
    resourceSpans: [
      {
        resource: { attributes: attributes(resource) },
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
    ...(exit.kind !== 'unknown' &&
      exit.kind !== 'running' && {
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
  return attributes({
    'process.pid': pid,
    'process.parent_pid': ppid,
    'cuff.bytes.stdout': bytes.stdout,
    'cuff.bytes.stderr': bytes.stderr,
    'cuff.bytes.pty': bytes.pty,
    'cuff.sources': sources,
    ...(image && {
      'process.executable.path': image.exe,
      'process.command_args': image.argv,
      'process.working_directory': image.cwd,
    }),
    ...defined({ 'process.exit.code': code, 'process.exit.signal': signal }),
    ...Object.fromEntries(
      Object.entries(usageFields(process)).map(([name, value]) => [`cuff.${name}`, value]),
    ),
  });
}

type Value = string | number | readonly string[];

function attributes(values: Readonly<Record<string, Value>>): JsonObject[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }));
}

/** As OTLP has it: whole numbers are strings. */
function anyValue(value: Value): JsonObject {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'number') return { intValue: String(value) };
  return { arrayValue: { values: value.map(anyValue) } };
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
