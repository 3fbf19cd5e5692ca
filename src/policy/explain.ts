// A decision as the one short text that an agent reads: what was refused, why, and what to do.

import type { Decision, Reason } from './decision.ts';

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
  return `The rule \`${rule.pattern}\` ${does} \`${unit}\`: ${message}`;
}
