// Questions without an answer so far, and the answers that wait to be used: one small file each
// in the directory `approvals` of the state root, for the user alone. A grant is for exactly what
// was asked, for the agent that asked, as long as the policy says the same: for one execution, and
// then it is taken by renaming it, so that only one can; or for an hour, or for the conversation.
//
// `<id>.ask.json`, `<id>.grant.json` (once), `<id>.hour.json`, `<id>.conversation.json`: {id, key,
// command, exact, beside: [], cwd, project, code, reasons: [], at, up, conversation, policy, agent,
// server: {pid, startTime}}. `key` is a hash of what was asked; the texts are without secrets,
// `exact` when `command` had none and is all. `up` is the time since the machine was started, which
// no clock that is set changes. `server` is there where the conversation is a connection of it.

import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { makeDirectories } from '../directories.ts';
import { errnoOf } from '../errors.ts';
import type { Decision } from '../policy/decision.ts';
import { processAlive } from '../run/processes.ts';
import { agentName } from '../text/agents.ts';
import { DAY_MS, HOUR_MS } from '../text/dates.ts';
import {
  asCount,
  asObject,
  asString,
  asStrings,
  type JsonObject,
  parseObject,
} from '../text/json.ts';
import type { ProcessId } from '../types.ts';

const NAME = 'approvals';
const KEPT_MAX = 200; // an agent that asks without end must not fill the disk
const FILE_BYTES_MAX = 256 * 1024;

const ID = /^[a-z2-7]{8}$/;
const FILE = /^([a-z2-7]{8})\.(ask|grant|hour|conversation)\.json$/;
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
  /** Milliseconds since the machine was started. */
  readonly up: number;
} & Asker;

/** Who asked, and under which rules. */
export type Asker = {
  /** Undefined: one that no later call can be known to belong to. */
  readonly conversation?: string | undefined;
  /** A hash of the policies in force. */
  readonly policy?: string | undefined;
  /** The name of the agent, where it is proven. */
  readonly agent?: string | undefined;
  /** The conversation ends with this process. */
  readonly server?: ProcessId | undefined;
};

/** For how long an answer holds. */
export type Span = 'once' | 'hour' | 'conversation';

export type Grant = Question & { readonly span: Span };

/** Of a question, what the decision and the one who shows it say. */
export type About = Pick<Question, 'command' | 'beside' | 'code' | 'reasons'>;

type Kind = 'ask' | 'grant' | 'hour' | 'conversation';

const KINDS: Readonly<Record<Span, Kind>> = {
  once: 'grant',
  hour: 'hour',
  conversation: 'conversation',
};

export class Approvals {
  readonly #root: string;
  readonly #directory: string;
  readonly #now: () => number;
  readonly #up: () => number;

  constructor(
    stateRoot: string,
    now: () => number = Date.now,
    up: () => number = () => uptime() * 1_000,
  ) {
    this.#up = up;
    this.#root = stateRoot;
    this.#directory = join(stateRoot, NAME);
    this.#now = now;
  }

  /** The id to approve it by: the same as long as it waits. Undefined when it cannot be kept. */
  ask(subject: Subject, about: About, asker: Asker = {}): string | undefined {
    const question = this.#question(subject, about, asker);
    const { id, key, conversation } = question;
    const known = this.#all('ask').find(
      (one) => isFor(one, key, asker) && one.conversation === conversation,
    );
    if (known !== undefined) return known.id;
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

  /** From now on, what was asked may be executed, once or for a while. */
  grant(question: Question, span: Span = 'once'): void {
    this.#write(KINDS[span], { ...question, at: this.#now(), up: this.#up() });
    this.#dropOldest(KINDS[span]);
    this.forget(question.id);
  }

  /** The same for what was just asked and answered. Throws as a disk does. */
  grantNow(subject: Subject, about: About, asker: Asker, span: Exclude<Span, 'once'>): void {
    this.grant(this.#question(subject, about, asker), span);
  }

  #question(subject: Subject, about: About, asker: Asker): Question {
    const { project, cwd, command, beside } = subject;
    const exact = about.command === command && beside.length === 0;
    const when = { at: this.#now(), up: this.#up() };
    return { id: newId(), key: keyOf(subject), ...about, exact, cwd, project, ...when, ...asker };
  }

  /** All answers that still hold, oldest first. */
  grants(): readonly Grant[] {
    const spans = Object.keys(KINDS) as Span[];
    const all = spans.flatMap((span) => this.#all(KINDS[span]).map((one) => ({ ...one, span })));
    return all.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  }

  /** False: there is none of this id. */
  revoke(id: string): boolean {
    const found = this.grants().filter((one) => one.id === id);
    for (const { span } of found) this.#remove(this.#path(id, KINDS[span]));
    return found.length > 0;
  }

  /** Whether it was approved for an hour or for this conversation, to this agent. */
  lasts(subject: Subject, asker: Asker): boolean {
    const { conversation, policy } = asker;
    const key = keyOf(subject);
    const fits = (one: Question): boolean => isFor(one, key, asker);
    if (policy === undefined) return false;
    if (this.#all('hour').some(fits)) return true;
    if (conversation === undefined) return false;
    return this.#all('conversation').some((one) => fits(one) && one.conversation === conversation);
  }

  endConversation(conversation: string): void {
    for (const one of this.#all('conversation')) {
      if (one.conversation === conversation) this.#remove(this.#path(one.id, 'conversation'));
    }
  }

  forget(id: string): void {
    this.#remove(this.#path(id, 'ask'));
  }

  /** Whether there is a grant to take. */
  granted(subject: Subject, asker: Asker): boolean {
    const key = keyOf(subject);
    return this.#all('grant').some((grant) => isFor(grant, key, asker));
  }

  /** True once for each grant. */
  take(subject: Subject, asker: Asker): boolean {
    const key = keyOf(subject);
    const grants = this.#all('grant').filter((grant) => isFor(grant, key, asker));
    return grants.some(({ id }) => this.#claim(id, key, asker));
  }

  /** The process whose rename succeeds owns it, and then checks the file again. */
  #claim(id: string, key: string, asker: Asker): boolean {
    const mine = join(this.#directory, `.${id}.${process.pid}.${newId()}`);
    try {
      fs.renameSync(this.#path(id, 'grant'), mine);
    } catch {
      return false; // another process was faster
    }
    const grant = this.#readFile(mine);
    this.#remove(mine);
    return grant !== undefined && isFor(grant, key, asker) && this.#current(grant, 'grant');
  }

  /** By both clocks: the one that was set back, or forward, must not prolong anything. */
  #current({ at, up, server, conversation }: Question, kind: Kind): boolean {
    const span = kind === 'hour' ? HOUR_MS : DAY_MS;
    const within = (age: number): boolean => age >= 0 && age < span;
    if (!within(this.#now() - at)) return false;
    if (kind === 'ask' || kind === 'grant') return true;
    if (kind === 'conversation' && conversation === undefined) return false;
    return within(this.#up() - up) && (server === undefined || processAlive(server));
  }

  #all(kind: Kind): Question[] {
    const found = this.#names().flatMap((name) => {
      const [, id, of] = FILE.exec(name) ?? [];
      if (id === undefined || of !== kind) return [];
      const path = join(this.#directory, name);
      const question = this.#readFile(path);
      if (question?.id === id && this.#current(question, kind)) return [question];
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

/** The same was asked, under the same rules, by the same agent, or by one that is as unproven. */
function isFor(one: Question, key: string, { policy, agent }: Asker): boolean {
  return one.key === key && one.policy === policy && nameOf(one.agent) === nameOf(agent);
}

function nameOf(agent: string | undefined): string | undefined {
  return agent === undefined ? undefined : agentName(agent);
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
  // Not a whole number on every system; a question of an older build has none.
  const up = typeof json?.up === 'number' ? json.up : 0;
  const when = { at, up };
  return {
    id,
    key,
    command,
    exact,
    beside,
    cwd,
    project,
    code,
    reasons,
    ...when,
    ...askerOf(json),
  };
}

function askerOf(json: JsonObject | undefined): Asker {
  const [conversation, policy] = [asString(json?.conversation), asString(json?.policy)];
  const [agent, server] = [asString(json?.agent), asObject(json?.server)];
  const [pid, startTime] = [asCount(server?.pid), asCount(server?.startTime)];
  // A connection of a server that cannot be told is over.
  const unknown = server !== undefined && (pid === undefined || startTime === undefined);
  const process = pid === undefined || startTime === undefined ? undefined : { pid, startTime };
  return {
    ...(conversation !== undefined && !unknown && { conversation }),
    ...(policy !== undefined && { policy }),
    ...(agent !== undefined && { agent }),
    ...(process !== undefined && { server: process }),
  };
}
