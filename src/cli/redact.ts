// `cuff redact`: takes parts of one entry out of the record, or one secret wherever it is. Only a
// person may, and the ledger says so before anything is changed.

import type { Capture } from '../capture/store.ts';
import { AppError, isAppError } from '../errors.ts';
import { cleanseCatalog } from '../journal/catalog-cleanse.ts';
import type { EntryPart } from '../ledger/commitments.ts';
import { sessionEntries, sessionNamed } from '../recordings/sessions.ts';
import { isLiveCapture, redactCapture } from '../sealing/redact/capture.ts';
import { checkReadable } from '../sealing/redact/encrypted.ts';
import { redactEntry } from '../sealing/redact/entry.ts';
import type { RedactContext } from '../sealing/redact/said.ts';
import { WHOLE_CAPTURE } from '../sealing/redact/whole-capture.ts';
import { openCapture } from '../shell/captures.ts';
import { timeText } from '../text/dates.ts';
import { printable, shortLine } from '../text/printable.ts';
import { refuseAgents } from '../trust/person.ts';
import type { Entry } from '../types.ts';
import { journalHere } from './journal-here.ts';
import { put, putJson, say, terminalWidth } from './output.ts';
import {
  BEYOND,
  mayRedact,
  type RedactOptions,
  redactContext,
  sealedFirst,
} from './redact-question.ts';
import { takeHome } from './take-home.ts';

const PARTS = ['text', 'stdout', 'stderr', 'capture'] as const;
type Part = (typeof PARTS)[number];

const WHY_LENGTH_MAX = 500; // one clause in a line of the ledger

/**
 * `--json`: {"session_id","sequence_number","parts":[...],"capture":{"run_id","bytes","files"}
 * or null, "beyond"}; of a secret as in `redact-secret.ts`.
 */
export async function redact(
  session: string | undefined,
  number: string | undefined,
  options: RedactOptions,
): Promise<void> {
  refuseAgents(process.env, 'redact what was recorded');
  if ((options.why?.length ?? 0) > WHY_LENGTH_MAX) {
    throw new AppError('usage', `--why has more than ${WHY_LENGTH_MAX} characters.`);
  }
  if (options.secret === undefined) return redactNamed(session, number, options);
  if (session !== undefined) {
    throw new AppError('usage', 'A secret is looked for everywhere: name no session with it.');
  }
  return (await import('./redact-secret.ts')).redactSecret(options.secret, options);
}

async function redactNamed(
  session: string | undefined,
  number: string | undefined,
  { parts: names, why, yes = false, json = false }: RedactOptions,
): Promise<void> {
  if (session === undefined || number === undefined || !/^[1-9]\d{0,14}$/.test(number)) {
    throw new AppError('usage', 'Say which entry: a session, and the number of the entry in it.', {
      hint: 'Find it with `cuff record search`, or take out one value with --secret -.',
    });
  }
  const parts = partsIn(names);
  if (!why) {
    throw new AppError('usage', 'Say why, for the ledger: --why TEXT.', {
      hint: 'The words stay readable, so they must not say what is taken out.',
    });
  }
  await takeHome(process.cwd(), process.env);
  const directory = await journalHere();
  const id = sessionNamed(directory, session);
  const sequence = Number(number);
  const entry = entryAt(directory, id, sequence);
  const context = redactContext(why);
  const capture = captureOf(entry, context);
  if (capture !== undefined && isLiveCapture(capture, context)) {
    throw new AppError('usage', `The run ${capture.id} of this entry goes on.`, {
      hint: 'Nothing was redacted. End it, or wait for it, and redact again.',
    });
  }
  if (capture !== undefined && parts.includes('capture')) checkReadable(capture);
  const question = `${shown(entry)}\nRedact for good: ${parts.join(', ')}?`;
  if (!(await mayRedact(question, yes))) return;
  const ofEntry = parts.filter((part): part is Part & EntryPart => part !== 'capture');
  try {
    await sealedFirst(context, [directory]);
    const lines = await redactEntry({ directory, session: id, sequence, parts: ofEntry }, context);
    const wanted = parts.includes('capture') ? capture : undefined;
    const found = wanted && (await redactCapture(wanted.id, WHOLE_CAPTURE, context));
    cleanseCatalog(directory, Date.now);
    const done = lines.flatMap((line) => line.parts);
    const bytes = found?.ranges.reduce((sum, [from, to]) => sum + to - from, 0) ?? 0;
    if (json) {
      const of = found && { run_id: capture?.id, bytes, files: found.files };
      const about = { session_id: id, sequence_number: sequence, parts: done };
      return await putJson({ ...about, capture: of ?? null, beyond: BEYOND });
    }
    const what = [...done, ...(found === undefined ? [] : [`${bytes} bytes of its capture`])];
    await put(what.length === 0 ? NOTHING : `Redacted: ${what.join(', ')}.\n`);
    if (parts.includes('capture') && capture === undefined) say('Its capture is gone already.');
    if (!parts.includes('capture') && capture !== undefined) {
      say(`Its capture ${capture.id} still has it: add capture to --parts.`);
    }
    say(BEYOND);
  } finally {
    await context.ledger?.close();
  }
}

const NOTHING = 'Nothing of that is recorded any more.\n';

function partsIn(names: string | undefined): readonly Part[] {
  const found = (names ?? '').split(',').map((name) => PARTS.find((part) => part === name.trim()));
  const known = PARTS.filter((part) => found.includes(part));
  if (known.length > 0 && !found.includes(undefined)) return known;
  throw new AppError('usage', 'Say what to take out: --parts text,stdout,stderr,capture.', {
    hint: 'text: the words of the command. capture: all bytes of its output, as they were printed.',
  });
}

function entryAt(directory: string, session: string, sequence: number): Entry {
  for (const entry of sessionEntries(directory, session)) {
    if (entry.sequence_number === sequence) return entry;
  }
  throw new AppError('journal_session_not_found', `${session} has no entry ${sequence}.`, {
    hint: `See its entries with \`cuff record show ${session} --entries\`.`,
  });
}

/** Undefined where there is none any more. */
function captureOf({ run_id }: Entry, { store }: RedactContext): Capture | undefined {
  if (run_id === null) return undefined;
  try {
    return openCapture(store, run_id);
  } catch (error) {
    if (isAppError(error) && error.code !== 'path_unsafe') return undefined;
    throw error;
  }
}

function shown(entry: Entry): string {
  const { sequence_number: number, timestamp, command } = entry;
  const line = shortLine(command, (terminalWidth().width ?? 100) - 30);
  return `${number}  ${timeText(timestamp)}  ${printable(line)}`;
}
