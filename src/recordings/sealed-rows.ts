// Sessions as a list shows them: each with a word on its seal. It is on the short way of
// `cuff record list`, so that it imports little.

import { stateRoot } from '../capture/paths.ts';
import type { JoinedSession } from '../journal/join.ts';
import { readMetadata } from '../journal/reader.ts';
import { type Badge, listedBadges, worstBadge } from '../sealing/badges.ts';
import { journalName } from '../sealing/journals.ts';
import type { Env, SessionMetadata } from '../types.ts';

/** A session, and how far it is sealed where it was. */
export type SealedRow = JoinedSession & { readonly seal?: Badge };

/** In the order of `rows`. */
export function sealedRows(
  directory: string,
  rows: readonly JoinedSession[],
  env: Env,
): SealedRow[] {
  if (rows.every(({ sealed_by }) => sealed_by === undefined)) return [...rows];
  const parts = rows.flatMap(({ parts = [] }) => parts);
  const read = parts.map((id) => readMetadata(directory, id)).filter((one) => one !== undefined);
  const own = rows.map((row) => (row.parts === undefined ? row : alone(directory, row)));
  const journal = journalName(directory);
  const badges = listedBadges(stateRoot(env), journal, [...own, ...read]);
  return rows.map((row) => {
    const seal = worstBadge([row.session_id, ...(row.parts ?? [])].map((id) => badges.get(id)));
    return seal === undefined ? row : { ...row, seal };
  });
}

/** Without what its parts add to it. */
function alone(directory: string, row: JoinedSession): SessionMetadata {
  return readMetadata(directory, row.session_id) ?? row;
}
