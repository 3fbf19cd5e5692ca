// The driver of the sandbox: looks up what the scopes of a policy are on this machine, puts
// bubblewrap around a command, and says whether that works here. Globs are looked up when a command
// starts: a protected file that the command itself makes is not masked, but noticed afterwards.

import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { realOf } from '../places.ts';
import { isInside } from '../policy/paths.ts';
import { bwrapArgs, EMPTIED, type ProtectedPath, type SandboxScopes } from '../policy/sandbox.ts';
import { type GuardedPaths, guardedIn, type ProtectionTests } from './sandbox-protect.ts';

export type SandboxOptions = {
  /** As a policy has them: globs, absolute or relative to the project; `~` is the home. */
  readonly scopes: {
    readonly read: readonly string[];
    readonly write: readonly string[];
    readonly protect: readonly string[];
  };
  readonly project: string;
  readonly home: string;
  readonly network: boolean;
  readonly cwd: string;
  /** What is kept from commands wherever it is. */
  readonly guarded?: ProtectionTests;
};

const BWRAP = 'bwrap';

type ScopePaths = { readonly read: readonly string[]; readonly write: readonly string[] };

/** The command line to start in the place of `argv`. */
function sandboxCommand(
  argv: readonly string[],
  options: SandboxOptions,
  { scopes, found }: LookAround,
  also: ScopePaths = { read: [], write: [] },
): readonly string[] {
  const home = realOf(options.home);
  const place = { project: realOf(options.project), home, cwd: realOf(options.cwd) };
  const args = bwrapArgs(scopes, {
    ...place,
    network: options.network,
    emptied: directories([...EMPTIED, home]),
    also,
  });
  const more = found === undefined ? [] : guards(found, scopes, also);
  return [BWRAP, ...args.slice(0, -1), ...more, '--', ...argv];
}

/** What the scopes are, and what is protected there, when a command starts. */
export type LookAround = {
  readonly scopes: SandboxScopes;
  readonly found: GuardedPaths | undefined;
};

export function lookAround(options: SandboxOptions): LookAround {
  const expanded = (globs: readonly string[]): readonly string[] =>
    globs.flatMap((glob) => matches(absolute(glob, options)));
  const { read, write, protect } = options.scopes;
  const writes = expanded(write);
  const plain = writes.filter((path) => realOf(path) === path);
  // The project itself may be reached through a link.
  const places = writes.filter((path) => !isPlanted(path, plain)).map(realOf);
  const own = (path: string): boolean => !isPlanted(path, places);
  const scopes = {
    read: expanded(read).filter(own).map(realOf),
    write: writes.filter(own).map(realOf),
    protect: kinds(expanded(protect)),
  };
  const found = options.guarded && guardedIn(guardRoots(scopes, options), options.guarded);
  return { scopes, found };
}

/**
 * Whether a scope leads through a link that lies where commands write: one of them may have made
 * it, and the next sandbox would open what it leads to.
 */
function isPlanted(path: string, places: readonly string[]): boolean {
  const names = path.split('/').slice(1);
  return names.some((_, at) => {
    const directory = `/${names.slice(0, at).join('/')}`;
    const link = join(directory, names[at] ?? '');
    if (realOf(link) === join(realOf(directory), names[at] ?? '')) return false;
    return places.some((place) => isInside(realOf(directory), place));
  });
}

function guardRoots({ read, write }: ScopePaths, options: SandboxOptions) {
  const [project, home] = [realOf(options.project), realOf(options.home)];
  const open = [...read, ...write];
  const homes = open.some((path) => isInside(home, path)) ? [home, join(home, '.config')] : [];
  const deep = [
    project,
    ...open.filter((path) => !isInside(project, path) && !isInside(home, path)),
  ];
  return { deep, shallow: ['/etc', '/etc/ssl', ...homes] };
}

/** Over what is there: later ones lie over earlier ones. */
function guards(found: GuardedPaths, { write }: ScopePaths, also: ScopePaths): readonly string[] {
  const writable = (path: string): boolean => write.some((scope) => isInside(path, scope));
  const pinned = found.pinned.filter(writable);
  const hookless = pinned.map((path) => join(path, 'hooks')).filter((path) => !fs.existsSync(path));
  // A link is no place to mount on, but what it leads to is.
  const fixed = [...new Set(found.fixed.map(realOf))].filter(writable);
  return [
    // What is mounted cannot be renamed, nor removed.
    ...pinned.flatMap((path) => ['--bind-try', path, path]),
    ...hookless.flatMap((path) => ['--tmpfs', path, '--remount-ro', path]),
    ...fixed.flatMap((path) => ['--ro-bind-try', path, path]),
    ...kinds(found.hidden).flatMap(({ path, kind }) =>
      kind === 'file' ? ['--ro-bind', '/dev/null', path] : ['--tmpfs', path, '--remount-ro', path],
    ),
    ...also.read.flatMap((path) => ['--ro-bind-try', path, path]),
    ...also.write.flatMap((path) => ['--bind-try', path, path]),
  ];
}

/** For `shell.start`: what a run needs inside is said by the shell. Looks around when it starts. */
export function sandboxed(
  options: SandboxOptions,
  around?: LookAround,
): (argv: readonly string[], also: ScopePaths) => readonly string[] {
  return (argv, also) => sandboxCommand(argv, options, around ?? lookAround(options), also);
}

export type SandboxCheck = { readonly ok: true } | { readonly ok: false; readonly reason: string };

let known: SandboxCheck | undefined;

/** Whether bubblewrap is there and may do what is asked of it; tried until it can. */
export function checkSandbox(): SandboxCheck {
  if (known?.ok !== true) known = tried();
  return known;
}

const TRY_MS = 5_000;

function tried(): SandboxCheck {
  const place = {
    project: '/',
    home: '/',
    network: false,
    cwd: '/',
    emptied: directories(EMPTIED),
  };
  const args = bwrapArgs({ read: [], write: [], protect: [] }, place);
  const words = [...args, '/bin/sh', '-c', ':'];
  const ran = spawnSync(BWRAP, words, { encoding: 'utf8', timeout: TRY_MS });
  if (ran.error !== undefined) {
    const missing = 'code' in ran.error && ran.error.code === 'ENOENT';
    return {
      ok: false,
      reason: missing ? 'bubblewrap (bwrap) is not installed' : String(ran.error),
    };
  }
  if (ran.status === 0) return { ok: true };
  return {
    ok: false,
    reason: ran.stderr.trim().split('\n')[0] || `bwrap ended with ${ran.status}`,
  };
}

/** The directories in which the globs of the scopes are looked up. */
export function scopeRoots(options: SandboxOptions): readonly string[] {
  const { read, write, protect } = options.scopes;
  return [...read, ...write, ...protect].map((glob) => {
    const whole = absolute(glob, options);
    const at = whole.search(/[*?[]/);
    return at < 0 ? whole : whole.slice(0, whole.lastIndexOf('/', at)) || '/';
  });
}

function absolute(glob: string, { project, home }: SandboxOptions): string {
  const expanded = glob === '~' || glob.startsWith('~/') ? join(home, glob.slice(1)) : glob;
  return isAbsolute(expanded) ? resolve(expanded) : resolve(project, expanded);
}

function directories(paths: readonly string[]): readonly string[] {
  const found = paths.map(realOf);
  return found.filter((path) => fs.statSync(path, { throwIfNoEntry: false })?.isDirectory());
}

function kinds(paths: readonly string[]): readonly ProtectedPath[] {
  return paths.flatMap((path): readonly ProtectedPath[] => {
    const found = fs.statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return [];
    return [{ path: realOf(path), kind: found.isDirectory() ? 'directory' : 'file' }];
  });
}

const ENTRIES_MAX = 20_000; // looked at for one glob: a command should not wait for more
const PASSED_OVER = new Set(['node_modules', '.git']);

/** What exists and matches; all of a directory is the directory. */
function matches(glob: string): readonly string[] {
  const parts = glob.split('/').slice(1);
  while (parts.at(-1) === '**') parts.pop();
  const budget = { left: ENTRIES_MAX };
  return [...below('/', parts, budget)];
}

function* below(
  dir: string,
  parts: readonly string[],
  budget: { left: number },
): Generator<string> {
  const [first, ...rest] = parts;
  if (first === undefined) {
    yield dir;
  } else if (first === '**') {
    yield* below(dir, rest, budget);
    for (const name of namesIn(dir, budget)) {
      if (!PASSED_OVER.has(name)) yield* below(join(dir, name), parts, budget);
    }
  } else if (/[*?[]/.test(first)) {
    const wanted = segment(first);
    for (const name of namesIn(dir, budget, true)) {
      if (wanted.test(name)) yield* below(join(dir, name), rest, budget);
    }
  } else {
    const path = join(dir, first);
    if (fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
      yield* below(path, rest, budget);
    }
  }
}

/** Directories alone unless `all`; links are not followed on the way. */
function namesIn(dir: string, budget: { left: number }, all = false): readonly string[] {
  if (budget.left <= 0) return [];
  try {
    const found = fs.readdirSync(dir, { withFileTypes: true });
    budget.left -= found.length;
    return found.filter((one) => all || one.isDirectory()).map(({ name }) => name);
  } catch {
    return []; // no directory, or one that may not be read: nothing in it can be opened, either
  }
}

/** One name with `*`, `?` and `[...]`. */
function segment(glob: string): RegExp {
  const text = glob.replace(/\[[^\]]+\]|[*?]|[\\^$+.()|{}[\]]/g, (part) => {
    if (part === '*') return '.*';
    if (part === '?') return '.';
    return part.length > 1 ? part.replace('[!', '[^').replaceAll('\\', '\\\\') : `\\${part}`;
  });
  try {
    return new RegExp(`^${text}$`, 'su');
  } catch {
    return new RegExp(`^${glob.replace(/[^\w]/g, '.')}$`, 's'); // `[z-a]`: as it is written
  }
}
