// Reads the fields of payloads that come from programs we do not control: a value of the wrong type
// counts as none, and ids are short and plain before anything is named after them.

import { AGENTS, type AgentId } from '../text/agents.ts';
import { asObject, asString, type JsonObject, parseJson } from '../text/json.ts';
import { shellText } from '../text/shells.ts';
import type { HookCall, HookEvent, ToolUse } from './call.ts';
import { fileEdits } from './file-tools.ts';

const ID_LENGTH_MAX = 200; // an id, not a place to keep things

/** Null for anything that cannot be an id. */
export function idOf(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : (asString(value) ?? '');
  // Most ids are plain, and an expression for all of Unicode takes longest to compile.
  const plain = /^[!-~]*$/.test(text)
    ? text
    : text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '').trim();
  return plain === '' ? null : plain.slice(0, ID_LENGTH_MAX);
}

export function textOf(value: unknown): string | null {
  return asString(value) ?? null;
}

/** A path without a NUL; null for anything else. */
export function pathOf(value: unknown): string | null {
  const path = asString(value);
  return path === undefined || path === '' || path.includes('\0') ? null : path;
}

/** Epoch milliseconds of a number or an ISO time. */
export function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'number' ? value : Date.parse(asString(value) ?? '');
  return Number.isSafeInteger(at) && at > 0 ? at : undefined;
}

export function durationOf(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value < 1e12 ? Math.round(value) : null;
}

/** Some clients send the arguments of a tool as the text of an object. */
export function inputOf(value: unknown): JsonObject {
  return asObject(typeof value === 'string' ? parseJson(value) : value) ?? {};
}

/** The tool by its name, which each agent chooses for itself. */
export function toolOf(
  agent: AgentId,
  name: string | undefined,
  input: JsonObject,
): ToolUse | undefined {
  if (name === undefined) return undefined;
  const { shellTools, fileTools } = AGENTS[agent];
  if (shellTools.includes(name)) {
    const commands = commandsOf(input);
    const description = textOf(input.description) ?? textOf(input.explanation);
    return { kind: 'shell', name, commands, description };
  }
  if (fileTools.includes(name)) return { kind: 'file', name, edits: fileEdits(input) };
  return { kind: 'other', name };
}

/** `command` as text or as an argv, or a list of `commands`. */
function commandsOf(input: JsonObject): readonly string[] {
  const { command, commands, cmd } = input;
  const one = command ?? cmd;
  if (typeof one === 'string') return [one];
  if (Array.isArray(one) && one.every((word) => typeof word === 'string')) return [argvText(one)];
  const list = typeof commands === 'string' ? parseJson(commands) : commands;
  if (!Array.isArray(list)) return typeof commands === 'string' ? [commands] : [];
  return list.flatMap((entry) => asString(entry) ?? asString(asObject(entry)?.command) ?? []);
}

function argvText(argv: readonly string[]): string {
  return shellText(argv) ?? argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}

export const NO_CALL: Omit<HookCall, 'agent' | 'event' | 'eventName'> = {
  session: null,
  toolCall: null,
  cwd: null,
  at: undefined,
  permissionMode: null,
  transcript: null,
  tool: undefined,
  input: {},
  results: [],
  durationMs: null,
};

/** `PreToolUse`, `preToolUse`, `BeforeTool`... */
export function eventOf(name: string): HookEvent {
  return Object.hasOwn(EVENTS, name) ? (EVENTS[name] ?? 'other') : 'other';
}

const EVENTS: { readonly [name: string]: HookEvent } = {
  PreToolUse: 'before',
  preToolUse: 'before',
  BeforeTool: 'before',
  beforeShellExecution: 'before',
  PermissionRequest: 'permission',
  permissionRequest: 'permission',
  PostToolUse: 'after',
  postToolUse: 'after',
  AfterTool: 'after',
  afterShellExecution: 'after',
  afterFileEdit: 'after',
  PostToolUseFailure: 'failure',
  postToolUseFailure: 'failure',
  SessionStart: 'start',
  sessionStart: 'start',
  SessionEnd: 'end',
  sessionEnd: 'end',
};
