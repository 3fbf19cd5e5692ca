// `cuff policy approve`: lists the refused commands that a person may allow, or allows one of them,
// once or for good.

import { AppError } from '../../errors.ts';
import { patternShown } from '../../guard/question.ts';
import {
  approve,
  findQuestion,
  pendingQuestions,
  proposePattern,
  type Question,
  questionJson,
} from '../../policies/approve.ts';
import { printable } from '../../text/printable.ts';
import { askYes } from '../confirm.ts';
import { put, putJson, say } from '../output.ts';

export type ApproveFlags = {
  /** As a rule, for exactly this text. */
  readonly always?: boolean;
  /** The rule goes into the user's file, not into that of the project. */
  readonly user?: boolean;
  /** As a rule for what a pattern covers: this one, or one that cuff proposes. */
  readonly pattern?: string | true;
  readonly hour?: boolean;
  readonly conversation?: boolean;
  readonly json?: boolean;
};

export async function approvePolicy(id: string | undefined, flags: ApproveFlags): Promise<void> {
  const { env } = process;
  const always = flags.always === true || flags.user === true || flags.pattern !== undefined;
  const lasting = (['hour', 'conversation'] as const).filter((one) => flags[one] === true);
  if (id === undefined && (always || lasting.length > 0)) {
    throw new AppError('usage', '--always and its like need the id of one command.', {
      hint: 'List what waits with `cuff policy approve`.',
    });
  }
  if (id === undefined) return list(pendingQuestions(env), flags.json === true);
  if (lasting.length + Number(always) > 1) {
    throw new AppError('usage', 'An answer holds once, for an hour, a conversation, or always.', {
      hint: 'Say one of --hour, --conversation and --always.',
    });
  }
  const [span = 'once'] = lasting;
  const scope = flags.user === true ? 'user' : 'project';
  const question = findQuestion(id, env);
  // An id says nothing, and an agent may have told the person anything: show the command first.
  if (flags.json !== true) await put(`${shown(question)}\n`);
  const pattern = await patternFor(id, flags, scope);
  if (!(await confirmed(always ? 'always' : span))) {
    say('cuff: nothing was approved');
    process.exitCode = 1;
    return;
  }
  const done = await approve(id, { env, always: always ? scope : undefined, pattern, span });
  if (flags.json === true) {
    const rule = done.kind === 'always' ? { file: done.file, patterns: done.patterns } : {};
    return putJson({ ...questionJson(done.question), approved: done.kind, ...rule });
  }
  const how =
    done.kind === 'always'
      ? `Approved always, by ${done.file}:\n${done.patterns.map((one) => `  ${one}`).join('\n')}`
      : HOW[done.kind];
  await put(`${how}\n`);
}

const HOW = {
  once: 'Approved once, within a day: the agent can ask for it again now.',
  hour: 'Approved for an hour, as long as the policy stays as it is.',
  conversation: 'Approved for its conversation, as long as the policy stays as it is.',
} as const;

/** Shows what it would mean. Undefined: no pattern is wanted. */
async function patternFor(
  id: string,
  { pattern: wanted, json }: ApproveFlags,
  always: 'project' | 'user',
): Promise<string | undefined> {
  if (wanted === undefined) return undefined;
  const pattern = wanted === true ? undefined : wanted;
  const found = await proposePattern(id, { env: process.env, always, pattern });
  if (json !== true) await put(`\n${patternShown(found)}\n`);
  return found.pattern;
}

const QUESTIONS = {
  once: 'Allow this once?',
  hour: 'Allow this for an hour?',
  conversation: 'Allow this until its conversation ends?',
  always: 'Always allow this?',
} as const;

async function confirmed(span: keyof typeof QUESTIONS): Promise<boolean> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) return true;
  return askYes(QUESTIONS[span], stdout);
}

async function list(questions: readonly Question[], json: boolean): Promise<void> {
  if (json) return putJson(questions.map(questionJson));
  if (questions.length === 0) return put('Nothing waits for an answer.\n');
  await put(`${questions.map((one) => `${one.id}  ${shown(one)}`).join('\n\n')}\n`);
}

function shown({ command, cwd, beside, reasons }: Question): string {
  const parts = [command, `in ${cwd.replaceAll('\n', '\\n')}`, ...beside, ...reasons];
  return parts.flatMap((part) => part.split('\n').map(printable)).join('\n  ');
}
