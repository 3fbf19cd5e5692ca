// How much room captures take, for people and for programs.
import type { CapturesRoom } from '../capture/room.ts';
import { countText } from '../text/dates.ts';
import { formatSize } from '../text/size.ts';

/** `Captures: 120, 340.2 MiB; 80 packed, 1.9 GiB in 310 MiB (6.3:1)` */
export function roomWords({ captures, packed, ...room }: CapturesRoom): string {
  const all = `Captures: ${countText(captures)}, ${formatSize(room.diskBytes)}`;
  if (packed === 0) return all;
  const { plainBytes, packedBytes } = room;
  const ratio = (plainBytes / packedBytes).toFixed(1);
  const sizes = `${formatSize(plainBytes)} in ${formatSize(packedBytes)} (${ratio}:1)`;
  return `${all}; ${countText(packed)} packed, ${sizes}`;
}
