// The tools that a server lists when its settings cannot be read: those of the dialect it was
// started with, else those of the last settings that could be read, else the default ones. Nothing
// runs with these settings, and nothing is recorded: which journal a command belongs to is one of
// the things that cannot be read.

import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { makeDirectories, replaceFile } from '../directories.ts';
import { isAppError } from '../errors.ts';
import { asObject } from '../text/json.ts';
import { builtinName } from '../trust/plugin-source.ts';
import { countingSettings } from '../trust/settings.ts';
import { defaultSettings, type LoadOptions, loadSettings, type Settings } from './settings.ts';
import { PLUGIN_NAME, type PluginSettings, TOOL_NAMES } from './settings-check.ts';

const FILE_BYTES_MAX = 64 * 1024; // a few names

export type StartSettings = {
  readonly settings: Settings;
  /** Why these are not the settings of the file: `file:line:column: message`, one line each. */
  readonly problem: string | undefined;
};

/** Never rejects because of what a file says. */
export async function settingsForStart(
  options: LoadOptions,
  stateRoot: string,
): Promise<StartSettings> {
  try {
    return { settings: await loadSettings(options), problem: undefined };
  } catch (error) {
    if (!isAppError(error) || error.code !== 'settings_invalid') throw error;
    return { settings: fallbackSettings(options, stateRoot), problem: error.message };
  }
}

export function fallbackSettings(options: LoadOptions, stateRoot: string): Settings {
  const last = recall(options, stateRoot);
  const { plugins, ...rest } = defaultSettings(options, last?.plugins);
  const silent = plugins.map((plugin) => withoutRecording(plugin, options));
  const { waiting } = countingSettings(options);
  return {
    ...rest,
    plugins: silent,
    ...(last?.toolNames && { toolNames: last.toolNames }),
    ...(waiting.length > 0 && { waiting }),
  };
}

function withoutRecording(plugin: PluginSettings, { shells }: LoadOptions): PluginSettings {
  const name = builtinName(plugin) ?? '';
  if (shells?.names.includes(name) !== true) return plugin;
  return { ...plugin, config: { recording: { enabled: false } } };
}

/**
 * For the next start, once a host has taken them. Names only: values may be secrets, and a module
 * is not loaded for a file that is wrong. Throws the errno error: without it a broken file lists
 * the default tools, until it is mended.
 */
export function rememberSettings(
  settings: Settings,
  options: LoadOptions,
  stateRoot: string,
): void {
  const path = memoryFile(options, stateRoot);
  if (path === undefined) return;
  const plugins = settings.plugins
    .filter((plugin) => plugin.enabled && builtinName(plugin) !== undefined)
    .map(({ name, module }) => ({ name, ...(module !== undefined && { module }) }));
  const text = `${JSON.stringify({ plugins, tool_names: settings.toolNames })}\n`;
  if (fs.existsSync(path) && readMemory(path) === text) return;
  makeDirectories(dirname(path), 0o700);
  replaceFile(path, text);
}

type Memory = Pick<Settings, 'plugins' | 'toolNames'>;

function recall(options: LoadOptions, stateRoot: string): Memory | undefined {
  const path = memoryFile(options, stateRoot);
  if (path === undefined) return undefined;
  try {
    const said = asObject(JSON.parse(readMemory(path)));
    if (!Array.isArray(said?.plugins)) return undefined;
    const plugins = said.plugins.flatMap((one) => pluginOf(asObject(one), options));
    const toolNames = TOOL_NAMES.find((one) => one === said.tool_names);
    return { plugins, ...(toolNames && { toolNames }) };
  } catch {
    return undefined; // never written, or damaged: the default tools are listed
  }
}

function pluginOf(
  said: Readonly<Record<string, unknown>> | undefined,
  { builtins }: LoadOptions,
): PluginSettings[] {
  const { name, module } = said ?? {};
  if (typeof name !== 'string' || !PLUGIN_NAME.test(name)) return [];
  if (module !== undefined && typeof module !== 'string') return [];
  const builtin = builtinName({ name, module });
  if (builtin === undefined || !Object.hasOwn(builtins, builtin)) return [];
  return [{ name, enabled: true, type: 'in_source', module, config: {} }];
}

function readMemory(path: string): string {
  if (fs.statSync(path).size > FILE_BYTES_MAX) return '';
  return fs.readFileSync(path, 'utf8');
}

/** One for each settings file and dialect. */
function memoryFile(options: LoadOptions, stateRoot: string): string | undefined {
  const { file } = countingSettings(options);
  if (file === undefined) return undefined;
  const chosen = options.shells?.chosen ?? '';
  const key = createHash('sha256').update(`${file}\0${chosen}`).digest('hex');
  return join(stateRoot, 'settings', `${key.slice(0, 32)}.json`);
}
