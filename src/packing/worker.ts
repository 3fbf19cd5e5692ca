// The thread that packs: it does one capture after the other, and gives way to the commands of the
// machine. It may be ended at any moment.
import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { encryptCapture } from '../capture/packed/encrypt.ts';
import { packCapture } from '../capture/packed/pack.ts';
import { messageOf, reasonOf } from '../errors.ts';
import type { PackOrder, PackOutcome } from './thread.ts';

// As `nice` has it, and not 19: the end of the process waits for the thread, which must not starve
// on a busy machine.
const NICE = 10;

// On Linux a priority is that of a thread; elsewhere it would be that of the whole server.
if (process.platform === 'linux') setPriority(Math.max(NICE, getPriority()));

parentPort?.on('message', (order: PackOrder) => parentPort?.postMessage(packed(order)));

function packed({ dir, recipients }: PackOrder): PackOutcome {
  try {
    if (recipients.length > 0) encryptCapture(dir, recipients);
    else packCapture(dir);
    return { packed: true };
  } catch (error) {
    return { packed: false, reason: reasonOf(error), message: messageOf(error) };
  }
}
