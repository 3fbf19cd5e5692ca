// One running plugin. Calls into it are attributed to it, limited in time where they must return,
// and their results are checked. After `stop`, or a failed `start`, it is never called again.

import { pathText } from '../text/problems.ts';
import type { Health, StopCause } from '../types.ts';
import {
  checkedHealth,
  checkedResource,
  checkedResources,
  checkedResult,
  checkedTools,
} from './checked-output.ts';
import { limited, type Owner, ownedBy } from './containment.ts';
import { type Builtins, moduleVersion, pluginClass } from './modules.ts';
import type {
  CallContext,
  Plugin,
  PluginClass,
  Resource,
  ResourceTemplate,
  Services,
  ToolDefinition,
  ToolResult,
} from './plugin.ts';
import type { PluginSettings } from './settings-check.ts';

export type HostLimits = {
  /** How long the first start waits for a built-in; a slower plugin joins when it is ready. */
  readonly startMs: number;
  /** The same for a module that the settings name. */
  readonly modulesMs: number;
  readonly initializeMs: number;
  readonly shutdownMs: number;
  readonly healthMs: number;
  /** How long new calls are held back for a reload before it is put off. */
  readonly drainMs: number;
};

/** The host around a plugin. */
export type Surroundings = {
  readonly builtins: Builtins;
  readonly services: Services;
  readonly limits: HostLimits;
};

export type Offers = {
  readonly tools: readonly ToolDefinition[];
  readonly resources: readonly ResourceTemplate[];
};

export class Instance {
  readonly version: string;
  readonly #plugin: Plugin;
  readonly #from: PluginClass;
  readonly #owner: Owner;
  readonly #limits: HostLimits;
  #settings: PluginSettings;
  #offers: Offers = { tools: [], resources: [] };
  #stopping: Promise<void> | undefined;

  private constructor(
    plugin: Plugin,
    from: PluginClass,
    settings: PluginSettings,
    version: string,
    owner: Owner,
    limits: HostLimits,
  ) {
    this.#plugin = plugin;
    this.#from = from;
    this.#settings = settings;
    this.version = version;
    this.#owner = owner;
    this.#limits = limits;
  }

  /** Rejects with the error, or on abort; the plugin has been shut down then. */
  static async start(
    settings: PluginSettings,
    { builtins, services, limits }: Surroundings,
    owner: Owner,
    signal: AbortSignal,
  ): Promise<Instance> {
    const version = moduleVersion(settings);
    const Class = await pluginClass(settings, builtins, owner);
    const plugin = ownedBy(owner, () => {
      const problem = refusalOf(Class, settings.config);
      if (problem !== undefined) throw new Error(problem);
      return new Class(structuredClone(settings.config), services);
    });
    const instance = new Instance(plugin, Class, settings, version, owner, limits);
    try {
      const ready = ownedBy(owner, async () => plugin.initialize());
      await limited(ready, limits.initializeMs, 'initialize', signal);
      instance.#offers = instance.#askOffers();
    } catch (error) {
      await instance.stop();
      throw error;
    }
    return instance;
  }

  get settings(): PluginSettings {
    return this.#settings;
  }

  get offers(): Offers {
    return this.#offers;
  }

  /** Rejects with what the plugin throws, or with a sentence about its answer. */
  async call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    context: CallContext,
  ): Promise<ToolResult> {
    return checkedResult(
      await ownedBy(this.#owner, () => this.#plugin.callTool(tool, args, context)),
    );
  }

  async readResource(uri: string): Promise<Resource | undefined> {
    const plugin = this.#plugin;
    return checkedResource(await ownedBy(this.#owner, async () => plugin.readResource?.(uri)));
  }

  async health(): Promise<Health> {
    const checking = ownedBy(this.#owner, async () => this.#plugin.healthCheck());
    return checkedHealth(await limited(checking, this.#limits.healthMs, 'healthCheck'));
  }

  /** Why its class would not take this config. A check that throws is no reason. */
  refusal(config: unknown): string | undefined {
    try {
      return ownedBy(this.#owner, () => refusalOf(this.#from, config));
    } catch (error) {
      this.#owner.trouble('checkConfig', error);
      return undefined;
    }
  }

  /** If it rejects, the plugin may have taken half of the new settings and must be stopped. */
  async reload(settings: PluginSettings, signal: AbortSignal): Promise<void> {
    const config = structuredClone(settings.config);
    const reloading = ownedBy(this.#owner, async () => this.#plugin.onConfigReload(config));
    await limited(reloading, this.#limits.initializeMs, 'onConfigReload', signal);
    this.#offers = this.#askOffers();
    this.#settings = settings;
  }

  /** Never throws. */
  stopping(cause: StopCause): void {
    try {
      ownedBy(this.#owner, () => this.#plugin.stopping?.(cause));
    } catch (error) {
      this.#owner.trouble('stopping', error);
    }
  }

  /** Never rejects, and shuts the plugin down only once. */
  stop(): Promise<void> {
    if (this.#stopping === undefined) {
      const stopping = ownedBy(this.#owner, async () => this.#plugin.shutdown());
      const done = limited(stopping, this.#limits.shutdownMs, 'shutdown');
      this.#stopping = done.catch((error) => this.#owner.trouble('shutdown', error));
    }
    return this.#stopping;
  }

  /** What it offers may depend on more than its settings: the policy. Throws what it throws. */
  askAgain(): void {
    this.#offers = this.#askOffers();
  }

  #askOffers(): Offers {
    const tools = ownedBy(this.#owner, () => this.#plugin.getTools());
    const resources = ownedBy(this.#owner, () => this.#plugin.getResources?.() ?? []);
    const { name } = this.#owner;
    return { tools: checkedTools(name, tools), resources: checkedResources(resources) };
  }
}

function refusalOf(from: PluginClass, config: unknown): string | undefined {
  const problems = from.checkConfig?.(structuredClone(config)) ?? [];
  const words = problems.map(({ path, message }) => `${pathText(path)}: ${message}`);
  return words.length === 0 ? undefined : `its config is refused: ${words.join('; ')}`;
}
