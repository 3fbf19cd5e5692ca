// The entry of `cuff run --journal`: in the journal of the directory that the command runs in, with
// the agent, the session and the call that its caller names. Loaded only with the flag.

import { resolve } from 'node:path';
import { stateRoot } from '../capture/paths.ts';
import { openSingle } from '../recorder/single.ts';
import type { ProxyOptions } from '../shell/proxy.ts';
import { openStore } from '../shell/store.ts';
import { quoteWords } from '../text/printable.ts';
import { recordingOf } from './recording.ts';
import { takeHome } from './take-home.ts';

/** What the entry of a run says besides the run itself; only with `--journal`. */
export type EntryFlags = {
  journal?: boolean;
  agent?: string;
  session?: string;
  toolCall?: string;
  description?: string;
};

export async function entryOfRun(
  argv: readonly string[],
  { cwd: given = '.', killAfterMs, strict = false }: ProxyOptions,
  { agent, session, toolCall, description }: EntryFlags,
): Promise<NonNullable<ProxyOptions['entry']>> {
  const { env } = process;
  const cwd = resolve(given);
  const store = openStore(stateRoot(env));
  const { recording, project } = await recordingOf(cwd, env);
  const startedAt = performance.now();
  const single = openSingle({
    store,
    recording: { ...recording, trace: 'off', strict: strict || recording.strict },
    project,
    request: { command: quoteWords(argv), description, killAfterMs, cwd, shell: '' },
    context: {
      agentId: agent ?? null,
      conversationId: session ?? null,
      toolCallId: toolCall ?? null,
      traceId: null,
    },
    env,
  });
  return {
    intent: single.intent,
    finish: async ({ id, dir, outcome, timedOut, tookMs }) => {
      const ended = { at: Date.now(), outcome, endedBy: timedOut ? 'timeout' : 'itself' } as const;
      const durationMs = tookMs ?? Math.round(performance.now() - startedAt);
      const { writeIndex, ...finished } = await single.finish({ id, dir, ended, durationMs });
      await writeIndex();
      await takeHome(cwd, env);
      return finished;
    },
  };
}
