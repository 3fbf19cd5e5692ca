// `cuff hook`: one program for the hooks of every agent. It reads one JSON document, prints one or
// nothing, and always exits 0: other codes mean other things to each client. It explains; the shell
// enforces. It has a deadline of its own, because clients take a hook that was killed as a yes.
// Loads as little as it can: a model waits for it before every command.

import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { stateRoot } from '../capture/paths.ts';
import { answerHook, type HookReply, type Recording, unjudged } from '../hooks/answer.ts';
import { type RecognisedCall, recognise } from '../hooks/recognise.ts';
import { userConfig } from '../places.ts';
import { leadsToRemote } from '../run/mounts.ts';
import { type AgentId, isAgentId } from '../text/agents.ts';
import { type JsonObject, parseObject } from '../text/json.ts';
import { nameAndValue } from './name-and-value.ts';
import { ownProgram } from './own-program.ts';

const DEADLINE_MS = 1_000;

/** A machine that is always slow may say more, below what clients give a hook. */
const DEADLINE_MS_MAX = 9_000;

/** For the entry, when the client has its answer: a disk may be slow, and an entry is not lost. */
const ENTRY_MS = 5_000;

const INPUT_BYTES_MAX = 16 * 1024 * 1024; // a tool that writes a large file sends all of it

/** Set for the process that looks at a mount which may not answer. */
const INNER = 'CUFF_HOOK_INNER';

type Flags = {
  readonly agent: AgentId | undefined;
  readonly mode: 'enforce' | 'record';
  readonly rewrite: boolean;
};

export async function hookCommand(args: readonly string[]): Promise<void> {
  const flags = flagsOf(args);
  const { env } = process;
  const deadlineMs = deadlineOf(env.CUFF_HOOK_DEADLINE_MS);
  let text = '';
  let recognised: RecognisedCall | undefined;
  const late = new Promise<HookReply>((resolve) => {
    const give = (): void => {
      recognised ??= recognise(glimpse(text), env, flags.agent);
      const why = `no answer within ${deadlineMs} ms`;
      resolve({ answer: recognised && unjudged(recognised, { env, ...flags }, why) });
    };
    setTimeout(give, Math.max(1, deadlineMs - process.uptime() * 1_000));
  });
  const work = async (): Promise<HookReply> => {
    const whole = await read((part) => {
      text += part;
      return text;
    });
    const payload = whole ? parseObject(text) : undefined;
    if (payload === undefined) return { answer: unreadable(text, flags) };
    recognised = recognise(payload, env, flags.agent);
    if (recognised !== undefined && mayHang(recognised)) return { answer: await inner(args, text) };
    if (recognised?.call.event === 'start' && env.CLAUDE_PLUGIN_ROOT) {
      await (await import('./hook-env.ts')).addClaudeEnv(env, ownProgram());
    }
    return answerHook(payload, { env, now: Date.now, ...flags, recording });
  };
  const { answer, afterwards } = await Promise.race([work().catch(() => late), late]);
  print(answer);
  if (afterwards !== undefined) {
    const over = new Promise((resolve) => setTimeout(resolve, ENTRY_MS));
    await Promise.race([afterwards().catch(() => undefined), over]);
  }
  process.exit(0); // whatever still waits, waits for nothing
}

function deadlineOf(given: string | undefined): number {
  const ms = /^\d{1,5}$/.test(given ?? '') ? Number(given) : DEADLINE_MS;
  return Math.min(Math.max(ms, 1), DEADLINE_MS_MAX);
}

/** A wrong flag must not break the agent, so it counts as none. */
function flagsOf(args: readonly string[]): Flags {
  const values = new Map<string, string>();
  let rewrite = false;
  for (let at = 0; at < args.length; at += 1) {
    const [name, joined] = nameAndValue(args[at] ?? '');
    if (name === '--rewrite') rewrite = true;
    else if (name === '--agent' || name === '--mode') values.set(name, joined ?? args[++at] ?? '');
  }
  const agent = values.get('--agent');
  const mode = values.get('--mode') === 'record' ? 'record' : 'enforce';
  return { agent: isAgentId(agent) ? agent : undefined, mode, rewrite };
}

/** True when the document is there as a whole, also when the client leaves its end open. */
function read(take: (part: string) => string): Promise<boolean> {
  const { stdin } = process;
  stdin.setEncoding('utf8');
  return new Promise((resolve) => {
    let length = 0;
    stdin.on('data', (part: string) => {
      length += part.length;
      const text = take(part);
      if (length > INPUT_BYTES_MAX) {
        stdin.destroy();
        resolve(false);
      } else if (/\}\s*$/.test(part) && parseObject(text) !== undefined) resolve(true);
    });
    stdin.on('end', () => resolve(true));
    stdin.on('error', () => resolve(true));
  });
}

/** No JSON, or too much of it: who sent it may still be told by its first words. */
function unreadable(text: string, flags: Flags): JsonObject | undefined {
  const found = recognise(glimpse(text), process.env, flags.agent);
  const why = 'what the client sent cannot be read';
  return found && unjudged(found, { env: process.env, ...flags }, why);
}

const GLIMPSED = /"(\w{1,40})"\s*:\s*(?:"([^"\\]{0,400})"|(\d{1,15})|(?=[[{]))/g;

/** The fields of a document that is not whole, as far as its first part tells them. */
function glimpse(text: string): JsonObject {
  const fields: Record<string, unknown> = {};
  for (const [, name = '', value, digits] of text.slice(0, 65_536).matchAll(GLIMPSED)) {
    const known = digits === undefined ? value : Number(digits);
    if (!Object.hasOwn(fields, name)) fields[name] = known ?? {};
  }
  return fields;
}

/** Asking a mount that does not answer would hold this process, and no timer would end it. */
function mayHang({ call }: RecognisedCall): boolean {
  const { env } = process;
  if (env[INNER] !== undefined) return false;
  return [call.cwd ?? '/', stateRoot(env), userConfig(env)].some((path) => leadsToRemote(path));
}

/** The same in a process of its own, which is left alone when the deadline has passed. */
function inner(args: readonly string[], text: string): Promise<JsonObject | undefined> {
  const [program = ''] = process.argv.slice(1);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, 'hook', ...args], {
      cwd: '/',
      env: { ...process.env, [INNER]: '1' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let out = '';
    child.on('error', reject);
    child.stdin.on('error', () => undefined); // it has answered without reading all
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      out += part;
    });
    child.on('close', () => resolve(parseObject(out)));
    child.stdin.end(text);
    process.on('exit', () => child.kill('SIGKILL'));
  });
}

function print(answer: JsonObject | undefined): void {
  if (answer === undefined) return;
  try {
    writeSync(1, `${JSON.stringify(answer)}\n`);
  } catch {
    // The client has gone.
  }
}

async function recording(): Promise<Recording> {
  return import('./hook-record.ts');
}
