// The thread that packs: it does one capture or session after the other, and gives way to the
// commands of the machine. It may be ended at any moment.
import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { bringHome } from '../capture/in-memory.ts';
import { encryptCapture } from '../capture/packed/encrypt.ts';
import { packCapture } from '../capture/packed/pack.ts';
import { messageOf, reasonOf } from '../errors.ts';
import { packLines } from '../journal/packed/pack.ts';
import type { PackOrder, PackOutcome } from './thread.ts';

// As `nice` has it, and not 19: the end of the process waits for the thread, which must not starve
// on a busy machine.
const NICE = 10;

// On Linux a priority is that of a thread; elsewhere it would be that of the whole server.
if (process.platform === 'linux') setPriority(Math.max(NICE, getPriority()));

parentPort?.on('message', async (order: PackOrder) => {
  parentPort?.postMessage(await packed(order));
});

async function packed(order: PackOrder): Promise<PackOutcome> {
  const { recipients } = order;
  try {
    if ('files' in order) {
      const { files, upTo } = order;
      for (const path of files) await packLines(path, { recipients, upTo });
    } else {
      if (recipients.length > 0) encryptCapture(order.dir, recipients);
      else packCapture(order.dir);
      bringHome(order.dir);
    }
    return { packed: true };
  } catch (error) {
    return { packed: false, reason: reasonOf(error), message: messageOf(error) };
  }
}
