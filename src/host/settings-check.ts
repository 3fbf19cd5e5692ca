// Checks settings: the keys, their types and, by each plugin's own check, its config. Collects all
// problems of a file instead of stopping at the first one.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { recipientOf } from '../age/recipients.ts';
import { LIVE_WAYS } from '../packing/recipients.ts';
import { readTarget } from '../sealing/anchors/target.ts';
import { asObject } from '../text/json.ts';
import { printable } from '../text/printable.ts';
import {
  type Position,
  type Problem,
  pathText,
  quoted,
  type Step,
  suggestion,
} from '../text/problems.ts';
import { parseSize } from '../text/size.ts';
import {
  type LocatedEntry,
  type LocatedMap,
  type LocatedValue,
  plain,
  positionOf,
} from '../text/yaml.ts';
import { BUILTIN_PREFIX, builtinName } from '../trust/plugin-source.ts';
import { type Builtins, moduleVersion, ownedByModule } from './modules.ts';
import type { ConfigProblem, JsonSchema, PluginClass } from './plugin.ts';

const TOP_KEYS = ['plugins', 'tool_names', 'ask', 'seal', 'captures', 'encryption'] as const;
const ASK_KEYS = ['min_ms'] as const;
const SEAL_KEYS = ['enabled', 'anchor'] as const;
const CAPTURES_KEYS = ['budget'] as const;
const ENCRYPTION_KEYS = ['recipients', 'live'] as const;
const PLUGIN_KEYS = ['enabled', 'type', 'module', 'config'] as const;
export const PLUGIN_TYPES = ['in_source'] as const;
// More than this and no answer would come in time.
export const ASK_MIN_MS_MAX = 30_000;
export const TOOL_NAMES = ['underscore', 'dotted'] as const;

export type ToolNames = (typeof TOOL_NAMES)[number];

export type PluginSettings = {
  readonly name: string;
  readonly enabled: boolean;
  readonly type: 'in_source';
  /** Absent or `opencuff.plugins.builtin.NAME` for a built-in one, else an absolute path. */
  readonly module: string | undefined;
  readonly config: unknown;
};

/** A plugin's name is the first part of its tools' names, which clients restrict to these. */
export const PLUGIN_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;

export type CheckContext = {
  readonly builtins: Builtins;
  /** The directory of the settings file: relative modules start there. */
  readonly directory: string;
  /** Files that configs name are looked for, relative to this directory, if it is given. */
  readonly project?: string | undefined;
  /** The class of an enabled plugin, or undefined when it cannot be had (the host says why). */
  readonly classOf: (settings: PluginSettings) => Promise<PluginClass | undefined>;
};

export type CheckedSettings = {
  readonly problems: readonly Problem[];
  readonly plugins: readonly PluginSettings[] | undefined;
  readonly toolNames: ToolNames | undefined;
  readonly askMinMs: number | undefined;
};

export async function checkSettings(
  root: LocatedValue,
  context: CheckContext,
): Promise<CheckedSettings> {
  const check = new Check(context);
  const top = check.map(root, []);
  const toolNames = check.oneOf(top.get('tool_names'), TOOL_NAMES, ['tool_names']);
  check.keys(top, TOP_KEYS, []);
  const askMinMs = check.ask(top.get('ask'));
  check.seal(top.get('seal'));
  check.captures(top.get('captures'));
  check.encryption(top.get('encryption'));
  const listed = top.get('plugins');
  // Everything below the key commented out is the same as no key.
  if (listed === undefined || isNothing(listed.value)) {
    return { problems: check.problems, plugins: undefined, toolNames, askMinMs };
  }
  const entries = [...check.map(listed.value, ['plugins']).values()];
  const plugins = await Promise.all(entries.map((entry) => check.plugin(entry)));
  return { problems: check.problems, plugins, toolNames, askMinMs };
}

type Entries = ReadonlyMap<string, LocatedEntry>;

class Check {
  readonly problems: Problem[] = [];
  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    this.#context = context;
  }

  async plugin({ key: name, at, value }: LocatedEntry): Promise<PluginSettings> {
    const path = ['plugins', name];
    if (!PLUGIN_NAME.test(name)) {
      const rule = 'a letter, then up to 31 letters, digits, _ or -';
      this.#problem(at, `${quoted(name)} cannot name a plugin: expected ${rule}`);
    }
    // `derun:` with nothing below it is derun with its defaults.
    const entries: Entries = isNothing(value) ? new Map() : this.map(value, path);
    this.keys(entries, PLUGIN_KEYS, path);
    this.oneOf(entries.get('type'), PLUGIN_TYPES, [...path, 'type']);
    const settings: PluginSettings = {
      name,
      enabled: this.#boolean(entries.get('enabled'), [...path, 'enabled']) ?? true,
      type: 'in_source',
      module: this.#module(entries.get('module'), name, at),
      config: undefined,
    };
    const config = entries.get('config');
    if (config === undefined || isNothing(config.value)) return { ...settings, config: {} };
    this.map(config.value, [...path, 'config']);
    const checked = { ...settings, config: plain(config.value) };
    if (config.value.kind === 'map') await this.#config(checked, config.value);
    return checked;
  }

  ask(entry: LocatedEntry | undefined): number | undefined {
    if (entry === undefined || isNothing(entry.value)) return undefined;
    const entries = this.map(entry.value, ['ask']);
    this.keys(entries, ASK_KEYS, ['ask']);
    const least = entries.get('min_ms')?.value;
    if (least === undefined || isNothing(least)) return undefined;
    const ms = least.kind === 'scalar' ? least.value : undefined;
    if (typeof ms === 'number' && Number.isInteger(ms) && ms >= 0 && ms <= ASK_MIN_MS_MAX) {
      return ms;
    }
    this.#wrong(least, ['ask', 'min_ms'], `whole milliseconds from 0 to ${ASK_MIN_MS_MAX}`);
    return undefined;
  }

  /** Checked like any other key; what it says is read in `open.ts` and `wanted.ts`. */
  seal(entry: LocatedEntry | undefined): void {
    if (entry === undefined || isNothing(entry.value)) return;
    const entries = this.map(entry.value, ['seal']);
    this.keys(entries, SEAL_KEYS, ['seal']);
    this.#anchors(entries.get('anchor')?.value);
    const enabled = entries.get('enabled')?.value;
    if (enabled === undefined || isNothing(enabled)) return;
    if (enabled.kind === 'scalar' && typeof enabled.value === 'boolean') return;
    this.#wrong(enabled, ['seal', 'enabled'], 'true or false');
  }

  #anchors(value: LocatedValue | undefined): void {
    if (value === undefined || isNothing(value)) return;
    const path = ['seal', 'anchor'];
    if (value.kind !== 'list') this.#wrong(value, path, 'a list of anchors');
    const items = value.kind === 'list' ? value.items : [];
    for (const [at, item] of items.entries()) {
      const text = item.kind === 'scalar' && typeof item.value === 'string' ? item.value : '';
      const reading = readTarget(text);
      if ('problem' in reading) {
        this.#problem(item.at, `${pathText([...path, at])}: ${printable(reading.problem)}`);
      } else if (reading.target.kind === 'print') {
        this.#problem(item.at, `${pathText([...path, at])}: print is for a person to call`);
      }
    }
  }

  /** As `seal`; what it says is read in src/packing/budget.ts. */
  captures(entry: LocatedEntry | undefined): void {
    if (entry === undefined || isNothing(entry.value)) return;
    const entries = this.map(entry.value, ['captures']);
    this.keys(entries, CAPTURES_KEYS, ['captures']);
    const budget = entries.get('budget')?.value;
    if (budget === undefined || isNothing(budget)) return;
    if (budget.kind === 'scalar' && parseSize(budget.value) !== undefined) return;
    this.#wrong(budget, ['captures', 'budget'], 'bytes, or a size like 2 GiB or 512 MiB');
  }

  /** As `seal`; what it says is read in src/packing/recipients.ts. */
  encryption(entry: LocatedEntry | undefined): void {
    if (entry === undefined || isNothing(entry.value)) return;
    const entries = this.map(entry.value, ['encryption']);
    this.keys(entries, ENCRYPTION_KEYS, ['encryption']);
    this.oneOf(entries.get('live'), LIVE_WAYS, ['encryption', 'live']);
    const listed = entries.get('recipients')?.value;
    if (listed === undefined || isNothing(listed)) return;
    const path = ['encryption', 'recipients'];
    if (listed.kind !== 'list') this.#wrong(listed, path, 'a list of recipients of age');
    const items = listed.kind === 'list' ? listed.items : [];
    for (const [place, one] of items.entries()) {
      const text = one.kind === 'scalar' && typeof one.value === 'string' ? one.value : '';
      if (recipientOf(text) !== undefined) continue;
      // It may be a secret key, so its text is not shown.
      const words = 'expected a recipient of age, such as `cuff identity` shows: age1...';
      this.#problem(one.at, `${pathText([...path, place])}: ${words}`);
    }
  }

  map(value: LocatedValue, path: readonly Step[]): Entries {
    if (value.kind === 'map') return new Map(value.entries.map((entry) => [entry.key, entry]));
    this.#wrong(value, path, 'a mapping of keys to values');
    return new Map();
  }

  keys(entries: Entries, known: readonly string[], path: readonly Step[]): void {
    for (const { key, at } of entries.values()) {
      if (!known.includes(key)) this.#unknown(key, at, known, path);
    }
  }

  oneOf<T extends string>(
    entry: LocatedEntry | undefined,
    known: readonly T[],
    path: readonly Step[],
  ): T | undefined {
    if (entry === undefined) return undefined;
    const text = entry.value.kind === 'scalar' ? entry.value.value : undefined;
    const found = known.find((one) => one === text);
    if (found === undefined) this.#wrong(entry.value, path, known.join(' or '));
    return found;
  }

  #boolean(entry: LocatedEntry | undefined, path: readonly Step[]): boolean | undefined {
    if (entry === undefined) return undefined;
    if (entry.value.kind === 'scalar' && typeof entry.value.value === 'boolean') {
      return entry.value.value;
    }
    this.#wrong(entry.value, path, 'true or false');
    return undefined;
  }

  /** Undefined, a built-in as the seed names it, or the absolute path of a file that is there. */
  #module(entry: LocatedEntry | undefined, name: string, nameAt: Position): string | undefined {
    const path = ['plugins', name, 'module'];
    const builtins = Object.keys(this.#context.builtins);
    if (entry === undefined || isNothing(entry.value)) {
      if (builtins.includes(name)) return undefined;
      const near = suggestion(name, builtins);
      const words = `no built-in plugin is called ${quoted(name)}, and it names no module${near}`;
      this.#problem(nameAt, `${pathText(path.slice(0, -1))}: ${words}`);
      return undefined;
    }
    const { value } = entry;
    const text = value.kind === 'scalar' ? value.value : undefined;
    if (typeof text !== 'string' || text === '') {
      this.#wrong(value, path, 'the path of a module');
      return undefined;
    }
    const builtin = builtinName({ name, module: text });
    if (builtin !== undefined) {
      if (!builtins.includes(builtin)) {
        const words = `there is no built-in ${quoted(builtin)}${suggestion(builtin, builtins)}`;
        this.#problem(value.at, `${pathText(path)}: ${words}`);
      }
      return text;
    }
    if (!/^\.{0,2}[\\/]|^[A-Za-z]:[\\/]/.test(text)) {
      const expected = `a path like ./plugin.js, or ${BUILTIN_PREFIX}NAME`;
      this.#wrong(value, path, expected);
      return text;
    }
    const file = resolve(this.#context.directory, text);
    if (!existsSync(file)) this.#problem(value.at, `${pathText(path)}: there is no file ${file}`);
    return file;
  }

  async #config(settings: PluginSettings, config: LocatedMap): Promise<void> {
    const checker = await this.#context.classOf(settings);
    const version = moduleVersion(settings);
    const problems = ownedByModule(version, () =>
      configProblems(checker, settings.config, this.#context.project),
    );
    for (const { path, message } of problems) {
      const at = positionOf(config, path);
      const below = ['plugins', settings.name, 'config', ...path];
      const known = knownKeys(checker?.configSchema, path);
      const key = path.at(-1);
      if (typeof key === 'string' && known !== undefined && !known.includes(key)) {
        this.#unknown(key, at, known, below.slice(0, -1));
      } else {
        this.#problem(at, `${pathText(below)}: ${printable(message)}`);
      }
    }
  }

  #unknown(key: string, at: Position, known: readonly string[], path: readonly Step[]): void {
    const where = path.length === 0 ? '' : ` in ${pathText(path)}`;
    this.#problem(at, `unknown key ${quoted(key)}${where}${suggestion(key, known)}`);
  }

  #wrong(value: LocatedValue, path: readonly Step[], expected: string): void {
    const what = path.length === 0 ? 'the settings' : pathText(path);
    this.#problem(value.at, `${what}: expected ${expected}, found ${described(value)}`);
  }

  #problem(at: Position, message: string): void {
    this.problems.push({ at, message });
  }
}

/** A check that itself throws says nothing about the file; the host reports the plugin later. */
function configProblems(
  checker: PluginClass | undefined,
  config: unknown,
  project: string | undefined,
): ConfigProblem[] {
  try {
    const problems = checker?.checkConfig?.(structuredClone(config), project) ?? [];
    return problems.map(({ path, message }) => ({ path: [...path], message: String(message) }));
  } catch {
    return [];
  }
}

/** The keys a schema allows where `path` ends; undefined when it does not say or allows any. */
function knownKeys(schema: JsonSchema | undefined, path: readonly Step[]): string[] | undefined {
  let current = asObject(schema);
  for (const step of path.slice(0, -1)) {
    current = asObject(asObject(current?.properties)?.[String(step)]);
  }
  const properties = asObject(current?.properties);
  if (properties === undefined || current?.additionalProperties !== false) return undefined;
  return Object.keys(properties);
}

function isNothing(value: LocatedValue): boolean {
  return value.kind === 'scalar' && value.value === null;
}

function described(value: LocatedValue): string {
  if (value.kind === 'list') return 'a list';
  if (value.kind === 'map') return 'a mapping';
  if (value.value === null) return 'nothing';
  if (typeof value.value === 'string') return `the text ${quoted(value.source)}`;
  const kind = typeof value.value === 'number' ? 'the number ' : '';
  return `${kind}${printable(value.source)}`;
}
