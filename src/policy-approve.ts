// A person's yes to a question that an agent has left: once, or as a rule. What a policy denies is
// not for a yes to allow, and no agent says yes to itself: whoever was started by one of its runs
// is refused. A person may be inside of `cuff run`.

import * as fs from 'node:fs';
import { basename } from 'node:path';
import { listCaptures } from './capture/store.ts';
import { AppError } from './errors.ts';
import type { Decision } from './policy/decision.ts';
import { allowAlways } from './policy-always.ts';
import { Approvals, approvable, type Question } from './policy-approvals.ts';
import * as court from './policy-court.ts';
import { PolicyEngine } from './policy-engine.ts';
import { type Store, storeOf } from './reading.ts';
import { processAlive, readProc, statOf } from './run/processes.ts';
import type { CaptureMeta, ProcessId } from './types.ts';

export type { Question };

type Env = Readonly<Record<string, string | undefined>>;

export type Approved =
  | { readonly kind: 'once'; readonly question: Question }
  | {
      readonly kind: 'always';
      readonly question: Question;
      readonly file: string;
      readonly patterns: readonly string[];
    };

export type ApproveOptions = {
  readonly env: Env;
  /** Undefined: once. */
  readonly always?: 'project' | 'user' | undefined;
  readonly systemFile?: string | undefined;
  readonly now?: (() => number) | undefined;
};

export function pendingQuestions(env: Env, now?: () => number): readonly Question[] {
  return new Approvals(storeOf(env).root, now).pending();
}

/** For whoever may answer it. Throws an `AppError` with `usage` for others, and for no question. */
export function findQuestion(id: string, env: Env, now?: () => number): Question {
  refuseAgents(env);
  const question = new Approvals(storeOf(env).root, now).find(id);
  if (question !== undefined) return question;
  throw new AppError('usage', `Nothing waits for an answer under the id '${id}'.`, {
    hint: 'List what does with `cuff policy approve`.',
  });
}

/** Throws as `findQuestion` does, and for what cannot be approved. */
export function approve(id: string, options: ApproveOptions): Approved {
  const { env, always, now, systemFile } = options;
  const question = findQuestion(id, env, now);
  const { root: stateRoot } = storeOf(env);
  const { project, command, cwd } = question;
  const engine = PolicyEngine.open({ project, env, stateRoot, systemFile, watch: false }, court);
  refuseDenied(engine.decide(command, cwd)?.decision);
  const approvals = new Approvals(stateRoot, now);
  if (always === undefined) {
    approvals.grant(question);
    return { kind: 'once', question };
  }
  if (!question.exact) {
    throw new AppError(
      'usage',
      'A rule would not be what was asked: it came with more than text.',
      {
        hint: 'Approve it once, without --always.',
      },
    );
  }
  const made = allowAlways(engine, { command, cwd, scope: always });
  if (made.kind === 'impossible') {
    throw new AppError('usage', `No rule allows exactly this: ${made.why}.`, {
      hint: 'Approve it once, or write a rule by hand.',
    });
  }
  approvals.forget(question.id);
  return { kind: 'always', question, file: made.file, patterns: made.patterns };
}

/** The policy may be another one than when it was asked. */
function refuseDenied(decision: Decision | undefined): void {
  if (decision === undefined || decision.verdict === 'allow' || approvable(decision)) return;
  throw new AppError('usage', `This cannot be approved.\n${court.explain(decision)}`, {
    hint: 'Only an edit of the policy can allow it.',
  });
}

function refuseAgents(env: Env): void {
  if (!insideAgentRun(storeOf(env))) return;
  throw new AppError('usage', 'An agent cannot approve its own commands.', {
    hint: 'Run it in a terminal of your own.',
  });
}

/**
 * A runner takes in what its command leaves behind, so that nobody gets out of the family. One of
 * which no capture here tells is none of a person: whoever is inside may have named another state
 * root.
 */
function insideAgentRun(store: Store): boolean {
  const ancestors = ancestorsOf(process.pid);
  const isAncestor = (one: ProcessId | undefined): boolean =>
    one !== undefined && ancestors.get(one.pid) === one.startTime;
  const around = listCaptures(store).flatMap(({ meta }) =>
    meta !== undefined && (isAncestor(meta.runner) || isAncestor(meta.child)) ? [meta] : [],
  );
  if (around.some((meta) => !isOfPerson(meta))) return true;
  const known = new Set(around.map(({ runner }) => runner?.pid));
  return [...ancestors.keys()].some((pid) => !known.has(pid) && isRunner(pid));
}

/** By their pids, when they began. */
function ancestorsOf(from: number): ReadonlyMap<number, number> {
  const ancestors = new Map<number, number>();
  for (let pid = from; pid > 1 && !ancestors.has(pid); ) {
    const stat = statOf(pid);
    if (stat === undefined) break;
    ancestors.set(pid, stat.startTime);
    pid = stat.parent;
  }
  return ancestors;
}

/** What `cuff run` started at a terminal. A server that records nothing leaves no journal. */
function isOfPerson({ journal, starter }: CaptureMeta): boolean {
  if (journal !== undefined || !processAlive(starter)) return false;
  const [, program = '', command] = wordsOf(starter.pid);
  return /^(?:cuff|derun)(?:\.cjs)?$/.test(basename(program)) && command === 'run' && hasTerminal();
}

function isRunner(pid: number): boolean {
  const [program = '', command = ''] = wordsOf(pid);
  return /^runner(?:-[0-9a-f]+)?$/.test(basename(program)) && ['run', 'serve'].includes(command);
}

function wordsOf(pid: number): readonly string[] {
  return readProc(`${pid}/cmdline`).split('\0');
}

/** A controlling terminal, which descriptors say nothing about. */
function hasTerminal(): boolean {
  try {
    fs.closeSync(fs.openSync('/dev/tty', fs.constants.O_RDWR | fs.constants.O_NOCTTY));
    return true;
  } catch {
    return false; // ENXIO
  }
}
