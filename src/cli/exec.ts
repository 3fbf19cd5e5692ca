// `cuff exec AGENT`: an agent program whose commands are recorded, for this one start. Nothing is
// written into the agent's configuration.

import { spawn } from 'node:child_process';
import { agentEnvironment } from '../hooks/shell/exec.ts';
import { writeShellFiles } from '../hooks/shell/install.ts';
import { endLike } from './end-like.ts';
import { ownProgram } from './own-program.ts';

export async function exec(program: string, args: readonly string[]): Promise<void> {
  const files = writeShellFiles(process.env, { program: ownProgram() });
  const env = agentEnvironment(program, process.env, files);
  await endLike(spawn(program, args, { stdio: 'inherit', env }), program);
}
