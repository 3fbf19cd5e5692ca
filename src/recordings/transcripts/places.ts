// Where agents keep their transcripts. Files are found by their names below the directory of each
// agent; its variable for that directory is honoured. Links below it are not followed, files of
// other users are not read, and whatever stands in the place of a transcript without being one is
// named, not skipped in silence.

import { type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { errnoOf } from '../../errors.ts';
import { homeOf } from '../../places.ts';
import type { Env } from '../../types.ts';
import type { TranscriptAgent } from './call.ts';

/** `lines`: JSON lines. `document`: one JSON value. `packed`: JSON lines in zstd. */
type TranscriptKind = 'lines' | 'document' | 'database' | 'packed';

export type TranscriptFile = {
  readonly agent: TranscriptAgent;
  readonly path: string;
  readonly kind: TranscriptKind;
  /** The agent's own directory: a file that a transcript names is only read inside of it. */
  readonly root: string;
  readonly modifiedAt: number;
  readonly size: number;
};

/** A transcript that is not read, and why, as one clause. */
export type Unread = {
  readonly agent: TranscriptAgent;
  readonly path: string;
  readonly why: string;
};

type Layout = {
  readonly root: (env: Env) => string;
  /** Folders of the root that are looked through. */
  readonly folders: readonly string[];
  /** The paths of transcripts, from the root. */
  readonly files: RegExp;
};

const DEPTH_MAX = 8;

const LAYOUTS: { readonly [agent in TranscriptAgent]: Layout } = {
  claude: {
    root: (env) => named(env.CLAUDE_CONFIG_DIR) ?? home(env, '.claude'),
    folders: ['projects'],
    files: /^projects\/[^/]+\/(?:[^/]+|[^/]+\/subagents\/agent-[^/]+)\.jsonl$/,
  },
  codex: {
    root: (env) => named(env.CODEX_HOME) ?? home(env, '.codex'),
    folders: ['sessions', 'archived_sessions'],
    files: /\/rollout-[^/]+\.jsonl(?:\.zst)?$/,
  },
  gemini: {
    root: (env) => join(named(env.GEMINI_CLI_HOME) ?? homeOf(env), '.gemini'),
    folders: ['tmp'],
    files: /^tmp\/[^/]+\/chats\/(?:[^/]+\/)?[^/]+\.jsonl?$/,
  },
  qwen: {
    root: (env) => home(env, '.qwen'),
    folders: ['projects'],
    files: /^projects\/[^/]+\/chats\/[^/]+\.jsonl$/,
  },
  opencode: {
    root: (env) => join(named(env.XDG_DATA_HOME) ?? home(env, '.local/share'), 'opencode'),
    folders: ['', 'storage'],
    files: /^(?:opencode\.db|storage\/part\/[^/]+\/[^/]+\.json)$/,
  },
  copilot: {
    root: (env) => named(env.COPILOT_HOME) ?? home(env, '.copilot'),
    folders: ['session-state'],
    files: /^session-state\/(?:[^/]+\/events|[^/]+)\.jsonl$/,
  },
  pi: {
    root: (env) => named(env.PI_CODING_AGENT_DIR) ?? home(env, '.pi/agent'),
    folders: ['sessions'],
    files: /^sessions\/(?:[^/]+\/)?[^/]+\.jsonl$/,
  },
  cline: {
    root: (env) => named(env.CLINE_DIR) ?? home(env, '.cline'),
    folders: ['data/sessions'],
    files: /^data\/sessions\/[^/]+\/[^/]+\.messages\.json$/,
  },
  cursor: {
    root: (env) => home(env, '.cursor'),
    folders: ['projects'],
    files: /^projects\/[^/]+\/agent-transcripts\/(?:[^/]+\/)?[^/]+\.jsonl$/,
  },
};

function named(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? value : undefined;
}

function home(env: Env, path: string): string {
  return join(homeOf(env), path);
}

export type Found = { readonly file: TranscriptFile } | { readonly unread: Unread };

/** The transcripts of an agent, in the order of their paths. */
export function* transcriptFiles(agent: TranscriptAgent, env: Env): Generator<Found> {
  const { root: rootOf, folders, files } = LAYOUTS[agent];
  const given = rootOf(env);
  const root = realOf(given);
  if (root === undefined) return;
  for (const folder of folders) {
    for (const found of below(root, folder, folder === '' ? 1 : DEPTH_MAX)) {
      if ('why' in found)
        yield { unread: { agent, path: join(given, found.path), why: found.why } };
      else if (files.test(found.path)) yield* checked(agent, { root, given }, found);
    }
  }
}

/** The agent's directory itself may be a link, as people who keep their settings elsewhere have. */
function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined; // the agent is not installed
  }
}

type Seen = { readonly path: string; readonly type: 'file' | 'link' | 'other' };
type Closed = { readonly path: string; readonly why: string };

function* below(root: string, folder: string, depth: number): Generator<Seen | Closed> {
  let entries: Dirent[];
  try {
    entries = readdirSync(join(root, folder), { withFileTypes: true });
  } catch (error) {
    const errno = errnoOf(error) ?? 'EIO';
    const absent = errno === 'ENOENT' || errno === 'ENOTDIR';
    if (!absent) yield { path: folder, why: `the directory cannot be read (${errno})` };
    return;
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      yield { path, type: 'other' };
      if (depth > 1) yield* below(root, path, depth - 1);
    } else {
      const type = entry.isFile() ? 'file' : entry.isSymbolicLink() ? 'link' : 'other';
      yield { path, type };
    }
  }
}

function* checked(
  agent: TranscriptAgent,
  { root, given }: { readonly root: string; readonly given: string },
  { path: short, type }: Seen,
): Generator<Found> {
  const path = join(given, short);
  const refuse = (why: string): Found => ({ unread: { agent, path, why } });
  if (type === 'link') return yield refuse('it is a link');
  if (type === 'other') return yield refuse('it is no regular file');
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile()) return; // it went away
  if (process.geteuid !== undefined && stat.uid !== process.geteuid()) {
    return yield refuse('it belongs to another user');
  }
  const kind = kindOf(short);
  yield { file: { agent, path, kind, root, modifiedAt: stat.mtimeMs, size: stat.size } };
}

function kindOf(path: string): TranscriptKind {
  if (path.endsWith('.db')) return 'database';
  if (path.endsWith('.zst')) return 'packed';
  return path.endsWith('.jsonl') ? 'lines' : 'document';
}

/** A name for the session, for transcripts that do not say theirs. */
export function sessionFromPath({ agent, path }: TranscriptFile): string {
  const name = basename(path).replace(/(?:\.messages)?\.jsonl?(?:\.zst)?$/, '');
  if (agent === 'codex') return /[0-9a-f-]{36}$/i.exec(name)?.[0] ?? name;
  if (agent === 'pi') return name.replace(/^.*_/, '');
  return agent === 'copilot' && name === 'events' ? basename(dirname(path)) : name;
}
