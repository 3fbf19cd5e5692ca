// What runs in a sandbox left in a spool, for any command that reads or writes a journal outside of
// it: captures are moved to the state root, and the project's journal gets the entries that they
// lack. Costs a few system calls where there is nothing to take home.

import { accessSync, constants } from 'node:fs';
import { stateRoot } from '../capture/paths.ts';
import { namesIn } from '../directories.ts';
import { isThere } from '../places.ts';
import { owedDir, spoolsThere } from '../shell/spool-look.ts';
import type { Env } from '../types.ts';

/** Never throws: the command goes on, and the next one tries again. */
export async function takeHome(cwd: string, env: Env): Promise<void> {
  const root = stateRoot(env);
  try {
    if (namesIn(owedDir(root)).length === 0 && !spoolsThere(cwd, env)) return;
    if (isThere(root)) accessSync(root, constants.W_OK); // in the sandbox it stays where it is
    const [{ openLog }, { bringHome }, { settleOwed }, { openStore }, { recordingOf }] =
      await Promise.all([
        import('../log.ts'),
        import('../shell/spool.ts'),
        import('../recorder/owed.ts'),
        import('../shell/store.ts'),
        import('./recording.ts'),
      ]);
    const store = openStore(root);
    await bringHome(store, { cwd, env, log: openLog(root) });
    const { project, recording } = await recordingOf(cwd, env);
    await settleOwed({ store, recording, project, env });
  } catch {
    // Settings that cannot be read, a disk that is full: the command itself says so if it matters.
  }
}
