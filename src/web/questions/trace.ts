// `GET /api/runs/ID/trace` and `/writes`: the processes inside a run, and what each wrote.

import { processOutput } from '../../trace/trace.ts';
import { capturedTraceJson, chromeTrace, readTrace } from '../../tracing/read.ts';
import type { WritesAnswer } from '../api.ts';
import { Fault } from '../fault.ts';
import { captureOf } from '../runs.ts';
import type { Question } from './ground.ts';

export const trace: Question = {
  params: ['format'],
  answer({ store }, { id, params }) {
    const capture = captureOf(store, id);
    const found = readTrace(capture);
    if (params.oneOf('format', ['chrome']) === undefined) return capturedTraceJson(capture, found);
    if (found.kind === 'untraced') throw new Fault(404, `It was not traced: ${found.reason}.`);
    return chromeTrace(found.trace);
  },
};

export const writes: Question = {
  params: ['pid'],
  answer({ store }, { id, params }): WritesAnswer {
    const pid = params.count('pid');
    if (pid === undefined) throw new Fault(400, 'Which process? Say its pid.');
    const found = readTrace(captureOf(store, id));
    if (found.kind === 'untraced') throw new Fault(404, `It was not traced: ${found.reason}.`);
    const ranges = processOutput(found.trace, pid).map(
      ({ offset, length, channel }) => [offset, length, channel] as const,
    );
    return { pid, ranges };
  },
};
