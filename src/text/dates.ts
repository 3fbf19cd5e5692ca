// Dates and lengths of time as `cuff record` reads and shows them. Everything is UTC, as the ids of
// sessions are, so that what is shown can be typed back and means the same on every machine.

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

// Longer than this is a mistake, and further back than dates go.
const DIGITS_MAX = 6;

const UNITS: Readonly<Record<string, { readonly word: string; readonly ms?: number }>> = {
  min: { word: 'minute', ms: 60_000 },
  h: { word: 'hour', ms: HOUR_MS },
  d: { word: 'day', ms: DAY_MS },
  w: { word: 'week', ms: 7 * DAY_MS },
  m: { word: 'month' }, // of the calendar, like years: they are not all equally long
  y: { word: 'year' },
};

/**
 * The time that `text` names, in epoch milliseconds: midnight of a day (`2026-01-18`), or so long
 * before `now` (`7d`, `2w`, `12h`, `30min`; `1m` is a month, `1y` a year). A month before the 31st
 * is the last day of a shorter month. Undefined for what is neither.
 */
export function parseSince(text: string, now: number): number | undefined {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) {
    const at = Date.parse(`${text}T00:00:00Z`);
    // A lenient parser takes the 30th of February; we do not.
    return !Number.isNaN(at) && dateText(at) === text ? at : undefined;
  }
  const relative = relativeOf(text);
  if (relative === undefined) return undefined;
  const { count, unit } = relative;
  const { ms } = UNITS[unit] ?? {};
  if (ms !== undefined) return Math.max(0, now - count * ms);
  return Math.max(0, monthsBefore(now, unit === 'y' ? count * 12 : count));
}

/** The period that begins there, in words: `last 30 days`, `since 2026-01-18`, `all time`. */
export function sinceText(text: string | undefined): string {
  if (text === undefined) return 'all time';
  const relative = relativeOf(text);
  if (relative === undefined) return `since ${text}`;
  const word = UNITS[relative.unit]?.word ?? '';
  return relative.count === 1 ? `last ${word}` : `last ${relative.count} ${word}s`;
}

function relativeOf(text: string): { readonly count: number; readonly unit: string } | undefined {
  const [, digits, unit] = /^(\d+)(min|h|d|w|m|y)$/.exec(text) ?? [];
  if (digits === undefined || unit === undefined || digits.length > DIGITS_MAX) return undefined;
  return { count: Number(digits), unit };
}

function monthsBefore(now: number, months: number): number {
  const date = new Date(now);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() - months);
  const last = new Date(date);
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  date.setUTCDate(Math.min(day, last.getUTCDate()));
  return Number.isNaN(date.getTime()) ? 0 : date.getTime();
}

/** `2026-01-18T14:30:52.123Z`, as all files and JSON answers have it. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** `2026-01-18` */
export function dateText(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** `2026-01-18 14:30:52`; a text that is no time is shown as it is. */
export function timeText(time: string | number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return String(time);
  return date.toISOString().slice(0, 19).replace('T', ' ');
}

/** How long many commands took: `4h 23m`, `2m 34s`, `45s`, `320ms`. To the nearest unit shown. */
export function spanText(ms: number): string {
  const whole = Math.max(0, Math.floor(ms));
  if (whole === 0) return '0s';
  if (whole < 1000) return `${whole}ms`;
  const seconds = Math.round(whole / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** How long one command took: `45.3s`, `320ms`, and from a minute on `2m 34s`. */
export function secondsText(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1000) return spanText(whole);
  const tenths = Math.round(whole / 100);
  return tenths < 600 ? `${(tenths / 10).toFixed(1)}s` : spanText(Math.max(whole, 60_000));
}

/** `1,523` */
export function countText(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
