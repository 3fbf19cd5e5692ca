// `cuff sh`: a shell that records what agents run. The program that agents start is the native
// client (native/sh.h); this is its door for people and scripts, and the helper that the client
// starts for a recorded call, and that stays for the next ones.

import { spawn } from 'node:child_process';
import { closeSync, existsSync, readSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { stateRoot } from '../capture/paths.ts';
import { findIntent } from '../hooks/intent.ts';
import { AGENT_VARIABLE } from '../hooks/shell/agent-call.ts';
import { type Channel, channelOn } from '../hooks/shell/channel.ts';
import { type HelperOptions, serveCall } from '../hooks/shell/helper.ts';
import { writeShellFiles } from '../hooks/shell/install.ts';
import { type CallRequest, RequestReader } from '../hooks/shell/request.ts';
import type { Resident } from '../hooks/shell/resident.ts';
import { openStore } from '../shell/store.ts';
import { endLike } from './end-like.ts';
import { ownProgram } from './own-program.ts';
import { recordingOf } from './recording.ts';
import { takeHome } from './take-home.ts';

const CHANNEL = 3;

/** `args` are bash's. */
export async function sh(args: readonly string[]): Promise<void> {
  if (args[0] === '--helper') return helper(args.slice(1));
  const { env } = process;
  const files = writeShellFiles(env, { program: ownProgram() });
  const [option, value = ''] = args;
  const shell = option === '--as' && value === 'zsh' ? files.zsh : files.bash;
  const rest = option === '--as' || option === '--intent' ? args.slice(2) : args;
  const agent = option === '--intent' ? findIntent(env, value)?.intent.agent : undefined;
  // A hook has put us in front of the command, and knows whose it is.
  const told = agent === undefined ? env : { ...env, [AGENT_VARIABLE]: agent };
  await endLike(spawn(shell, rest, { stdio: 'inherit', env: told }), shell);
}

/** One call that is told over a socket of its own, then those of other clients. */
async function helper([root = '', name = '', idle]: readonly string[]): Promise<void> {
  let resident: Resident | undefined;
  let stopped = false;
  process.on('SIGTERM', () => {
    stopped = true;
    resident?.stop();
  });
  const request = requestOn(CHANNEL);
  if (request === undefined) return;
  const { rest } = await serve(request, channelOn(CHANNEL));
  closeSync(CHANNEL);
  if (!stopped && request.world !== '') {
    const { Resident } = await import('../hooks/shell/resident.ts');
    const idleMs = idle === undefined ? undefined : Number(idle);
    resident = await Resident.open({ root, name, world: request.world, serve, idleMs });
  }
  if (resident !== undefined) {
    // What one call left undone must not cost the entries of others.
    process.on('uncaughtException', () => resident?.stop());
    resident.calledBy(request.parent);
    if (stopped) resident.stop();
    void resident.during(rest);
    // The code of this process would be kept in the state root.
    if ((await resident.ended) === 'displaced') process.removeAllListeners('exit');
  }
  await rest;
  process.exit(0);
}

function requestOn(fd: number): CallRequest | undefined {
  const reader = new RequestReader();
  const buffer = Buffer.alloc(65_536);
  for (;;) {
    const bytes = readSync(fd, buffer);
    const got = bytes === 0 ? 'wrong' : reader.add(Buffer.from(buffer.subarray(0, bytes)));
    if (got === 'wrong') return undefined;
    if (got !== 'more') return got;
  }
}

async function serve(request: CallRequest, channel: Channel): ReturnType<typeof serveCall> {
  const { real, text, terminal, root } = request;
  const env = { ...request.env, CUFF_STATE_ROOT: request.env.CUFF_STATE_ROOT ?? root };
  const place = workingDirectory(request);
  const { rest } = await serveCall({
    env,
    store: openStore(stateRoot(env)),
    real,
    text,
    ...place,
    terminal,
    channel,
    recordingOf: (cwd) => recordingOf(cwd, env),
  });
  // The agent has its answer.
  return { rest: rest.then(() => takeHome(place.cwd, env)) };
}

/** Of a directory that was removed, the one above it: a policy counts for what runs in there. */
function workingDirectory({
  cwd: named,
  removed,
}: CallRequest): Pick<HelperOptions, 'cwd' | 'removed'> {
  try {
    if (!removed) return { cwd: realpathSync(named), removed };
  } catch {
    // It lost its name a moment ago.
  }
  let cwd = isAbsolute(named) ? dirname(named) : '/'; // it may be out of reach of every name
  while (!existsSync(cwd)) cwd = dirname(cwd);
  return { cwd, removed: true };
}
