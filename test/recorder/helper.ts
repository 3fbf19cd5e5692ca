// A recorder plugin as a host would have it, without a host: a project, a state root and a journal
// in a temporary directory, a real shell, and every log line kept. Nothing is left behind.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { AgentRun } from '../../src/agent/agent-run.ts';
import { NO_CONTEXT } from '../../src/agent/caller.ts';
import { recorderConfig } from '../../src/dialects/bash_recorder/config.ts';
import { RecorderPlugin } from '../../src/dialects/bash_recorder/dialect.ts';
import { UNRULED } from '../../src/guard/guard.ts';
import type {
  CallContext,
  Plugin,
  PluginClass,
  Services,
  ToolResult,
} from '../../src/host/plugin.ts';
import { journalSessionIds, readSession } from '../../src/journal/reader.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { openServerLog } from '../../src/ops/server-log.ts';
import { PolicyEngine } from '../../src/policies/engine.ts';
import * as files from '../../src/policies/files.ts';
import type { Ending, OpenEnding } from '../../src/recorder/ending.ts';
import { Recorder, type RecorderOptions } from '../../src/recorder/recorder.ts';
import { createShell, type Shell } from '../../src/shell/shell.ts';
import type { Entry, LogLevel, SessionMetadata } from '../../src/types.ts';

export type LogLine = {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
};

export type Answer = {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number | null;
  readonly timed_out: boolean;
  readonly duration_ms: number;
  readonly recording_id: string | null;
  readonly working_directory: string;
  readonly run_id?: string;
  readonly signal?: string;
  readonly survivors?: readonly { readonly pid: number; readonly command: string }[];
  readonly notices?: readonly string[];
};

type Env = Readonly<Record<string, string | undefined>>;
type Options = {
  readonly env?: Env;
  readonly now?: () => number;
  /** The text of the project's policy; no other file is looked for. */
  readonly policy?: string;
};

export class World {
  readonly dir = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'cuff-recorder-')));
  readonly project = join(this.dir, 'project');
  readonly stateRoot = join(this.dir, 'state');
  readonly journal = join(this.project, '.cuff', 'recordings');
  readonly logged: LogLine[] = [];
  readonly services: Services;
  readonly #plugins = new Set<Plugin>();
  #shell: Shell | undefined;

  constructor({ env = process.env, now = Date.now, policy }: Options = {}) {
    fs.mkdirSync(this.project);
    const engine = policy === undefined ? undefined : this.#openPolicy(policy, env);
    const file = openServerLog({ stateRoot: this.stateRoot, env, stderr: () => undefined });
    this.services = {
      projectDirectory: this.project,
      stateRoot: this.stateRoot,
      env,
      log: (level, message, fields = {}) => {
        this.logged.push({ level, message, fields });
        file.log(level, message, fields);
      },
      shell: () => this.shell,
      now,
      roomWaitMs: 0,
      ...(engine && { policy: engine }),
    };
    onTestFinished(async () => {
      engine?.close();
      for (const plugin of this.#plugins) await plugin.shutdown();
      this.#shell?.close();
      file.close();
      fs.rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
    });
  }

  get shell(): Shell {
    const { stateRoot, project: cwd, services } = this;
    this.#shell ??= createShell({ stateRoot, cwd, env: services.env });
    return this.#shell;
  }

  /** The project's policy. */
  get policyFile(): string {
    return join(this.project, '.cuff', 'policy.yml');
  }

  /** What a person would have in front of the policy of the project: nothing. */
  policyEnv(env: Env = process.env): Env {
    const home = join(this.dir, 'home');
    return { ...env, HOME: home, XDG_CONFIG_HOME: join(home, '.config'), CUFF_POLICY: undefined };
  }

  #openPolicy(text: string, given: Env): PolicyEngine {
    fs.mkdirSync(join(this.project, '.cuff'), { recursive: true });
    fs.writeFileSync(this.policyFile, text);
    const { project, stateRoot } = this;
    const systemFile = join(this.dir, 'no-system-policy.yml');
    const log: Services['log'] = (...line) => this.services.log(...line);
    const env = this.policyEnv(given);
    return PolicyEngine.open({ project, env, stateRoot, systemFile, log }, files);
  }

  async plugin(config: unknown = {}): Promise<RecorderPlugin> {
    return (await this.open(RecorderPlugin, config)) as RecorderPlugin;
  }

  /** Any plugin; it is shut down when the test is over. */
  async open(of: PluginClass, config: unknown = {}): Promise<Plugin> {
    const plugin = new of(config, this.services);
    this.#plugins.add(plugin);
    await plugin.initialize();
    return plugin;
  }

  /** A recorder without its plugin, for what only tests ask of it. */
  async recorder(config: unknown, options: Partial<RecorderOptions>): Promise<Recorder> {
    const { log, env, now } = this.services;
    const recorder = new Recorder({
      shell: this.shell,
      settings: recorderConfig.read(config, this.project, this.services.stateRoot).agent,
      pluginVersion: '1.0.0',
      workingDirectory: this.project,
      log,
      metrics: await createMetrics(),
      env,
      now,
      ...options,
    });
    recorder.open();
    return recorder;
  }

  async stop(plugin: Plugin): Promise<void> {
    this.#plugins.delete(plugin);
    await plugin.shutdown();
  }

  /** The log lines with this message. */
  log(message: string): LogLine[] {
    return this.logged.filter((line) => line.message === message);
  }

  sessions(directory = this.journal): { metadata: SessionMetadata; entries: Entry[] }[] {
    return journalSessionIds(directory).flatMap((id) => readSession(directory, id) ?? []);
  }

  /** Of all sessions, in the order they began. */
  entries(directory = this.journal): Entry[] {
    const all = this.sessions(directory).flatMap(({ entries }) => entries);
    return all.sort((a, b) => (a.timestamp < b.timestamp ? -1 : Number(a.timestamp > b.timestamp)));
  }

  /** The only entry there is. */
  entry(): Entry {
    const entries = this.entries();
    expect(entries).toHaveLength(1);
    return entries[0] as Entry;
  }

  /** What the session of the only entry says about itself. */
  metadata(): SessionMetadata | undefined {
    const { session_id } = this.entry();
    return this.sessions().find(({ metadata }) => metadata.session_id === session_id)?.metadata;
  }

  /** Every file below the temporary directory, with its bytes. */
  files(): { readonly path: string; readonly bytes: Buffer }[] {
    return fs
      .readdirSync(this.dir, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath ?? file.path, file.name))
      .flatMap((path) => {
        try {
          return [{ path, bytes: fs.readFileSync(path) }];
        } catch {
          return []; // a temporary file that has got its name meanwhile
        }
      });
  }

  /** The files that have this text in them. */
  filesWith(text: string): string[] {
    const found = this.files().filter(({ bytes }) => bytes.includes(text));
    return found.map(({ path }) => path.slice(this.dir.length + 1));
  }
}

function context(call: Partial<CallContext> = {}): CallContext {
  return { meta: {}, client: undefined, signal: new AbortController().signal, ...call };
}

export function call(
  plugin: Plugin,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  about: Partial<CallContext> = {},
): Promise<ToolResult> {
  return plugin.callTool(name, args, context(about));
}

/** One command of a recorder without its plugin, from its start to its end. */
export async function executeWith(
  recorder: Recorder,
  command: string,
  progress?: (message: string) => void,
): Promise<Ending | OpenEnding> {
  const start = recorder.start({ command }, { context: NO_CONTEXT }, UNRULED);
  const run = new AgentRun({ start, command, owner: '', startedAt: 0 });
  return recorder.attend(run, { progress }, () => run.ending);
}

/** Executes and gives the fields of the answer. */
export async function execute(
  plugin: RecorderPlugin,
  command: string,
  args: Readonly<Record<string, unknown>> = {},
  about: Partial<CallContext> = {},
): Promise<Answer> {
  const { success, text } = await call(plugin, 'execute', { command, ...args }, about);
  if (!success) throw new Error(text);
  return JSON.parse(text);
}

/** A conversation of its own, as an agent names it. */
export function conversation(id: string): Partial<CallContext> {
  return { meta: { conversation_id: id } };
}
