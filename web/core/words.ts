// Numbers and times as people read them. Times are those of the reader's clock; the exact one, in
// UTC, is what a title or a copied text has.

export function bytesText(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = count;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** `1 line`, `2 lines`. */
export function manyText(count: number, one: string, more = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : more}`;
}

export function spanText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 9_950 ? 1 : 0)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = Math.round(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** How long ago, or in how long, in one unit. */
export function agoText(at: number, now: number): string {
  const distance = Math.abs(now - at);
  const words = roughSpan(distance);
  if (distance < 5_000) return 'now';
  return at <= now ? `${words} ago` : `in ${words}`;
}

function roughSpan(ms: number): string {
  if (ms < 60_000) return `${Math.floor(ms / 1000)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h`;
  return `${Math.floor(ms / 86_400_000)} d`;
}

const two = (value: number) => String(value).padStart(2, '0');

/** `2026-01-18`, of the reader's calendar. */
export function dayOf(at: number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export function clockText(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Time since the start of a run: `0:03.250`, `1:02:03.250`. */
export function sinceText(ms: number): string {
  const whole = Math.floor(Math.max(0, ms));
  const seconds = Math.floor(whole / 1000);
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = `${two(seconds % 60)}.${String(whole % 1000).padStart(3, '0')}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** `Today`, `Yesterday`, or the date. */
export function dayText(day: string, now: number): string {
  if (day === dayOf(now)) return 'Today';
  if (day === dayOf(now - 86_400_000)) return 'Yesterday';
  const date = new Date(`${day}T12:00:00`);
  return date.toLocaleDateString('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  });
}
