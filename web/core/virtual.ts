// Which rows of a long list are on the screen. The position is counted in rows, because browsers
// cap the height of an element: above the cap the scrollbar is scaled, and one pixel of it is many
// rows.

export const HEIGHT_MAX = 8_000_000; // px; Firefox stops near 17.9 million

export type List = {
  readonly count: number;
  readonly rowHeight: number;
  /** Height of what is seen of it, in px. */
  readonly viewport: number;
};

export type Rows = {
  readonly first: number;
  /** Behind the last one. */
  readonly end: number;
};

/** Height of the element that is scrolled. */
export function heightOf({ count, rowHeight }: List): number {
  return Math.min(HEIGHT_MAX, count * rowHeight);
}

/** The last position: then the last row is at the bottom. */
export function positionMax({ count, rowHeight, viewport }: List): number {
  return Math.max(0, count - viewport / rowHeight);
}

/** The position that belongs to a place of the scrollbar. */
export function positionAt(list: List, scrollTop: number): number {
  const range = heightOf(list) - list.viewport;
  if (range <= 0) return 0;
  return Math.min(1, Math.max(0, scrollTop / range)) * positionMax(list);
}

/** And back. */
export function scrollAt(list: List, position: number): number {
  const most = positionMax(list);
  if (most === 0) return 0;
  return (clampPosition(list, position) / most) * (heightOf(list) - list.viewport);
}

export function clampPosition(list: List, position: number): number {
  return Math.min(positionMax(list), Math.max(0, position));
}

/** The rows to make for a position, with some on either side that a reader scrolls to next. */
export function rowsAt({ count, rowHeight, viewport }: List, position: number, extra = 6): Rows {
  const first = Math.max(0, Math.floor(position) - extra);
  const seen = Math.ceil(position + viewport / rowHeight);
  return { first: Math.min(first, count), end: Math.min(count, seen + extra) };
}

/** The position nearest to this one at which a row is seen whole. */
export function positionShowing(list: List, position: number, row: number): number {
  const seen = list.viewport / list.rowHeight;
  if (row < position) return clampPosition(list, row);
  if (row + 1 > position + seen) return clampPosition(list, row + 1 - seen);
  return clampPosition(list, position);
}
