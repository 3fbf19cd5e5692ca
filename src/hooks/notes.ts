// What hooks leave for later, in `<state root>/hooks/` (0700, 0600): when each agent was last heard
// of (`seen-<agent>`, its time is that of the file), and the sessions that began or ended
// (`session-<agent>-<hash>.json`), so that a later import finds their transcripts. Neither prompts
// nor addresses of users are among it. A note that cannot be written is left out.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { ensurePrivateDir, ensureRoot, stateRoot } from '../capture/paths.ts';
import { namesIn, replaceFile } from '../directories.ts';
import { appendLog } from '../log.ts';
import { type AgentId, isAgentId } from '../text/agents.ts';
import { sha256 } from '../text/hash.ts';
import { asCount, asString, parseObject } from '../text/json.ts';
import type { Env } from '../types.ts';
import type { HookCall } from './call.ts';

const NOTES_MAX = 1_000; // sessions that were never imported; the oldest go

export type SessionNote = {
  readonly agent: AgentId;
  readonly session: string;
  readonly cwd: string | null;
  readonly transcript: string | null;
  /** Epoch milliseconds; null where the hook did not hear of it. */
  readonly started_at: number | null;
  readonly ended_at: number | null;
};

export function notesDir(env: Env): string {
  return join(stateRoot(env), 'hooks');
}

/** Never throws. */
export function noteSeen(env: Env, agent: AgentId, now: number): void {
  attempt(env, (directory) => {
    const path = join(directory, `seen-${agent}`);
    fs.writeFileSync(path, '', { mode: 0o600 });
    fs.utimesSync(path, now / 1000, now / 1000);
  });
}

/** When a hook of each agent was last called (epoch ms). */
export function lastSeen(env: Env): ReadonlyMap<AgentId, number> {
  const directory = notesDir(env);
  const found = namesIn(directory).flatMap((name): [AgentId, number][] => {
    const agent = /^seen-(\w+)$/.exec(name)?.[1];
    const stat = fs.lstatSync(join(directory, name), { throwIfNoEntry: false });
    return isAgentId(agent) && stat?.isFile() ? [[agent, stat.mtimeMs]] : [];
  });
  return new Map(found);
}

/** For `start` and `end`. Never throws. */
export function noteSession(env: Env, call: HookCall, now: number): void {
  const { agent, session, cwd, transcript, event } = call;
  if (session === null) return;
  attempt(env, (directory) => {
    const hash = sha256(session).slice(0, 32);
    const path = join(directory, `session-${agent}-${hash}.json`);
    const before = readNote(path);
    const note: SessionNote = {
      agent,
      session,
      cwd: cwd ?? before?.cwd ?? null,
      transcript: transcript ?? before?.transcript ?? null,
      started_at: event === 'start' ? now : (before?.started_at ?? null),
      ended_at: event === 'end' ? now : null,
    };
    replaceFile(path, `${JSON.stringify(note)}\n`);
    if (before === undefined) dropOldest(directory);
  });
}

/** Those that hooks told of, oldest first. */
export function sessionNotes(env: Env): readonly SessionNote[] {
  const directory = notesDir(env);
  return namesIn(directory)
    .filter((name) => name.startsWith('session-'))
    .flatMap((name) => readNote(join(directory, name)) ?? [])
    .sort((a, b) => (a.started_at ?? a.ended_at ?? 0) - (b.started_at ?? b.ended_at ?? 0));
}

function readNote(path: string): SessionNote | undefined {
  let text: string;
  try {
    if (!fs.lstatSync(path).isFile()) return undefined;
    text = fs.readFileSync(path, 'utf8');
  } catch {
    return undefined; // there is none yet
  }
  const json = parseObject(text);
  const session = asString(json?.session);
  if (json === undefined || session === undefined || !isAgentId(json.agent)) return undefined;
  return {
    agent: json.agent,
    session,
    cwd: asString(json.cwd) ?? null,
    transcript: asString(json.transcript) ?? null,
    started_at: asCount(json.started_at) ?? null,
    ended_at: asCount(json.ended_at) ?? null,
  };
}

function dropOldest(directory: string): void {
  const names = namesIn(directory).filter((name) => name.startsWith('session-'));
  if (names.length <= NOTES_MAX) return;
  const aged = names.map((name) => ({ name, at: fs.lstatSync(join(directory, name)).mtimeMs }));
  aged.sort((a, b) => a.at - b.at);
  const old = aged.slice(0, names.length - NOTES_MAX);
  for (const { name } of old) fs.rmSync(join(directory, name), { force: true });
}

/** A payload of no agent that we know: which fields it has, and no value of any. Never throws. */
export function noteUnknown(env: Env, names: readonly string[], now: number): void {
  const plain = names.slice(0, 50).map((name) => (/^[\w.-]{1,40}$/.test(name) ? name : '?'));
  const line = {
    timestamp: new Date(now).toISOString(),
    error: 'hook payload not known',
    fields: plain,
  };
  appendLog(join(stateRoot(env), 'logs'), 'hooks.log', `${JSON.stringify(line)}\n`);
}

function attempt(env: Env, write: (directory: string) => void): void {
  try {
    ensureRoot(stateRoot(env));
    const directory = notesDir(env);
    ensurePrivateDir(directory);
    write(directory);
  } catch {
    // A read-only or full disk: a hook that cannot take notes answers all the same.
  }
}
