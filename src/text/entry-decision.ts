// The key `decision` of an entry, read back from JSON. Here, because the journal and the intent of
// a capture both have it.

import {
  DECISION_APPROVALS,
  DECISION_MAKERS,
  DECISION_MODES,
  DECISION_VERDICTS,
  type EntryDecision,
} from '../types.ts';
import { asObject, asOneOf, asString } from './json.ts';

/** Null for an entry of before there were policies, and for what cannot be a decision. */
export function decisionOf(value: unknown): EntryDecision | null {
  const json = asObject(value);
  const verdict = asOneOf(DECISION_VERDICTS, json?.verdict);
  const mode = asOneOf(DECISION_MODES, json?.mode);
  const code = asString(json?.code);
  if (verdict === undefined || mode === undefined || code === undefined) return null;
  const rule = asString(json?.rule) ?? null;
  const approved = asOneOf(DECISION_APPROVALS, json?.approved) ?? null;
  const by = asOneOf(DECISION_MAKERS, json?.by);
  const [beside, changed] = [json?.beside, json?.changed].map(textsOf);
  return {
    verdict,
    code,
    mode,
    rule,
    approved,
    ...(by !== undefined && { by }),
    ...(beside && { beside }),
    ...(changed && { changed }),
  };
}

function textsOf(value: unknown): readonly string[] | undefined {
  const texts = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  return texts.length === 0 ? undefined : texts;
}
