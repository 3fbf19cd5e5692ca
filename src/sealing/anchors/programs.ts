// Starts the programs that anchors need. They get no terminal, are looked for on the PATH but
// never in the project, and are ended with all that they started when the time is over.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { nameWithin, realOf } from '../../places.ts';
import type { Env } from '../../types.ts';
import { type AnchorTools, AnchorTrouble } from './place.ts';

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const WORDS_MAX = 300; // of what a program says about its failure

type Call = {
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: Env;
};

/** What it printed; rejects with its own words unless it exits 0. */
export async function callProgram(
  name: string,
  args: readonly string[],
  tools: AnchorTools,
  { input, cwd, env = tools.env }: Call = {},
): Promise<string> {
  const path = programOf(name, tools);
  if (path === undefined) throw new AnchorTrouble(`there is no program ${name} here`);
  if (tools.signal.aborted) throw new AnchorTrouble('there was no time left');
  // A session of its own: it cannot ask at the terminal, and its group can be ended as a whole.
  const child = spawn(path, args, { cwd: cwd ?? '/', env: { ...env }, detached: true });
  const stop = (): void => endGroup(child.pid);
  tools.signal.addEventListener('abort', stop);
  const [out, err] = [collected(child.stdout, stop), collected(child.stderr, stop)];
  child.stdin.on('error', () => undefined); // it may end without having read its input
  child.stdin.end(input ?? '');
  try {
    const [code] = await once(child, 'close');
    if (code === 0) return Buffer.concat(out).toString('utf8');
    if (tools.signal.aborted) throw new AnchorTrouble(`${name} took too long`);
    const words = Buffer.concat(err).toString('utf8').trim().slice(-WORDS_MAX);
    throw new AnchorTrouble(`${name} failed: ${words.replaceAll('\n', ' ') || `exit ${code}`}`);
  } catch (error) {
    if (error instanceof AnchorTrouble) throw error;
    throw new AnchorTrouble(`${name} could not be started: ${String(error)}`);
  } finally {
    tools.signal.removeEventListener('abort', stop);
  }
}

export function programOf(
  name: string,
  { env, project }: Pick<AnchorTools, 'env' | 'project'>,
): string | undefined {
  const root = realOf(project);
  return (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find((path) => isExecutable(path) && nameWithin(root, realOf(path)) === undefined);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // the next folder may have it
  }
}

function collected(stream: NodeJS.ReadableStream, stop: () => void): Buffer[] {
  const pieces: Buffer[] = [];
  let length = 0;
  stream.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length > OUTPUT_BYTES_MAX) stop();
    else pieces.push(piece);
  });
  return pieces;
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}
