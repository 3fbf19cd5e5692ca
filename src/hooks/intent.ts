// What an agent's hook leaves for the shell that runs the command right after it: which call this
// is, and what was decided about it. One file for each call in `<state root>/intents/` (0700,
// 0600). `cuff hook` writes it, `cuff sh` claims it.
//
//   name     <key>-<call>.intent
//   key      first 40 hex digits of sha256(agent NUL session NUL real cwd NUL command); `session`
//            is what the agent tells its shells: empty where they have no variable for it
//   call     first 16 hex digits of sha256(tool call id), or of the second (decimal epoch seconds)
//            where the agent names no call
//   line 1   cuff-intent 2
//   line 2   a JSON object: agent, session, tool_call, command, description, cwd,
//            permission_mode, registered, decision, at
//
// A file is written under a temporary name and linked, so that the same event from two settings
// files leaves one intent, whole from its first moment on. A claim is a rename to
// `<name>.claimed-<pid>`: exactly one shell wins. An intent is good for 60 seconds; that of a
// question which the client asks its person, for ten minutes.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { ensurePrivateDir, ensureRoot, isPrivateDir, stateRoot } from '../capture/paths.ts';
import { namesIn, replaceFile } from '../directories.ts';
import { errnoOf } from '../errors.ts';
import { AGENTS, type AgentId, isAgentId, isProvenAsk } from '../text/agents.ts';
import { sha256 } from '../text/hash.ts';
import { asCount, asObject, asOneOf, asString, parseObject } from '../text/json.ts';
import type { Env } from '../types.ts';

/** Between the hook's answer and the start of the command: the client's own rules, at most. */
const GOOD_MS = 60_000;

/**
 * The same where a person answers in between, who may be away. Longer would leave a question that
 * was answered with no, or with nothing, good for a shell that no hook has told of.
 */
const ASKED_MS = 10 * 60_000;

/** Clocks of one machine; a time further ahead was not written by a hook. */
const AHEAD_MS = 5_000;

/** What is older is of no use to any shell, claimed or not. */
const KEPT_MS = 15 * 60_000;

/** A command may be long; an intent that is longer than any argument list is none of ours. */
const BYTES_MAX = 4 * 1024 * 1024;

const NAME = /^[0-9a-f]{40}-[0-9a-f]{16}\.intent$/;

const ACTIONS = ['allow', 'deny', 'ask'] as const;

/** What was decided about the command when the hook was asked. */
type IntentDecision = {
  readonly action: (typeof ACTIONS)[number];
  readonly rule: string | null;
  readonly reason: string;
  /** The id for `cuff policy approve`, where a person may still say yes. */
  readonly approval_id: string | null;
  /** The rules it was decided by, as a hash of their content. */
  readonly policy: string | null;
};

export type Intent = {
  readonly agent: AgentId;
  readonly session: string | null;
  readonly tool_call: string | null;
  readonly command: string;
  readonly description: string | null;
  /** Its real path. */
  readonly cwd: string;
  readonly permission_mode: string | null;
  /** A person has set up the hook of this agent: its name is more than what a process says. */
  readonly registered?: true;
  /** Null: no policy was asked. */
  readonly decision: IntentDecision | null;
  /** Epoch milliseconds. */
  readonly at: number;
};

export type StoredIntent = {
  /** The file's name without what a claim adds. */
  readonly name: string;
  readonly intent: Intent;
};

export function intentsDir(env: Env): string {
  return join(stateRoot(env), 'intents');
}

/** What the name of an intent begins with. */
export function intentKey(intent: Pick<Intent, 'agent' | 'session' | 'cwd' | 'command'>): string {
  const session = AGENTS[intent.agent].sessionVariables.length > 0 ? (intent.session ?? '') : '';
  return sha256([intent.agent, session, intent.cwd, intent.command].join('\0')).slice(0, 40);
}

/** `second`: of the event as the client tells it, so that two hooks of one event agree. */
export function intentName(
  intent: Omit<Intent, 'decision' | 'description' | 'permission_mode'>,
  second: number = Math.floor(intent.at / 1000),
): string {
  const call = sha256(intent.tool_call ?? String(second)).slice(0, 16);
  return `${intentKey(intent)}-${call}.intent`;
}

type WriteOptions = {
  /** The command as it is stored, where it has secrets; the name is that of the real one. */
  readonly shown?: string | undefined;
  readonly second?: number | undefined;
};

/**
 * Says the intent's name, also when another hook has written it before. Throws `path_unsafe` or the
 * errno error where the state root cannot be written.
 */
export function writeIntent(env: Env, intent: Intent, options: WriteOptions = {}): string {
  return placeIntent(env, intent, options).name;
}

/** As `writeIntent`; `first`: no other hook has written it before. */
export function placeIntent(
  env: Env,
  intent: Intent,
  { second, shown = intent.command }: WriteOptions = {},
): { readonly name: string; readonly first: boolean } {
  const root = stateRoot(env);
  const directory = intentsDir(env);
  ensureRoot(root);
  ensurePrivateDir(directory);
  const name = intentName(intent, second);
  if (claimedFile(directory, name) !== undefined) return { name, first: false };
  const draft = join(directory, `.${name}.${process.pid}.${Math.random().toString(36).slice(2)}`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = fs.constants;
  const fd = fs.openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    fs.writeFileSync(fd, encodeIntent({ ...intent, command: shown }));
    fs.linkSync(draft, join(directory, name));
    return { name, first: true };
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    return { name, first: false };
  } finally {
    fs.closeSync(fd);
    fs.rmSync(draft, { force: true });
  }
}

/** The second of two hooks may come when the shell has claimed what the first one wrote. */
function claimedFile(directory: string, name: string): string | undefined {
  return namesIn(directory).find((one) => one.startsWith(`${name}.claimed-`));
}

/** The intent of this name, claimed or not; undefined if there is none. Never throws. */
export function findIntent(
  env: Env,
  name: string,
): (StoredIntent & { claimed: boolean }) | undefined {
  const directory = intentsDir(env);
  if (!NAME.test(name) || !isPrivateDir(directory)) return undefined;
  const claimed = claimedFile(directory, name);
  const stored = readIntent(directory, claimed ?? name, name);
  return stored && { ...stored, claimed: claimed !== undefined };
}

/** What the hook that wrote it has to say instead. Throws the errno error. */
export function replaceIntent(env: Env, name: string, intent: Intent): void {
  replaceFile(join(intentsDir(env), name), encodeIntent(intent));
}

/** Two hooks of one event come at once; the same call with the same words later is another. */
const SAME_END_MS = 2_000;

/**
 * True for the first of several hooks that tell of the same end of a call, which happened at `at`.
 * `named`: the client names its calls, so that the same name is the same call, however late a hook
 * comes on a busy machine. Never throws.
 */
export function firstToEnd(env: Env, name: string, at: number, named: boolean): boolean {
  const path = join(intentsDir(env), `${name}.ended`);
  try {
    ensureRoot(stateRoot(env));
    ensurePrivateDir(intentsDir(env));
    fs.writeFileSync(path, String(at), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') return true; // without a state root each of them enters it
  }
  if (named) return false;
  const before = Number(privateText(path));
  if (Math.abs(at - before) <= SAME_END_MS) return false;
  try {
    replaceFile(path, String(at));
  } catch {
    // The next one counts as another, too.
  }
  return true;
}

/** All that hooks wrote about this call, the newest first; without its id about the command. */
export function callIntents(
  env: Env,
  wanted: Pick<Intent, 'agent' | 'session' | 'tool_call' | 'cwd' | 'command'>,
): readonly (StoredIntent & { readonly claimed: boolean })[] {
  const directory = intentsDir(env);
  if (!isPrivateDir(directory)) return [];
  const { tool_call: toolCall } = wanted;
  const call = toolCall === null ? '' : sha256(toolCall).slice(0, 16);
  const start = `${intentKey(wanted)}-${call}`;
  return namesIn(directory)
    .flatMap((file) => {
      const name = /^([0-9a-f]{40}-[0-9a-f]{16}\.intent)(?:\.claimed-\d+)?$/.exec(file)?.[1];
      if (name === undefined || !name.startsWith(start)) return [];
      const stored = readIntent(directory, file, name);
      return stored === undefined ? [] : [{ ...stored, claimed: file !== name }];
    })
    .sort((a, b) => b.intent.at - a.intent.at);
}

/**
 * Takes the newest intent for this command that no other shell has taken and that is still good;
 * with a `toolCall` only the one of that call. Undefined if there is none. Never throws. Earlier
 * questions about it end with it: they had another answer, or none.
 */
export function claimIntent(
  env: Env,
  wanted: Pick<Intent, 'agent' | 'session' | 'cwd' | 'command'>,
  { toolCall = null, now = Date.now() }: { toolCall?: string | null; now?: number } = {},
): StoredIntent | undefined {
  const directory = intentsDir(env);
  if (!isPrivateDir(directory)) return undefined;
  const call = toolCall === null ? '[0-9a-f]{16}' : sha256(toolCall).slice(0, 16);
  const form = new RegExp(`^${intentKey(wanted)}-${call}\\.intent$`);
  const found = namesIn(directory)
    .filter((name) => form.test(name))
    .flatMap((name) => readIntent(directory, name, name) ?? [])
    .filter((one) => isGood(one.intent, now))
    .sort((a, b) => b.intent.at - a.intent.at);
  for (const one of found) {
    const stored = take(directory, one.name);
    if (stored === undefined || !isGood(stored.intent, now)) continue;
    for (const { name, intent } of found) {
      if (now - intent.at > GOOD_MS) fs.rmSync(join(directory, name), { force: true });
    }
    return stored;
  }
  return undefined;
}

/** Takes the intent of this name, for a shell that was told which one is its own. Never throws. */
export function claimNamedIntent(
  env: Env,
  name: string,
  now: number = Date.now(),
): StoredIntent | undefined {
  const directory = intentsDir(env);
  if (!NAME.test(name) || !isPrivateDir(directory)) return undefined;
  const found = readIntent(directory, name, name);
  if (found === undefined || !isGood(found.intent, now)) return undefined;
  return take(directory, name);
}

function take(directory: string, name: string): StoredIntent | undefined {
  const claimed = `${name}.claimed-${process.pid}`;
  try {
    fs.renameSync(join(directory, name), join(directory, claimed));
  } catch {
    return undefined; // another shell took it
  }
  return readIntent(directory, claimed, name);
}

function isGood(intent: Intent, now: number): boolean {
  const { at } = intent;
  return at <= now + AHEAD_MS && now - at <= (isHandedOver(intent) ? ASKED_MS : GOOD_MS);
}

/** The client asks its person, and starts the command only after a yes. */
export function isHandedOver({ agent, permission_mode, decision }: Intent): boolean {
  if (decision?.action !== 'ask' || decision.approval_id !== null) return false;
  return isProvenAsk(agent, permission_mode);
}

function readIntent(directory: string, file: string, name: string): StoredIntent | undefined {
  const text = privateText(join(directory, file));
  return text === undefined ? undefined : decodeIntent(text, name);
}

/** Of a regular file of ours that others cannot write. */
function privateText(path: string): string | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
  let fd: number;
  try {
    fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return undefined; // gone, or a link
  }
  try {
    const stat = fs.fstatSync(fd);
    const ours = process.getuid === undefined || stat.uid === process.getuid();
    if (!stat.isFile() || !ours || (stat.mode & 0o022) !== 0 || stat.size > BYTES_MAX) {
      return undefined;
    }
    return fs.readFileSync(fd, 'utf8');
  } catch {
    return undefined;
  } finally {
    fs.closeSync(fd);
  }
}

/** Removes intents that no shell can use any more, and drafts of hooks that were killed. */
export function sweepIntents(env: Env, now: number = Date.now()): number {
  const directory = intentsDir(env);
  if (!isPrivateDir(directory)) return 0;
  let removed = 0;
  for (const name of namesIn(directory)) {
    if (!/^\.?[0-9a-f]{40}-[0-9a-f]{16}\.intent/.test(name)) continue;
    const path = join(directory, name);
    try {
      if (now - fs.lstatSync(path).mtimeMs <= KEPT_MS) continue;
      fs.rmSync(path);
      removed += 1;
    } catch {
      // Another process was quicker, or it cannot be removed: it is too old to be claimed.
    }
  }
  return removed;
}

const HEAD = 'cuff-intent 2';

export function encodeIntent(intent: Intent): string {
  const { agent, session, tool_call, command, description, cwd, permission_mode } = intent;
  const { decision, at, registered } = intent;
  const ids = { agent, session, tool_call, command, description, cwd, permission_mode };
  return `${HEAD}\n${JSON.stringify({ ...ids, registered, decision, at })}\n`;
}

export function decodeIntent(text: string, name: string): StoredIntent | undefined {
  const [head = '', body = ''] = text.split('\n', 2);
  const json = parseObject(body);
  if (head !== HEAD || json === undefined || !isAgentId(json.agent)) return undefined;
  const [command, cwd, at] = [asString(json.command), asString(json.cwd), asCount(json.at)];
  const decision = decisionOf(json.decision);
  if (command === undefined || cwd === undefined || at === undefined) return undefined;
  const intent: Intent = {
    agent: json.agent,
    session: asString(json.session) ?? null,
    tool_call: asString(json.tool_call) ?? null,
    command,
    description: asString(json.description) ?? null,
    cwd,
    permission_mode: asString(json.permission_mode) ?? null,
    ...(json.registered === true && { registered: true }),
    decision,
    at,
  };
  return { name, intent };
}

function decisionOf(value: unknown): IntentDecision | null {
  const json = asObject(value);
  const action = asOneOf(ACTIONS, json?.action);
  if (action === undefined) return null;
  return {
    action,
    rule: asString(json?.rule) ?? null,
    reason: asString(json?.reason) ?? '',
    approval_id: asString(json?.approval_id) ?? null,
    policy: asString(json?.policy) ?? null,
  };
}
