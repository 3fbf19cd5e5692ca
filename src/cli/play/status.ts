// The one line that tells where the player is.

import type { Playback, PlayState } from '../../text/playback.ts';
import type { TerminalSize } from './recording.ts';

const CELLS = 20;
const KEYS = 'space play  ,. step  <> speed  0-9 go to  q quit'; // fits 80 columns with the rest

export function statusText(
  { playing, positionMs, speed }: PlayState,
  playback: Playback,
  tooSmallFor: TerminalSize | undefined,
): string {
  const { lengthMs } = playback;
  const done = lengthMs === 0 ? CELLS : Math.round((positionMs / lengthMs) * CELLS);
  const over = positionMs >= lengthMs;
  return [
    playing ? ' playing' : over ? ' end    ' : ' paused ',
    `${clock(playback.recordedMs(positionMs))} / ${clock(playback.recordedMs(lengthMs))}`,
    `${speed}x`,
    ...(tooSmallFor === undefined ? [] : [smaller(tooSmallFor)]),
    playing ? `[${'='.repeat(done)}${' '.repeat(CELLS - done)}]` : KEYS,
  ].join('  ');
}

function smaller({ cols, rows }: TerminalSize): string {
  return `recorded at ${cols}x${rows}, this terminal is smaller`;
}

/** `1:02.5`, `2:03:04.0` */
function clock(ms: number): string {
  const tenths = Math.floor(ms / 100);
  const [hours, minutes] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60];
  const seconds = `${String(Math.floor(tenths / 10) % 60).padStart(2, '0')}.${tenths % 10}`;
  if (hours === 0) return `${minutes}:${seconds}`;
  return `${hours}:${String(minutes).padStart(2, '0')}:${seconds}`;
}
