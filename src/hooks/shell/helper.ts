// The half of the shell that is not native: it learns what is to run, decides, makes the capture,
// and writes the entry when the command is over. It is no child of the agent, so that whatever
// kills the agent's processes leaves it to write the entry. What the two say to each other is
// described in native/sh.c.

import { outputCap } from '../../capture/cap.ts';
import { createInMemory } from '../../capture/in-memory.ts';
import { createCapture, openCapture, type Store } from '../../capture/store.ts';
import { errnoOf, messageOf, reasonOf } from '../../errors.ts';
import type { SandboxWatch } from '../../guard/sandbox-watch.ts';
import { livePlace } from '../../packing/live.ts';
import { wholeBelow } from '../../recorder/ending.ts';
import { captureSeconds, type RecordingSettings } from '../../recorder/settings.ts';
import { NO_METRICS, openSingle, type SingleEntry } from '../../recorder/single.ts';
import { parseMessage, runnerWords } from '../../run/messages.ts';
import type { RunMessage } from '../../run/spec.ts';
import { attachRun } from '../../shell/attach.ts';
import { newMeta, newSpec } from '../../shell/new-run.ts';
import { deferred } from '../../shell/run.ts';
import { isForbidden } from '../../shell/spool-look.ts';
import { createSpooled } from '../../shell/spool-place.ts';
import { storeAround } from '../../shell/store.ts';
import { noteUncaptured } from '../../shell/uncaptured.ts';
import { shortLine } from '../../text/printable.ts';
import type { CaptureMeta, Ended, Env } from '../../types.ts';
import { claimIntent, type StoredIntent } from '../intent.ts';
import { type AgentCall, agentCall } from './agent-call.ts';
import type { Channel } from './channel.ts';
import type { Hold } from './judge.ts';
import { realCommand } from './real-command.ts';
import { judge } from './verdict.ts';

export type HelperOptions = {
  readonly env: Env;
  readonly store: Store;
  /** The program that gets `-c TEXT`. */
  readonly real: string;
  readonly text: string;
  /** The directory of the call, its real path. */
  readonly cwd: string;
  /** That directory is gone, and `cwd` is the nearest one above it. */
  readonly removed?: boolean;
  /** Where the agent's stdout is a terminal. */
  readonly terminal: boolean;
  readonly channel: Channel;
  /** How commands of this directory are recorded, and of which project it is. */
  readonly recordingOf: (cwd: string) => Promise<{
    readonly project: string;
    readonly recording: RecordingSettings;
  }>;
};

/** Resolves when the client is told all; `rest` is what is still to be written then. */
export async function serveCall(options: HelperOptions): Promise<{ readonly rest: Promise<void> }> {
  const { env, channel } = options;
  const call = agentCall(env);
  const plan = call === undefined ? UNRECORDED : await planned(options, call).catch(failed);
  if (plan.kind === 'refused') tell(channel, 'd', plan.text);
  if (plan.kind === 'failed') tell(channel, 'f', plan.text);
  if (plan.kind === 'unrecorded') channel.send('x\n');
  return plan.kind === 'recorded' ? entered(options, plan) : { rest: Promise.resolve() };
}

async function entered(
  options: HelperOptions,
  { words, meta, dir, single, watch }: Recorded,
): Promise<{ readonly rest: Promise<void> }> {
  const { channel } = options;
  watch?.began(meta.id);
  channel.send(startWords(words));
  const ended = await endOf(options, meta, dir);
  const { later, writeIndex } = await single.finish({ id: meta.id, dir, ...ended, watch });
  channel.send('ok\n');
  const survivors = async (): Promise<void> => {
    await indexed(single.intent?.directory ?? '', writeIndex);
    if (later === undefined || dir === undefined) return;
    const at = storeAround(options.store, dir);
    await kept(attachRun(at, openCapture(at, meta.id)).closed);
    await later();
  };
  return { rest: survivors() };
}

/** Calls that follow each other closely have one index: in a large journal it takes long. */
const INDEX_PAUSE_MS = 1_000;

/** By journal: leaves the index that is due there to a later call. */
const leaveIndex = new Map<string, () => void>();

function indexed(directory: string, write: () => Promise<void>): Promise<void> {
  const settled = deferred<void>();
  const timer = setTimeout(() => {
    leaveIndex.delete(directory);
    void write().then(settled.resolve);
  }, INDEX_PAUSE_MS);
  leaveIndex.get(directory)?.();
  leaveIndex.set(directory, () => {
    clearTimeout(timer);
    settled.resolve();
  });
  return settled.promise;
}

type Recorded = {
  readonly kind: 'recorded';
  readonly words: readonly string[];
  readonly meta: CaptureMeta;
  readonly dir: string | undefined;
  readonly single: SingleEntry;
  readonly watch: SandboxWatch | undefined;
};

type Plan =
  | { readonly kind: 'refused'; readonly text: string }
  /** What says how it is recorded cannot be read: the client knows whether it may run. */
  | { readonly kind: 'failed'; readonly text: string }
  | { readonly kind: 'unrecorded' }
  | Recorded;

const UNRECORDED: Plan = { kind: 'unrecorded' };

async function planned(options: HelperOptions, call: AgentCall): Promise<Plan> {
  const { env, cwd, text, store, real } = options;
  const { command, wrapper } = realCommand(text, call.agent, { env, real });
  if (isHook(call, wrapper, env)) return UNRECORDED;
  const { project, recording } = await options.recordingOf(cwd);
  const wanted = { agent: call.agent, session: call.session, cwd, command };
  const claimed = claimIntent(env, wanted, { toolCall: call.toolCall });
  const question = { command, cwd, project, env, intent: claimed?.intent, metrics: NO_METRICS };
  const verdict = await judge(question);
  const open = (): SingleEntry =>
    openSingle({
      store,
      recording: { ...recording, trace: 'off' },
      project,
      request: { command, cwd, shell: real, description: claimed?.intent.description ?? undefined },
      ...contextOf(call, claimed),
      origin: {
        source: 'shell',
        ...(wrapper === 'unknown' && { wrapper }),
        // Codex' wrapper is 38 kB of its own, the same for every command.
        ...(command !== text && wrapper !== 'codex' && { shell_text: text }),
      },
      decision: verdict.decision,
      env,
    });
  if (!verdict.run) {
    await noThrow(async () => void (await open().deny()));
    return { kind: 'refused', text: verdict.text };
  }
  let held: Hold;
  try {
    held = verdict.hold();
  } catch (error) {
    return { kind: 'refused', text: `cuff policy: ${messageOf(error)}` };
  }
  try {
    return await start(options, open(), held, recording);
  } catch (error) {
    // Without a sandbox that the policy wants, it may not run at all.
    if (!recording.strict && !held.sandboxed) return UNRECORDED;
    return { kind: 'refused', text: `cuff: ${messageOf(error)}` };
  }
}

/** Gemini finds its shell by PATH, and so do its hooks, which have no wrapper. */
function isHook({ agent }: AgentCall, wrapper: string, env: Env): boolean {
  return agent === 'gemini' && wrapper === 'unknown' && (env.GEMINI_PROJECT_DIR ?? '') !== '';
}

function contextOf(call: AgentCall, claimed: StoredIntent | undefined) {
  const intent = claimed?.intent;
  const context = {
    agentId: call.agent,
    conversationId: call.session ?? intent?.session ?? null,
    toolCallId: call.toolCall ?? intent?.tool_call ?? null,
    traceId: null,
  };
  return intent === undefined ? { context, contextSource: 'environment' as const } : { context };
}

/** A capture with the intent in it, then the words for the runner. */
async function start(
  options: HelperOptions,
  single: SingleEntry,
  { words: prefix, watch }: Hold,
  recording: RecordingSettings,
): Promise<Plan> {
  const { strict, captureOutput, redact, outputBytesMax } = recording;
  const { env, store, real, cwd, terminal } = options;
  const shown = single.intent?.draft.command ?? '';
  const transport = terminal ? 'pty' : 'pipe';
  const live = livePlace(store.root, cwd, env);
  const memory = live.kind === 'memory' ? live : undefined;
  const meta = newMeta({
    command: { kind: 'shell', text: shown, shell: real },
    cwd,
    transport,
    ttyAttached: terminal,
    outputBytesMax: Math.min(outputCap(env), memory?.outputBytesMax ?? Number.POSITIVE_INFINITY),
    journal: single.intent,
    retentionSeconds: single.intent && captureSeconds(recording),
  });
  let dir: string | undefined;
  const argv = [real, '-c', shown];
  try {
    dir = memory && inMemory(store, memory.root, meta, argv);
    dir ??= createCapture(store, meta, argv);
  } catch (error) {
    if (strict) throw error;
    if (isForbidden(error)) dir = createSpooled(store, meta, argv, { cwd, env })?.dir;
    if (dir === undefined) {
      await noThrow(() => noteUncaptured(store.root, meta, reasonOf(error)));
    }
  }
  const spec = newSpec(meta, {
    argv: prefix,
    env: {},
    dir,
    stdin: 'inherit',
    forward: true,
    session: 'group',
    strict,
    sync: 'answer',
    // Less than this is in the entry as a whole, and that is on the disk before the answer.
    syncFromBytes: captureOutput && !redact ? wholeBelow(outputBytesMax) : undefined,
  });
  // The runner stays where it is: no path leads there any more.
  const words = runnerWords(options.removed ? { ...spec, cwd: '/proc/self/cwd' } : spec);
  return { kind: 'recorded', words, meta, dir, single, watch };
}

/** Undefined where the memory takes none: then it is on the disk. */
function inMemory(...parts: Parameters<typeof createInMemory>): string | undefined {
  try {
    return createInMemory(...parts);
  } catch (error) {
    if (errnoOf(error) === 'session_exists') throw error;
    return undefined;
  }
}

function startWords(words: readonly string[]): Uint8Array {
  const body = Buffer.from(words.map((word) => `${word}\0`).join(''));
  return Buffer.concat([Buffer.from(`r ${words.length} ${body.length}\n`), body]);
}

function failed(error: unknown): Plan {
  return { kind: 'failed', text: shortLine(messageOf(error), REASON_LENGTH_MAX) };
}

const REASON_LENGTH_MAX = 500;

function tell(channel: Channel, word: 'd' | 'f', text: string): void {
  const body = Buffer.from(word === 'f' || text.endsWith('\n') ? text : `${text}\n`);
  channel.send(Buffer.concat([Buffer.from(`${word} ${body.length}\n`), body]));
}

type End = { readonly ended: Ended; readonly durationMs: number };

/** As the client tells; of a client that was killed, as the capture tells. */
async function endOf(
  { channel, store }: HelperOptions,
  meta: CaptureMeta,
  dir: string | undefined,
): Promise<End> {
  const startedAt = performance.now();
  const tookMs = (): number => Math.round(performance.now() - startedAt);
  for (let line = await channel.line(); line !== undefined; line = await channel.line()) {
    const [word, ...rest] = line.split(' ');
    const message = parseMessage(rest.join(' '))?.message;
    if (word === 'uncaptured' && message?.kind === 'uncaptured') {
      await noThrow(() => noteUncaptured(store.root, meta, message.error));
    }
    if (word !== 'end') continue;
    const over = message && endedBy(message, store.now());
    if (over === undefined) break;
    return { ended: over, durationMs: message?.kind === 'done' ? message.tookMs : tookMs() };
  }
  if (dir === undefined) return { ended: lostAt(store.now()), durationMs: tookMs() };
  const at = storeAround(store, dir);
  const ended = await kept(attachRun(at, openCapture(at, meta.id)).done);
  return { ended, durationMs: tookMs() };
}

/** What is read from a capture keeps no process alive, and this one has to wait for it. */
async function kept<T>(fact: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, 60_000);
  try {
    return await fact;
  } finally {
    clearInterval(timer);
  }
}

function lostAt(at: number): Ended {
  const outcome = {
    kind: 'failed',
    error: 'runner_lost',
    message: 'the runner was killed',
  } as const;
  return { at, outcome, endedBy: 'itself' };
}

function endedBy(message: RunMessage, at: number): Ended | undefined {
  if (message.kind === 'done') return { at, outcome: message.outcome, endedBy: message.endedBy };
  if (message.kind !== 'failed') return undefined;
  const { error, message: text } = message;
  return { at, outcome: { kind: 'failed', error, message: text }, endedBy: 'itself' };
}

async function noThrow(action: () => void | Promise<void>): Promise<void> {
  try {
    await action();
  } catch {
    // The command is refused or runs all the same; there is no stream to say it on.
  }
}
