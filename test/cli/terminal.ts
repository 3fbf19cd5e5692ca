// A program at a terminal of its own, as a person's shell would start it: with a controlling
// terminal, below no process of this test, and without the variables of any agent. Its streams are
// files, so that it prints what it prints elsewhere and asks nothing.
import { execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
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
  /** Its input and its stderr are the terminal, where a person types this when asked. */
  readonly answer?: string;
  /** So is its stdout, which `err` has then. */
  readonly wholly?: boolean;
};

/** Resolves when the program has ended. */
export async function atOwnTerminal(
  command: readonly string[],
  { cwd, env, asAgent = false, answer, wholly = false }: AtTerminalOptions,
): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'cuff-terminal-'));
  const path = (name: string): string => join(folder, name);
  const text = (name: string): string => readFileSync(path(name), 'utf8');
  const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const streams = answer === undefined ? `</dev/null 2>'${path('err')}'` : '';
  writeFileSync(
    path('program'),
    // What a person types to stop the program stops the program.
    `trap : INT\ncd '${cwd}' && ${words} ${streams} ${wholly ? '' : `>'${path('out')}'`}\n` +
      `echo $? >'${path('code.new')}' && mv '${path('code.new')}' '${path('code')}'\n`,
  );
  const kept = Object.entries(env).filter(([name]) => asAgent || !AGENTS.test(name));
  // The fork of setsid has lost its parent when script starts.
  const screen = answer === undefined ? '/dev/null' : path('screen');
  const args = ['--fork', 'script', '-qefc', `sh '${path('program')}'`, screen];
  // What is typed outlives setsid, with which Node would close a pipe.
  if (answer !== undefined) execFileSync('mkfifo', [path('typed')]);
  const typed = answer === undefined ? undefined : openSync(path('typed'), 'r+');
  const options = { env: Object.fromEntries(kept), stdio: [typed ?? 'ignore', 'ignore', 'ignore'] };
  spawn('setsid', args, options as SpawnOptions);
  const over = (): boolean => existsSync(path('code'));
  if (typed !== undefined) {
    const asked = (): boolean => existsSync(screen) && text('screen').includes('[y/N] ');
    await until(() => asked() || over(), `${words} asks`);
    writeSync(typed, `${answer}\n`);
  }
  await until(over, `${words} ends`);
  if (typed !== undefined) closeSync(typed);
  const err = text(answer === undefined ? 'err' : 'screen');
  const ended = { code: Number(text('code')), out: wholly ? '' : text('out'), err };
  rmSync(folder, { recursive: true, force: true });
  return ended;
}
