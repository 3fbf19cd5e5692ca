// What must hold before a command is started, and what is known about it then: the terms of the
// settings in force, a working directory that is there, a place in the journal, and the part of its
// entry that does not depend on how it ends.

import { resolve } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { isAppError } from '../errors.ts';
import { entryTimestamp } from '../journal/entry.ts';
import { storedEnvironment } from '../journal/environment.ts';
import { REAL_DISK } from '../ops/health.ts';
import { assertWorkingDirectory } from '../run/cwd.ts';
import { NO_PAGER } from '../run/env.ts';
import type { StartOptions } from '../shell/shell.ts';
import { commandRedactor, type Redactor, redactor } from '../text/redact.ts';
import { wholeText } from '../text/utf8.ts';
import type { AgentContext, EntryDecision, Env, JournalIntent } from '../types.ts';
import { ExecutionError, RecordingError } from './errors.ts';
import type { Place, RecorderJournal } from './journal.ts';
import type { RecorderSettings } from './settings.ts';

type How = Pick<StartOptions, 'transport' | 'stdin' | 'size' | 'graceMs' | 'owner'>;

export type ExecuteRequest = {
  readonly command: string;
  readonly timeoutSeconds?: number | undefined;
  /** A relative one starts at the default one. */
  readonly workingDirectory?: string | undefined;
  readonly description?: string | undefined;
  /** In place of the settings' own. */
  readonly shell?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Nothing ends it when its time is over: `timeoutSeconds` is only how long somebody waits. */
  readonly unlimited?: boolean | undefined;
  readonly how?: How | undefined;
  /** What of it the agent has chosen: a policy judges that with the command. */
  readonly chosen?: AgentChoice | undefined;
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
export type Terms = RecorderSettings & {
  readonly redact: Redactor;
  /** For the text of a command: also what its own words call a secret. */
  readonly redactCommand: Redactor;
  /** The environment a command gets. */
  readonly childEnv: Env;
  /** Undefined when there are none: then all runs share one environment. */
  readonly overrides: Readonly<Record<string, string>> | undefined;
};

/** A command that was let in. */
export type Admitted = {
  readonly terms: Terms;
  readonly text: string;
  readonly place: Place;
  readonly known: JournalIntent['draft'];
  readonly timeoutAsked: number;
  readonly how: StartOptions;
};

export function termsOf(settings: RecorderSettings, env: Env): Terms {
  const { inheritEnv, envOverrides } = settings.execution;
  // What is withheld from commands is a secret all the same.
  const redact = redactor({ ...env, ...envOverrides });
  return {
    ...settings,
    redact,
    redactCommand: commandRedactor(redact),
    childEnv: { ...(inheritEnv ? env : {}), ...envOverrides },
    overrides: Object.keys(envOverrides).length === 0 ? undefined : envOverrides,
  };
}

/** Throws an `ExecutionError` or `RecordingError`; nothing has happened then. */
export function admit(
  request: ExecuteRequest,
  context: AgentContext,
  terms: Terms,
  around: {
    readonly journal: RecorderJournal;
    readonly pluginVersion: string;
    readonly now: () => number;
    readonly decision: EntryDecision | null;
  },
): Admitted {
  const { execution, recording } = terms;
  const cwd = directoryOf(request, terms);
  const place = around.journal.place(context);
  if (recording.enabled && recording.strict) checkRecordable(place, recording.directory);
  const timeoutAsked = request.timeoutSeconds ?? execution.defaultTimeoutSeconds;
  const timeoutSeconds = Math.min(timeoutAsked, execution.maxTimeoutSeconds);
  const known: JournalIntent['draft'] = {
    timestamp: entryTimestamp(around.now()),
    command: terms.redactCommand(request.command),
    description:
      request.description === undefined ? null : terms.redactCommand(request.description),
    working_directory: cwd,
    shell: request.shell ?? execution.shell,
    timeout_seconds: request.unlimited === true ? 0 : Math.max(1, Math.ceil(timeoutSeconds)),
    environment: environmentOf(terms),
    ...saidBy(context),
    opencuff_version: packageJson.version,
    plugin_version: around.pluginVersion,
    decision: around.decision,
  };
  // What a caller says of these was judged.
  const held = around.decision?.mode === 'enforce' ? NO_PAGER : undefined;
  const env =
    request.env === undefined && held === undefined
      ? terms.overrides
      : { ...terms.overrides, ...held, ...request.env };
  const how = {
    ...request.how,
    ...(env && { env }),
    ...(request.unlimited !== true && { killAfterMs: Math.ceil(timeoutSeconds * 1000) }),
  };
  return { terms, text: request.command, place, known, timeoutAsked, how };
}

/** For whoever writes the entry should this server die; none where the person wants no entries. */
export function intentOf({ terms, place, known }: Admitted): JournalIntent | undefined {
  if (!place.recorded && place.chosen === true) return undefined;
  const { directory, captureOutput, outputBytesMax, redact } = terms.recording;
  const sessionId = place.recorded ? place.writer.id : null;
  return { directory, sessionId, draft: known, captureOutput, outputBytesMax, redact };
}

/** As the system gets it: what is judged and stored is what is executed. */
export function wholeRequest(request: ExecuteRequest): ExecuteRequest {
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
export function directoryOf(
  { workingDirectory = '.' }: Pick<ExecuteRequest, 'workingDirectory'>,
  { execution }: Terms,
): string {
  const cwd = resolve(execution.workingDirectory, workingDirectory);
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
function checkRecordable(place: Place, directory: string): void {
  const why = place.recorded ? REAL_DISK.writeProblem(directory) : place.why;
  if (why === undefined) return;
  throw new RecordingError(`Not executed, because it cannot be recorded: ${why}.`, {
    hint: 'Make the recording directory writable, or set recording.strict to false.',
  });
}
