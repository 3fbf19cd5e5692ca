// A request as the policy is asked about it: where it would run, by which shell, and what comes
// with it. What was judged is what is started, also when the settings have changed meanwhile.

import { basename } from 'node:path';
import type { Ruling } from '../guard/guard.ts';
import { type Chosen, isBash } from '../guard/judged-texts.ts';
import type { Asked } from '../guard/question.ts';
import type { EntryDecision } from '../types.ts';
import { directoryOf, type ExecuteRequest, type Terms } from './admission.ts';

/** A ruling, and the request as it was ruled on. */
export type Ruled = Ruling & { readonly request?: ExecuteRequest };

type Question = {
  readonly asked: Asked & Chosen;
  readonly request: ExecuteRequest;
  /** For the entry: no values, there may be secrets in them. */
  readonly beside: readonly string[];
};

/** Rejects with an `ExecutionError` for a directory that is none. */
export async function questionOf(given: ExecuteRequest, terms: Terms): Promise<Question> {
  const { chosen, shell: named, how } = given;
  const cwd = directoryOf(given, terms);
  const { shell: configured } = terms.execution;
  const request = { ...given, workingDirectory: cwd, shell: named ?? configured };
  const command = chosen?.command ?? given.command;
  // Whoever names what is there anyway has said nothing.
  const shell = named === undefined || isBash(named) ? undefined : named;
  const settingsShell = named === undefined ? basename(configured) : undefined;
  const { env, stdin, typed } = chosen ?? {};
  const beside = [
    ...Object.keys(env ?? {}).map((name) => `env ${name}`),
    ...(stdin === undefined ? [] : ['stdin']),
    ...(shell === undefined ? [] : [`shell ${shell}`]),
    ...(typed === undefined ? [] : ['typed']),
  ];
  const tty = how?.transport === 'pty';
  const asked = { ...chosen, cwd, command, shell, settingsShell, tty };
  if (stdin === undefined && typed === undefined) return { asked, request, beside };
  const { readerOf } = await import('../guard/input-reader.ts');
  const reader = readerOf(typed?.into ?? command, typed?.shell ?? request.shell);
  return { asked: { ...asked, reader }, request, beside };
}

/** What was judged with the command belongs to the decision about it. */
export function noting(
  decision: EntryDecision | null,
  beside: readonly string[],
): EntryDecision | null {
  return decision === null || beside.length === 0 ? decision : { ...decision, beside };
}
