// Whether a person at a terminal asks for something that no agent may do: trust a project, approve
// a command. Refused are processes below a run of ours, processes with the variables of an agent
// in their environment or in that of an ancestor, and processes without a controlling terminal. A
// process of the same user that wants to can still write the files itself; see the threat model.

import * as fs from 'node:fs';
import { basename } from 'node:path';
import { captureDir, sessionIdTime, stateRoot } from '../capture/paths.ts';
import { captureIds, readState } from '../capture/store.ts';
import { AppError } from '../errors.ts';
import { ageMsOf, readProc, statOf } from '../run/processes.ts';
import { storeOf } from '../shell/captures.ts';
import { AGENT_VARIABLES } from '../text/agents.ts';
import type { CaptureMeta, Env, ProcessId } from '../types.ts';

/**
 * Between the making of a capture and the start of its command: a moment, and longer only on a
 * stopped machine or where the clock was set meanwhile.
 */
const START_MS_MAX = 300_000;

/** Throws `usage` unless a person asks. `what` is like 'approve its own commands'. */
export function requirePerson(env: Env, what: string): void {
  refuseAgents(env, what);
  if (hasTerminal()) return;
  throw new AppError('usage', `Only a person at a terminal can do this; there is no terminal.`, {
    hint: 'Run it in a terminal of your own.',
  });
}

/** The same without the terminal, for what a person may also do by a script. */
export function refuseAgents(env: Env, what: string): void {
  const why = agentReason(env);
  if (why === undefined) return;
  throw new AppError('usage', `An agent cannot ${what}${why === '' ? '' : `: ${why}`}.`, {
    hint: 'Run it in a terminal of your own.',
  });
}

/** Why `refuseAgents` would refuse this process, as a sentence; undefined: it would not. */
export function agentSentence(env: Env): string | undefined {
  const why = agentReason(env);
  if (why === undefined) return undefined;
  return why === '' ? 'It was started inside of a run.' : `An agent started it: ${why}.`;
}

/** Whether `requirePerson` would let this process pass. */
export function isPerson(env: Env): boolean {
  return agentReason(env) === undefined && hasTerminal();
}

/** Whether another process is one of an agent: below a run, or with an agent's variables. */
export function isAgentProcess(pid: number): boolean {
  return agentReason(Object.fromEntries(environmentOf(pid)), pid) !== undefined;
}

/** Why an agent is taken to be asking; empty: this is inside of a run. Undefined: none is. */
function agentReason(env: Env, from = process.pid): string | undefined {
  const ancestors = ancestorsOf(from);
  if (belowRun(env, ancestors)) return '';
  const own = Object.keys(env).find((name) => isAgents(name, env[name]));
  if (own !== undefined) return `${own} is set`;
  for (const pid of ancestors.keys()) {
    const found = environmentOf(pid).find(([name, value]) => isAgents(name, value));
    if (found !== undefined) return `${found[0]} is set for process ${pid}, which started this`;
  }
  return undefined;
}

function isAgents(name: string, value: string | undefined): boolean {
  return AGENT_VARIABLES.has(name) && value !== undefined && value !== '';
}

/** As it was when the process started. Empty for processes of other users. */
function environmentOf(pid: number): readonly (readonly [string, string])[] {
  return readProc(`${pid}/environ`)
    .split('\0')
    .map((line) => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]);
}

/**
 * A runner takes in what its command leaves behind, so that no process of a run gets out of the
 * family. Runners that no capture here tells of count, too: a run may name another state root. Of a
 * runner that was killed only the capture knows. There may be a hundred thousand of them, so only
 * those are read that were made when an ancestor started, or whose ids do not say when.
 */
function belowRun(env: Env, ancestors: ReadonlyMap<number, number>): boolean {
  const pids = [...ancestors.keys()];
  if (pids.some(isRunner)) return true;
  const starts = [...ancestors.values()].map((startTime) => Date.now() - ageMsOf(startTime));
  const isAncestor = (one: ProcessId | undefined): boolean =>
    one !== undefined && ancestors.get(one.pid) === one.startTime;
  // A run without a runner is known by its capture, in the state root of the process that made it.
  const environments = [env, ...pids.map((pid) => Object.fromEntries(environmentOf(pid)))];
  const stores = new Map(environments.map((one) => [stateRoot(one), storeOf(one)]));
  return [...stores.values()].some((store) =>
    captureIds(store).some((id) => {
      const made = sessionIdTime(id);
      const near = starts.some((start) => Math.abs(start - (made ?? start)) <= START_MS_MAX);
      const meta = near ? metaOf(captureDir(store.root, id)) : undefined;
      return isAncestor(meta?.runner) || isAncestor(meta?.child);
    }),
  );
}

function metaOf(dir: string): Pick<CaptureMeta, 'runner' | 'child'> | undefined {
  try {
    return readState(dir).meta;
  } catch {
    return undefined; // one that leads elsewhere or cannot be read is no run of ours
  }
}

/** By their pids, when they began. */
function ancestorsOf(from: number): ReadonlyMap<number, number> {
  const ancestors = new Map<number, number>();
  for (let pid = from; pid > 1 && !ancestors.has(pid); ) {
    const stat = statOf(pid);
    if (stat === undefined) break;
    ancestors.set(pid, stat.startTime);
    pid = stat.parent;
  }
  return ancestors;
}

function isRunner(pid: number): boolean {
  const [program = '', command = ''] = readProc(`${pid}/cmdline`).split('\0');
  return /^runner(?:-[0-9a-f]+)?$/.test(basename(program)) && ['run', 'serve'].includes(command);
}

/** A controlling terminal, which descriptors say nothing about. */
function hasTerminal(): boolean {
  try {
    fs.closeSync(fs.openSync('/dev/tty', fs.constants.O_RDWR | fs.constants.O_NOCTTY));
    return true;
  } catch {
    return false; // ENXIO
  }
}
