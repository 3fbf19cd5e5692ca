// A host with fixture plugins, and the settings to make one.

import { createHost, type Host, type HostOptions } from '../../src/host/host.ts';
import type { CallContext, PluginClass, Services } from '../../src/host/plugin.ts';
import type { Settings } from '../../src/host/settings.ts';
import type { PluginSettings } from '../../src/host/settings-check.ts';

export type Logged = { readonly level: string; readonly message: string } & Record<string, unknown>;

export function services(log: Logged[] = []): Services {
  return {
    projectDirectory: '/',
    stateRoot: '/nowhere',
    env: {},
    log: (level, message, fields) => log.push({ level, message, ...fields }),
    shell: () => {
      throw new Error('no shell here');
    },
    now: () => 0,
  };
}

export function context(more: Partial<CallContext> = {}): CallContext {
  return { meta: {}, client: undefined, signal: new AbortController().signal, ...more };
}

/** Plugins by name: a config, or more than that. */
export function settings(
  plugins: Readonly<Record<string, object | undefined>>,
  more: Partial<PluginSettings> = {},
): Settings {
  const list = Object.entries(plugins).map(([name, config = {}]) => ({
    name,
    enabled: true,
    type: 'in_source' as const,
    module: undefined,
    config,
    ...more,
  }));
  return { file: undefined, plugins: list };
}

const hosts: Host[] = [];

/** A host of these classes, each mounted under its name with the config that `options` name. */
export async function hostOf(
  builtins: Readonly<Record<string, PluginClass>>,
  options: Partial<HostOptions> = {},
): Promise<Host> {
  const names = Object.fromEntries(Object.keys(builtins).map((name) => [name, {}]));
  const host = await createHost({
    settings: settings(names),
    services: services(),
    ...options,
    builtins,
  });
  hosts.push(host);
  return host;
}

export async function closeHosts(): Promise<void> {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
}

export function names(host: Host): string[] {
  return host.tools().map(({ name }) => name);
}

/** A promise and the ways to end it. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Resolves once everything that is ready to happen has happened. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}
