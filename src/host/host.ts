// The plugins of one server: one list of tools, each plugin behind a turnstile of its own. A plugin
// that throws, hangs or breaks its contract is taken out and reported; the others are not affected.

import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../errors.ts';
import { ASK_MIN_MS } from '../limits.ts';
import { policyBrief } from '../policies/brief.ts';
import type { PolicyHealth } from '../policies/engine.ts';
import { builtinName } from '../trust/plugin-source.ts';
import { waitingSentence } from '../trust/settings.ts';
import type { StopCause } from '../types.ts';
import { toolNames } from './checked-output.ts';
import { containStrays, limited, strayMessage } from './containment.ts';
import type { HostLimits } from './instance.ts';
import type { Builtins } from './modules.ts';
import type {
  CallContext,
  Resource,
  ResourceTemplate,
  Services,
  ToolDefinition,
  ToolResult,
} from './plugin.ts';
import type { Settings } from './settings.ts';
import type { PluginSettings } from './settings-check.ts';
import { type PluginHealth, Slot } from './slot.ts';

const LIMITS: HostLimits = {
  startMs: 5_000, // clients wait ten seconds for a server to start
  modulesMs: 500, // some clients wait less than a second for a list, and take another one later
  initializeMs: 30_000,
  shutdownMs: 15_000, // runs are ended meanwhile, with a grace of their own
  healthMs: 5_000,
  drainMs: 30_000, // clients give up on a call after a minute
};

export type MountedTool = { readonly name: string; readonly definition: ToolDefinition };

type HostHealth = {
  /** Every enabled plugin runs and is well, and the settings are those of the file. */
  readonly healthy: boolean;
  readonly reasons: readonly string[];
  /** What a person should know although nothing is wrong: files that wait for trust. */
  readonly notices?: readonly string[];
  readonly settings: {
    readonly file: string | null;
    readonly problem: string | null;
    readonly waiting?: readonly {
      readonly file: string;
      readonly keys: readonly string[] | null;
    }[];
  };
  /** Where there is a policy. */
  readonly policy?: PolicyHealth;
  readonly plugins: Readonly<Record<string, PluginHealth>>;
};

export type HostOptions = {
  readonly settings: Settings;
  readonly builtins: Builtins;
  readonly services: Services;
  readonly limits?: Partial<HostLimits>;
};

/** Throws `settings_invalid` when two plugins claim one name; nothing is left running then. */
export async function createHost(options: HostOptions): Promise<Host> {
  containStrays();
  const host = new Host(options);
  await host.start();
  return host;
}

type Mounted = { readonly slot: Slot; readonly tool: string };

export class Host {
  readonly #options: HostOptions;
  readonly #limits: HostLimits;
  readonly #slots = new Map<string, Slot>();
  /** What plugins say of themselves. */
  readonly #notes = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  #settings: Settings;
  /** The settings that every plugin has taken: a call may hold a reload up for minutes. */
  #followed: Settings;
  #table: ReadonlyMap<string, Mounted> = new Map();
  #listed: readonly MountedTool[] = [];
  #problem: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#followed = options.settings;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  async start(): Promise<void> {
    this.#options.services.policy?.onChanged(() => {
      for (const slot of this.#slots.values()) slot.refresh();
    });
    const { startMs, modulesMs } = this.#limits;
    const started = this.#settings.plugins.map((plugin) => {
      const limitMs = builtinName(plugin) === undefined ? modulesMs : startMs;
      return limited(this.#want(plugin), limitMs, 'the start').catch(() => undefined);
    });
    // Slow plugins join when they are ready; until then `health` reports them.
    await Promise.all(started);
    if (this.#conflicts().length === 0) return;
    const error = this.#conflictError();
    await this.close();
    throw error;
  }

  tools(): readonly MountedTool[] {
    return this.#listed;
  }

  /** Never rejects. Takes both forms of a name, whichever is listed. */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: CallContext,
  ): Promise<ToolResult> {
    const mounted = this.#table.get(name) ?? (await this.#mountedLate(name));
    if (mounted === undefined) return this.#unknown(name);
    const { slot, tool } = mounted;
    const { signal } = context;
    return slot.turnstile.run(
      async () => (await slot.call(tool, args, context)) ?? this.#unknown(name),
      { signal, answer: () => failure(`${name} was cancelled before it started.`) },
    );
  }

  /** Waits for plugins that are still starting: the caller may know tools that are not listed. */
  async #mountedLate(name: string): Promise<Mounted | undefined> {
    const starting = [...this.#slots.values()].flatMap((slot) => slot.starting ?? []);
    if (starting.length === 0) return undefined;
    await Promise.all(starting);
    return this.#table.get(name);
  }

  resources(): readonly ResourceTemplate[] {
    return [...this.#slots.values()].flatMap((slot) => slot.resources);
  }

  async readResource(uri: string): Promise<Resource | undefined> {
    for (const slot of this.#slots.values()) {
      if (slot.resources.length === 0) continue;
      const resource = await slot.turnstile.run(() => slot.readResource(uri));
      if (resource !== undefined) return resource;
    }
    return undefined;
  }

  async health(): Promise<HostHealth> {
    const slots = [...this.#slots.values()];
    const each = await Promise.all(slots.map(async (slot) => [slot.name, await slot.health()]));
    const plugins: Record<string, PluginHealth> = Object.fromEntries(each);
    const reasons = Object.entries(plugins).flatMap(([name, { reasons: own }]) =>
      own.map((reason) => `${name}: ${reason}`),
    );
    const [problem, notices] = [this.#problem ?? null, this.notices()];
    const policy = this.#options.services.policy?.health();
    // Settings that halt the server are reported by the policy as well.
    const wrong = [...new Set([...(problem?.split('\n') ?? []), ...(policy?.problems ?? [])])];
    const known = policy !== undefined && (policy.files.length > 0 || policy.problems.length > 0);
    return {
      healthy: wrong.length === 0 && Object.values(plugins).every(({ healthy }) => healthy),
      reasons: [...wrong, ...reasons],
      ...(notices.length > 0 && { notices }),
      settings: { file: this.#settings.file ?? null, problem, ...this.#waiting() },
      ...(known && { policy }),
      plugins,
    };
  }

  /** What agents are told of the policy; empty where there is nothing to tell. */
  brief(): string {
    const { policy } = this.#options.services;
    return policy === undefined ? '' : policyBrief(policy);
  }

  /** What a person should know although nothing is wrong, one sentence each. */
  notices(): readonly string[] {
    const { policy } = this.#options.services;
    const waiting = (this.#settings.waiting ?? []).map(waitingSentence);
    const { ignored } = this.#settings;
    const own = ignored === undefined ? [] : [ignored];
    return [...waiting, ...own, ...(policy?.waiting ?? []), ...new Set(this.#notes.values())];
  }

  #note(plugin: string, sentence: string | undefined): void {
    if (sentence === undefined) this.#notes.delete(plugin);
    else this.#notes.set(plugin, sentence);
  }

  #settingsWait(): boolean {
    const waits = this.#settings.waiting !== undefined || this.#problem !== undefined;
    return waits || this.#followed !== this.#settings;
  }

  #waiting(): Pick<HostHealth['settings'], 'waiting'> {
    const { waiting } = this.#settings;
    return waiting === undefined
      ? {}
      : { waiting: waiting.map(({ file, keys = null }) => ({ file, keys })) };
  }

  /**
   * Resolves when every plugin follows these settings, or newer ones. Only plugins whose settings
   * changed are held up. Rejects with `settings_invalid` when two of them claim one name.
   */
  async reload(settings: Settings): Promise<void> {
    if (this.#closing !== undefined) return;
    this.#settings = settings;
    const named = new Set(settings.plugins.map(({ name }) => name));
    const dropped = [...this.#slots.values()].filter(({ name }) => !named.has(name));
    const work = [
      ...dropped.map((slot) => {
        this.#note(slot.name, undefined);
        return slot.want(undefined);
      }),
      ...settings.plugins.map((plugin) => this.#want(plugin)),
    ];
    this.#publish(); // the form of the names may be another one
    await Promise.all(work);
    if (this.#settings === settings) this.#followed = settings;
    if (this.#conflicts().length > 0) throw this.#conflictError();
  }

  /** For `health`: why the file is not what is in force. Undefined: it is. */
  noteSettings(problem: string | undefined): void {
    this.#problem = problem;
  }

  onToolsChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A person needs at least this long for an answer; a faster one came from the client. */
  askMinMs(): number {
    return this.#settings.askMinMs ?? ASK_MIN_MS;
  }

  /** Tells every plugin that the server will stop; `close` follows. Never throws. */
  stopping(cause: StopCause): void {
    for (const slot of this.#slots.values()) slot.stopping(cause);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#table = new Map();
    await Promise.all([...this.#slots.values()].map((slot) => slot.close()));
  }

  #want(settings: PluginSettings): Promise<void> {
    let slot = this.#slots.get(settings.name);
    if (slot === undefined) {
      const { builtins } = this.#options;
      const mounted = (tool: string): boolean => this.#table.has(tool);
      const notices = (): readonly string[] => this.notices();
      const settingsWait = (): boolean => this.#settingsWait();
      const note = (sentence: string | undefined): void => this.#note(settings.name, sentence);
      const services = { ...this.#options.services, mounted, notices, note, settingsWait };
      const around = { builtins, services, limits: this.#limits };
      slot = new Slot(settings.name, around, () => this.#publish());
      this.#slots.set(settings.name, slot);
    }
    return slot.want(settings);
  }

  /** Rebuilds the table of tools, under all their names. */
  #publish(): void {
    if (this.#closing !== undefined) return;
    for (const slot of this.#slots.values()) if (slot.gone) this.#slots.delete(slot.name);
    const owners = this.#owners();
    const table = new Map<string, Mounted>();
    const listed: MountedTool[] = [];
    const form = this.#settings.toolNames ?? 'underscore';
    for (const slot of this.#slots.values()) {
      for (const definition of slot.tools) {
        const names = toolNames(slot.name, definition);
        if (owners.get(names.underscore) !== slot) continue;
        for (const name of Object.values(names)) table.set(name, { slot, tool: definition.name });
        listed.push({ name: names[form], definition });
      }
    }
    this.#table = table;
    const changed = !isDeepStrictEqual(listed, this.#listed);
    this.#listed = listed;
    if (changed) this.#tell();
  }

  /** A plugin keeps its names. A later claim is rejected, or waits if the owner is leaving. */
  #owners(): Map<string, Slot> {
    const claims = [...this.#slots.values()].flatMap((slot) =>
      slot.tools.map((tool) => ({ slot, name: toolNames(slot.name, tool).underscore })),
    );
    const kept = claims.filter(({ slot, name }) => this.#table.get(name)?.slot === slot);
    const owners = new Map(kept.map(({ slot, name }) => [name, slot]));
    for (const { slot, name } of claims) {
      const other = owners.get(name) ?? slot;
      if (other === slot || other.rejected) owners.set(name, slot);
      else if (!other.leaving) {
        const both = `the plugins '${other.name}' and '${slot.name}' both claim`;
        slot.reject(`${both} the tool name '${name}'`);
      }
    }
    return owners;
  }

  #conflicts(): string[] {
    return [...this.#slots.values()]
      .filter(({ rejected }) => rejected)
      .map(({ failure: why }) => why ?? '');
  }

  #conflictError(): AppError {
    return new AppError('settings_invalid', `${this.#conflicts().join('; ')}.`, {
      hint: 'Rename or disable one of them in the settings.',
    });
  }

  #unknown(name: string): ToolResult {
    if (this.#closing !== undefined) return failure('The server is stopping.');
    const failed = [...this.#slots.values()].find(
      (slot) =>
        slot.failure !== undefined &&
        /^[._]/.test(name.slice(slot.name.length)) &&
        name.startsWith(slot.name),
    );
    const why = failed && ` (the plugin '${failed.name}' is not running: ${failed.failure})`;
    return failure(`Unknown tool: ${name}${why ?? ''}`);
  }

  #tell(): void {
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        const fields = { error: strayMessage(error) };
        this.#options.services.log('error', 'A listener for changed tools failed', fields);
      }
    }
  }
}

function failure(text: string): ToolResult {
  return { success: false, text };
}
