// `cuff policy approve`: lists the refused commands that a person may allow, or allows one of them,
// once or for good.

import { AppError } from '../../errors.ts';
import { approve, findQuestion, pendingQuestions, type Question } from '../../policies/approve.ts';
import { isoTime } from '../../text/dates.ts';
import { printable } from '../../text/printable.ts';
import { askYes } from '../confirm.ts';
import { put, putJson, say } from '../output.ts';

export type ApproveFlags = {
  /** As a rule, for exactly this text. */
  readonly always?: boolean;
  /** The rule goes into the user's file, not into that of the project. */
  readonly user?: boolean;
  readonly json?: boolean;
};

export async function approvePolicy(id: string | undefined, flags: ApproveFlags): Promise<void> {
  const { env } = process;
  const always = flags.always === true || flags.user === true;
  if (id === undefined && always) {
    throw new AppError('usage', '--always and --user need the id of one command.', {
      hint: 'List what waits with `cuff policy approve`.',
    });
  }
  if (id === undefined) return list(pendingQuestions(env), flags.json === true);
  const scope = flags.user === true ? 'user' : 'project';
  const question = findQuestion(id, env);
  // An id says nothing, and an agent may have told the person anything: show the command first.
  if (flags.json !== true) await put(`${shown(question)}\n`);
  if (!(await confirmed(always))) {
    say('cuff: nothing was approved');
    process.exitCode = 1;
    return;
  }
  const done = await approve(id, { env, always: always ? scope : undefined });
  if (flags.json === true) {
    const rule = done.kind === 'always' ? { file: done.file, patterns: done.patterns } : {};
    return putJson({ ...row(done.question), approved: done.kind, ...rule });
  }
  const how =
    done.kind === 'once'
      ? 'Approved once, within a day: the agent can ask for it again now.'
      : `Approved always, by ${done.file}:\n${done.patterns.map((one) => `  ${one}`).join('\n')}`;
  await put(`${how}\n`);
}

async function confirmed(always: boolean): Promise<boolean> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) return true;
  return askYes(always ? 'Always allow this?' : 'Allow this once?', stdout);
}

async function list(questions: readonly Question[], json: boolean): Promise<void> {
  if (json) return putJson(questions.map(row));
  if (questions.length === 0) return put('Nothing waits for an answer.\n');
  await put(`${questions.map((one) => `${one.id}  ${shown(one)}`).join('\n\n')}\n`);
}

function shown({ command, cwd, beside, reasons }: Question): string {
  const parts = [command, `in ${cwd.replaceAll('\n', '\\n')}`, ...beside, ...reasons];
  return parts.flatMap((part) => part.split('\n').map(printable)).join('\n  ');
}

function row(question: Question) {
  const { id, command, beside, cwd, project, code, reasons, at } = question;
  const [message = ''] = reasons;
  const asked_at = isoTime(at);
  return { id, command, beside, cwd, project, code, message, reasons, asked_at };
}
