// A program at a terminal of its own, as a person's shell would start it: with a controlling
// terminal, below no process of this test, and without the variables of any agent. Its streams are
// files, so that it prints what it prints elsewhere and asks nothing.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './helper.ts';

const AGENTS = /^(CLAUDE|CODEX|GEMINI|QWEN|OPENCODE|PI_SESSION|COPILOT|AI_AGENT$|AGENT$)/;

export type Ended = { readonly code: number; readonly out: string; readonly err: string };

export type AtTerminalOptions = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables of an agent are kept. */
  readonly asAgent?: boolean;
};

/** Resolves when the program has ended. */
export async function atOwnTerminal(
  command: readonly string[],
  { cwd, env, asAgent = false }: AtTerminalOptions,
): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'cuff-terminal-'));
  const path = (name: string): string => join(folder, name);
  const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  writeFileSync(
    path('program'),
    `cd '${cwd}' && ${words} </dev/null >'${path('out')}' 2>'${path('err')}'\n` +
      `echo $? >'${path('code.new')}' && mv '${path('code.new')}' '${path('code')}'\n`,
  );
  const kept = Object.entries(env).filter(([name]) => asAgent || !AGENTS.test(name));
  // The fork of setsid has lost its parent when script starts.
  const args = ['--fork', 'script', '-qec', `sh '${path('program')}'`, '/dev/null'];
  const options = { env: Object.fromEntries(kept), stdio: 'ignore' } as const;
  spawn('setsid', args, options);
  await until(() => existsSync(path('code')), `${words} ends`);
  const text = (name: string): string => readFileSync(path(name), 'utf8');
  const ended = { code: Number(text('code')), out: text('out'), err: text('err') };
  rmSync(folder, { recursive: true, force: true });
  return ended;
}
