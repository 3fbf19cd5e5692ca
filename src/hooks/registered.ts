// The agents whose hooks `cuff init` has set up: a list of {agent, project} in
// `<state root>/init/agents.json` (0600), where `project` is null for all directories of the user.
// A name in the payload of a hook, or in a variable, is only what a process says of itself; with a
// line here a person has given that agent our hook.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { ensurePrivateDir, ensureRoot, isPrivateDir, stateRoot } from '../capture/paths.ts';
import { replaceFile } from '../directories.ts';
import { type AgentId, isAgentId } from '../text/agents.ts';
import { asObject, asString } from '../text/json.ts';
import { readRegular } from '../trust/bounded-read.ts';
import type { Env } from '../types.ts';

export type Registration = {
  readonly agent: AgentId;
  /** The directory that its hook was set up in; null: every one of the user. */
  readonly project: string | null;
};

const BYTES_MAX = 1024 * 1024;

/** Throws the errno error where the state root cannot be written. */
export function register(env: Env, added: readonly Registration[]): void {
  const known = registrations(env);
  const fresh = added.filter((one) => !known.some((other) => same(one, other)));
  if (fresh.length > 0) write(env, [...known, ...fresh]);
}

export function unregister(env: Env, removed: readonly Registration[]): void {
  const known = registrations(env);
  const left = known.filter((one) => !removed.some((other) => same(one, other)));
  if (left.length < known.length) write(env, left);
}

/** Whether the hook of this agent was set up for commands in this directory. Never throws. */
export function isRegistered(env: Env, agent: AgentId, cwd: string): boolean {
  return registrations(env).some(
    ({ agent: id, project }) =>
      id === agent && (project === null || cwd === project || cwd.startsWith(`${project}/`)),
  );
}

function same(a: Registration, b: Registration): boolean {
  return a.agent === b.agent && a.project === b.project;
}

function registrations(env: Env): readonly Registration[] {
  const directory = directoryOf(env);
  if (!isPrivateDir(directory)) return [];
  let list: unknown;
  try {
    list = JSON.parse(readRegular(join(directory, NAME), BYTES_MAX)?.toString('utf8') ?? '');
  } catch {
    return []; // no agent was registered yet
  }
  if (!Array.isArray(list)) return [];
  return list.flatMap((value: unknown): Registration[] => {
    const json = asObject(value);
    const project = json?.project === null ? null : asString(json?.project);
    return isAgentId(json?.agent) && project !== undefined ? [{ agent: json.agent, project }] : [];
  });
}

function write(env: Env, all: readonly Registration[]): void {
  ensureRoot(stateRoot(env));
  const directory = directoryOf(env);
  ensurePrivateDir(directory);
  const path = join(directory, NAME);
  if (all.length === 0) fs.rmSync(path, { force: true });
  else replaceFile(path, `${JSON.stringify(all)}\n`);
}

const NAME = 'agents.json';

function directoryOf(env: Env): string {
  return join(stateRoot(env), 'init');
}
