// The agent that a run belongs to. The key `owner` of meta.json: {dialect, project, client,
// conversation_id}, with null for what the client did not say. Once the run outlives the call that
// started it, the file `handle` has the client's name for it, as JSON: "bash_3", 1000. It is no key
// of meta.json, because the runner may replace that file at the same moment. A server that takes
// over the runs of a dead one makes a file `claim-N` with {pid, start_time}; if several try, one
// makes it, and the claim with the highest number counts.
import * as fs from 'node:fs';
import { asCount, asObject, asString, type JsonObject, parseObject, whole } from '../text/json.ts';
import type { ProcessId, RunHandle, RunOwner } from '../types.ts';
import * as paths from './paths.ts';

const CLAIM = /^claim-(\d{1,6})$/;

export function encodeOwner(owner: RunOwner): JsonObject {
  const { dialect, project, client, conversationId } = owner;
  return { dialect, project, client, conversation_id: conversationId };
}

/** Undefined for anything that is not a whole owner. */
export function decodeOwner(value: unknown): RunOwner | undefined {
  const json = asObject(value);
  const required = whole({ dialect: asString(json?.dialect), project: asString(json?.project) });
  const client = asString(json?.client) ?? null;
  return (
    required && { ...required, client, conversationId: asString(json?.conversation_id) ?? null }
  );
}

export function noteHandle(dir: string, handle: RunHandle): void {
  paths.replaceIn(dir, 'handle', `${JSON.stringify(handle)}\n`);
}

/** Undefined where none was noted, or none can be read. */
export function handleIn(dir: string): RunHandle | undefined {
  const { handle } = parseObject(`{"handle":${paths.readTextIn(dir, 'handle') ?? 'null'}}`) ?? {};
  return asString(handle) ?? asCount(handle);
}

/** The process that looks after the run: the last that claimed it, else the one that started it. */
export function keeperOf(dir: string, starter: ProcessId): ProcessId {
  const number = lastClaim(dir);
  if (number === 0) return starter;
  const json = parseObject(paths.readTextIn(dir, `claim-${number}`) ?? '');
  const claim = whole({ pid: asCount(json?.pid), startTime: asCount(json?.start_time) });
  // A claim that cannot be read keeps others away: the run may well be looked after.
  return claim ?? { pid: 1, startTime: 0 };
}

/** Of several processes that claim the run of a dead one, one gets it. */
export function claimRun(
  dir: string,
  me: ProcessId,
  keeperAlive: (dir: string) => boolean,
): boolean {
  const next = `claim-${lastClaim(dir) + 1}`;
  // Looked at behind the number: a claim that was made meanwhile has taken that.
  if (keeperAlive(dir)) return false;
  const text = `${JSON.stringify({ pid: me.pid, start_time: me.startTime })}\n`;
  return paths.createIn(dir, next, text, false);
}

function lastClaim(dir: string): number {
  const numbers = fs.readdirSync(dir).map((name) => Number(CLAIM.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers);
}
