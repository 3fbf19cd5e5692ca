// A program in the place of this process: on its streams, with its signals and its end.

import type { ChildProcess } from 'node:child_process';
import { errnoOf, messageOf } from '../errors.ts';
import { safeWords } from './safe-words.ts';

/** A terminal sends these to the program, too; this process only has to outlive it. */
const SHARED = ['SIGINT', 'SIGQUIT'] as const;
const PASSED_ON = ['SIGTERM', 'SIGHUP'] as const;

export async function endLike(child: ChildProcess, name: string): Promise<void> {
  for (const signal of SHARED) process.on(signal, () => undefined);
  for (const signal of PASSED_ON) process.on(signal, () => child.kill(signal));
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.on('exit', (...end) => resolve(end));
    child.on('error', (error) => {
      process.stderr.write(safeWords(`cuff: ${name}: ${messageOf(error)}\n`));
      resolve([errnoOf(error) === 'ENOENT' ? 127 : 126, null]);
    });
  });
  for (const one of [...SHARED, ...PASSED_ON]) process.removeAllListeners(one);
  if (signal !== null) process.kill(process.pid, signal);
  else process.exit(code ?? 1);
}
