import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countText,
  dateText,
  parseSince,
  secondsText,
  sinceText,
  spanText,
  timeText,
} from '../../src/text/dates.ts';

const NOW = Date.parse('2026-03-31T12:34:56.789Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function iso(text: string, now = NOW): string | undefined {
  const at = parseSince(text, now);
  return at === undefined ? undefined : new Date(at).toISOString();
}

describe('a time to start from', () => {
  it('is the midnight of a date', () => {
    expect(iso('2026-01-18')).toBe('2026-01-18T00:00:00.000Z');
    expect(iso('2024-02-29')).toBe('2024-02-29T00:00:00.000Z');
  });

  it('is so long ago: minutes, hours, days, weeks', () => {
    expect(NOW - (parseSince('30min', NOW) ?? 0)).toBe(30 * 60_000);
    expect(NOW - (parseSince('12h', NOW) ?? 0)).toBe(12 * HOUR);
    expect(NOW - (parseSince('7d', NOW) ?? 0)).toBe(7 * DAY);
    expect(NOW - (parseSince('2w', NOW) ?? 0)).toBe(14 * DAY);
    expect(parseSince('0d', NOW)).toBe(NOW);
  });

  it('counts months and years by the calendar, and ends with a shorter month', () => {
    expect(iso('1m')).toBe('2026-02-28T12:34:56.789Z');
    expect(iso('3m')).toBe('2025-12-31T12:34:56.789Z');
    expect(iso('1y')).toBe('2025-03-31T12:34:56.789Z');
    expect(iso('1y', Date.parse('2024-02-29T00:00:00Z'))).toBe('2023-02-28T00:00:00.000Z');
    expect(iso('9999y')).toBe('1970-01-01T00:00:00.000Z');
  });

  it('is nothing else', () => {
    const wrong = ['', 'invalid', '2026-02-30', '2026-13-01', '2026-1-1', '7', 'd', '-7d', '+7d'];
    const odd = ['7 d', '7D', '1M', '1.5d', '7days', '1h30m', '1234567d', '2026-01-18T00:00', '٧d'];
    for (const text of [...wrong, ...odd])
      expect([text, parseSince(text, NOW)]).toEqual([text, undefined]);
  });

  it('never lies ahead of now when it is relative, and more is never later', () => {
    const unit = fc.constantFrom('min', 'h', 'd', 'w', 'm', 'y');
    const now = fc.integer({ min: 0, max: Date.UTC(2100, 0) });
    fc.assert(
      fc.property(fc.nat(99_998), unit, now, (count, name, at) => {
        const [less, more] = [count, count + 1].map((n) => parseSince(`${n}${name}`, at) ?? NaN);
        expect(less).toBeLessThanOrEqual(at);
        expect(more).toBeLessThanOrEqual(less ?? 0);
        expect(more).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('is the day that a date was made from', () => {
    const day = fc.integer({ min: 0, max: 47_000 });
    fc.assert(
      fc.property(day, (n) => {
        expect(parseSince(dateText(n * DAY + 5), NOW)).toBe(n * DAY);
      }),
    );
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseSince(text, NOW)));
  });
});

it('a period in words', () => {
  const words = ['30d', '1d', '2w', '1m', '12h', '30min', '1y'].map(sinceText);
  expect(words).toEqual([
    'last 30 days',
    'last day',
    'last 2 weeks',
    'last month',
    'last 12 hours',
    'last 30 minutes',
    'last year',
  ]);
  expect([sinceText('2026-01-18'), sinceText(undefined)]).toEqual(['since 2026-01-18', 'all time']);
});

it('times are shown in UTC, and what is no time as it is', () => {
  expect(timeText('2026-01-18T14:30:52.123456Z')).toBe('2026-01-18 14:30:52');
  expect(timeText(0)).toBe('1970-01-01 00:00:00');
  expect(timeText('soon')).toBe('soon');
});

it('how long many commands took', () => {
  const shown = [0, 0.4, 1, 999, 1000, 45_300, 1_933, 59_999, 60_000, 154_000, 72_000].map(
    spanText,
  );
  expect(shown).toEqual([
    ...['0s', '0s', '1ms', '999ms', '1s', '45s', '2s', '1m 0s', '1m 0s', '2m 34s', '1m 12s'],
  ]);
  expect([3_599_999, 3_600_000, 15_780_000, 360_000_000].map(spanText)).toEqual([
    ...['1h 0m', '1h 0m', '4h 23m', '100h 0m'],
  ]);
});

it('how long one command took', () => {
  const shown = [0, 12.4, 999.4, 999.6, 1_200, 45_300, 59_949, 59_950, 60_000, 154_000];
  expect(shown.map(secondsText)).toEqual([
    ...['0s', '12ms', '999ms', '1.0s', '1.2s', '45.3s', '59.9s', '1m 0s', '1m 0s', '2m 34s'],
  ]);
});

it('counts have separators', () => {
  expect([0, 999, 1523, 1_234_567].map(countText)).toEqual(['0', '999', '1,523', '1,234,567']);
});
