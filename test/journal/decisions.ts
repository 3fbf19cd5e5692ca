// Any decision that an entry can have, or none.
import fc from 'fast-check';
import type { EntryDecision } from '../../src/types.ts';

export const decisions: fc.Arbitrary<EntryDecision | null> = fc.option(
  fc.record({
    verdict: fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const),
    code: fc.string(),
    mode: fc.constantFrom('record' as const, 'warn' as const, 'enforce' as const),
    rule: fc.option(fc.string()),
    approved: fc.constantFrom('elicitation' as const, 'grant' as const, null),
  }),
);
