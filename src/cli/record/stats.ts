// `cuff record stats`: what was run, how often, how it ended, how long it took, and how much room
// the captures of those commands take.

import { type CapturesRoom, capturesRoom, roomJson } from '../../capture/room.ts';
import { errnoOf, isAppError } from '../../errors.ts';
import { packedJson, packedRoom } from '../../journal/packed/room.ts';
import { isFaulty } from '../../journal/sequence.ts';
import { type Stats, statsJson } from '../../journal/stats.ts';
import { journalStats } from '../../recordings/catalog.ts';
import { storeOf } from '../../shell/captures.ts';
import { countText, secondsText, sinceText, spanText } from '../../text/dates.ts';
import { manyText } from '../../text/plural.ts';
import { displayWidth } from '../../text/table.ts';
import { paint, put, putJson, say } from '../output.ts';
import { packedWords, roomWords } from '../room-words.ts';
import type { Flags } from './flags.ts';
import { lookingUp } from './progress.ts';
import { sayUnreadable, unreadableJson } from './unreadable.ts';
import { NO_RECORDINGS, sequenceWords, shortCommand } from './words.ts';

const SHOWN_MAX = 5;
const NAME_WIDTH = 18;

/**
 * `--format json`: the same numbers in the names of the journal, and every command; and where
 * entries are not those that were written
 * "sequence_faults":{"skipped","repeated","backward","missing"}. "captures":{"count","disk_bytes",
 * "packed","packed_bytes","plain_bytes"} are those of the whole journal that are still there, null
 * where this user may not look. "sessions_packed":{"count","packed_bytes","plain_bytes"} where
 * some are.
 */
export async function stats(flags: Flags): Promise<void> {
  const since = flags.since();
  const { directory } = await flags.journal();
  const found = await lookingUp(directory, () =>
    journalStats(directory, since === undefined ? {} : { since }),
  );
  const unreadable = sayUnreadable(directory);
  const room = roomOf(directory);
  const packed = packedRoom(directory);
  if (isFaulty(found.sequence)) say(sequenceWords('this journal', found.sequence));
  if (flags.format() === 'json')
    return putJson({
      ...statsJson(found, since),
      captures: room === undefined ? null : roomJson(room),
      ...(packed.sessions > 0 && { sessions_packed: packedJson(packed) }),
      ...unreadableJson(unreadable),
    });
  if (found.commands === 0 && since === undefined) return put(NO_RECORDINGS);
  const period = sinceText(flags.text('--since'));
  if (found.commands === 0) return put(`No recordings found (${period}).\n`);
  await put(statsText(found, period));
  const lines = [
    ...(room !== undefined && room.captures > 0 ? [roomWords(room)] : []),
    ...(packed.sessions > 0 ? [packedWords(packed)] : []),
  ];
  if (lines.length > 0) await put(`\n${lines.join('\n')}\n`);
}

/** Undefined for a state root that is another user's. */
function roomOf(directory: string): CapturesRoom | undefined {
  try {
    return capturesRoom(storeOf(process.env), directory);
  } catch (error) {
    if (errnoOf(error) === undefined && !isAppError(error)) throw error;
    return undefined;
  }
}

/** The layout of seed 000. */
export function statsText(stats: Stats, period: string): string {
  const title = `Recording Statistics (${period})`;
  const { zero, one, other, none } = stats.exitCodes;
  const shown = stats.frequency.slice(0, SHOWN_MAX);
  const others = stats.frequency.length - shown.length;
  const names = shown.map(({ command }) => shortCommand(command));
  const width = Math.max(NAME_WIDTH, ...names.map((name) => displayWidth(name) + 1));
  const counted = (name: string, count: number, place = NAME_WIDTH): string => {
    const percent = ((100 * count) / stats.commands).toFixed(1);
    const space = ' '.repeat(place - displayWidth(name));
    return `  ${name}${space}- ${countText(count)} (${percent}%)`;
  };
  const lines = [
    title,
    paint('dim', '─'.repeat(title.length + 1)),
    '',
    `Sessions: ${countText(stats.sessions)}`,
    `Total Commands: ${countText(stats.commands)}`,
    `Total Duration: ${spanText(stats.durationMs)}`,
    '',
    'Command Frequency:',
    ...shown.map(({ count }, i) => counted(names[i] ?? '', count, width)),
    ...(others > 0 ? [`  ... and ${manyText(others, 'other')}`] : []),
    '',
    'Exit Code Distribution:',
    counted('0 (success)', zero),
    counted('1 (error)', one),
    counted('2+ (other)', other),
    ...(none > 0 ? [counted('none (killed)', none)] : []),
    '',
    `Average Duration: ${secondsText(stats.averageMs)}`,
    ...(stats.longest === undefined ? [] : [longest(stats.longest)]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function longest({ command, durationMs }: NonNullable<Stats['longest']>): string {
  const words = command === '' ? '[redacted]' : shortCommand(command);
  return `Longest Command: ${words} (${secondsText(durationMs)})`;
}
