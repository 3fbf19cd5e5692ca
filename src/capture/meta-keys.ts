// The keys of meta.json that only some captures have, each described in a file of its own: `trace`
// (meta-trace.ts), `journal` (intent.ts) and `owner` (owner.ts).
import type { JsonObject } from '../text/json.ts';
import type { CaptureMeta } from '../types.ts';
import { decodeIntent, encodeIntent } from './intent.ts';
import { decodeTraceKey } from './meta-trace.ts';
import { decodeOwner, encodeOwner } from './owner.ts';

type Keys = Pick<CaptureMeta, 'trace' | 'journal' | 'owner'>;

export function encodeKeys({ trace, journal, owner }: Keys): JsonObject {
  return {
    ...(trace && { trace }),
    ...(journal && { journal: encodeIntent(journal) }),
    ...(owner && { owner: encodeOwner(owner) }),
  };
}

export function decodeKeys(json: JsonObject): Keys {
  const trace = decodeTraceKey(json.trace);
  const journal = decodeIntent(json.journal);
  const owner = decodeOwner(json.owner);
  return { ...(trace && { trace }), ...(journal && { journal }), ...(owner && { owner }) };
}
