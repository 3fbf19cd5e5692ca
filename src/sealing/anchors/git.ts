// An anchor in a git repository: a commit of the file `checkpoint` on the branch cuff-seal, pushed.
// Git runs in an empty repository of its own, so that no project's configuration counts, and no
// hook runs on this machine, also not in a repository that the place is the path of.

import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { checkpointOf } from '../../ledger/checkpoint.ts';
import { formatNote, parseNote } from '../../ledger/note.ts';
import type { Env } from '../../types.ts';
import { type AnchorPlace, type AnchorTools, AnchorTrouble, type OutsideHead } from './place.ts';
import { callProgram } from './programs.ts';

const BRANCH = 'refs/heads/cuff-seal';
const FILE = 'checkpoint';
const TRIES = 3; // another machine may push at the same moment
const COMMITS_MAX = 20_000; // two months, one every five minutes

const NO_HOOKS = ['-c', 'core.hooksPath=/dev/null'];
/** For the other end, where that is a path: it would read the configuration that it finds there. */
const QUIET_END = [...NO_HOOKS, '-c', 'receive.autogc=false', '-c', 'core.alternateRefsCommand=:'];

export const GIT: AnchorPlace = {
  put: (head, where, tools) =>
    withGit(where, tools, async (git) => {
      const note = formatNote(head.note);
      for (let tries = 1; ; tries += 1) {
        const tip = await git.fetch(['--depth=1']);
        const blob = await git.run(['hash-object', '-w', '--stdin'], note);
        const tree = await git.run(['mktree'], `100644 blob ${blob}\t${FILE}\n`);
        const parent = tip === undefined ? [] : ['-p', tip];
        const words = ['-m', `${head.origin} ${head.size}`];
        const commit = await git.run(['commit-tree', tree, ...parent, ...words]);
        try {
          await git.push(commit);
          return { receipt: commit };
        } catch (error) {
          if (tries === TRIES || tools.signal.aborted) throw error;
        }
      }
    }),
  read: (origin, where, tools) =>
    withGit(where, tools, async (git) => {
      const tip = await git.fetch([]);
      if (tip === undefined) throw new AnchorTrouble('it has no branch cuff-seal');
      const log = await git.run(['log', `-n${COMMITS_MAX}`, '--format=%H %ct', tip]);
      const commits = log.split('\n').map((line) => line.split(' '));
      const wanted = commits.map(([commit]) => `${commit}:${FILE}\n`).join('');
      const notes = blobsOf(await git.whole(['cat-file', '--batch'], wanted));
      return notes.flatMap((text, at) => headIn(text, origin, Number(commits[at]?.[1])));
    }),
};

/** Of every commit one; undefined where there is no such file. */
function blobsOf(batch: string): (string | undefined)[] {
  const blobs: (string | undefined)[] = [];
  const bytes = Buffer.from(batch);
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    if (end < 0) break;
    const size = / blob (\d+)$/.exec(bytes.toString('utf8', at, end))?.[1];
    at = end + 1;
    if (size === undefined) blobs.push(undefined);
    else {
      blobs.push(bytes.toString('utf8', at, at + Number(size)));
      at += Number(size) + 1;
    }
  }
  return blobs;
}

function headIn(text: string | undefined, wanted: string, seconds: number): OutsideHead[] {
  const note = text === undefined ? undefined : parseNote(text);
  const head = note && checkpointOf(note);
  if (head?.origin !== wanted) return [];
  const { size, root } = head;
  return [{ size, root, at: Number.isNaN(seconds) ? undefined : seconds * 1000 }];
}

class Git {
  readonly #folder: string;
  readonly #where: string;
  readonly #tools: AnchorTools;

  constructor(folder: string, where: string, tools: AnchorTools) {
    this.#folder = folder;
    this.#where = where;
    this.#tools = tools;
  }

  async run(args: readonly string[], input?: string): Promise<string> {
    return (await this.whole(args, input)).trimEnd();
  }

  whole(args: readonly string[], input?: string): Promise<string> {
    const env = { ...plainEnv(this.#tools.env), GIT_DIR: this.#folder };
    const about = { cwd: this.#folder, env, ...(input !== undefined && { input }) };
    return callProgram('git', [...NO_HOOKS, ...args], this.#tools, about);
  }

  init(): Promise<string> {
    return this.run(['init', '-q', '--bare', '--template=', this.#folder]);
  }

  /** The tip of the branch, which is then here; undefined where there is none yet. */
  async fetch(how: readonly string[]): Promise<string | undefined> {
    const other = this.#end('upload-pack');
    const listed = await this.run(['ls-remote', ...other, '--', this.#where, BRANCH]);
    const tip = listed.split('\t')[0];
    if (!tip) return undefined;
    const from = [...how, ...other, '--', this.#where, `+${BRANCH}:${BRANCH}`];
    await this.run(['fetch', '-q', '--no-tags', '--update-head-ok', ...from]);
    return this.run(['rev-parse', BRANCH]);
  }

  async push(commit: string): Promise<void> {
    const other = this.#end('receive-pack');
    await this.run([
      'push',
      '-q',
      '--no-verify',
      ...other,
      '--',
      this.#where,
      `${commit}:${BRANCH}`,
    ]);
  }

  #end(service: 'upload-pack' | 'receive-pack'): string[] {
    const local = isAbsolute(this.#where) || this.#where.startsWith('file:');
    return local ? [`--${service}=git ${QUIET_END.join(' ')} ${service}`] : [];
  }
}

async function withGit<T>(
  where: string,
  tools: AnchorTools,
  work: (git: Git) => Promise<T>,
): Promise<T> {
  const folder = fs.mkdtempSync(join(tmpdir(), 'cuff-anchor-'));
  try {
    const git = new Git(folder, where, tools);
    await git.init();
    return await work(git);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

const WHO = { NAME: 'cuff', EMAIL: 'cuff@localhost' };

/** Without what a project or a hook that called us may have set. */
function plainEnv(env: Env): Env {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith('GIT_'));
  return {
    ...Object.fromEntries(kept),
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
    GIT_AUTHOR_NAME: WHO.NAME,
    GIT_AUTHOR_EMAIL: WHO.EMAIL,
    GIT_COMMITTER_NAME: WHO.NAME,
    GIT_COMMITTER_EMAIL: WHO.EMAIL,
  };
}
