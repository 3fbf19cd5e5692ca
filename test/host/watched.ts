// A host that follows the settings of a project, for tests that change the file under it.

import { createHost, type Host } from '../../src/host/host.ts';
import { loadSettings } from '../../src/host/settings.ts';
import { SettingsWatch } from '../../src/host/settings-watch.ts';
import { FACT_MS_MAX } from '../pace.ts';
import { type FixtureClass, fixture } from './fixture.ts';
import { context, type Logged, services } from './helper.ts';
import { Project } from './settings-helper.ts';

export class Watched {
  readonly project = new Project();
  readonly log: Logged[] = [];
  readonly plugin: FixtureClass;
  #host: Host | undefined;
  #watch: SettingsWatch | undefined;

  constructor(plugin: FixtureClass = fixture()) {
    this.plugin = plugin;
  }

  get host(): Host {
    if (this.#host === undefined) throw new Error('start it first');
    return this.#host;
  }

  /** Reads the settings, makes the host, and follows from then on. */
  async start(
    options: { settleMs?: number; pollMs?: number; meanwhile?: () => void; trusted?: boolean } = {},
  ) {
    const { settleMs = 5, pollMs = 60_000, meanwhile, trusted = true } = options;
    const { directory: cwd, env } = this.project;
    const load = { cwd, env, builtins: { p: this.plugin }, trusted };
    const settings = await loadSettings(load);
    const given = services(this.log);
    this.#host = await createHost({ settings, builtins: load.builtins, services: given });
    meanwhile?.();
    const { host } = this;
    this.#watch = new SettingsWatch({
      ...load,
      host,
      settings,
      seen: settings,
      log: given.log,
      settleMs,
      pollMs,
    });
  }

  async close(): Promise<void> {
    this.#watch?.close();
    await this.#host?.close();
    this.project.close();
  }

  /** What a call sees of the config: `n`. */
  async seen(): Promise<unknown> {
    const { text } = await this.host.call('p_echo', {}, context());
    return text.startsWith('{') ? JSON.parse(text).n : text;
  }

  async problem(): Promise<string | null> {
    return (await this.host.health()).settings.problem;
  }

  sees(n: unknown): Promise<void> {
    return this.#until(async () => (await this.seen()) === n, `a call sees ${n}`);
  }

  complains(about: RegExp): Promise<void> {
    return this.#until(async () => about.test((await this.problem()) ?? ''), String(about));
  }

  async #until(fact: () => Promise<boolean>, what: string): Promise<void> {
    const deadline = Date.now() + FACT_MS_MAX;
    while (!(await fact())) {
      if (Date.now() > deadline) {
        throw new Error(`never: ${what}; ${await this.seen()}, ${await this.problem()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}

export function yaml(n: unknown): string {
  return `plugins: { p: { config: { n: ${n} } } }\n`;
}
