// A plugin that does what a test tells it to, and remembers what was done to it.

import type {
  CallContext,
  ConfigProblem,
  JsonSchema,
  Plugin,
  PluginClass,
  Resource,
  ResourceTemplate,
  Services,
  ToolDefinition,
  ToolResult,
} from '../../src/host/plugin.ts';
import type { Health } from '../../src/types.ts';

type Fixture = Plugin & { config: unknown };

/** What to do instead of the usual; `self` is the plugin. */
export type Script = {
  readonly construct?: (config: unknown, services: Services) => void;
  readonly initialize?: (self: Fixture) => unknown;
  readonly shutdown?: (self: Fixture) => unknown;
  readonly healthCheck?: (self: Fixture) => unknown;
  readonly onConfigReload?: (config: unknown, self: Fixture) => unknown;
  readonly getTools?: (self: Fixture) => unknown;
  readonly callTool?: (
    self: Fixture,
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: CallContext,
  ) => unknown;
  readonly getResources?: () => unknown;
  readonly readResource?: (uri: string) => unknown;
  readonly checkConfig?: (config: unknown) => readonly ConfigProblem[];
  readonly configSchema?: JsonSchema;
};

export type FixtureClass = PluginClass & {
  /** `initialize`, `callTool echo`, ... in their order. */
  readonly events: string[];
  readonly made: Fixture[];
};

export function tool(name: string, more: object = {}): ToolDefinition {
  return { name, description: `does ${name}`, parameters: { type: 'object' }, ...more };
}

/** Without a script: one tool `echo` that answers with the plugin's config. */
export function fixture(script: Script = {}): FixtureClass {
  const events: string[] = [];
  const made: Fixture[] = [];
  class Made {
    static readonly pluginVersion = '1.0.0';
    static readonly events = events;
    static readonly made = made;
    static readonly configSchema = script.configSchema;
    static checkConfig = script.checkConfig;
    config: unknown;

    constructor(config: unknown, services: Services) {
      events.push('construct');
      script.construct?.(config, services);
      this.config = config;
      made.push(this);
    }

    async initialize(): Promise<void> {
      events.push('initialize');
      await script.initialize?.(this);
    }

    async shutdown(): Promise<void> {
      events.push('shutdown');
      await script.shutdown?.(this);
    }

    healthCheck(): Promise<Health> {
      const well = async () => ({ healthy: true, reasons: [] });
      return (script.healthCheck?.(this) ?? well()) as Promise<Health>;
    }

    async onConfigReload(config: unknown): Promise<void> {
      events.push('onConfigReload');
      if (script.onConfigReload !== undefined) await script.onConfigReload(config, this);
      else this.config = config;
    }

    getTools(): readonly ToolDefinition[] {
      if (script.getTools !== undefined) return script.getTools(this) as ToolDefinition[];
      return [tool('echo')];
    }

    callTool(
      name: string,
      args: Readonly<Record<string, unknown>>,
      context: CallContext,
    ): Promise<ToolResult> {
      events.push(`callTool ${name}`);
      const usual = async () => ({ success: true, text: JSON.stringify(this.config) });
      const given = script.callTool?.(this, name, args, context);
      return (given ?? usual()) as Promise<ToolResult>;
    }

    getResources(): readonly ResourceTemplate[] {
      return (script.getResources?.() ?? []) as ResourceTemplate[];
    }

    async readResource(uri: string): Promise<Resource | undefined> {
      return (await script.readResource?.(uri)) as Resource | undefined;
    }
  }
  return Made as unknown as FixtureClass;
}
