// Questions without an answer so far, and the answers that wait to be used: one small file each
// in the directory `approvals` of the state root, for the user alone. A grant is for exactly one
// execution of exactly what was asked; it is taken by renaming it, so that only one can.
//
// `<id>.ask.json`, `<id>.grant.json`: {id, key, command, exact, beside: [], cwd, project, code,
// reasons: [], at}. `key` is a hash of what was asked; the texts are without secrets, `exact` when
// `command` had none and is all.

import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { makeDirectories } from '../directories.ts';
import { errnoOf } from '../errors.ts';
import type { Decision } from '../policy/decision.ts';
import { DAY_MS } from '../text/dates.ts';
import { asCount, asString, asStrings, parseObject } from '../text/json.ts';

const NAME = 'approvals';
const KEPT_MAX = 200; // an agent that asks without end must not fill the disk
const FILE_BYTES_MAX = 256 * 1024;

const ID = /^[a-z2-7]{8}$/;
const FILE = /^([a-z2-7]{8})\.(ask|grant)\.json$/;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

export type Subject = {
  readonly project: string;
  readonly cwd: string;
  readonly command: string;
  /** Whatever else the agent chose that is judged with it. */
  readonly beside: readonly string[];
};

export type Question = {
  readonly id: string;
  readonly key: string;
  /** Without secrets. */
  readonly command: string;
  /** Whether `command` is what was asked, byte for byte, and all of it. */
  readonly exact: boolean;
  /** What comes with the command, as it is shown. */
  readonly beside: readonly string[];
  readonly cwd: string;
  readonly project: string;
  readonly code: string;
  /** Why it is asked about, the first that counts first. */
  readonly reasons: readonly string[];
  /** Epoch milliseconds. */
  readonly at: number;
};

/** Of a question, what the decision and the one who shows it say. */
export type About = Pick<Question, 'command' | 'beside' | 'code' | 'reasons'>;

type Kind = 'ask' | 'grant';

export class Approvals {
  readonly #root: string;
  readonly #directory: string;
  readonly #now: () => number;

  constructor(stateRoot: string, now: () => number = Date.now) {
    this.#root = stateRoot;
    this.#directory = join(stateRoot, NAME);
    this.#now = now;
  }

  /** The id to approve it by: the same as long as it waits. Undefined when it cannot be kept. */
  ask(subject: Subject, about: About): string | undefined {
    const key = keyOf(subject);
    const known = this.#all('ask').find((one) => one.key === key);
    if (known !== undefined) return known.id;
    const id = newId();
    const { project, cwd } = subject;
    const exact = about.command === subject.command && subject.beside.length === 0;
    const question: Question = { id, key, ...about, exact, cwd, project, at: this.#now() };
    try {
      this.#write('ask', question);
    } catch (error) {
      // No room, no right, too long: then it cannot be approved, and is refused all the same.
      if (errnoOf(error) === undefined && !(error instanceof RangeError)) throw error;
      return undefined;
    }
    this.#dropOldest('ask');
    return id;
  }

  /** Those that wait for an answer, oldest first. */
  pending(): readonly Question[] {
    return this.#all('ask');
  }

  find(id: string): Question | undefined {
    return ID.test(id) ? this.pending().find((one) => one.id === id) : undefined;
  }

  /** From now on, what was asked may be executed once. */
  grant(question: Question): void {
    this.#write('grant', { ...question, at: this.#now() });
    this.#dropOldest('grant');
    this.forget(question.id);
  }

  forget(id: string): void {
    this.#remove(this.#path(id, 'ask'));
  }

  /** Whether there is a grant to take. */
  granted(subject: Subject): boolean {
    const key = keyOf(subject);
    return this.#all('grant').some((grant) => grant.key === key);
  }

  /** True once for each grant. */
  take(subject: Subject): boolean {
    const key = keyOf(subject);
    return this.#all('grant').some((grant) => grant.key === key && this.#claim(grant.id, key));
  }

  /** The process whose rename succeeds owns it, and then checks the file again. */
  #claim(id: string, key: string): boolean {
    const mine = join(this.#directory, `.${id}.${process.pid}.${newId()}`);
    try {
      fs.renameSync(this.#path(id, 'grant'), mine);
    } catch {
      return false; // another process was faster
    }
    const grant = this.#readFile(mine);
    this.#remove(mine);
    return grant?.key === key && this.#current(grant);
  }

  #current({ at }: Question): boolean {
    const age = this.#now() - at;
    return age >= 0 && age < DAY_MS;
  }

  #all(kind: Kind): Question[] {
    const found = this.#names().flatMap((name) => {
      const [, id, of] = FILE.exec(name) ?? [];
      if (id === undefined || of !== kind) return [];
      const path = join(this.#directory, name);
      const question = this.#readFile(path);
      if (question?.id === id && this.#current(question)) return [question];
      this.#remove(path);
      return [];
    });
    return found.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  }

  #names(): readonly string[] {
    try {
      return this.#isOurs() ? fs.readdirSync(this.#directory) : [];
    } catch {
      return []; // there are no questions yet
    }
  }

  /** A link would make the questions of one state root those of another. */
  #isOurs(): boolean {
    const found = fs.lstatSync(this.#directory);
    const own = process.getuid === undefined || found.uid === process.getuid();
    const there = fs.realpathSync(this.#directory) === join(fs.realpathSync(this.#root), NAME);
    return found.isDirectory() && own && (found.mode & 0o022) === 0 && there;
  }

  #dropOldest(kind: Kind): void {
    const all = this.#all(kind);
    for (const { id } of all.slice(0, Math.max(0, all.length - KEPT_MAX))) {
      this.#remove(this.#path(id, kind));
    }
  }

  /** Whole or not at all; a link in its place is not followed. */
  #write(kind: Kind, question: Question): void {
    const text = `${JSON.stringify(question)}\n`;
    if (Buffer.byteLength(text) > FILE_BYTES_MAX) throw new RangeError('too long to be approved');
    makeDirectories(this.#directory, 0o700);
    if (!this.#isOurs()) throw new RangeError(`${this.#directory} is no directory of ours`);
    const draft = join(this.#directory, `.${question.id}.${process.pid}.${newId()}`);
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = fs.constants;
    const fd = fs.openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      fs.writeSync(fd, text);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(draft, this.#path(question.id, kind));
  }

  #readFile(path: string): Question | undefined {
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
    try {
      const fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        const stat = fs.fstatSync(fd);
        // What others may write, or is none of ours, is no word of this user.
        const own = process.getuid === undefined || stat.uid === process.getuid();
        if (!stat.isFile() || !own || (stat.mode & 0o022) !== 0) return undefined;
        if (stat.size > FILE_BYTES_MAX) return undefined;
        return questionOf(fs.readFileSync(fd, 'utf8'));
      } finally {
        fs.closeSync(fd);
      }
    } catch {
      return undefined; // gone, or a link: no question
    }
  }

  #path(id: string, kind: Kind): string {
    return join(this.#directory, `${id}.${kind}.json`);
  }

  #remove(path: string): void {
    fs.rmSync(path, { force: true });
  }
}

/** One answer cannot allow what a rule denies, nor writing a protected file. */
export function approvable({ verdict }: Decision): boolean {
  return verdict === 'ask';
}

/** Whether the answer can become a rule: none opens a secret. */
export function rulable({ reasons }: Decision): boolean {
  return !reasons.some(({ code }) => code === 'path.protected');
}

function keyOf({ project, cwd, command, beside }: Subject): string {
  const all = JSON.stringify([project, cwd, command, ...beside]);
  return createHash('sha256').update(all).digest('hex');
}

/** Random, so that an agent cannot choose a question that gets the id of another. */
function newId(): string {
  return [...randomBytes(8)].map((byte) => ALPHABET[byte % 32]).join('');
}

function questionOf(text: string): Question | undefined {
  const json = parseObject(text);
  const at = asCount(json?.at);
  const [id, key, command] = [json?.id, json?.key, json?.command].map(asString);
  const [cwd, project, code] = [json?.cwd, json?.project, json?.code].map(asString);
  const [beside, reasons] = [json?.beside, json?.reasons].map(asStrings);
  if (id === undefined || key === undefined || command === undefined) return undefined;
  if (cwd === undefined || project === undefined || at === undefined) return undefined;
  if (code === undefined || beside === undefined || reasons === undefined) return undefined;
  const exact = json?.exact === true;
  return { id, key, command, exact, beside, cwd, project, code, reasons, at };
}
