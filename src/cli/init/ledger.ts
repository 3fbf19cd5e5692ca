// What `cuff init` has put into a file of another program, so that `--undo` gives back every byte.
// One file for each configuration file, in `<state root>/init/` (0700, 0600), called after the
// sha256 of its path:
//
//   {"path", "steps": [{"before", "after", "splices": [{"at","removed","inserted"}], "made"}]}
//
// A step is one write: the sha256 of the text before (null: there was no file) and after it, the
// edits in between, and the directories that were made. It is written before the file is, so that a
// process that is killed in between leaves a step that was never taken, which the hash tells. Only
// what an edit replaced is kept, not the text around it: that may hold tokens.

import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { ensurePrivateDir, ensureRoot, stateRoot } from '../../capture/paths.ts';
import { replaceFile } from '../../directories.ts';
import { asObject, asString, parseObject } from '../../text/json.ts';
import type { Env } from '../../types.ts';

/** Replaces `removed` at this offset by `inserted`. */
type Splice = {
  readonly at: number;
  readonly removed: string;
  readonly inserted: string;
};

export type Step = {
  readonly before: string | null;
  readonly after: string;
  readonly splices: readonly Splice[];
  readonly made: readonly string[];
};

/** The text of a file, as `--undo` wants it. */
export type Undone = {
  /** Undefined: there was no file. */
  readonly text: string | undefined;
  /** Nothing else has changed it: this is what was there, byte for byte. */
  readonly exact: boolean;
  /** Directories that were made for the file, innermost first. */
  readonly made: readonly string[];
};

const STEPS_MAX = 1_000; // one for each change of a version or of options

export class Ledger {
  readonly #directory: string;
  readonly #root: string;

  constructor(env: Env) {
    this.#root = stateRoot(env);
    this.#directory = join(this.#root, 'init');
  }

  steps(path: string): readonly Step[] {
    return readSteps(this.#file(path), path);
  }

  add(path: string, step: Step): void {
    ensureRoot(this.#root);
    ensurePrivateDir(this.#directory);
    const steps = [...this.steps(path), step].slice(-STEPS_MAX);
    replaceFile(this.#file(path), `${JSON.stringify({ path, steps })}\n`, { sync: true });
  }

  forget(path: string): void {
    fs.rmSync(this.#file(path), { force: true });
  }

  #file(path: string): string {
    return join(this.#directory, `${hashOf(path).slice(0, 40)}.json`);
  }
}

export function stepOf(
  before: string | undefined,
  texts: readonly string[],
  made: readonly string[],
): Step {
  const all = [before ?? '', ...texts];
  const splices = texts.map((text, index) => spliceOf(all[index] ?? '', text));
  const after = hashOf(all.at(-1) ?? '');
  return { before: hashOf(before), after, splices, made };
}

/** Takes the steps back as long as the text is what each of them left. */
export function undone(steps: readonly Step[], text: string | undefined): Undone {
  let now = text;
  const made: string[] = [];
  const at = (hash: string | null, { before, after }: Step): boolean =>
    hash === before || hash === after;
  // Steps behind the last one that knows this text were never taken, or are taken back already.
  const last = steps.findLastIndex((step) => at(hashOf(text), step));
  for (const step of steps.slice(0, last + 1).reverse()) {
    const hash = hashOf(now);
    if (!at(hash, step)) return { text: now, exact: false, made };
    if (hash === step.before) continue;
    const back = step.before === null ? undefined : step.splices.reduceRight(reversed, now ?? '');
    if (hashOf(back) !== step.before) return { text: now, exact: false, made };
    now = back;
    made.push(...[...step.made].reverse());
  }
  return { text: now, exact: last !== -1, made };
}

function reversed(text: string, { at, removed, inserted }: Splice): string {
  return text.slice(0, at) + removed + text.slice(at + inserted.length);
}

function spliceOf(before: string, after: string): Splice {
  const shorter = Math.min(before.length, after.length);
  let at = 0;
  while (at < shorter && before[at] === after[at]) at += 1;
  let tail = 0;
  while (tail < shorter - at && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  return {
    at,
    removed: before.slice(at, before.length - tail),
    inserted: after.slice(at, after.length - tail),
  };
}

function hashOf<T extends string | undefined>(text: T): T extends string ? string : string | null;
function hashOf(text: string | undefined): string | null {
  return text === undefined ? null : createHash('sha256').update(text).digest('hex');
}

/** None if the file is not there or not ours: then `--undo` looks for what init would write. */
function readSteps(file: string, path: string): readonly Step[] {
  try {
    const whole = parseObject(fs.readFileSync(file, 'utf8'));
    const steps = whole?.path === path && Array.isArray(whole.steps) ? whole.steps : [];
    return steps.flatMap((one: unknown) => stepFrom(one) ?? []);
  } catch {
    return []; // not there
  }
}

function stepFrom(value: unknown): Step | undefined {
  const step = asObject(value);
  const after = asString(step?.after);
  const before = step?.before === null ? null : asString(step?.before);
  const { splices, made } = { ...step };
  if (after === undefined || before === undefined) return undefined;
  if (!Array.isArray(splices) || !Array.isArray(made)) return undefined;
  const known = splices.flatMap((one: unknown) => spliceFrom(one) ?? []);
  if (known.length !== splices.length) return undefined;
  return { before, after, splices: known, made: made.filter((one) => typeof one === 'string') };
}

function spliceFrom(value: unknown): Splice | undefined {
  const { at, removed, inserted } = { ...asObject(value) };
  if (typeof at !== 'number' || !Number.isSafeInteger(at) || at < 0) return undefined;
  if (typeof removed !== 'string' || typeof inserted !== 'string') return undefined;
  return { at, removed, inserted };
}
