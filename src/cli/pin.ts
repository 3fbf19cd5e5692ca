// `cuff pin`: the sweep keeps a pinned capture.

import { captureNamed, pinCapture, storeOf } from '../shell/captures.ts';
import { putJson, say } from './output.ts';

/** `--json`: {"session_id","pinned"}. */
export function pin(part: string, options: { off?: boolean; json?: boolean }): Promise<void> {
  const store = storeOf(process.env);
  const { id } = captureNamed(store, part);
  const pinned = options.off !== true;
  pinCapture(store, id, pinned);
  if (options.json) return putJson({ session_id: id, pinned });
  say(
    pinned
      ? `${id} is kept until \`cuff pin --off\`.`
      : `${id} is removed when its retention is over.`,
  );
  return Promise.resolve();
}
