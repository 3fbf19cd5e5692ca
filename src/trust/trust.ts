// What `cuff trust` does: lists the settings and policies of a project with their content, and the
// files that the modules of the settings load. Whether a person asks is `person.ts`' to say.

import { dirname, join, resolve } from 'node:path';
import { AppError } from '../errors.ts';
import { isOfProject, isThere, realOf, settingsCandidates } from '../places.ts';
import { asObject, asString } from '../text/json.ts';
import { printable } from '../text/printable.ts';
import { plain, readYaml } from '../text/yaml.ts';
import type { Env } from '../types.ts';
import { importClosure } from './closure.ts';
import { keysOfFile } from './keys.ts';
import { hashOf, type TrustedDirectory, trustIn, writeTrust } from './list.ts';
import { builtinName } from './plugin-source.ts';
import { contentOf, nameOf } from './settings.ts';

const POLICY_BYTES_MAX = 4 * 1024 * 1024;

type Content = Pick<TrustedDirectory, 'files' | 'modules'>;

/** The files of a project that would be trusted, whether they are there or not. */
function trustable(project: string, env: Env): readonly string[] {
  const settings = settingsCandidates(project, env).filter(({ own }) => !own);
  const usual = settingsCandidates(project, { ...env, CUFF_SETTINGS: undefined });
  const named = env.CUFF_POLICY ? [resolve(project, env.CUFF_POLICY)] : [];
  const paths = [
    ...[...settings, ...usual.filter(({ own }) => !own)].map(({ path }) => path),
    join(project, '.cuff', 'policy.yml'),
    ...named.filter((path) => isOfProject(project, env, path)),
  ];
  return [...new Set(paths)];
}

/** What is there now. Throws `usage` for a file that cannot be trusted as it is. */
function contentNow(project: string, env: Env): Content {
  const files: Record<string, string> = {};
  const modules: string[] = [];
  for (const path of trustable(project, env).filter(isThere)) {
    const bytes = contentOf(path, POLICY_BYTES_MAX);
    if (bytes === undefined) {
      throw new AppError('usage', `${printable(path)} cannot be read, so it cannot be trusted.`);
    }
    files[nameOf(project, path)] = hashOf(bytes);
    if (!path.endsWith('policy.yml')) modules.push(...modulesOf(path, bytes, env));
  }
  return { files, modules: importClosure(modules) };
}

/** Lists everything that is there. Gives what was listed. */
export function trustProject(project: string, env: Env): Content {
  const content = contentNow(project, env);
  writeTrust(project, env, content);
  return content;
}

/** Lists one file with this content, and leaves what else is trusted as it is. */
export function trustFile(project: string, env: Env, path: string, text: string): void {
  const { trusted } = trustIn(project, env);
  const files = { ...trusted?.files, [nameOf(project, path)]: hashOf(text) };
  writeTrust(project, env, { files, modules: trusted?.modules ?? {} });
}

export function distrustProject(project: string, env: Env): boolean {
  if (trustIn(project, env).trusted === undefined) return false;
  writeTrust(project, env, undefined);
  return true;
}

/** Files that plugins name, as the host would look for them. */
function modulesOf(path: string, bytes: Uint8Array, env: Env): readonly string[] {
  const { root } = readYaml(new TextDecoder().decode(bytes), env);
  const plugins = asObject(asObject(root && plain(root))?.plugins) ?? {};
  return Object.entries(plugins).flatMap(([name, settings]) => {
    const module = asString(asObject(settings)?.module);
    if (module === undefined || builtinName({ name, module }) !== undefined) return [];
    return [realOf(resolve(dirname(path), module))];
  });
}

export type FileState = {
  readonly file: string;
  readonly state: 'trusted' | 'not trusted' | 'changed since it was trusted' | 'gone';
  /** What a settings file sets. */
  readonly keys: readonly string[] | null;
};

/** What is there, and what of it counts. Changes nothing. */
export function trustState(project: string, env: Env) {
  const { trusted } = trustIn(project, env);
  const known = { ...trusted?.files, ...trusted?.modules };
  const paths = new Map(trustable(project, env).map((path) => [nameOf(project, path), path]));
  for (const name of Object.keys(known)) paths.set(name, resolve(realOf(project), name));
  const files = [...paths].flatMap(([file, path]): FileState[] => {
    const there = isThere(path);
    if (!there && known[file] === undefined) return [];
    const keys = there && path.endsWith('settings.yml') ? (keysOfFile(path) ?? null) : null;
    return [{ file, state: there ? stateOf(path, known[file]) : 'gone', keys }];
  });
  return { directory: realOf(project), trustedAt: trusted?.trustedAt, files };
}

function stateOf(path: string, hash: string | undefined): FileState['state'] {
  if (hash === undefined) return 'not trusted';
  const bytes = contentOf(path, Number.POSITIVE_INFINITY);
  const same = bytes !== undefined && hashOf(bytes) === hash;
  return same ? 'trusted' : 'changed since it was trusted';
}
