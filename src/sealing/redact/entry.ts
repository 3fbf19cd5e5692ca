// Parts of one entry, by its number.

import { entrySequence } from '../../journal/ids.ts';
import type { EntryPart } from '../../ledger/commitments.ts';
import { asCount, asObject, asString, type JsonObject } from '../../text/json.ts';
import { heldParts } from './line.ts';
import type { RedactContext } from './said.ts';
import { type RedactedLine, redactSession, type SessionPlan } from './session.ts';

export type EntryRequest = {
  readonly directory: string;
  readonly session: string;
  readonly sequence: number;
  readonly parts: readonly EntryPart[];
};

/** What was taken out: empty where nothing of it was left. Rejects as `redactSession` does. */
export async function redactEntry(
  { directory, session, sequence, parts }: EntryRequest,
  context: RedactContext,
): Promise<readonly RedactedLine[]> {
  return redactSession(directory, session, entryPlan(sequence, parts), context);
}

function entryPlan(sequence: number, parts: readonly EntryPart[]): SessionPlan {
  return {
    parts: (json) =>
      asCount(json.sequence_number) === sequence
        ? heldParts(json).filter((part) => part !== 'facts' && parts.includes(part))
        : [],
    beside: (kind, json) => {
      const own = kind === 'late-output' && entrySequence(asString(json.entry_id) ?? '');
      return own === sequence ? emptied(json, parts) : undefined;
    },
  };
}

/** Later output without these parts; undefined where it has nothing of them. */
function emptied(json: JsonObject, parts: readonly EntryPart[]): JsonObject | undefined {
  const output = asObject(json.output) ?? {};
  const without = (part: EntryPart): JsonObject =>
    parts.includes(part) && output[part] !== '' && output[part] !== undefined ? { [part]: '' } : {};
  const changed = { ...without('stdout'), ...without('stderr') };
  const survivors = Array.isArray(json.survivors) ? json.survivors : [];
  const words = parts.includes('text') && survivors.length > 0;
  if (Object.keys(changed).length === 0 && !words) return undefined;
  return { ...json, ...(words && { survivors: [] }), output: { ...output, ...changed } };
}
