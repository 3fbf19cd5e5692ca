// Reasons made of what was found: one sentence each, with the rule that was nearest.

import type { Reason, ReasonCode, RuleRef, Verdict } from './decision.ts';
import type { Objection } from './facts.ts';
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

export function ruleReason(unit: Unit, verdict: Verdict, ref: RuleRef, why?: string): Reason {
  const text = unitText(unit);
  const does = { allow: 'allows', ask: 'asks about', deny: 'denies' }[verdict];
  return {
    verdict,
    code: `rule.${verdict}`,
    detail: undefined,
    span: unit.span,
    unit: text,
    message: why ?? `The rule \`${ref.pattern}\` of ${ref.policy} ${does} \`${text}\`.`,
    rule: ref,
    nearest: undefined,
    hint: undefined,
  };
}

export function objectionReason(
  unit: Unit,
  verdict: Verdict,
  objection: Objection,
  near: RuleRef | undefined,
): Reason {
  const text = unitText(unit);
  return {
    verdict,
    code: objection.code,
    detail: objection.detail,
    span: objection.span ?? unit.span,
    unit: text,
    message: sentence(text, objection.message),
    rule: undefined,
    nearest: near?.pattern,
    hint: objection.hint,
  };
}

export function plainReason(
  unit: Unit,
  verdict: Verdict,
  code: ReasonCode,
  message: string,
  more: { readonly nearest?: string | undefined; readonly hint?: string | undefined } = {},
): Reason {
  return {
    verdict,
    code,
    detail: undefined,
    span: unit.span,
    unit: unitText(unit),
    message,
    rule: undefined,
    nearest: more.nearest,
    hint: more.hint,
  };
}

function sentence(unit: string, clause: string): string {
  return unit === ''
    ? `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`
    : `In \`${unit}\`, ${clause}.`;
}
