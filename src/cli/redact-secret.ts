// `cuff redact --secret`: shows where a value was recorded, and takes it out after a yes. The value
// itself is shown nowhere.

import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { AppError, isAppError } from '../errors.ts';
import { cleanseCatalog } from '../journal/catalog-cleanse.ts';
import { discardHiddenCatalog } from '../journal/catalog-place.ts';
import { knownJournals } from '../sealing/journals.ts';
import {
  type ClosedCaptures,
  closedCaptures,
  findSecret,
  redactPlace,
  type SecretPlace,
} from '../sealing/redact/secret.ts';
import { manyText } from '../text/plural.ts';
import { printable } from '../text/printable.ts';
import { OneSecret, SECRET_LENGTH_MIN } from '../text/secrets/one-secret.ts';
import { journalHere } from './journal-here.ts';
import { put, putJson, say } from './output.ts';
import {
  BEYOND,
  mayRedact,
  type RedactOptions,
  redactContext,
  sealedFirst,
} from './redact-question.ts';
import { secretFrom } from './secret-input.ts';
import { takeHome } from './take-home.ts';

/**
 * `--json`: {"redacted":[words],"left":[{"place","why"}],"not_searched":{"captures","recipients",
 * "sessions"},"beyond"}. Exit 1 when something is left, or could not be searched.
 */
export async function redactSecret(
  given: string,
  { why = 'a secret', yes = false, json = false }: RedactOptions,
): Promise<void> {
  const value = await secretFrom(given);
  if (value.length < SECRET_LENGTH_MIN) {
    const length = manyText(value.length, 'character');
    throw new AppError('usage', `A value of ${length} is too short to stand out.`, {
      hint: `From ${SECRET_LENGTH_MIN} characters on. Redact its entries with --parts.`,
    });
  }
  const secret = new OneSecret(value);
  if (secret.isIn(why)) {
    throw new AppError('usage', '--why has the secret in it, and stays in the ledger.');
  }
  await takeHome(process.cwd(), process.env);
  const context = redactContext(why);
  const { store } = context;
  const known = knownJournals(store.root).map(({ directory }) => directory);
  const directories = [...new Set([await journalHere(), ...known])].filter((one) =>
    existsSync(one),
  );
  const lockedSessions = new Set<string>();
  const locked = (session: string) => lockedSessions.add(session);
  const search = { store, directories, locked };
  const places = findSecret(secret, search);
  const closed = { ...closedCaptures(search), sessions: lockedSessions.size };
  const about = { not_searched: closed, beyond: BEYOND };
  const gaps = closedLines(closed);
  if (gaps.length > 0) process.exitCode = 1;
  for (const line of gaps) say(line);
  if (places.length === 0) {
    if (json) return putJson({ redacted: [], left: [], ...about });
    const here = gaps.length > 0 ? 'in all that could be searched' : 'here';
    return put(`It was recorded nowhere ${here}.\n`);
  }
  const shown = places.map((place) => `  ${placeText(place, store.root)}`);
  if (!json) await put(`It is in ${manyText(places.length, 'place')}:\n${shown.join('\n')}\n`);
  if (!(await mayRedact('Take it out of all of them, for good?', yes))) return;
  const troubles = new Map<string, string>();
  try {
    await sealedFirst(context, directories);
    for (const place of places) {
      const trouble = await attempted(() => redactPlace(place, secret, context));
      if (trouble !== undefined) troubles.set(keyOf(place), trouble);
    }
    for (const place of places) {
      if (place.kind === 'catalog') cleanseCatalog(place.directory, Date.now);
      if (place.kind === 'session') discardHiddenCatalog(place.directory);
    }
  } finally {
    await context.ledger?.close();
  }
  const left = findSecret(secret, search).map((place) => ({
    place: placeText(place, store.root),
    why: troubles.get(keyOf(place)) ?? whyLeft(place),
  }));
  if (left.length > 0) process.exitCode = 1;
  const lost = new Set(left.map(({ place }) => place));
  const redacted = places
    .map((place) => placeText(place, store.root))
    .filter((one) => !lost.has(one));
  if (json) return putJson({ redacted, left, ...about });
  await put(`Redacted in ${manyText(redacted.length, 'place')}.\n`);
  for (const { place, why: reason } of left) say(`Still there: ${place}: ${reason}`);
  say(BEYOND);
}

type Closed = ClosedCaptures & { readonly sessions: number };

function closedLines({ captures, sessions, recipients }: Closed): readonly string[] {
  const whom = recipients.map(printable).join(', ');
  return [
    ...(sessions > 0
      ? [`Not searched: ${manyText(sessions, 'session')} that no identity here reads.`]
      : []),
    ...(captures > 0
      ? [`Not searched: ${manyText(captures, 'capture')}, encrypted for ${whom}.`]
      : []),
    ...(sessions + captures > 0
      ? ['Name the file that has an identity for them in CUFF_IDENTITY, and redact again.']
      : []),
  ];
}

/** Why it could not be done, where that is no fault of the program. */
async function attempted(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (isAppError(error)) return error.message;
    if (error instanceof Error && 'syscall' in error) return error.message;
    throw error;
  }
}

function keyOf(place: SecretPlace): string {
  if (place.kind === 'session') return `${place.directory} ${place.session}`;
  if (place.kind === 'capture') return place.id;
  return place.kind === 'catalog' ? place.directory : place.path;
}

function placeText(place: SecretPlace, root: string): string {
  switch (place.kind) {
    case 'session': {
      const { session, lines, live } = place;
      const all = lines.map(({ sequence, parts }) =>
        sequence === 0 ? 'a file edit' : `#${sequence} ${parts.join(',')}`,
      );
      return `session ${printable(session)}: ${all.join('; ')}${live ? LIVE : ''}`;
    }
    case 'capture':
      return `capture ${place.id}: ${place.found.files.join(', ')}${place.live ? LIVE : ''}`;
    case 'catalog':
      return `the catalog of ${printable(place.directory)}`;
    default:
      return printable(
        relative(root, place.path).startsWith('..') ? place.path : relative(root, place.path),
      );
  }
}

const LIVE = ' (being written)';

function whyLeft({ kind }: SecretPlace): string {
  return kind === 'ledger' ? 'the ledger cannot be changed' : 'it was written again meanwhile';
}
