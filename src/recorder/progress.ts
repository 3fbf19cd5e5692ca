// What a caller hears while it waits for a command: every few seconds the last line it printed. And
// the order to end one, where nothing can be done if it is not obeyed.

import type { Run } from '../shell/run.ts';
import type { Shell } from '../shell/shell.ts';
import { printable } from '../text/printable.ts';

const HEARTBEAT_MS = 5_000; // well below the patience of any client

const LINE_BYTES_MAX = 400; // of the last line, in a message about progress

/** A run that is waited for, and the shell that can read it. */
export type AwaitedRun = Pick<Run, 'id' | 'memory' | 'kill'> & { readonly shell: Shell };

/** Returns the function that stops it. */
export function heartbeat(
  run: AwaitedRun,
  tell: ((line: string) => void) | undefined,
  everyMs: number = HEARTBEAT_MS,
): () => void {
  if (tell === undefined) return () => undefined;
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const line = lastLine(run);
    tell(line === '' ? `${seconds}s, no output yet` : `${seconds}s: ${line}`);
  }, everyMs);
  return () => clearInterval(timer);
}

/** The last line a live run has printed; empty when there is none. */
function lastLine({ id, memory, shell }: AwaitedRun): string {
  const text = memory
    ? Buffer.from(memory.stdout()).subarray(-LINE_BYTES_MAX).toString()
    : tail(shell, id);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return printable(lines.at(-1)?.trim() ?? '');
}

function tail(shell: Shell, id: string): string {
  try {
    return shell.view(id, { kind: 'tail', linesMax: 2, bytesMax: LINE_BYTES_MAX }).text;
  } catch {
    return ''; // nothing is captured yet
  }
}

/** An order that cannot be given ends no server: the run has a timeout, too. Never rejects. */
export async function endRun(
  run: Pick<Run, 'kill'>,
  cause: 'cancelled' | 'shutdown',
): Promise<void> {
  await run.kill({ cause }).catch(() => undefined);
}
