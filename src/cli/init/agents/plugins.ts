// Where clients keep our plugin once a person has installed it, tried with Claude Code 2.1.325,
// Codex 0.166.0, Copilot CLI 1.0.102 and Gemini CLI 0.61.0. Others are not known to have one.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { asObject, asString, parseObject } from '../../../text/json.ts';
import { readConfig } from '../file.ts';
import { ConfigSyntaxError, readJson } from '../jsonc.ts';
import { readTomlValue } from '../toml.ts';
import type { Context } from './agent.ts';
import { claudeDirectory } from './claude.ts';
import { codexHome } from './codex.ts';

/** `name`: what the client calls the plugin, with its marketplace. */
export type InstalledPlugin = { readonly name: string; readonly folder: string };

const OURS = /^cuff@([\w.-]+)$/;

/** Those that are switched on. */
export function installedPlugins(client: string, context: Context): readonly InstalledPlugin[] {
  switch (client) {
    case 'claude':
      return ofClaude(claudeDirectory(context));
    case 'codex':
      return ofCodex(codexHome(context));
    case 'copilot':
      return ofCopilot(join(context.home, '.copilot'));
    case 'gemini':
      return [{ name: 'cuff', folder: join(context.home, '.gemini', 'extensions', 'cuff') }];
    default:
      return [];
  }
}

function ofClaude(root: string): readonly InstalledPlugin[] {
  const list = textOf(join(root, 'plugins', 'installed_plugins.json'));
  const plugins = asObject(parseObject(list)?.plugins) ?? {};
  const enabled = valueIn(textOf(join(root, 'settings.json')), ['enabledPlugins']);
  return Object.entries(plugins)
    .filter(([name]) => OURS.test(name) && asObject(enabled)?.[name] !== false)
    .flatMap(([name, places]) =>
      (Array.isArray(places) ? places : []).flatMap((place) => {
        const folder = asString(asObject(place)?.installPath);
        return folder === undefined ? [] : [{ name, folder }];
      }),
    );
}

/** A copy for each version; Codex takes one, and an older one is no other plugin. */
function ofCodex(root: string): readonly InstalledPlugin[] {
  const config = textOf(join(root, 'config.toml'));
  const cache = join(root, 'plugins', 'cache');
  return namesIn(cache).flatMap((market) => {
    const name = `cuff@${market}`;
    if (tomlIn(config, ['plugins', name], 'enabled') !== 'true') return [];
    const folder = join(cache, market, 'cuff');
    const newest = [...namesIn(folder)].sort().at(-1);
    return newest === undefined ? [] : [{ name, folder: join(folder, newest) }];
  });
}

/** It reads a marketplace of a directory in its place, and copies what comes from elsewhere. */
function ofCopilot(root: string): readonly InstalledPlugin[] {
  const settings = textOf(join(root, 'settings.json'));
  const enabled = asObject(valueIn(settings, ['enabledPlugins'])) ?? {};
  const markets = asObject(valueIn(settings, ['extraKnownMarketplaces'])) ?? {};
  return Object.entries(enabled).flatMap(([name, on]) => {
    const market = OURS.exec(name)?.[1];
    if (market === undefined || on !== true) return [];
    const path = asString(asObject(asObject(markets[market])?.source)?.path);
    const folder = path ?? join(root, 'installed-plugins', market);
    return [{ name, folder: join(folder, 'cuff') }];
  });
}

function textOf(file: string): string {
  try {
    return readConfig(file, file) ?? '';
  } catch {
    return ''; // one that cannot be read switches nothing on
  }
}

function valueIn(text: string, path: readonly string[]): unknown {
  return quietly(() => readJson(text, path));
}

function tomlIn(text: string, table: readonly string[], key: string): string | undefined {
  return quietly(() => readTomlValue(text, table, key));
}

function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return undefined; // it is named where it is set up
    throw error;
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // no plugin was installed
  }
}
