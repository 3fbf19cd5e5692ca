// Seed 000's dialect: a bash for agents whose commands are written down. A command that fails is an
// answer, and so is a refusal by the policy; only a call that could not be carried out is an error.

import packageJson from '../../../package.json' with { type: 'json' };
import { callerOf } from '../../agent/caller.ts';
import { Guard } from '../../guard/guard.ts';
import type {
  CallContext,
  CliCommand,
  ConfigProblem,
  Plugin,
  Resource,
  ResourceTemplate,
  Services,
  ToolDefinition,
  ToolResult,
} from '../../host/plugin.ts';
import { withPolicy } from '../../ops/health.ts';
import { processMetrics } from '../../ops/metrics.ts';
import { type Announcement, announceServer } from '../../ops/servers.ts';
import { BashRecorderError, RefusedError } from '../../recorder/errors.ts';
import { type ExecuteResult, Recorder } from '../../recorder/recorder.ts';
import type { RecorderSettings } from '../../recorder/settings.ts';
import { RECORD_COMMANDS } from '../../recordings/commands.ts';
import type { Health, Log, StopCause } from '../../types.ts';
import { ArgumentError, refuseUnknown } from '../arguments.ts';
import { configProblems, configSchema, recorderSettings } from '../recording-config.ts';
import { executeRequest, recentCount, recorderTools } from './tools.ts';
import { entryRow, executeAnswer, recentAnswer, sessionAnswer, type Wording } from './words.ts';

type Args = Readonly<Record<string, unknown>>;

const RECORDING_URI = /^cuff:\/\/recordings\/([^/?#]+)$/;

export class RecorderPlugin implements Plugin {
  static readonly pluginVersion = '1.0.0';
  static readonly configSchema = configSchema;

  static checkConfig(config: unknown, project?: string): readonly ConfigProblem[] {
    return configProblems(config, project);
  }

  static getCliCommands(): readonly CliCommand[] {
    return RECORD_COMMANDS;
  }

  readonly #services: Services;
  readonly #log: Log;
  #settings: RecorderSettings;
  #recorder: Recorder | undefined;
  #announced: Announcement | undefined;
  #unfollow: (() => void) | undefined;
  /** What the person chose is said once. */
  #saidChosen = false;

  /** Throws `ConfigurationError`. */
  constructor(config: unknown, services: Services) {
    this.#services = services;
    this.#settings = recorderSettings(config, services.projectDirectory);
    this.#log = (level, message, fields) =>
      services.log(level, message, { plugin: 'bash_recorder', ...fields });
  }

  async initialize(): Promise<void> {
    const { projectDirectory, stateRoot, env, now, policy, notices } = this.#services;
    const { settingsWait } = this.#services;
    const metrics = await processMetrics();
    const recorder = new Recorder({
      shell: this.#services.shell(),
      settings: this.#settings,
      pluginVersion: RecorderPlugin.pluginVersion,
      workingDirectory: projectDirectory,
      settingsWait,
      log: this.#log,
      metrics,
      env,
      now,
      guard: policy && new Guard(policy, metrics),
    });
    this.#recorder = recorder;
    recorder.start();
    this.#announced = announceServer(stateRoot, () => ({
      version: packageJson.version,
      projectDirectory,
      directory: this.#settings.recording.directory,
      counters: recorder.counters(),
      health: withPolicy(recorder.health(), policy?.health().problems, notices?.()),
    }));
    this.#unfollow = policy?.onChanged(() => this.#announced?.changed());
  }

  stopping(cause: StopCause): void {
    this.#recorder?.stopping(cause);
  }

  async shutdown(): Promise<void> {
    await this.#recorder?.close();
    this.#unfollow?.();
    this.#announced?.close();
  }

  async healthCheck(): Promise<Health> {
    return this.#recorder?.health() ?? { healthy: false, reasons: ['It was not started.'] };
  }

  /** Throws `ConfigurationError`, and nothing has changed then. */
  async onConfigReload(config: unknown): Promise<void> {
    this.#settings = recorderSettings(config, this.#services.projectDirectory);
    await this.#recorder?.reload(this.#settings);
    this.#announced?.changed();
  }

  getTools(): readonly ToolDefinition[] {
    return recorderTools(this.#settings.execution);
  }

  async callTool(name: string, args: Args, context: CallContext): Promise<ToolResult> {
    try {
      return await this.#call(name, args, context);
    } catch (error) {
      if (error instanceof ArgumentError) return failed(error.message);
      if (error instanceof RefusedError) return { success: true, text: sentence(error) };
      if (error instanceof BashRecorderError) return failed(sentence(error));
      throw error;
    } finally {
      this.#announced?.changed();
    }
  }

  getResources(): readonly ResourceTemplate[] {
    return [
      {
        uriTemplate: 'cuff://recordings/{id}',
        name: 'A recording session',
        description: 'The commands of one session, with how each ended, and their totals.',
        mimeType: 'application/json',
      },
    ];
  }

  async readResource(uri: string): Promise<Resource | undefined> {
    const id = RECORDING_URI.exec(uri)?.[1];
    const found = id === undefined ? undefined : this.#recorder?.session(id);
    if (found === undefined) return undefined;
    const { metadata, entries } = found;
    const text = JSON.stringify({ ...metadata, entries: entries.map(entryRow) }, null, 2);
    return { uri, mimeType: 'application/json', text };
  }

  #wording({ written }: Pick<ExecuteResult, 'written'>): Wording {
    const chosen = !written.recorded && written.chosen === true;
    const quiet = chosen && this.#saidChosen;
    this.#saidChosen ||= chosen;
    return { quiet, mounted: this.#services.mounted ?? (() => false) };
  }

  async #call(name: string, args: Args, context: CallContext): Promise<ToolResult> {
    const recorder = this.#recorder;
    if (recorder === undefined) return failed('The recorder was not started.');
    const caller = callerOf(context, this.#services.env);
    if (name === 'execute') {
      const result = await recorder.execute(executeRequest(args), caller.context, caller);
      if (result.end?.end_reason === 'failed') return failed(notStarted(result.failure));
      const answer = executeAnswer(result, this.#wording(result));
      return { success: true, text: JSON.stringify(answer, null, 2) };
    }
    if (name === 'session_info') {
      refuseUnknown(name, args, []);
      return facts(sessionAnswer(recorder.sessionInfo(caller.context.conversationId)));
    }
    if (name === 'list_recent') {
      const { conversationId } = caller.context;
      return facts(recentAnswer(recorder.listRecent(recentCount(args), conversationId)));
    }
    return failed(`Unknown tool: ${name}`);
  }
}

function facts(structured: Readonly<Record<string, unknown>>): ToolResult {
  return { success: true, text: JSON.stringify(structured, null, 2), structured };
}

function failed(text: string): ToolResult {
  return { success: false, text };
}

function sentence({ message, hint }: BashRecorderError): string {
  return hint === undefined ? message : `${message} ${hint}`;
}

function notStarted(why: string | undefined): string {
  return `The command could not be started: ${why ?? 'unknown'}. Check execution.shell.`;
}
