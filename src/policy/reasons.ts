// Makes the reasons of a decision: one sentence each, with the rule that was nearest.

import type { Objection } from './bounds.ts';
import type { Reason, ReasonCode, RuleRef, Verdict } from './decision.ts';
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
    hint: undefined,
    ...details,
  };
}

export function ruleReason(unit: Unit, verdict: Verdict, ref: RuleRef, why?: string): Reason {
  const does = { allow: 'allows', ask: 'asks about', deny: 'denies' }[verdict];
  const message =
    why ?? `The rule \`${ref.pattern}\` of ${ref.policy} ${does} \`${unitText(unit)}\`.`;
  return plainReason(unit, verdict, `rule.${verdict}`, message, { rule: ref });
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
