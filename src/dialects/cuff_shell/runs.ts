// Which run a call of `cuff_shell` is about: one of this server, or one of an earlier server of
// which only the capture is left. What belongs to another conversation is not there.

import type { AgentRun, AgentShell, Ending } from '../../agent/agent-shell.ts';
import type { Caller } from '../../agent/caller.ts';
import type { OwnCapture } from '../../agent/own-captures.ts';
import type { Reports } from '../../agent/report.ts';
import { isAppError } from '../../errors.ts';
import type { Services } from '../../host/plugin.ts';
import type { OutputReader } from '../../shell/output/reader.ts';
import type { Capture, Shell } from '../../shell/shell.ts';
import { printable } from '../../text/printable.ts';
import { ArgumentError } from '../arguments.ts';
import { shortId } from './words.ts';

/** What the tools share. */
export type Native = {
  readonly shell: AgentShell;
  readonly reports: Reports;
  readonly services: Services;
  readonly waitMs: number;
  readonly maxBytes: number;
  /** The outputs of runs that are over. */
  readonly outputs: Map<string, OutputReader>;
  /** What a list says of runs that are over. */
  readonly listed: Map<string, ListedRun>;
};

export type ListedRun = { readonly state: string; readonly last: string };

export type Subject = {
  readonly id: string;
  /** As far as it may be shown: without secrets. */
  readonly command: string;
  readonly cwd: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Undefined for a run of an earlier server. */
  readonly run: AgentRun | undefined;
  /** The capture as it is now. Throws `session_not_found`. */
  readonly open: () => Capture;
  /** The shell that can wait for it and end it. */
  readonly shell: Shell;
};

/** By its id or a unique part of it. Throws `ArgumentError`. */
export function findRun(native: Native, caller: Caller, id: string): Subject {
  const runs = native.shell.runs(caller);
  const own = runs.find((run) => run.id === id) ?? only(runs, id);
  if (own !== undefined) return ownSubject(native, own);
  const captures = native.shell.captures(caller);
  const capture = captures.find((one) => one.id === id) ?? only(captures, id);
  if (capture === undefined) {
    const shown = printable(id.slice(0, 60));
    throw new ArgumentError(
      `This conversation has no run '${shown}'; shell_list {"all":true} lists those it has.`,
    );
  }
  return captureSubject(native, capture);
}

function only<T extends { readonly id: string }>(all: readonly T[], part: string): T | undefined {
  if (part === '') return undefined;
  const found = all.filter(({ id }) => id.endsWith(part));
  if (found.length > 1) {
    const ids = found.slice(0, 5).map(({ id }) => id);
    throw new ArgumentError(`'${printable(part)}' is part of several ids: ${ids.join(', ')}.`);
  }
  return found[0];
}

/** `ending`: the capture that came with it is the one that is read. */
export function ownSubject({ shell }: Native, run: AgentRun, ending?: Ending): Subject {
  const { id, startedAt: createdAt, draft, cwd } = run;
  const open = (): Capture => ending?.findings?.capture ?? shell.open(id);
  return { id, command: draft.command, cwd, createdAt, run, open, shell: run.shell };
}

function captureSubject(native: Native, own: OwnCapture): Subject {
  const { id, command, cwd, createdAt } = own;
  return {
    id,
    command,
    cwd,
    createdAt,
    run: undefined,
    open: () => native.shell.open(id),
    shell: native.services.shell(),
  };
}

/** Undefined for a run whose capture was removed meanwhile. */
export function opened({ open }: Subject): Capture | undefined {
  try {
    return open();
  } catch (error) {
    if (isAppError(error)) return undefined;
    throw error;
  }
}

/** The runs of this conversation, newest first, also of earlier servers. */
export function allRuns(native: Native, caller: Caller): readonly Subject[] {
  const runs = new Map(native.shell.runs(caller).map((run) => [run.id, run]));
  return native.shell.captures(caller).map((capture) => {
    const run = runs.get(capture.id);
    return run === undefined ? captureSubject(native, capture) : ownSubject(native, run);
  });
}

/** For headings: `1a2b3c4d`. */
export function nameOf({ id }: Pick<Subject, 'id'>): string {
  return shortId(id);
}
