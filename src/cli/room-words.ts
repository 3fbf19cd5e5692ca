// How much room captures and packed sessions take, for people and for programs.
import type { CapturesRoom } from '../capture/room.ts';
import type { PackedRoom } from '../journal/packed/room.ts';
import { countText } from '../text/dates.ts';
import { formatSize } from '../text/size.ts';

/** `Captures: 120, 340.2 MiB; 80 packed, 1.9 GiB in 310 MiB (6.3:1)` */
export function roomWords({ captures, packed, ...room }: CapturesRoom): string {
  const all = `Captures: ${countText(captures)}, ${formatSize(room.diskBytes)}`;
  if (packed === 0) return all;
  return `${all}; ${countText(packed)} packed, ${savedWords(room)}`;
}

/** `Sessions: 12 packed, 1.9 MiB in 310 KiB (6.3:1)` */
export function packedWords({ sessions, ...room }: PackedRoom): string {
  return `Sessions: ${countText(sessions)} packed, ${savedWords(room)}`;
}

function savedWords({ plainBytes, packedBytes }: Omit<PackedRoom, 'sessions'>): string {
  const ratio = (plainBytes / packedBytes).toFixed(1);
  return `${formatSize(plainBytes)} in ${formatSize(packedBytes)} (${ratio}:1)`;
}
