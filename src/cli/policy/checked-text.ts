// The policy's decision on a command as people see it: the reasons, with a mark under the part that
// decided it. Exit 0 allow, 1 deny, 3 ask.

import { type CheckResult, checkedJson } from '../../policies/checked.ts';
import type { Reason } from '../../policy/decision.ts';
import { printable, printableJson } from '../../text/printable.ts';
import { displayWidth } from '../../text/table.ts';
import { paint, putAtOnce } from '../output.ts';

const EXIT = { allow: 0, deny: 1, ask: 3 } as const;

export async function putChecked(checked: CheckResult, json: boolean): Promise<void> {
  process.exitCode = EXIT[checked.decision.verdict];
  await putAtOnce(json ? `${printableJson(checkedJson(checked))}\n` : checkedText(checked));
}

const REASONS_SHOWN_MAX = 20;
const COLOURS = { allow: 'green', ask: 'yellow', deny: 'red' } as const;

/** The answer, then each reason that counts: the place, the sentence, and what to do. */
function checkedText({ command, decision, mode, files, budgets }: CheckResult): string {
  const { verdict, code, reasons } = decision;
  const counted = reasons.filter((one) => verdict === 'allow' || one.verdict !== 'allow');
  const shown = counted.slice(0, REASONS_SHOWN_MAX);
  const more = counted.length - shown.length;
  const blocks = shown.map((reason) => reasonLines(reason, command, verdict));
  const lines = [
    `${paint(COLOURS[verdict], verdict)} (${code})`,
    ...blocks.flatMap((block) => ['', ...block]),
    ...(more > 0 ? ['', `And ${more} more.`] : []),
    ...budgets.map(
      ({ rule, max, used }) =>
        `  \`${printable(rule.pattern)}\` allows ${max} an hour; ${used} are used.`,
    ),
    ...(verdict !== 'allow' && mode !== 'enforce' ? ['', modeLine(mode)] : []),
    ...(files.length > 0 ? ['', paint('dim', `By ${files.map(printable).join(', ')}`)] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function reasonLines(reason: Reason, command: string, overall: string): readonly string[] {
  const { span, message, nearest, hint, verdict, code, rule } = reason;
  const marked = span === undefined ? [] : caretLines(command, span);
  const near = nearest !== undefined && hint?.includes(nearest) !== true;
  const where = rule?.file === undefined ? '' : `, in ${rule.file}`;
  const said = rule !== undefined && !message.includes(rule.pattern);
  const differs = verdict === overall ? '' : `${verdict} `;
  return [
    ...marked,
    `  ${printable(message)} ${paint('dim', `(${differs}${code})`)}`,
    ...(said ? [`  The rule is \`${printable(rule.pattern)}\`${printable(where)}.`] : []),
    ...(near ? [`  The nearest rule is \`${printable(nearest)}\`.`] : []),
    ...(hint === undefined ? [] : [`  ${printable(hint)}`]),
  ];
}

function modeLine(mode: CheckResult['mode']): string {
  if (mode === 'off') return 'The mode is off: it would run, and nothing would be said.';
  return mode === 'warn'
    ? 'The mode is warn: it would run, with a warning.'
    : 'The mode is record: it would run, and this would be in the journal.';
}

const BEFORE_MAX = 60;
const MARKED_MAX = 80;
const BEHIND_MAX = 40;

/** The line of the command that the span begins in, and carets under the span. */
function caretLines(
  text: string,
  { from, to }: { readonly from: number; readonly to: number },
): readonly string[] {
  const start = text.lastIndexOf('\n', from - 1) + 1;
  const newline = text.indexOf('\n', from);
  const end = newline < 0 ? text.length : newline;
  const before = tailOf(printable(text.slice(start, from)), BEFORE_MAX);
  const marked = headOf(printable(text.slice(from, Math.min(to, end))), MARKED_MAX);
  const behind = headOf(printable(text.slice(Math.max(from, Math.min(to, end)), end)), BEHIND_MAX);
  const number = text.slice(0, start).split('\n').length;
  const label = text.includes('\n') ? `${number} | ` : '';
  const indent = ' '.repeat(4 + label.length + displayWidth(before));
  const carets = '^'.repeat(Math.max(1, displayWidth(marked)));
  return [`    ${label}${before}${marked}${behind}`, `${indent}${paint('bold', carets)}`];
}

function headOf(text: string, max: number): string {
  const characters = [...text];
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

function tailOf(text: string, max: number): string {
  const characters = [...text];
  return characters.length <= max ? text : `…${characters.slice(1 - max).join('')}`;
}
