// What every dialect that runs commands is made of: its settings, a shell for conversations, and
// the runs that earlier servers left to them. A dialect adds its tools and its words.

import { type AgentRun, AgentShell } from '../agent/agent-shell.ts';
import { type Caller, callerOf } from '../agent/caller.ts';
import type { CallContext, PluginClass, Services, ToolResult } from '../host/plugin.ts';
import { journalNotice } from '../recordings/directory.ts';
import { shortLine } from '../text/printable.ts';
import type { Health, RunHandle, StopCause } from '../types.ts';
import type { DialectConfig } from './agent-config.ts';
import { type Args, type ForeignArguments, withNumbers, withoutForeign } from './arguments.ts';
import { failed, ToolPlugin } from './tool-plugin.ts';

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

export abstract class Dialect<Own> extends ToolPlugin {
  readonly #about: About<Own>;
  readonly #services: Services;
  #settings: ReturnType<DialectConfig<Own>['read']>;
  #shell: AgentShell | undefined;

  /** Throws `ConfigurationError`. */
  constructor(about: About<Own>, config: unknown, services: Services) {
    super();
    this.#about = about;
    this.#services = services;
    this.#settings = this.#read(config);
  }

  #read(config: unknown): ReturnType<DialectConfig<Own>['read']> {
    const { projectDirectory, stateRoot, note } = this.#services;
    const settings = this.#about.config.read(config, projectDirectory, stateRoot);
    note?.(journalNotice(settings.agent.recording));
    return settings;
  }

  /** `args` fit the schema of the tool. What it throws as `AppError` becomes a sentence. */
  protected abstract answer(tool: string, args: Args, caller: Caller): Promise<ToolResult>;

  override async initialize(): Promise<void> {
    const { name, version: pluginVersion, waitsAlways, firstSession = false } = this.#about;
    const { agent: settings } = this.#settings;
    const services = this.#services;
    const handleOf = waitsAlways ? undefined : (run: AgentRun): string => this.handleOf(run);
    const about = { services, name, pluginVersion, settings, handleOf, firstSession };
    this.#shell = await AgentShell.open(about);
  }

  override stopping(cause: StopCause): void {
    this.#shell?.stopping(cause);
  }

  override async shutdown(): Promise<void> {
    await this.#shell?.close();
  }

  async healthCheck(): Promise<Health> {
    return this.#shell?.health() ?? { healthy: false, reasons: [NOT_STARTED] };
  }

  /** Throws `ConfigurationError`, and nothing has changed then. */
  override async onConfigReload(config: unknown): Promise<void> {
    this.#settings = this.#read(config);
    await this.#shell?.reload(this.#settings.agent);
  }

  /** Undefined: every argument that a tool does not have is refused, and texts are no numbers. */
  protected get foreign(): ForeignArguments | undefined {
    return undefined;
  }

  override async callTool(name: string, args: Args, context: CallContext): Promise<ToolResult> {
    const { foreign } = this;
    const tool = this.getTools().find((one) => one.name === name);
    if (foreign === undefined || tool === undefined) return super.callTool(name, args, context);
    const { args: kept, notes } = withoutForeign(args, foreign);
    const result = await super.callTool(name, withNumbers(tool, kept), context);
    return withLines(result, notes);
  }

  protected async respond(tool: string, args: Args, context: CallContext): Promise<ToolResult> {
    if (this.#shell === undefined) return failed(NOT_STARTED);
    const caller = callerOf(context, this.#services.env);
    await this.#takeOver(caller);
    return this.noted(await this.answer(tool, args, caller), caller);
  }

  /** The answer with the lines that belong to it whatever it is about. */
  protected noted(result: ToolResult, caller: Caller): ToolResult {
    const untold = this.#shell?.untold(caller) ?? [];
    const unrecorded = untold.map((why) => `[not in the journal: ${shortLine(why, WHY_MAX)}]`);
    return withLines(result, [
      ...caller.notes,
      ...this.changed(caller),
      ...this.leaked(caller),
      ...unrecorded,
    ]);
  }

  /** Lines about protected files that commands of this conversation changed. */
  protected changed(caller: Caller): readonly string[] {
    return this.#shell?.changed(caller) ?? [];
  }

  /** Whether its answers may say what the tools that it stands for never say. */
  protected get tellsLeaks(): boolean {
    return false;
  }

  /** Lines about secrets that commands of this conversation printed. */
  protected leaked(caller: Caller): readonly string[] {
    const leaked = this.#shell?.leaked(caller) ?? []; // taken, told or not
    return this.tellsLeaks ? leaked : [];
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
}

function withLines(result: ToolResult, lines: readonly string[]): ToolResult {
  if (lines.length === 0) return result;
  const { text } = result;
  const gap = text === '' || text.endsWith('\n') ? '' : '\n';
  return { ...result, text: `${text}${gap}${lines.join('\n')}` };
}

type DialectClass<Own> = (abstract new (
  given: unknown,
  services: Services,
) => Dialect<Own>) &
  Required<Pick<PluginClass, 'pluginVersion' | 'configSchema' | 'checkConfig'>>;

/** What a dialect with this name and these settings extends. */
export function dialect<Own>(about: About<Own>): DialectClass<Own> {
  abstract class Named extends Dialect<Own> {
    static readonly pluginVersion = about.version;
    static readonly configSchema = about.config.schema;
    static readonly checkConfig = about.config.problems;

    constructor(given: unknown, services: Services) {
      super(about, given, services);
    }
  }
  return Named;
}

export function pidText({ pid }: Pick<AgentRun, 'pid'>): string {
  return `pid ${pid ?? '?'}`;
}

/** A run that can be named by nothing yet, since the call that started it waits for it. */
export function waitedForText(run: Pick<AgentRun, 'pid'>): string {
  return `${pidText(run)}, which another call waits for`;
}
