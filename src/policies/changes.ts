// What is protected and changed while a command ran in a sandbox. Until the person has looked, no
// further command of that project runs under a policy that is enforced. Nothing is ever removed or
// put back: the person's own editor may have written it. One directory for each project, for the
// user alone, `changes/<hash>` of the state root:
//
// `<run>.before.json`: what was there when a run began that may still write; `<run>.held.json`:
// what a run changed; `<hash>.seen`: a state of one path that the person has made or looked at.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { ensurePrivateDir, ensureRoot, isPrivateDir } from '../capture/paths.ts';
import { namesIn, replaceFile } from '../directories.ts';
import { sha256 } from '../text/hash.ts';
import { asCount, asObject, asString, type JsonObject, parseObject } from '../text/json.ts';

/** Each protected path with a word for what is there: the same word, the same content. */
export type ProtectedState = {
  readonly paths: Readonly<Record<string, string>>;
  /** Nothing was left out because there is too much. */
  readonly whole: boolean;
  /** Epoch milliseconds. */
  readonly at: number;
};

export type ProtectedChange = {
  readonly path: string;
  /** `uncounted`: more files than are looked at came below this directory. */
  readonly how: 'new' | 'changed' | 'removed' | 'uncounted';
  /** What is there now. */
  readonly state: string;
};

/** A run that may still write, with what was there before. */
export type BegunRun = {
  /** Its capture. */
  readonly id: string;
  /** Without secrets. */
  readonly command: string;
  readonly before: ProtectedState;
};

/** The changes that hold a project. */
export type HeldRun = Pick<BegunRun, 'id' | 'command'> & {
  /** Empty where the record cannot be read. */
  readonly project: string;
  /** Names the project's directory in the state root. */
  readonly key: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly changes: readonly ProtectedChange[];
};

const NAME = 'changes';
const RUN = /^([\w.-]{1,200})\.(before|held)\.json$/;
const SHOWN_MAX = 5; // paths in a sentence

export class ProjectChanges {
  readonly #root: string;
  readonly #project: string;
  readonly #key: string;
  readonly #directory: string;

  /** `key`: the name of the directory, where the project is only known by what is in it. */
  constructor(stateRoot: string, project: string, key: string = sha256(project).slice(0, 16)) {
    this.#root = stateRoot;
    this.#project = project;
    this.#key = key;
    this.#directory = join(stateRoot, NAME, key);
  }

  /** What a person has to look at, oldest first. A record that cannot be read holds, too. */
  held(): readonly HeldRun[] {
    const found = this.#runs('held').map((id) => this.#heldRun(id));
    return found.sort((a, b) => a.at - b.at);
  }

  /** Remembers what was there before a run. Throws the errno error if that is impossible. */
  begin({ id, command, before }: BegunRun): void {
    this.#write(`${id}.before.json`, { project: this.#project, command, ...before });
  }

  /** The runs that may still write, or whose end no process has seen. */
  begun(): readonly BegunRun[] {
    return this.#runs('before').flatMap((id) => {
      const json = this.#read(id, 'before');
      const command = asString(json?.command) ?? '';
      const before = stateOf(json);
      return before === undefined ? [] : [{ id, command, before }];
    });
  }

  /** No process of the run is left. */
  over(id: string): void {
    fs.rmSync(this.#path(`${id}.before.json`), { force: true });
    if (this.#runs('before').length > 0) return;
    // What the person has seen matters only to runs that began before.
    for (const name of namesIn(this.#directory)) {
      if (name.endsWith('.seen')) fs.rmSync(this.#path(name), { force: true });
    }
  }

  /** What became another, but for what the person has made or seen. */
  between(before: ProtectedState, after: ProtectedState): readonly ProtectedChange[] {
    const found = differences(before, after, this.#project);
    return found.filter(({ path, state }) => !fs.existsSync(this.#path(seenName(path, state))));
  }

  /** Throws the errno error if it cannot be kept. */
  hold({ id, command, at, changes }: Omit<HeldRun, 'project' | 'key'>): void {
    this.#write(`${id}.held.json`, { project: this.#project, command, at, changes });
  }

  /** The person has looked at these; what has changed since then holds the project on. */
  accept({ id, changes }: HeldRun): void {
    for (const { path, state } of changes) this.see(path, state);
    const now = this.#heldRun(id);
    const rest = now.changes.filter(
      ({ path, state }) => !changes.some((one) => one.path === path && one.state === state),
    );
    if (rest.length > 0) this.hold({ ...now, changes: rest });
    else fs.rmSync(this.#path(`${id}.held.json`), { force: true });
  }

  /** The person has made it what it is: runs that go on are not asked about it. */
  see(path: string, state: string): void {
    if (this.#runs('before').length > 0) this.#write(seenName(path, state), {});
  }

  #runs(kind: 'before' | 'held'): readonly string[] {
    if (!isPrivateDir(this.#directory)) return [];
    return namesIn(this.#directory).flatMap((name) => {
      const [, id, of] = RUN.exec(name) ?? [];
      return id === undefined || of !== kind ? [] : [id];
    });
  }

  #heldRun(id: string): HeldRun {
    const json = this.#read(id, 'held');
    const [command = '', project = ''] = [json?.command, json?.project].map(asString);
    const at = asCount(json?.at) ?? 0;
    return { id, project, key: this.#key, command, at, changes: changesIn(json) };
  }

  #read(id: string, kind: 'before' | 'held'): JsonObject | undefined {
    try {
      return parseObject(fs.readFileSync(this.#path(`${id}.${kind}.json`), 'utf8'));
    } catch {
      return undefined; // another process has just removed it, or it cannot be read
    }
  }

  #write(name: string, content: unknown): void {
    ensureRoot(this.#root);
    ensurePrivateDir(join(this.#root, NAME));
    ensurePrivateDir(this.#directory);
    replaceFile(this.#path(name), JSON.stringify(content));
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

/** Of all projects. */
export function heldRuns(stateRoot: string): readonly HeldRun[] {
  const top = join(stateRoot, NAME);
  if (!isPrivateDir(top)) return [];
  return namesIn(top).flatMap((key) => new ProjectChanges(stateRoot, '', key).held());
}

export function changesOf(stateRoot: string, { project, key }: HeldRun): ProjectChanges {
  return new ProjectChanges(stateRoot, project, key);
}

/** What an agent is told that wants to run something here. Undefined: nothing is held. */
export function heldText(stateRoot: string, project: string): string | undefined {
  const held = new ProjectChanges(stateRoot, project).held();
  if (held.length === 0) return undefined;
  const changes = held.flatMap((one) => one.changes);
  const which = changes.length === 0 ? '' : `: ${changesText(changes, project)}`;
  return [
    'cuff policy: denied (changes).',
    `Protected files changed while an earlier command ran in the sandbox${which}.`,
    'No command runs in this project until the person has looked: cuff policy changes',
  ].join('\n');
}

/** `new CLAUDE.md, changed .git/config and 3 more` */
function changesText(changes: readonly ProtectedChange[], project: string): string {
  const words = changesWords(changes, project);
  const more = words.length - SHOWN_MAX;
  return `${words.slice(0, SHOWN_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** One for each change; paths below the project are relative to it. */
export function changesWords(
  changes: readonly ProtectedChange[],
  project: string,
): readonly string[] {
  const named = (path: string): string =>
    path.startsWith(`${project}/`) ? path.slice(project.length + 1) : path;
  return changes.map(({ path, how }) =>
    how === 'uncounted' ? `too many files in ${path}` : `${how} ${named(path)}`,
  );
}

/** The word for a regular file with this content. */
export function contentState(content: string | Uint8Array): string {
  return `file ${sha256(content).slice(0, 32)}`;
}

const ABSENT = 'nothing';

/** Of a directory that came or went, not what is in it. */
function differences(
  before: ProtectedState,
  after: ProtectedState,
  project: string,
): readonly ProtectedChange[] {
  const all = [...new Set([...Object.keys(before.paths), ...Object.keys(after.paths)])].sort();
  const found: ProtectedChange[] = [];
  for (const path of all) {
    const [old, state = ABSENT] = [before.paths[path], after.paths[path]];
    if (old === state) continue;
    const how = old === undefined ? 'new' : state === ABSENT ? 'removed' : 'changed';
    // What was left out before is new if it was made since, and what is left out now may be there.
    if (how === 'new' && !before.whole && !isYounger(path, before.at)) continue;
    if (how === 'removed' && !after.whole) continue;
    if (found.some((one) => one.how === how && path.startsWith(`${one.path}/`))) continue;
    found.push({ path, how, state });
  }
  if (before.whole && !after.whole) found.push({ path: project, how: 'uncounted', state: 'more' });
  return found;
}

const CLOCK_MS = 50; // file systems count in steps of a few milliseconds

function isYounger(path: string, at: number): boolean {
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.ctimeMs >= at - CLOCK_MS;
}

function seenName(path: string, state: string): string {
  return `${sha256(`${path}\0${state}`).slice(0, 32)}.seen`;
}

function stateOf(json: JsonObject | undefined): ProtectedState | undefined {
  const paths = asObject(json?.paths);
  if (paths === undefined) return undefined;
  const known = Object.entries(paths).flatMap(([path, state]) =>
    typeof state === 'string' ? [[path, state] as const] : [],
  );
  return {
    paths: Object.fromEntries(known),
    whole: json?.whole === true,
    at: asCount(json?.at) ?? 0,
  };
}

const HOWS = ['new', 'changed', 'removed', 'uncounted'] as const;

function changesIn(json: JsonObject | undefined): readonly ProtectedChange[] {
  const list = Array.isArray(json?.changes) ? json.changes : [];
  return list.flatMap((one): readonly ProtectedChange[] => {
    const [path, state] = [asString(asObject(one)?.path), asString(asObject(one)?.state)];
    const how = HOWS.find((word) => word === asObject(one)?.how);
    const known = path !== undefined && state !== undefined && how !== undefined;
    return known ? [{ path, state, how }] : [];
  });
}
