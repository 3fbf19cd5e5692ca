// From the JSON of an agent's hook to the JSON that it gets. Whatever goes wrong, the answer is the
// safe one: where no shell of ours stands behind the hook a call that could not be judged is denied
// with the reason, and where one does, silence leaves it to that shell.

import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { stateRoot } from '../capture/paths.ts';
import { messageOf } from '../errors.ts';
import { Approvals } from '../policies/approvals.ts';
import { openQuickly } from '../policies/read-before.ts';
import { realPath } from '../policies/real-path.ts';
import { projectFolder } from '../recordings/directory.ts';
import { AGENTS, type AgentId } from '../text/agents.ts';
import type { JsonObject } from '../text/json.ts';
import { printable, shortLine } from '../text/printable.ts';
import type { Env } from '../types.ts';
import type { HookCall, HookVerdict } from './call.ts';
import { type DeniedCommand, type HookTerms, judgeCall } from './judge.ts';
import { noteSeen, noteSession, noteUnknown } from './notes.ts';
import { type RecognisedCall, recognise } from './recognise.ts';

/** What is loaded only for calls that are over, and for edits. */
export type Recording = {
  /** What a file is before a tool writes it. */
  readonly beforeEdit: (call: HookCall, cwd: string, terms: HookTerms) => void;
  readonly afterCall: (call: HookCall, cwd: string, terms: HookTerms) => Promise<void>;
  readonly afterDenial: (
    call: HookCall,
    denied: readonly DeniedCommand[],
    cwd: string,
    terms: HookTerms,
  ) => Promise<void>;
};

export type HookReply = {
  /** Undefined: nothing is printed. */
  readonly answer: JsonObject | undefined;
  /** To be done when the client has its answer. */
  readonly afterwards?: () => Promise<void>;
};

export type HookOptions = HookTerms & {
  /** Decides between agents that the payload leaves open. */
  readonly agent: AgentId | undefined;
  readonly recording: () => Promise<Recording>;
  /** In place of `/etc/cuff/policy.yml`. */
  readonly systemFile?: string | undefined;
};

/** Never rejects. */
export async function answerHook(payload: JsonObject, options: HookOptions): Promise<HookReply> {
  const { env, now } = options;
  const recognised = recognise(payload, env, options.agent);
  if (recognised === undefined) {
    noteUnknown(env, Object.keys(payload), now());
    return { answer: undefined };
  }
  const { call, protocol } = recognised;
  noteSeen(env, call.agent, now());
  try {
    const { verdict, afterwards } = await verdictOf(call, options);
    return { answer: protocol.answer(call, verdict), ...(afterwards && { afterwards }) };
  } catch (error) {
    return { answer: unjudged(recognised, options, messageOf(error)) };
  }
}

/** The answer to a call that could not be judged, for one reason or another. */
export function unjudged(
  { call, protocol }: RecognisedCall,
  { env, mode }: Pick<HookTerms, 'env' | 'mode'>,
  why: string,
): JsonObject | undefined {
  const judges = call.event === 'before' && call.tool?.kind !== 'other';
  if (mode !== 'enforce' || !judges || shellBehind(call, env)) {
    return protocol.answer(call, { kind: 'silent' });
  }
  const reason = shortLine(printable(why), 300);
  const text = `cuff hook: not run, because the policy could not be asked: ${reason}`;
  return protocol.answer(call, { kind: 'deny', text });
}

/** Whether `cuff sh` is known to judge the command again when it starts. */
function shellBehind({ agent, tool }: HookCall, env: Env): boolean {
  const { shellKnob, shellVariable } = AGENTS[agent];
  if (!shellKnob || shellVariable === null || tool?.kind !== 'shell') return false;
  const value = env[shellVariable] ?? '';
  const root = stateRoot(env);
  if (shellVariable === 'PATH') {
    return value.split(':').includes(join(root, 'shells')) && existsSync(join(root, 'shells'));
  }
  return resolve(value).startsWith(`${root}/`) && existsSync(value);
}

type Reaction = { readonly verdict: HookVerdict; readonly afterwards?: () => Promise<void> };

const SILENT: Reaction = { verdict: { kind: 'silent' } };

async function verdictOf(call: HookCall, options: HookOptions): Promise<Reaction> {
  const { env, now } = options;
  const cwd = realPath(call.cwd !== null && isAbsolute(call.cwd) ? call.cwd : process.cwd());
  const used = call.tool !== undefined && call.tool.kind !== 'other';
  switch (call.event) {
    case 'before':
    case 'permission':
      return used ? before(call, cwd, options) : SILENT;
    case 'after':
    case 'failure': {
      if (!used) return SILENT;
      const afterwards = async (): Promise<void> =>
        (await options.recording()).afterCall(call, cwd, options);
      return { ...SILENT, afterwards };
    }
    case 'end':
      // What a person approved for this conversation ends with it.
      if (call.session !== null) {
        new Approvals(stateRoot(env), now).endConversation(`conversation:${call.session}`);
      }
      noteSession(env, call, now());
      return SILENT;
    case 'start':
      noteSession(env, call, now());
      return SILENT;
    case 'other':
      return SILENT;
  }
}

async function before(call: HookCall, cwd: string, options: HookOptions): Promise<Reaction> {
  const { env, systemFile, now } = options;
  const project = projectFolder(cwd, env);
  const where = { project, env, stateRoot: stateRoot(env), systemFile, now, halts: true };
  const engine = await openQuickly(where);
  try {
    const shellCounts = options.rewrite || shellBehind(call, env);
    const { verdict, denied } = await judgeCall(call, cwd, engine, { ...options, shellCounts });
    const refused = verdict.kind === 'deny' || verdict.kind === 'ask';
    // The file must be looked at before the tool writes it, so before the answer.
    if (call.tool?.kind === 'file' && !refused) {
      (await options.recording()).beforeEdit(call, cwd, options);
    }
    if (denied.length === 0 || call.event !== 'before') return { verdict };
    const afterwards = async (): Promise<void> =>
      (await options.recording()).afterDenial(call, denied, cwd, options);
    return { verdict, afterwards };
  } finally {
    engine.close();
  }
}
