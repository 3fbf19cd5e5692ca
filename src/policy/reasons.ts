// The reasons of a decision, one sentence each with the rule that was nearest; and the decision as
// the one short text that an agent reads: what was refused, why, and what to do.

import { isDeepStrictEqual } from 'node:util';
import type { Objection } from './bounds.ts';
import type { Decision, Reason, ReasonCode, RuleRef, Verdict } from './decision.ts';
import { hintFor } from './hints.ts';
import type { Unit } from './unit.ts';

const UNIT_SHOWN_MAX = 120;

export function unitText({ argv, assigned, redirects }: Unit): string {
  const words = [
    ...assigned.filter(({ how }) => how !== 'export').map(({ name }) => `${name}=...`),
    ...argv.map(({ source }) => source),
    ...(argv.length === 0 ? redirects : []).map(
      ({ operator, target }) => `${operator} ${target?.source ?? ''}`,
    ),
  ];
  const text = words.join(' ').replace(/\s+/g, ' ').trim();
  return text.length > UNIT_SHOWN_MAX ? `${text.slice(0, UNIT_SHOWN_MAX - 3)}...` : text;
}

/** What a reason may have besides its message. */
type Details = Partial<Pick<Reason, 'detail' | 'span' | 'rule' | 'nearest' | 'hint'>>;

export function plainReason(
  unit: Unit,
  verdict: Verdict,
  code: ReasonCode,
  message: string,
  details: Details = {},
): Reason {
  return {
    verdict,
    code,
    detail: undefined,
    span: unit.span,
    unit: unitText(unit),
    message,
    rule: undefined,
    nearest: undefined,
    ...details,
    hint: details.hint ?? (verdict === 'allow' ? undefined : hintFor(code, wordAt(unit, details))),
  };
}

/** The word of the unit that a reason points at. */
function wordAt({ argv }: Unit, { span }: Details): string | undefined {
  const word = argv.find((arg) => span !== undefined && isDeepStrictEqual(arg.span, span))?.source;
  return word === undefined || word.length > WORD_SHOWN_MAX ? undefined : word;
}

const WORD_SHOWN_MAX = 60;

export function ruleReason(unit: Unit, verdict: Verdict, ref: RuleRef, why?: string): Reason {
  const does = { allow: 'allows', ask: 'asks about', deny: 'denies' }[verdict];
  const whose = `of ${ref.policy}${agentsText(ref)}`;
  const message = why ?? `The rule \`${ref.pattern}\` ${whose} ${does} \`${unitText(unit)}\`.`;
  const reason = plainReason(unit, verdict, `rule.${verdict}`, message, { rule: ref });
  // The reason in the rule says what to do.
  return why === undefined ? reason : { ...reason, hint: undefined };
}

/** Behind the name of a rule that is not about every agent. */
function agentsText({ agents }: RuleRef): string {
  return agents === undefined ? '' : `, for ${agents.join(', ')},`;
}

export function objectionReason(
  unit: Unit,
  verdict: Verdict,
  { code, detail, span = unit.span, message, hint }: Objection,
  near?: RuleRef,
): Reason {
  const nearest = near?.pattern;
  const details = { detail, span, nearest, hint };
  return plainReason(unit, verdict, code, sentence(unitText(unit), message), details);
}

function sentence(unit: string, clause: string): string {
  return unit === ''
    ? `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`
    : `In \`${unit}\`, ${clause}.`;
}

const REASONS_SHOWN_MAX = 3;

/** `cuff policy: denied (path.outside). In ..., ... .` */
export function explain({ verdict, code, reasons }: Decision): string {
  const word = { allow: 'allowed', ask: 'needs approval', deny: 'denied' }[verdict];
  if (verdict === 'allow') return `cuff policy: ${word} (${code}).`;
  const strict = reasons.filter((reason) => reason.verdict !== 'allow');
  const lines = strict.slice(0, REASONS_SHOWN_MAX).map(reasonText);
  const more = strict.length - lines.length;
  const rest = more > 0 ? [`And ${more} more.`] : [];
  return [`cuff policy: ${word} (${code}).`, ...new Set(lines), ...rest].join('\n');
}

function reasonText(reason: Reason): string {
  const { hint, nearest } = reason;
  const near = nearest === undefined || hint?.includes(nearest) === true;
  const nearText = near ? '' : ` The nearest rule is \`${nearest}\`.`;
  return `${because(reason)}${nearText}${hint === undefined ? '' : ` ${hint}`}`;
}

/** The reason in a rule names neither the part of the command nor the rule: this adds both. */
export function because({ message, rule, unit, verdict }: Reason): string {
  if (rule === undefined || message.includes(rule.pattern)) return message;
  const does = { allow: 'allows', ask: 'asks about', deny: 'denies' }[verdict];
  return `The rule \`${rule.pattern}\`${agentsText(rule)} ${does} \`${unit}\`: ${message}`;
}
