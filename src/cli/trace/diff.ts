// `cuff trace A B --diff`: what is different between the processes of two runs.

import { type Capture, captureNamed, storeOf } from '../../shell/captures.ts';
import { counted } from '../../text/plural.ts';
import { differenceOf, differenceRows, renderDifference, type Trace } from '../../tracing/read.ts';
import { put, putJson, say } from '../output.ts';
import { drawingOf, lookInto, sayUntraced } from './look.ts';

export async function diff(
  before: Capture,
  other: string,
  { json }: { readonly json?: boolean },
): Promise<void> {
  const after = captureNamed(storeOf(process.env), other);
  const then = tracedOf(before);
  const now = then && tracedOf(after);
  if (then === undefined || now === undefined) return;
  const difference = differenceOf(then.processes, now.processes);
  const rows = differenceRows(difference);
  if (json) {
    await putJson({ before: before.id, after: after.id, changes: rows, same: difference.same });
    return;
  }
  if (rows.length > 0) await put(renderDifference(rows, drawingOf()));
  const same = counted(difference.same, 'process is as it was', 'processes are as they were');
  say(rows.length > 0 ? `${same}.` : `No difference: ${same}.`);
}

function tracedOf(capture: Capture): Trace | undefined {
  const { found } = lookInto(capture);
  if (found.kind === 'traced') return found.trace;
  process.exitCode = 1;
  say(`${capture.id}:`);
  sayUntraced(found);
  return undefined;
}
