// What every dialect that runs commands is made of: its settings, a shell for conversations, the
// checking of arguments, and errors as one sentence. A dialect adds its tools and its words.

import { type AgentRun, AgentShell } from '../agent/agent-shell.ts';
import { type Caller, callerOf } from '../agent/caller.ts';
import { isAppError } from '../errors.ts';
import type { CallContext, Plugin, Services, ToolDefinition, ToolResult } from '../host/plugin.ts';
import { shortLine } from '../text/printable.ts';
import type { Health, RunHandle, StopCause } from '../types.ts';
import type { DialectConfig } from './agent-config.ts';
import { type Args, ArgumentError, checkedArguments } from './arguments.ts';

const COMMAND_SHOWN_MAX = 80;
const WHY_MAX = 300; // characters of a reason
const NOT_STARTED = 'It was not started.';

export type About<Own> = {
  /** As settings call it. */
  readonly name: string;
  readonly version: string;
  readonly config: DialectConfig<Own>;
  /** Each call waits for the end of its run, so that no run is named, or taken over, later. */
  readonly waitsAlways?: boolean;
  /** The journal gets a session before the first command. */
  readonly firstSession?: boolean;
};

export abstract class Dialect<Own> implements Plugin {
  readonly #about: About<Own>;
  readonly #services: Services;
  #settings: ReturnType<DialectConfig<Own>['read']>;
  #shell: AgentShell | undefined;

  /** Throws `ConfigurationError`. */
  constructor(about: About<Own>, config: unknown, services: Services) {
    this.#about = about;
    this.#services = services;
    this.#settings = about.config.read(config, services.projectDirectory);
  }

  abstract getTools(): readonly ToolDefinition[];

  /** `args` fit the schema of the tool. What it throws as `AppError` becomes a sentence. */
  protected abstract answer(tool: string, args: Args, caller: Caller): Promise<ToolResult>;

  async initialize(): Promise<void> {
    const { name, version: pluginVersion, waitsAlways, firstSession = false } = this.#about;
    const { agent: settings } = this.#settings;
    const services = this.#services;
    const handleOf = waitsAlways ? undefined : (run: AgentRun): string => this.handleOf(run);
    const about = { services, name, pluginVersion, settings, handleOf, firstSession };
    this.#shell = await AgentShell.open(about);
  }

  stopping(cause: StopCause): void {
    this.#shell?.stopping(cause);
  }

  async shutdown(): Promise<void> {
    await this.#shell?.close();
  }

  async healthCheck(): Promise<Health> {
    return this.#shell?.health() ?? { healthy: false, reasons: [NOT_STARTED] };
  }

  /** Throws `ConfigurationError`, and nothing has changed then. */
  async onConfigReload(config: unknown): Promise<void> {
    this.#settings = this.#about.config.read(config, this.#services.projectDirectory);
    await this.#shell?.reload(this.#settings.agent);
  }

  async callTool(name: string, args: Args, context: CallContext): Promise<ToolResult> {
    const tool = this.getTools().find((one) => one.name === name);
    if (tool === undefined) return failed(`Unknown tool: ${name}`);
    if (this.#shell === undefined) return failed(NOT_STARTED);
    try {
      const caller = callerOf(context, this.#services.env);
      await this.#takeOver(caller);
      const result = await this.answer(name, this.checked(tool, args), caller);
      return this.noted(result, caller);
    } catch (error) {
      if (error instanceof ArgumentError) return failed(error.message);
      if (isAppError(error)) {
        const success = error.code === 'policy_denied' && this.refusalIsAnswer;
        return { success, text: this.sentence(error) };
      }
      throw error;
    }
  }

  /** Throws `ArgumentError`. */
  protected checked(tool: ToolDefinition, args: Args): Args {
    return checkedArguments(tool, args);
  }

  /** The answer with the lines that belong to it whatever it is about. */
  protected noted(result: ToolResult, caller: Caller): ToolResult {
    const untold = this.#shell?.untold(caller) ?? [];
    const unrecorded = untold.map((why) => `[not in the journal: ${shortLine(why, WHY_MAX)}]`);
    const notes = [...caller.notes, ...unrecorded];
    if (notes.length === 0) return result;
    const { text } = result;
    const gap = text === '' || text.endsWith('\n') ? '' : '\n';
    return { ...result, text: `${text}${gap}${notes.join('\n')}` };
  }

  /** Whether a refusal by the policy is an answer; models trained on a tool know it as an error. */
  protected get refusalIsAnswer(): boolean {
    return false;
  }

  async #takeOver(caller: Caller): Promise<void> {
    await this.#shell?.takeOver(caller, {
      seen: (handle) => this.handleSeen(handle, caller),
      run: (run, handle) => {
        this.took(run, handle, caller);
        const command = shortLine(run.command, COMMAND_SHOWN_MAX);
        caller.notes.push(
          `[Still running since an earlier server: ${this.handleOf(run)}: ${command}]`,
        );
      },
    });
  }

  /** A run of this conversation had this handle before the server was started. */
  protected handleSeen(_handle: RunHandle, _caller: Caller): void {}

  /** Makes a run that an earlier server started known to the dialect's tools. */
  protected took(_run: AgentRun, _handle: RunHandle | undefined, _caller: Caller): void {}

  /** The handle that a run had where it is free, else another one, which later servers are told. */
  protected handleFor<H extends RunHandle>(
    run: AgentRun,
    had: H | undefined,
    taken: { has(handle: H): boolean },
    another: () => H,
  ): H {
    if (had !== undefined && !taken.has(had)) return had;
    const handle = another();
    this.shell.named(run, handle);
    return handle;
  }

  /** The settings of its own. */
  protected get own(): Own {
    return this.#settings.own;
  }

  protected get workingDirectory(): string {
    return this.#settings.agent.workingDirectory;
  }

  protected get shell(): AgentShell {
    if (this.#shell === undefined) throw new Error(NOT_STARTED);
    return this.#shell;
  }

  protected get services(): Services {
    return this.#services;
  }

  /** A live run in a list: by what its caller can wait for it or end it. */
  protected handleOf(run: AgentRun): string {
    return `${run.id} (${pidText(run)})`;
  }

  /** What an error says to the model. */
  protected sentence({ message, hint }: { message: string; hint?: string | undefined }): string {
    return hint === undefined ? message : `${message} ${hint}`;
  }
}

export function pidText({ pid }: Pick<AgentRun, 'pid'>): string {
  return `pid ${pid ?? '?'}`;
}

/** A run that can be named by nothing yet, since the call that started it waits for it. */
export function waitedForText(run: Pick<AgentRun, 'pid'>): string {
  return `${pidText(run)}, which another call waits for`;
}

function failed(text: string): ToolResult {
  return { success: false, text };
}
