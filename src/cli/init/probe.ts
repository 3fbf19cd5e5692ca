// Whether a hook that is registered with a client works: its own line is started with a command
// that must be denied, and has to answer so in time. The line decides with a policy and a state
// root of the probe, so that nothing of it is recorded, and needs no policy of the user.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENTS, type AgentId } from '../../text/agents.ts';
import { asObject, type JsonObject, parseObject } from '../../text/json.ts';
import type { Env } from '../../types.ts';
import { HOOK_SECONDS } from './agents/agent.ts';
import { isHookEntry } from './edits.ts';
import { type Json, readJson } from './jsonc.ts';

/** A registered line: what the client starts. */
export type HookCommand = readonly [program: string, ...args: string[]];

export type ProbeResult =
  | { readonly kind: 'denied'; readonly ms: number }
  | { readonly kind: 'failed'; readonly why: string };

/** A client waits; it takes a hook that is slower than this for one that hangs, sooner or later. */
const SLOW_MS = 2_000;

const OUTPUT_CHARS_MAX = 1_000_000;

/** The lines before a command runs, of a file that a client reads; none: it has no hook of ours. */
export function hookCommands(id: AgentId, file: string, text: string): readonly HookCommand[] {
  if (id === 'cline') return [[file]];
  if (id === 'opencode' || id === 'pi') {
    const program = /^const CUFF = (".*");$/m.exec(text)?.[1];
    return program === undefined ? [] : [[String(JSON.parse(program)), 'hook', '--agent', id]];
  }
  const lists = BEFORE.map((event) => readJson(text, ['hooks', event]));
  return lists.flatMap((list) => (Array.isArray(list) ? list : []).flatMap(commandsOf));
}

const BEFORE = ['PreToolUse', 'BeforeTool', 'preToolUse', 'beforeShellExecution'];

function commandsOf(entry: Json): HookCommand[] {
  const object = asObject(entry);
  if (object === undefined) return [];
  if (Array.isArray(object.hooks)) return object.hooks.flatMap(commandsOf);
  const line = object.command ?? object.bash;
  if (!isHookEntry(entry) || typeof line !== 'string') return [];
  if (!Array.isArray(object.args)) return [['/bin/sh', '-c', line]];
  return [[line, ...object.args.map(String)]];
}

export async function probe(id: AgentId, command: HookCommand, env: Env): Promise<ProbeResult> {
  const folder = mkdtempSync(join(tmpdir(), 'cuff-probe-'));
  try {
    const config = join(folder, 'config', 'cuff');
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'policy.yml'), 'default: deny\n');
    const own = { XDG_CONFIG_HOME: join(folder, 'config'), CUFF_STATE_ROOT: join(folder, 'state') };
    return await ask(id, command, folder, { ...env, ...own });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function ask(
  id: AgentId,
  [program, ...args]: HookCommand,
  cwd: string,
  env: Env,
): Promise<ProbeResult> {
  const began = performance.now();
  return new Promise((resolve) => {
    const failed = (why: string): void => resolve({ kind: 'failed', why });
    const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      failed(`no answer within ${HOOK_SECONDS} s`);
    }, HOOK_SECONDS * 1_000);
    let text = '';
    child.on('error', () => {
      clearTimeout(timer);
      failed(`${program} cannot be started`);
    });
    child.stdin.on('error', () => undefined); // it ended without reading: the answer tells
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      if (text.length < OUTPUT_CHARS_MAX) text += piece;
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      const ms = Math.round(performance.now() - began);
      if (code === 126 || code === 127) {
        const line = args[0] === '-c' ? args[1] : program;
        return failed(`its program is not there any more: ${line}`);
      }
      if (!isDenial(parseObject(text))) return failed('it did not deny what it must deny');
      if (ms > SLOW_MS) return failed(`it is slow: ${ms} ms`);
      resolve({ kind: 'denied', ms });
    });
    child.stdin.end(JSON.stringify(payloadOf(id, cwd)));
  });
}

/** A no, in the words of any client. */
function isDenial(answer: JsonObject | undefined): boolean {
  const inner = asObject(answer?.hookSpecificOutput);
  const words = [inner?.permissionDecision, answer?.permissionDecision, answer?.decision];
  return (
    [...words, answer?.permission].includes('deny') ||
    answer?.cancel === true ||
    answer?.block === true
  );
}

/** What the client would send for this command. */
function payloadOf(id: AgentId, cwd: string): JsonObject {
  const [name, command] = ['cuff-probe', 'cuff-probe --must-be-denied'];
  const tool = AGENTS[id].shellTools[0] ?? 'Bash';
  const input = { command };
  const call = { tool_name: tool, tool_input: input };
  const session = { session_id: name, cwd };
  switch (id) {
    case 'gemini':
      return { ...session, hook_event_name: 'BeforeTool', ...call };
    case 'copilot':
      return { sessionId: name, timestamp: 0, cwd, toolName: tool, toolArgs: input };
    case 'cursor':
      return {
        ...{ cursor_version: '0', conversation_id: name, workspace_roots: [cwd] },
        ...{ hook_event_name: 'beforeShellExecution', command, cwd },
      };
    case 'opencode':
      return { before: { tool, sessionID: name, callID: name }, args: input, cwd };
    case 'pi':
      return { toolName: tool, toolCallId: name, input, cwd };
    case 'cline':
      return {
        ...{ hookName: 'tool_call', taskId: name, workspaceRoots: [cwd] },
        tool_call: { id: name, name: tool, input: { commands: [command] } },
      };
    case 'codex':
      return { ...claudes(session, call, name), turn_id: name, model: name };
    default:
      return claudes(session, call, name);
  }
}

function claudes(session: JsonObject, call: JsonObject, id: string): JsonObject {
  return { ...session, hook_event_name: 'PreToolUse', ...call, tool_use_id: id };
}
