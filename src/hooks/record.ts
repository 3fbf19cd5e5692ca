// The entry of a call that is over, where no shell of ours made one: what the client tells, marked
// `source: "hook"`. A client that starts a hook twice for one call gets one entry. A call that was
// denied has an entry, too, with the decision.

import { isAbsolute, resolve } from 'node:path';
import { stateRoot } from '../capture/paths.ts';
import type { EditRecord } from '../journal/edits.ts';
import { entryTimestamp } from '../journal/entry.ts';
import { journalSessionIds, readUnpacked, storedMetadata } from '../journal/reader.ts';
import type { RecordingSettings } from '../recorder/settings.ts';
import { openSingle, singleJournal } from '../recorder/single.ts';
import { openStore } from '../shell/store.ts';
import type { AgentContext, Entry, EntryDecision, Env } from '../types.ts';
import type { CommandResult, HookCall } from './call.ts';
import { fileHash, takeEdits } from './edits.ts';
import { callIntents, findIntent, firstToEnd, type Intent, intentName } from './intent.ts';
import type { DeniedCommand, HookTerms } from './judge.ts';
import { namedIntent } from './rewrite.ts';

const SESSIONS_LOOKED_MAX = 50; // the newest; a call that just ended is in one of them

/** Between the times that a shell and its client give one command. */
const APART_MS = 5_000;

type ProjectRecording = {
  readonly project: string;
  readonly recording: RecordingSettings;
};

export type RecordTerms = HookTerms & {
  readonly recordingOf: (cwd: string, env: Env) => Promise<ProjectRecording>;
};

/** Writes what the client tells, unless the call has its entry. */
export async function recordCall(call: HookCall, cwd: string, terms: RecordTerms): Promise<void> {
  if (call.tool?.kind === 'file') return recordEdits(call, cwd, terms);
  for (const result of call.results) await recordResult(call, result, cwd, terms);
}

async function recordResult(
  call: HookCall,
  result: CommandResult,
  cwd: string,
  terms: RecordTerms,
): Promise<void> {
  const { env, now } = terms;
  const name = namedIntent(result.command);
  const own = name === undefined ? undefined : findIntent(env, name);
  const command = own?.intent.command ?? result.command;
  const endedAt = call.at ?? now();
  const intents = own === undefined ? callIntents(env, { ...idsOf(call), cwd, command }) : [own];
  // A shell has it, and writes the entry when the command is over, if it has not yet.
  if (intents.some(({ claimed }) => claimed)) return;
  if (!isFirst(call, command, cwd, terms)) return;
  const { project, recording } = await terms.recordingOf(cwd, env);
  const durationMs = call.durationMs ?? 0;
  const startedAt = endedAt - durationMs;
  if (hasEntry(recording.directory, call, command, startedAt)) return;
  const single = openSingle({
    ...placeOf(terms, { project, recording }),
    request: requestOf(call, command, cwd),
    context: contextOf(call),
    origin: { source: 'hook' },
    decision: decisionOf(intents[0]?.intent.decision ?? null),
    env,
  });
  await single.report({ ...result, startedAt, durationMs });
}

/** The entry of a call that the hook refused. */
export async function recordDenial(
  call: HookCall,
  denied: readonly DeniedCommand[],
  cwd: string,
  terms: RecordTerms,
): Promise<void> {
  const { env } = terms;
  for (const { command, decision } of denied) {
    if (!isFirst(call, command, cwd, terms)) continue;
    const { project, recording } = await terms.recordingOf(cwd, env);
    const single = openSingle({
      ...placeOf(terms, { project, recording }),
      request: requestOf(call, command, cwd),
      context: contextOf(call),
      origin: { source: 'hook' },
      decision,
      env,
    });
    await single.deny();
  }
}

function placeOf({ env }: HookTerms, { project, recording }: ProjectRecording) {
  const store = openStore(stateRoot(env));
  return { store, project, recording: { ...recording, strict: false } };
}

function requestOf({ tool }: HookCall, command: string, cwd: string) {
  const description = tool?.kind === 'shell' ? (tool.description ?? undefined) : undefined;
  return { command, description, killAfterMs: undefined, cwd, shell: 'bash' };
}

function idsOf({ agent, session, toolCall }: HookCall) {
  return { agent, session, tool_call: toolCall };
}

/** Whether no other hook has told of the end of this command of this call. */
function isFirst(call: HookCall, command: string, cwd: string, { env, now }: HookTerms): boolean {
  const name = intentName({ ...idsOf(call), command, cwd, at: now() }, 0);
  return firstToEnd(env, name, call.at ?? now(), call.toolCall !== null);
}

function contextOf({ agent, session, toolCall }: HookCall): AgentContext {
  return { agentId: agent, conversationId: session, toolCallId: toolCall, traceId: null };
}

function decisionOf(decision: Intent['decision']): EntryDecision | null {
  if (decision === null) return null;
  const { action, rule, approval_id } = decision;
  const code = `${rule === null ? 'default' : 'rule'}.${action}`;
  // The client asked its person, who said yes: the call has run.
  const asked = action === 'ask' && approval_id === null ? 'elicitation' : null;
  const approved = approval_id === 'granted' ? 'grant' : asked;
  return { verdict: approved === null ? action : 'ask', code, mode: 'enforce', rule, approved };
}

/** The same call, or the same command of the same session at the same time. */
function hasEntry(directory: string, call: HookCall, command: string, startedAt: number): boolean {
  const { session, toolCall } = call;
  if (session === null && toolCall === null) return false;
  const ids = journalSessionIds(directory).slice(-SESSIONS_LOOKED_MAX).reverse();
  return ids.some((id) => {
    const conversation = storedMetadata(directory, id)?.conversation_id;
    // A shell that no hook told of the call in time does not know the session of some agents.
    const unknown = conversation === null && session !== null;
    if (conversation !== session && !unknown) return false;
    const same = (entry: Entry): boolean => {
      if (unknown && (entry.source !== 'shell' || entry.agent_id !== call.agent)) return false;
      if (entry.command !== command) return false;
      if (entry.tool_call_id !== null && entry.tool_call_id === toolCall) return true;
      const other = entry.source === 'hook' || (entry.tool_call_id !== null && toolCall !== null);
      return !other && Date.parse(entry.timestamp) >= startedAt - APART_MS;
    };
    // What is packed is a day old, and no call of now.
    const found = readUnpacked(directory, id, (_, entries) => {
      for (const { entry } of entries) if (same(entry)) return true;
      return false;
    });
    return found === true;
  });
}

async function recordEdits(call: HookCall, cwd: string, terms: RecordTerms): Promise<void> {
  const { env, now } = terms;
  if (call.tool?.kind !== 'file') return;
  const { name } = call.tool;
  const first = call.tool.edits.map(({ path }) => path).join('\0');
  if (!isFirst(call, `${name}\0${first}`, cwd, terms)) return;
  const edits = takeEdits(env, call, cwd).map(
    ({ path, added, removed, before }): EditRecord => ({
      timestamp: entryTimestamp(call.at ?? now()),
      tool: name,
      path: isAbsolute(path) ? path : resolve(cwd, path),
      lines_added: added,
      lines_removed: removed,
      hash_before: before,
      hash_after: fileHash(path),
      failed: call.event === 'failure',
      agent_id: call.agent,
      conversation_id: call.session,
      tool_call_id: call.toolCall,
    }),
  );
  if (edits.length === 0) return;
  const { project, recording } = await terms.recordingOf(cwd, env);
  const journal = singleJournal({ ...placeOf(terms, { project, recording }), env });
  const target = journal.target(contextOf(call));
  if (target.recorded) await journal.edits(target.writer.id, edits);
  await journal.close('shutdown', 'shutdown');
}
