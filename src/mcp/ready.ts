// The answers to `initialize` and `tools/list` before the server is loaded: agents give a server
// less than a second. Without settings and policy the answers were made when cuff was built. With
// them they are those of the last server that started with files of the same content; they are kept
// in the state root, and a server that finds another list tells its client. Settings that can mean
// something else at each start (modules, variables) are left to the server.

import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { stateRoot } from '../capture/paths.ts';
import { makeDirectories, replaceFile } from '../directories.ts';
import { errnoOf } from '../errors.ts';
import { isThere, settingsCandidates, trustListFile, userConfig } from '../places.ts';
import { policyPlaces, projectPolicy } from '../policies/places.ts';
import { asObject, asString } from '../text/json.ts';
import { readRegular } from '../trust/bounded-read.ts';
import { keysOfFile } from '../trust/keys.ts';
import type { Env } from '../types.ts';

const FILE_BYTES_MAX = 4 * 1024 * 1024; // of a policy
const CONFIG_FILES_MAX = 64; // in the user's directory: settings, policy, what is trusted
const KEPT_BYTES_MAX = 1024 * 1024;
const KEPT_MAX = 32; // settings that a person switches between

/** The arguments of `cuff mcp` that decide which tools there are. */
export type ReadyArguments = {
  readonly dialect: string | undefined;
  readonly settings: string | undefined;
  /** Flags that may decide it. */
  readonly others: readonly string[];
};

export type ReadyAnswers = {
  readonly instructions: string;
  /** The result of `tools/list`, as JSON. */
  readonly tools: string;
};

/** `dist/mcp-ready.json`. */
export type ShippedAnswers = {
  /** Another one for another build. */
  readonly build: string;
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly capabilities: unknown;
  /** The versions that are agreed to when a client says `initialize`. */
  readonly protocols: readonly string[];
  /** By dialect; the empty name is for none. */
  readonly answers: Readonly<Record<string, ReadyAnswers>>;
};

/** `shipped`: there are no files. A digest of all there are, or undefined if it cannot be said. */
export type ReadyKey = string | undefined;

export async function readyKey(
  args: ReadyArguments,
  build: string,
  cwd: string,
): Promise<ReadyKey> {
  const { env } = process;
  const files = decidingFiles(args, cwd, env);
  const texts: string[] = [];
  for (const { path, kind } of files) {
    const text = kind === 'waiting' ? keysIn(path) : textOf(path);
    if (text === 'unsure') return undefined;
    if (text === undefined) continue;
    if (kind === 'settings' && /module|\$\{/.test(text)) return undefined;
    texts.push(path, text);
  }
  // Flags such as --trust are about files.
  if (texts.length === 0 && args.settings === undefined) return 'shipped';
  const { createHash } = await import('node:crypto');
  const all = JSON.stringify([build, cwd, args, ...texts]);
  return createHash('sha256').update(all).digest('hex').slice(0, 32);
}

type Deciding = { readonly path: string; readonly kind: 'settings' | 'waiting' | 'other' };

/** Whether settings of this project may be trusted. */
function mayCount({ others }: ReadyArguments, cwd: string, env: Env): boolean {
  if (others.length > 0) return true;
  const list = textOf(trustListFile(env));
  const directory = Buffer.from(JSON.stringify(fs.realpathSync(cwd))).toString('latin1');
  return list === 'unsure' || list?.includes(directory) === true;
}

/** Settings that wait for trust decide nothing: the answers only name their keys. */
function keysIn(path: string): string | undefined {
  return isThere(path) ? JSON.stringify(keysOfFile(path) ?? null) : undefined;
}

function decidingFiles(args: ReadyArguments, cwd: string, env: Env): readonly Deciding[] {
  const { settings } = args;
  const named = settings === undefined ? [] : [resolve(cwd, settings)];
  const found = settingsCandidates(cwd, env);
  const theirs = found.filter(({ path, own }) => !own && isThere(path)).map(({ path }) => path);
  const theirKind = theirs.length > 0 && mayCount(args, cwd, env) ? 'settings' : 'waiting';
  const policies = policyPlaces({ project: cwd, env }).map(({ path }) => path);
  const files: Deciding[] = [
    ...named.map((path) => ({ path, kind: 'settings' }) as const),
    ...found.map(({ path, own }) => ({ path, kind: own ? 'settings' : theirKind }) as const),
    ...policies.map((path) => ({ path, kind: 'other' }) as const),
  ];
  const ofProject = theirs.length > 0 || isThere(projectPolicy(cwd));
  // Whether files of a project count is written in the user's directory.
  if (!ofProject && named.length === 0 && !env.CUFF_POLICY) return files;
  return [...files, ...configFiles(env).map((path) => ({ path, kind: 'other' }) as const)];
}

function configFiles(env: Env): readonly string[] {
  const directory = userConfig(env);
  try {
    const names = fs.readdirSync(directory).sort().slice(0, CONFIG_FILES_MAX);
    return names.map((name) => join(directory, name)).filter((path) => fs.statSync(path).isFile());
  } catch {
    return []; // there is none, or it changes just now: then another key is found next time
  }
}

/** Undefined: there is no such file. */
function textOf(path: string): string | undefined | 'unsure' {
  try {
    return readRegular(path, FILE_BYTES_MAX)?.toString('latin1') ?? 'unsure';
  } catch (error) {
    const why = errnoOf(error);
    if (why !== 'ENOENT' && why !== 'ENOTDIR') return 'unsure';
    // A link that leads nowhere is a file that cannot be read.
    return isThere(path) ? 'unsure' : undefined;
  }
}

/** Stands in shipped answers for the directory that a server is started in. */
export const PROJECT = '/<project>';

export function readyAnswers(
  key: ReadyKey,
  { answers }: ShippedAnswers,
  { dialect = '' }: ReadyArguments,
  cwd: string,
): ReadyAnswers | undefined {
  if (key === undefined) return undefined;
  if (key !== 'shipped') return keptAnswers(keptFile(key));
  const found = Object.hasOwn(answers, dialect) ? answers[dialect] : undefined;
  const inJson = JSON.stringify(cwd).slice(1, -1);
  return found && { ...found, tools: found.tools.replaceAll(PROJECT, () => inJson) };
}

/** Only a file of this user that no other one may write. */
function keptAnswers(path: string): ReadyAnswers | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
  try {
    const fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const { uid, mode, size } = fs.fstatSync(fd);
      const own = uid === process.getuid?.() && (mode & 0o22) === 0;
      if (!own || size > KEPT_BYTES_MAX) return undefined;
      const json = asObject(JSON.parse(fs.readFileSync(fd, 'utf8')));
      const [instructions, tools] = [asString(json?.instructions), asString(json?.tools)];
      if (instructions === undefined || tools === undefined) return undefined;
      return { instructions, tools: JSON.stringify(JSON.parse(tools)) };
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return undefined; // never written, or damaged: the server answers when it is loaded
  }
}

/**
 * For the next start with the same files. Throws the errno error: without it every start answers
 * when it is loaded.
 */
export function keepAnswers(key: string, answers: ReadyAnswers): void {
  makeDirectories(readyDirectory(), 0o700);
  replaceFile(keptFile(key), `${JSON.stringify(answers)}\n`);
  forgetOldest();
}

function forgetOldest(): void {
  const directory = readyDirectory();
  const files = fs.readdirSync(directory).map((name) => join(directory, name));
  if (files.length <= KEPT_MAX) return;
  // One that is gone meanwhile was forgotten by another server.
  const at = (path: string): number => fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const dated = files.map((path) => ({ path, at: at(path) }));
  dated.sort((a, b) => a.at - b.at);
  for (const { path } of dated.slice(0, -KEPT_MAX)) fs.rmSync(path, { force: true });
}

function readyDirectory(): string {
  return join(stateRoot(process.env), 'ready');
}

function keptFile(key: string): string {
  return join(readyDirectory(), `${key}.json`);
}
