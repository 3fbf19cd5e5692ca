// One plugin of the host. It follows the settings: starts, reloads, replaces and stops the plugin,
// one change at a time and never while a call is inside. It never throws; `health` tells what went
// wrong.

import { isDeepStrictEqual } from 'node:util';
import type { Health, StopCause } from '../types.ts';
import { type Owner, strayMessage } from './containment.ts';
import { Instance, type Offers, type Surroundings } from './instance.ts';
import { moduleVersion } from './modules.ts';
import type {
  CallContext,
  Resource,
  ResourceTemplate,
  ToolDefinition,
  ToolResult,
} from './plugin.ts';
import type { PluginSettings } from './settings-check.ts';
import { Turnstile } from './turnstile.ts';

export type PluginState = 'disabled' | 'starting' | 'running' | 'reloading' | 'failed';

export type PluginHealth = {
  readonly healthy: boolean;
  readonly state: PluginState;
  readonly reasons: readonly string[];
  /** The plugin's own report. */
  readonly report: Health | null;
};

const NOTHING: Offers = { tools: [], resources: [] };

export class Slot {
  readonly name: string;
  readonly turnstile = new Turnstile();
  readonly #around: Surroundings;
  readonly #changed: () => void;
  readonly #owner: Owner;
  readonly #troubles = new Map<string, { readonly message: string; readonly count: number }>();
  readonly #closing = new AbortController();
  #work: Promise<void> = Promise.resolve();
  #following = false;
  #wanted: PluginSettings | undefined;
  #tried: PluginSettings | undefined;
  #live: Instance | undefined;
  #shown: Offers = NOTHING;
  #starting: Promise<void> | undefined;
  #reloading = false;
  #postponed = false;
  #failure: string | undefined;
  #rejected = false;

  /** `changed` is called when its tools may be others; the host then asks for them. */
  constructor(name: string, around: Surroundings, changed: () => void) {
    const { log } = around.services;
    this.name = name;
    this.#changed = changed;
    this.#around = {
      ...around,
      services: {
        ...around.services,
        log: (level, message, fields) => log(level, message, { plugin: name, ...fields }),
      },
    };
    this.#owner = { name, trouble: (where, error) => this.#trouble(where, error) };
  }

  /** While the plugin is being replaced these stay, and calls to them wait. */
  get tools(): readonly ToolDefinition[] {
    return this.#shown.tools;
  }

  get resources(): readonly ResourceTemplate[] {
    return this.#shown.resources;
  }

  /** Why it is not running although it should. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Resolves when it has started or failed to; undefined when it does neither. */
  get starting(): Promise<void> | undefined {
    return this.#starting;
  }

  /** It stops as soon as no call is inside. */
  get leaving(): boolean {
    return this.#wanted?.enabled !== true;
  }

  /** The host took it out. */
  get rejected(): boolean {
    return this.#rejected;
  }

  /** It has stopped and the settings do not want it. */
  get gone(): boolean {
    return this.#stateNow() === 'disabled' && this.#wanted === undefined;
  }

  /** Resolves when the plugin is as these settings want it, or has failed to be. */
  want(settings: PluginSettings | undefined): Promise<void> {
    this.#wanted = settings;
    // Hold the turnstile synchronously, so that later calls wait.
    if (!this.#following) this.#work = this.#follow();
    return this.#work;
  }

  /** The policy is another one, which tools may tell of. */
  refresh(): void {
    // A plugin that is being changed is asked at the end of that.
    if (this.#live === undefined || this.#reloading) return;
    try {
      this.#live.askAgain();
      this.#show();
    } catch (error) {
      this.#trouble('getTools', error);
    }
  }

  /** Takes the plugin out for a reason that it cannot know itself. */
  reject(reason: string): void {
    this.#failure = reason;
    this.#rejected = true;
    this.#live?.stop();
    this.#live = undefined;
    this.#shown = NOTHING;
  }

  /** Never throws. */
  stopping(cause: StopCause): void {
    this.#live?.stopping(cause);
  }

  /** Without waiting for calls: a plugin ends its own when it is shut down. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the server is stopping'));
    const stopped = this.#live?.stop();
    this.#live = undefined;
    this.turnstile.release();
    // While it reloads no call is inside, so this comes to an end.
    await Promise.all([stopped, this.#reloading ? this.#work : this.#starting]);
  }

  /** Undefined when it has no such tool now. */
  async call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    context: CallContext,
  ): Promise<ToolResult | undefined> {
    const live = this.#live;
    if (live?.offers.tools.some(({ name }) => name === tool) !== true) return undefined;
    try {
      return await live.call(tool, args, context);
    } catch (error) {
      this.#trouble(`callTool ${tool}`, error);
      return { success: false, text: `${tool} of ${this.name} failed: ${strayMessage(error)}` };
    }
  }

  async readResource(uri: string): Promise<Resource | undefined> {
    try {
      return await this.#live?.readResource(uri);
    } catch (error) {
      this.#trouble('readResource', error);
      return undefined;
    }
  }

  async health(): Promise<PluginHealth> {
    const state = this.#stateNow();
    const report = state === 'running' ? await this.#report() : null;
    const reasons = [
      ...(this.#failure === undefined ? [] : [this.#failure]),
      ...(this.#postponed ? ['new settings wait for a call that is still running'] : []),
      ...(report?.reasons ?? []),
      ...[...this.#troubles].map(
        ([where, { message, count }]) =>
          `${where}: ${message}${count > 1 ? ` (${count} times)` : ''}`,
      ),
    ];
    return { healthy: state === 'disabled' || report?.healthy === true, state, reasons, report };
  }

  #stateNow(): PluginState {
    if (this.#failure !== undefined) return 'failed';
    if (this.#reloading) return 'reloading';
    if (this.#starting !== undefined) return 'starting';
    return this.#live === undefined ? 'disabled' : 'running';
  }

  async #report(): Promise<Health | null> {
    try {
      return (await this.#live?.health()) ?? null;
    } catch (error) {
      this.#trouble('healthCheck', error);
      return null;
    }
  }

  async #follow(): Promise<void> {
    this.#following = true;
    while (!this.#closing.signal.aborted && this.#tried !== this.#wanted) {
      const live = this.#live;
      if (live === undefined || this.#satisfies(live)) {
        const wanted = this.#next();
        if (live === undefined && wanted?.enabled === true) await this.#start(wanted);
      } else if (!this.#refuses(live) && (await this.#drained())) {
        await this.#change(live);
        this.#reloading = false;
        this.turnstile.release();
      }
    }
    this.#following = false;
    this.#changed();
  }

  /** The settings that are wanted now; they may be newer than those this began with. */
  #next(): PluginSettings | undefined {
    this.#tried = this.#wanted;
    this.#failure = undefined;
    this.#rejected = false;
    this.#postponed = false;
    this.#troubles.clear();
    return this.#tried;
  }

  #satisfies({ settings, version }: Instance): boolean {
    const wanted = this.#wanted;
    if (wanted?.enabled !== true || moduleVersion(wanted) !== version) return false;
    return isDeepStrictEqual(wanted.config, settings.config);
  }

  /** Settings that a running plugin refuses are not taken: it goes on with those it has. */
  #refuses(live: Instance): boolean {
    const wanted = this.#wanted;
    if (wanted?.enabled !== true || moduleVersion(wanted) !== live.version) return false;
    const problem = live.refusal(wanted.config);
    if (problem === undefined) return false;
    this.#next();
    this.#trouble('new settings', new Error(problem));
    return true;
  }

  /** False: the change was put off, and the calls that were inside then have ended by now. */
  async #drained(): Promise<boolean> {
    this.#postponed = !(await this.turnstile.hold(this.#around.limits.drainMs));
    if (!this.#postponed) return true;
    this.#around.services.log('warn', 'New settings wait for a call that is still running');
    await this.turnstile.settled();
    return false;
  }

  /** The turnstile is held and no call is inside. */
  async #change(live: Instance): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    this.#reloading = true;
    const wanted = this.#next();
    if (wanted?.enabled === true && moduleVersion(wanted) === live.version) {
      try {
        await live.reload(wanted, signal);
        this.#show();
        return;
      } catch (error) {
        this.#trouble('onConfigReload', error); // and start afresh
      }
    }
    this.#live = undefined;
    await live.stop();
    if (wanted?.enabled === true && !signal.aborted) await this.#start(wanted);
    else this.#show();
  }

  async #start(settings: PluginSettings): Promise<void> {
    this.#starting = this.#tryStart(settings);
    await this.#starting;
    this.#starting = undefined;
    this.#show();
  }

  #show(): void {
    this.#shown = this.#live?.offers ?? NOTHING;
    this.#changed();
  }

  async #tryStart(settings: PluginSettings): Promise<void> {
    const { signal } = this.#closing;
    try {
      const made = await Instance.start(settings, this.#around, this.#owner, signal);
      if (signal.aborted) await made.stop();
      else this.#live = made;
    } catch (error) {
      this.#failure = strayMessage(error);
      const fields = { error: this.#failure };
      this.#around.services.log('error', 'The plugin could not be started', fields);
    }
  }

  /** For the log and for `health`; callers get their own error. */
  #trouble(where: string, error: unknown): void {
    const message = strayMessage(error);
    const count = (this.#troubles.get(where)?.count ?? 0) + 1;
    this.#troubles.set(where, { message, count });
    this.#around.services.log('error', 'The plugin failed', { where, error: message });
  }
}
