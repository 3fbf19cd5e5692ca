// Sessions as a list with a line for each day: what stands in it, row by row.
import { dayOf } from './words.ts';

export type DayRow<T> =
  | { readonly kind: 'day'; readonly day: string; readonly count: number }
  | { readonly kind: 'item'; readonly item: T; readonly index: number };

/** `items` are in the order in which they are shown; a day begins where another one is. */
export function byDay<T>(items: readonly T[], timeOf: (item: T) => number): DayRow<T>[] {
  const rows: DayRow<T>[] = [];
  let head = -1;
  items.forEach((item, index) => {
    const day = dayOf(timeOf(item));
    const last = rows[head];
    if (last?.kind === 'day' && last.day === day) {
      rows[head] = { ...last, count: last.count + 1 };
    } else {
      head = rows.length;
      rows.push({ kind: 'day', day, count: 1 });
    }
    rows.push({ kind: 'item', item, index });
  });
  return rows;
}

/** How many items there are by day, for the last `days` up to `now`, oldest first. */
export function countsByDay(times: readonly number[], now: number, days: number): number[] {
  const counts = new Map<string, number>();
  for (const at of times) counts.set(dayOf(at), (counts.get(dayOf(at)) ?? 0) + 1);
  return Array.from({ length: days }, (_, index) => {
    const at = new Date(now);
    at.setHours(12, 0, 0, 0);
    at.setDate(at.getDate() - (days - 1 - index));
    return counts.get(dayOf(at.getTime())) ?? 0;
  });
}
