// `cuff sh`: a shell that records what agents run. The program that agents start is the native
// client (native/sh.h); this is its door for people and scripts, and the helper that the client
// starts for each recorded call.

import { spawn } from 'node:child_process';
import { existsSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { stateRoot } from '../capture/paths.ts';
import { channelOn, type HelperOptions, serveCall } from '../hooks/shell/helper.ts';
import { writeShellFiles } from '../hooks/shell/install.ts';
import { openStore } from '../shell/store.ts';
import { endLike } from './end-like.ts';
import { ownProgram } from './own-program.ts';
import { recordingOf } from './recording.ts';

const CHANNEL = 3;

/** `args` are bash's. */
export async function sh(args: readonly string[]): Promise<void> {
  if (args[0] === '--helper') return helper(args.slice(1));
  const files = writeShellFiles(process.env, { program: ownProgram() });
  const zsh = args[0] === '--as' && args[1] === 'zsh';
  const rest = args[0] === '--as' ? args.slice(2) : args;
  const shell = zsh ? files.zsh : files.bash;
  await endLike(spawn(shell, rest, { stdio: 'inherit' }), shell);
}

async function helper(args: readonly string[]): Promise<void> {
  const [root = '', real = '', text = '', terminal = ''] = args;
  const env = { ...process.env, CUFF_STATE_ROOT: process.env.CUFF_STATE_ROOT ?? root };
  const channel = channelOn(CHANNEL);
  await serveCall({
    env,
    store: openStore(stateRoot(env)),
    real,
    text,
    ...workingDirectory(),
    terminal: terminal === 'tty',
    channel,
    recordingOf: (cwd) => recordingOf(cwd, env),
  });
  process.exit(0);
}

/** Of a directory that was removed, the one above it: a policy counts for what runs in there. */
function workingDirectory(): Pick<HelperOptions, 'cwd' | 'removed'> {
  try {
    return { cwd: realpathSync(process.cwd()), removed: false };
  } catch {
    let cwd = dirname(readlinkSync('/proc/self/cwd'));
    while (!existsSync(cwd)) cwd = dirname(cwd);
    return { cwd, removed: true };
  }
}
