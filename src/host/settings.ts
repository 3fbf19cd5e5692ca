// Settings: where their file is, and its checked content. A file that exists but is wrong is an
// error that lists every problem; it never means the defaults, because those are not what its
// author configured.

import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError, errnoOf } from '../errors.ts';
import { isThere, realOf, settingsCandidates, userSettings } from '../places.ts';
import { asObject } from '../text/json.ts';
import { printable } from '../text/printable.ts';
import { problemLines } from '../text/problems.ts';
import { type LocatedValue, readYaml, type YamlResult } from '../text/yaml.ts';
import { readAtMost } from '../trust/bounded-read.ts';
import { builtinName } from '../trust/plugin-source.ts';
import {
  type CountingSettings,
  countingSettings,
  type WaitingSettings,
} from '../trust/settings.ts';
import type { Env } from '../types.ts';
import { limited } from './containment.ts';
import { type Builtins, pluginClass } from './modules.ts';
import { checkSettings, type PluginSettings, type ToolNames } from './settings-check.ts';

const FILE_BYTES_MAX = 256 * 1024; // a hundred times what a person writes by hand

// A module that takes longer is not asked about its config before it starts.
const CHECK_MS = 2_000;

/** Mounted when no file lists plugins. */
const DEFAULT_PLUGINS = ['bash_recorder', 'derun'];

export { settingsSchema } from './settings-schema.ts';

export type Settings = {
  readonly file: string | undefined;
  readonly plugins: readonly PluginSettings[];
  /** How tools are listed; absent is `underscore`. */
  readonly toolNames?: ToolNames;
  /** In how many milliseconds a person cannot have answered; absent is `ASK_MIN_MS`. */
  readonly askMinMs?: number;
  /** A sentence for a person about keys that count in the user's own settings alone. */
  readonly ignored?: string;
  /** Files of the project that do not count until a person trusts them. */
  readonly waiting?: readonly WaitingSettings[];
};

export type LoadOptions = {
  readonly cwd: string;
  readonly env: Env;
  /** Instead of looking for one. */
  readonly file?: string;
  /** The project's settings count as they are: a person said so for this process. */
  readonly trusted?: boolean | undefined;
  readonly builtins: Builtins;
  readonly shells?: Shells;
  /** Commands will run with these settings: directories and programs they name must be there. */
  readonly running?: boolean;
  /** How long to wait for modules that check their own config. */
  readonly modulesMs?: number;
};

/** The built-in plugins that run commands: all of them record, and one is enough. */
type Shells = {
  readonly names: readonly string[];
  /** Mounted instead of the others, whatever the file says. */
  readonly chosen?: string | undefined;
};

/** The first settings file there is. One that `$CUFF_SETTINGS` names counts as being there. */
export function findSettings(cwd: string, env: Env): string | undefined {
  return settingsCandidates(cwd, env).find((file) => file.named || isThere(file.path))?.path;
}

/** Throws `settings_invalid`; its message has a line `file:line:column: ...` for every problem. */
export async function loadSettings(options: LoadOptions): Promise<Settings> {
  const counting = countingSettings(options);
  const { waiting } = counting;
  const settings = await settingsOf(counting, options);
  return waiting.length === 0 ? settings : { ...settings, waiting };
}

async function settingsOf(counting: CountingSettings, options: LoadOptions): Promise<Settings> {
  const { builtins, env } = options;
  const { file, modules = {} } = counting;
  const arranged = (plugins: readonly PluginSettings[]) => arrange(plugins, options);
  if (file === undefined) return { file, plugins: arranged(defaultPlugins(builtins)) };
  const reading = readYaml(textOf(counting, file), env);
  const { root } = reading;
  if (root === undefined) {
    if (reading.problems.length > 0) throw invalid(file, reading, reading.problems, env);
    return { file, plugins: arranged(defaultPlugins(builtins)) };
  }
  // Before a module is imported, which checking a config already does.
  if (Object.keys(modules).length > 0) {
    (await import('../trust/load-hook.ts')).guardModules(modules, realOf(options.cwd));
  }
  const checked = await checkSettings(root, {
    builtins,
    directory: dirname(file),
    project: options.running === true ? options.cwd : undefined,
    classOf: async (settings) => {
      if (!settings.enabled && settings.module !== undefined) return undefined;
      if (untrustedModule(settings, counting) !== undefined) return undefined;
      const importing = pluginClass(settings, builtins);
      return limited(importing, options.modulesMs ?? CHECK_MS, 'importing it').catch(
        () => undefined,
      );
    },
  });
  // A value that could not be read is not reported again as one of the wrong type.
  const known = new Set(reading.problems.map(({ at }) => `${at.line}:${at.column}`));
  const others = checked.problems.filter(({ at }) => !known.has(`${at.line}:${at.column}`));
  const problems = [...reading.problems, ...others];
  if (problems.length > 0) throw invalid(file, reading, problems, env);
  const stranger = checked.plugins?.map((one) => untrustedModule(one, counting)).find(Boolean);
  if (stranger !== undefined) throw settingsError(stranger);
  const plugins = arranged(checked.plugins ?? defaultPlugins(builtins));
  const { toolNames, askMinMs } = checked;
  const ignored = ignoredKeys(root, file, options);
  return {
    file,
    plugins,
    ...(ignored !== undefined && { ignored }),
    ...(toolNames !== undefined && { toolNames }),
    ...(askMinMs !== undefined && { askMinMs }),
  };
}

/** Keys with which a project could say that less of what is done in it is kept from others. */
const OWN_KEYS = ['seal', 'captures', 'encryption'];

function ignoredKeys(root: LocatedValue, file: string, { cwd, env }: LoadOptions) {
  const own = settingsCandidates(cwd, env).some((one) => one.own && one.path === file);
  const entries = root.kind === 'map' && !own ? root.entries : [];
  const keys = entries.map(({ key }) => key).filter((key) => OWN_KEYS.includes(key));
  if (keys.length === 0) return undefined;
  const where = printable(userSettings(env));
  return `${printable(file)}: \`${keys.join('`, `')}\` says nothing here; it counts in ${where}.`;
}

/** The settings without a file: the default plugins, or these. */
export function defaultSettings(
  options: LoadOptions,
  plugins?: readonly PluginSettings[],
): Settings {
  const given = plugins ?? defaultPlugins(options.builtins);
  return { file: undefined, plugins: arrange(given, options) };
}

function defaultPlugins(builtins: Builtins): PluginSettings[] {
  return DEFAULT_PLUGINS.filter((name) => Object.hasOwn(builtins, name)).map(builtin);
}

function builtin(name: string): PluginSettings {
  return { name, enabled: true, type: 'in_source', module: undefined, config: {} };
}

const RECORDER = 'bash_recorder';

/** The chosen shell in place of the others, and one journal for all that do not name their own. */
function arrange(
  given: readonly PluginSettings[],
  { shells, builtins }: LoadOptions,
): readonly PluginSettings[] {
  if (shells === undefined) return given;
  const { chosen, names } = shells;
  const own = given.find(({ name }) => name === chosen);
  const kept = given.filter(({ name }) => !names.includes(name));
  const plugins =
    chosen === undefined ? given : [{ ...(own ?? builtin(chosen)), enabled: true }, ...kept];
  const recording = asObject(given.find(({ name }) => name === RECORDER)?.config)?.recording;
  return plugins.map((plugin) => {
    const { name } = plugin;
    const config = asObject(plugin.config ?? {});
    if (!names.includes(name) || name === RECORDER || plugin.module !== undefined) return plugin;
    if (config === undefined || 'recording' in config || recording === undefined) return plugin;
    const shared = { ...plugin, config: { ...config, recording } };
    const [problem] = builtins[name]?.checkConfig?.(shared.config) ?? [];
    if (problem === undefined) return shared;
    const where = `${name} would record as ${RECORDER} does`;
    throw settingsError(`${where}, but ${problem.path.join('.')}: ${problem.message}`);
  });
}

function invalid(
  file: string,
  { used }: YamlResult,
  problems: Parameters<typeof problemLines>[1],
  env: Env,
): AppError {
  // The value of a variable may be a secret, and messages end up in logs.
  const hidden = problems.map(({ at, message }) => ({
    at,
    message: used.reduce((words, name) => withoutValue(words, name, env[name] ?? ''), message),
  }));
  return settingsError(problemLines(file, hidden));
}

function withoutValue(message: string, name: string, value: string): string {
  return value.length < 4 ? message : message.replaceAll(value, `\${${name}}`);
}

function settingsError(message: string, cause?: unknown): AppError {
  return new AppError('settings_invalid', message, {
    hint: 'Correct the file, or name another one in CUFF_SETTINGS.',
    ...(cause !== undefined && { cause }),
  });
}

/** A variable in trusted settings may name another module than the one that was trusted. */
function untrustedModule(
  plugin: PluginSettings,
  { bytes, modules = {} }: CountingSettings,
): string | undefined {
  const { module } = plugin;
  if (bytes === undefined || module === undefined || builtinName(plugin) !== undefined) return;
  if (Object.hasOwn(modules, realOf(module))) return undefined;
  return `plugins.${plugin.name}.module: ${printable(module)} was not trusted with the settings`;
}

/** The bytes that were found trusted, and no others. */
function textOf({ bytes, missing }: CountingSettings, file: string): string {
  if (missing) throw settingsError(`${printable(file)}: the settings file does not exist`);
  return bytes === undefined ? readText(file) : decoded(bytes, printable(file));
}

function readText(file: string): string {
  const shown = printable(file);
  let fd: number;
  try {
    // Without O_NONBLOCK a FIFO in its place would block us until a process writes to it.
    fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const why = { ENOENT: 'does not exist', EACCES: 'may not be read' }[errnoOf(error) ?? ''];
    throw settingsError(`${shown}: the settings file ${why ?? `cannot be read: ${error}`}`, error);
  }
  try {
    const stat = fstatSync(fd);
    if (stat.isDirectory()) throw settingsError(`${shown}: expected a file, found a directory`);
    if (!stat.isFile()) throw settingsError(`${shown}: expected a regular file`);
    const bytes = readAtMost(fd, FILE_BYTES_MAX);
    if (bytes !== undefined) return decoded(bytes, shown);
    const [many, most] = [Math.max(stat.size, FILE_BYTES_MAX + 1), FILE_BYTES_MAX / 1024];
    throw settingsError(`${shown}: ${many} bytes are too many for settings, at most ${most} KiB`);
  } finally {
    closeSync(fd);
  }
}

/** Without its byte order mark, if it has one. */
function decoded(bytes: Uint8Array, shown: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw settingsError(`${shown}: expected UTF-8 text`, error);
  }
}
