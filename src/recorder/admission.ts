// What must hold before a command is started, and what is known about it then: the terms of the
// settings in force, a working directory that is there, a session for its entry, and the part of
// the entry that does not depend on how it ends. Also the question that the policy is asked about
// it: what was judged is what is started, even if the settings have changed meanwhile.

import { basename, resolve } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { isAppError } from '../errors.ts';
import type { Ruling } from '../guard/guard.ts';
import { isBash, type JudgedChoice } from '../guard/judged-texts.ts';
import type { GuardRequest } from '../guard/question.ts';
import { entryTimestamp } from '../journal/entry.ts';
import { storedEnvironment } from '../journal/environment.ts';
import { REAL_DISK } from '../ops/health.ts';
import { assertWorkingDirectory } from '../run/cwd.ts';
import { NO_PAGER } from '../run/env.ts';
import type { StartOptions } from '../shell/shell.ts';
import { commandRedactor, type Redactor, redactor } from '../text/redact.ts';
import { type KnownValues, knownValues } from '../text/secrets/known-values.ts';
import { wholeText } from '../text/utf8.ts';
import type { AgentContext, AskPerson, EntryDecision, Env, JournalIntent } from '../types.ts';
import { ExecutionError, RecordingError } from './errors.ts';
import type { EntryTarget, RecorderJournal } from './journal.ts';
import type { RunSettings } from './settings.ts';

type How = Pick<StartOptions, 'transport' | 'stdin' | 'size' | 'graceMs' | 'owner'>;

/** A command that an agent wants run. */
export type RunRequest = {
  readonly command: string;
  /** A relative one starts at the default one. */
  readonly workingDirectory?: string | undefined;
  readonly description?: string | undefined;
  /** Instead of the settings' own. */
  readonly shell?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** A hard deadline; without it only the run itself or a kill ends it. */
  readonly killAfterMs?: number | undefined;
  readonly how?: How | undefined;
  /** What of it the agent has chosen: a policy judges that with the command. */
  readonly chosen?: AgentChoice | undefined;
  /** It only ends other runs, so it starts even if as many run as may. */
  readonly makesRoom?: boolean | undefined;
  /** How many bytes of each stream the caller gets with the ending. */
  readonly headBytes?: number | undefined;
};

/** The call that a command belongs to. */
export type Call = {
  readonly context: AgentContext;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ((message: string) => void) | undefined;
  readonly ask?: AskPerson | undefined;
  /** Whose conversation it is; calls without one share theirs. */
  readonly key?: string | undefined;
};

type AgentChoice = {
  /** The command before something of ours was added to it. */
  readonly command?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: string | undefined;
  /** It is typed into this command, which `shell` reads, and to which that was typed before. */
  readonly typed?:
    | { readonly into: string; readonly shell: string; readonly before: string }
    | undefined;
};

/** What is the same for all commands between two changes of the settings. */
export type Terms = RunSettings & {
  readonly redact: Redactor;
  /** For the text of a command: also what its own words call a secret. */
  readonly redactCommand: Redactor;
  /** Values that no output should have. Made when they are first asked for. */
  readonly known: () => KnownValues;
  /** The environment a command gets. */
  readonly childEnv: Env;
  /** Undefined when there are none: then all runs share one environment. */
  readonly overrides: Readonly<Record<string, string>> | undefined;
};

/** A command that may start. */
export type Admission = {
  readonly terms: Terms;
  readonly text: string;
  readonly target: EntryTarget;
  readonly draft: JournalIntent['draft'];
  readonly how: StartOptions;
};

export function termsOf(settings: RunSettings, env: Env): Terms {
  const { environment, envOverrides } = settings;
  // What is withheld from commands is a secret all the same.
  const redact = redactor({ ...env, ...envOverrides });
  let known: KnownValues | undefined;
  return {
    ...settings,
    redact,
    redactCommand: commandRedactor(redact),
    known: () => {
      known ??= knownValues({ ...env, ...envOverrides });
      return known;
    },
    childEnv: { ...(environment === 'none' ? {} : env), ...envOverrides },
    overrides: Object.keys(envOverrides).length === 0 ? undefined : envOverrides,
  };
}

/** Throws an `ExecutionError` or `RecordingError`; nothing has happened then. */
export function admit(
  request: RunRequest,
  context: AgentContext,
  terms: Terms,
  around: {
    readonly journal: RecorderJournal;
    readonly pluginVersion: string;
    readonly now: () => number;
    readonly decision: EntryDecision | null;
  },
): Admission {
  const { recording } = terms;
  const cwd = directoryOf(request, terms);
  const target = around.journal.target(context);
  if (recording.enabled && recording.strict) checkRecordable(target, recording.directory);
  const { command, description, killAfterMs } = request;
  const draft: JournalIntent['draft'] = {
    timestamp: entryTimestamp(around.now()),
    command: terms.redactCommand(command),
    description: description === undefined ? null : terms.redactCommand(description),
    working_directory: cwd,
    shell: request.shell ?? terms.shell,
    timeout_seconds: killAfterMs === undefined ? 0 : Math.max(1, Math.ceil(killAfterMs / 1000)),
    environment: environmentOf(terms),
    ...saidBy(context),
    opencuff_version: packageJson.version,
    plugin_version: around.pluginVersion,
    decision: around.decision,
  };
  // The policy has judged what a caller says of these.
  const held = around.decision?.mode === 'enforce' ? NO_PAGER : undefined;
  const env =
    request.env === undefined && held === undefined
      ? terms.overrides
      : { ...terms.overrides, ...held, ...request.env };
  const how = {
    ...request.how,
    ...(env && { env }),
    ...(killAfterMs !== undefined && { killAfterMs: Math.ceil(killAfterMs) }),
  };
  return { terms, text: command, target, draft, how };
}

/** For the server that writes the entry should this one die; none where entries are turned off. */
export function intentOf({ terms, target, draft }: Admission): JournalIntent | undefined {
  if (!target.recorded && target.chosen === true) return undefined;
  const { directory, captureOutput, outputBytesMax, redact } = terms.recording;
  const sessionId = target.recorded ? target.writer.id : null;
  return { directory, sessionId, draft, captureOutput, outputBytesMax, redact };
}

/** As the system gets it: what is judged and stored is what is executed. */
export function wholeRequest(request: RunRequest): RunRequest {
  const { command, description, chosen } = request;
  return {
    ...request,
    command: wholeText(command),
    ...(description !== undefined && { description: wholeText(description) }),
    ...(chosen?.command !== undefined && {
      chosen: { ...chosen, command: wholeText(chosen.command) },
    }),
  };
}

/** Where it is to run. Throws an `ExecutionError` when it cannot. */
function directoryOf({ workingDirectory = '.' }: RunRequest, terms: Terms): string {
  const cwd = resolve(terms.workingDirectory, workingDirectory);
  checkDirectory(cwd);
  return cwd;
}

function saidBy({ agentId, conversationId, toolCallId, traceId }: AgentContext) {
  const said = [agentId, conversationId, toolCallId].some((one) => one !== null);
  return {
    agent_id: agentId,
    conversation_id: conversationId,
    tool_call_id: toolCallId,
    trace_id: traceId,
    context_source: said ? ('self-reported' as const) : null,
  };
}

function environmentOf({ recording, childEnv, redact }: Terms) {
  const { captureEnv, envAllowlist: allowlist } = recording;
  const stored = storedEnvironment(childEnv, { captureEnv, allowlist });
  if (stored === null || !recording.redact) return stored;
  return Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, redact(value)]));
}

function checkDirectory(cwd: string): void {
  try {
    assertWorkingDirectory(cwd);
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { code, message, hint } = error;
    throw new ExecutionError(code, `${message}.`, hint === undefined ? {} : { hint });
  }
}

/** Of a disk that is full only a write tells; a session that is open does not. */
function checkRecordable(target: EntryTarget, directory: string): void {
  const why = target.recorded ? REAL_DISK.writeProblem(directory) : target.why;
  if (why === undefined) return;
  throw new RecordingError(`Not executed, because it cannot be recorded: ${why}.`, {
    hint: 'Make the recording directory writable, or set recording.strict to false.',
  });
}

/** What the policy allows, and the request as it was judged. */
export type Permission = Ruling & { readonly request?: RunRequest };

type Question = {
  readonly asked: GuardRequest & JudgedChoice;
  readonly request: RunRequest;
  /** For the entry: no values, there may be secrets in them. */
  readonly beside: readonly string[];
};

/** Rejects with an `ExecutionError` if the working directory is none. */
export async function questionOf(given: RunRequest, terms: Terms): Promise<Question> {
  const { chosen, shell: named, how } = given;
  const cwd = directoryOf(given, terms);
  const request = { ...given, workingDirectory: cwd, shell: named ?? terms.shell };
  const command = chosen?.command ?? given.command;
  // Naming the default shell changes nothing.
  const shell = named === undefined || isBash(named) ? undefined : named;
  const settingsShell = named === undefined ? basename(terms.shell) : undefined;
  const { env, stdin, typed } = chosen ?? {};
  const beside = [
    ...Object.keys(env ?? {}).map((name) => `env ${name}`),
    ...(stdin === undefined ? [] : ['stdin']),
    ...(shell === undefined ? [] : [`shell ${shell}`]),
    ...(typed === undefined ? [] : ['typed']),
  ];
  const tty = how?.transport === 'pty';
  const asked = { ...chosen, cwd, command, shell, settingsShell, tty };
  if (stdin === undefined && typed === undefined) return { asked, request, beside };
  const { readerOf } = await import('../guard/input-reader.ts');
  const keys = typed === undefined ? undefined : `${typed.before}${command}`;
  const reader = readerOf(typed?.into ?? command, typed?.shell ?? request.shell, keys);
  return { asked: { ...asked, reader }, request, beside };
}

/** What was judged with the command belongs to the decision about it. */
export function noting(
  decision: EntryDecision | null,
  beside: readonly string[],
): EntryDecision | null {
  return decision === null || beside.length === 0 ? decision : { ...decision, beside };
}
