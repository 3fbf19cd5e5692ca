// `cuff_shell`, the native dialect: a shell for a model that wants to know what happened. Waiting
// never kills, every answer ends with the facts about its run, and whatever was printed can be read
// and searched later. This file starts, waits and kills; reading is in `native-read.ts`, and the
// words are in `native-words.ts` and `native-output.ts`.

import * as z from 'zod';
import type { AgentRun } from '../../agent/agent-shell.ts';
import type { Caller } from '../../agent/caller.ts';
import { Reports } from '../../agent/report.ts';
import { type Matcher, matcherOf, PatternError } from '../../agent/search-match.ts';
import { isAppError } from '../../errors.ts';
import type { CallContext, Services, ToolDefinition, ToolResult } from '../../host/plugin.ts';
import { policyBrief } from '../../policies/brief.ts';
import type { OutputReader } from '../../shell/output/reader.ts';
import { stagesUnsure } from '../../tracing/stages.ts';
import { dialectConfig } from '../agent-config.ts';
import { type Args, ArgumentError, commandOf, numberOf, textOf } from '../arguments.ts';
import { dialect, pidText } from '../dialect.ts';
import { failed } from '../tool-plugin.ts';
import { answerAbout, type ViewName } from './answer.ts';
import { comparison } from './compare.ts';
import { listRuns } from './found.ts';
import { killRun } from './kill.ts';
import { grepBody, readRun, searchRuns } from './read.ts';
import { type ListedRun, type Native, ownSubject } from './runs.ts';
import {
  BYTES_DEFAULT,
  BYTES_MAX,
  nativeTools,
  PAGE_BYTES_MIN,
  STDIN_BYTES_MAX,
  WAIT_MS_DEFAULT,
  WAIT_MS_MAX,
} from './tools.ts';
import { waitRun } from './wait.ts';
import { shortId } from './words.ts';
import { writeRun } from './write.ts';

const SHAPE = {
  wait_ms: z
    .int()
    .min(0)
    .max(WAIT_MS_MAX)
    .default(WAIT_MS_DEFAULT)
    .describe('How long an answer is waited for if the call does not say.'),
  max_bytes: z
    .int()
    .min(PAGE_BYTES_MIN)
    .max(BYTES_MAX)
    .default(BYTES_DEFAULT)
    .describe('How much output an answer has at most if the call does not say.'),
};

const config = dialectConfig('agent', SHAPE);

const TERMINAL = { cols: 120, rows: 40 };
const TERMINAL_NAME = 'xterm-256color'; // the server's own may be that of no terminal

/** What models know from other tools, and what it is called here. */
const ELSEWHERE: Readonly<Partial<Record<string, string>>> = {
  timeout:
    'wait_ms is how long to wait for the answer and never kills, kill_after_ms is the deadline',
  timeout_ms: 'wait_ms is how long to wait and never kills, kill_after_ms is the deadline',
  run_in_background: 'start it with wait_ms 0',
  background: 'start it with wait_ms 0',
  workdir: 'cwd is the working directory',
  working_directory: 'cwd is the working directory',
};

export class CuffShellPlugin extends dialect({ name: 'cuff_shell', version: '1.0.0', config }) {
  readonly #reports: Reports;
  readonly #outputs = new Map<string, OutputReader>();
  readonly #listed = new Map<string, ListedRun>();

  /** Throws `ConfigurationError`. */
  constructor(given: unknown, services: Services) {
    super(given, services);
    this.#reports = new Reports(services.stateRoot, services.now);
  }

  protected override get tellsLeaks(): boolean {
    return true;
  }

  /** What models send to the shells they were trained on. */
  protected override get foreign(): readonly string[] {
    return ['dangerouslyDisableSandbox', 'sandbox_permissions', 'justification'];
  }

  override async shutdown(): Promise<void> {
    await super.shutdown();
    this.#reports.close();
  }

  getTools(): readonly ToolDefinition[] {
    const { policy } = this.services;
    return nativeTools(this.own, policy === undefined ? '' : policyBrief(policy));
  }

  override callTool(name: string, args: Args, context: CallContext): Promise<ToolResult> {
    const stranger =
      name === 'shell_run' ? Object.keys(args).find((one) => ELSEWHERE[one]) : undefined;
    if (stranger === undefined) return super.callTool(name, args, context);
    const text = `shell_run has no argument "${stranger}": ${ELSEWHERE[stranger]}.`;
    return Promise.resolve(failed(text));
  }

  protected override get refusalIsAnswer(): boolean {
    return true;
  }

  protected override handleOf(run: AgentRun): string {
    return `${shortId(run.id)} (${pidText(run)})`;
  }

  protected async answer(tool: string, args: Args, caller: Caller): Promise<ToolResult> {
    const { wait_ms: waitMs, max_bytes: maxBytes } = this.own;
    const { shell, services } = this;
    const kept = { reports: this.#reports, outputs: this.#outputs, listed: this.#listed };
    const native: Native = { shell, services, ...kept, waitMs, maxBytes };
    try {
      return await call(native, tool, args, caller);
    } catch (error) {
      if (error instanceof PatternError) return failed(error.message);
      if (isAppError(error) && error.code === 'session_not_found') return GONE;
      throw error;
    }
  }
}

const GONE = failed('The output of this run is no longer kept.');

async function call(native: Native, tool: string, args: Args, caller: Caller): Promise<ToolResult> {
  switch (tool) {
    case 'shell_run':
      return runCommand(native, args, caller);
    case 'shell_read':
      return readRun(native, args, caller);
    case 'shell_wait':
      return waitRun(native, args, caller);
    case 'shell_write':
      return writeRun(native, args, caller);
    case 'shell_kill':
      return killRun(native, args, caller);
    case 'shell_list':
      return listRuns(native, args, caller);
    default:
      return searchRuns(native, args, caller);
  }
}

async function runCommand(native: Native, args: Args, caller: Caller): Promise<ToolResult> {
  const waitMs = numberOf(args.wait_ms) ?? native.waitMs;
  const view = (textOf(args.view) ?? 'auto') as ViewName;
  const bytesMax = numberOf(args.max_bytes) ?? (view === 'full' ? BYTES_MAX : native.maxBytes);
  const pattern = patternOf(args, view);
  const run = await start(native, args, caller);
  const ending = await native.shell.wait(run, waitMs, caller);
  const subject = ownSubject(native, run, ending);
  if (pattern !== undefined) {
    const found = await grepBody(subject, pattern, bytesMax, caller).catch(unsearched);
    return answerAbout(native, subject, { view, bytesMax, ...found });
  }
  if (args.compare === undefined) return answerAbout(native, subject, { view, bytesMax });
  if (ending === undefined) {
    const first = ['not compared: that takes a run that is over before wait_ms is'];
    return answerAbout(native, subject, { view, bytesMax, first });
  }
  const { first, body } = comparison(native, subject, caller, bytesMax);
  return answerAbout(native, subject, { view, bytesMax, first, instead: body });
}

/** The command has run, so that its answer is given without the search. */
function unsearched(error: unknown): { readonly first: readonly string[] } {
  if (!(error instanceof PatternError)) throw error;
  return { first: [`not searched: ${error.message}`] };
}

/** What view `grep` looks for. Throws `ArgumentError`, or `PatternError`, before anything runs. */
function patternOf(args: Args, view: ViewName): Matcher | undefined {
  const text = textOf(args.pattern);
  if (text === undefined && view !== 'grep') return undefined;
  if (text === undefined || text === '') {
    throw new ArgumentError('view grep needs the argument pattern: a regular expression.');
  }
  if (view !== 'grep') throw new ArgumentError('pattern belongs to view grep: give view, too.');
  return matcherOf({ text, regex: true, ignoreCase: false });
}

async function start({ shell, reports }: Native, args: Args, caller: Caller): Promise<AgentRun> {
  const command = commandOf(args);
  const stdin = textOf(args.stdin);
  if (Buffer.byteLength(stdin ?? '') > STDIN_BYTES_MAX) {
    throw new ArgumentError(`stdin may have ${STDIN_BYTES_MAX} bytes: write a file and read that.`);
  }
  const given = args.env as Readonly<Record<string, string>> | undefined;
  // A trace tells of every stage; bash is asked where there is none, or what it tells is unsure.
  const asked = given?.BASH_ENV === undefined && (!shell.traces || stagesUnsure(command));
  const watched = asked ? reports.watch(command) : undefined;
  const transport = args.tty === true ? 'pty' : args.combined === true ? 'merged' : undefined;
  const terminal = transport === 'pty' ? { TERM: TERMINAL_NAME } : {};
  const env = { ...terminal, ...given, ...watched?.env };
  const input = stdin === undefined && transport !== 'pty' ? 'null' : 'orders';
  const run = await shell.start(
    {
      command,
      killAfterMs: numberOf(args.kill_after_ms),
      workingDirectory: textOf(args.cwd),
      description: textOf(args.description),
      env: Object.keys(env).length === 0 ? undefined : env,
      chosen: { env: given, stdin },
      how: { ...(transport && { transport }), stdin: input, size: TERMINAL },
    },
    caller,
  );
  reports.watching(run.id, watched);
  if (stdin !== undefined) {
    // A terminal takes the end of input only at the start of a line; before, it ends the line.
    const open = transport === 'pty' && stdin !== '' && !stdin.endsWith('\n');
    run.write(open ? `${stdin}\x04` : stdin);
    run.endInput();
  }
  return run;
}
