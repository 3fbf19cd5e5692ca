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

function reasonText({ message, hint, nearest }: Reason): string {
  const near = nearest === undefined || hint?.includes(nearest) === true;
  const nearText = near ? '' : ` The nearest rule is \`${nearest}\`.`;
  return `${message}${nearText}${hint === undefined ? '' : ` ${hint}`}`;
}
