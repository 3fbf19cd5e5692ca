// Whether a question that is handed to the client reaches a person: only in pairs of client and
// permission mode that were proven, only where a person sits at the client, and only where no
// program is registered that may answer in the person's place. Read when a policy asks, so seldom.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../directories.ts';
import { isProvenAsk } from '../text/agents.ts';
import { asObject, asString, parseObject } from '../text/json.ts';
import type { Env } from '../types.ts';
import type { HookCall } from './call.ts';

/** More files than this are not looked through while a model waits. */
const FILES_MAX = 500;

export function asksPerson(
  { agent, permissionMode }: Pick<HookCall, 'agent' | 'permissionMode'>,
  env: Env,
): boolean {
  if (!isProvenAsk(agent, permissionMode)) return false;
  return attended(env) && !answered(env);
}

/**
 * Claude Code says so to its hooks. Under `-p` a question is a denial without our id, and a program
 * named by `--permission-prompt-tool` may answer it; an editor answers as it likes.
 */
function attended({ CLAUDE_CODE_SESSION_ATTENDED, CLAUDE_CODE_ENTRYPOINT }: Env): boolean {
  return CLAUDE_CODE_SESSION_ATTENDED === '1' && CLAUDE_CODE_ENTRYPOINT === 'cli';
}

/** A hook for this event of Claude Code answers its questions instead of the person. */
const ANSWERS = 'PermissionRequest';

/** Options that bring settings which are in none of the files. */
const MORE_SETTINGS = /^--(?:settings|plugin-dir|plugin-url|agents)(?:=|$)/;

/** Whether a program may answer; also where that cannot be told, as on a system without /proc. */
function answered(env: Env): boolean {
  const words = textOf(`/proc/${/^\d+$/.exec(env.CLAUDE_PID ?? '')?.[0]}/cmdline`);
  if (!words || words.split('\0').some((word) => MORE_SETTINGS.test(word))) return true;
  const files = hookFiles(env);
  if (files.length > FILES_MAX) return true;
  return files.some((file) => textOf(file)?.includes(ANSWERS) !== false);
}

/** Where Claude Code finds hooks, whether there is such a file or not. */
function hookFiles(env: Env): readonly string[] {
  const user = env.CLAUDE_CONFIG_DIR || join(env.HOME ?? '/', '.claude');
  const project = env.CLAUDE_PROJECT_DIR;
  const folders = [user, ...(project ? [join(project, '.claude')] : []), ...plugins(user)];
  const skills = folders.flatMap((folder) => below(join(folder, 'skills')));
  return [
    join(MANAGED, 'managed-settings.json'),
    ...below(join(MANAGED, 'managed-settings.d')),
    join(user, 'remote-settings.json'),
    ...[...folders, ...skills].flatMap(filesOf),
  ];
}

const MANAGED = '/etc/claude-code';

const NAMES = [
  ...['settings.json', 'settings.local.json', 'SKILL.md'],
  ...['plugin.json', '.claude-plugin/plugin.json', 'hooks/hooks.json'],
];

/** Of a folder of settings, of a plugin, or of a skill. */
function filesOf(folder: string): readonly string[] {
  return [...NAMES.map((name) => join(folder, name)), ...below(join(folder, 'agents'))];
}

function plugins(user: string): readonly string[] {
  const text = textOf(join(user, 'plugins', 'installed_plugins.json')) ?? '';
  return Object.values(asObject(parseObject(text)?.plugins) ?? {})
    .flat()
    .flatMap((one) => asString(asObject(one)?.installPath) ?? []);
}

function below(folder: string): readonly string[] {
  return namesIn(folder).map((name) => join(folder, name));
}

/** Empty for what is not there; undefined for what is no file, or not ours to read. */
function textOf(path: string): string | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined || stat.isDirectory()) return '';
    return stat.isFile() ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}
