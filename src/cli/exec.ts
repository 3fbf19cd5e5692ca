// `cuff exec AGENT`: an agent program whose commands are recorded, for this one start. Nothing is
// written into the agent's configuration.

import { spawn } from 'node:child_process';
import { agentEnvironment } from '../hooks/shell/exec.ts';
import { endLike } from './end-like.ts';
import { writeOwnShell } from './own-shell.ts';

export async function exec(program: string, args: readonly string[]): Promise<void> {
  const files = await writeOwnShell(process.env);
  const env = agentEnvironment(program, process.env, files);
  await endLike(spawn(program, args, { stdio: 'inherit', env }), program);
}
