// Durations as people write them (`24h`, `1h30m`, `1.5s`, `500ms`, `7d`): the rules of Go's
// ParseDuration plus days, without signs. Exact, because `1.001s` must be 1001 ms and not nearly.

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n, // U+00B5, micro sign
  μs: 1_000n, // U+03BC, Greek letter mu
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
};

// More nanoseconds do not fit Go's Duration, and are a mistake.
const NANOSECONDS_MAX = 2n ** 63n - 1n;

const TEXT_LENGTH_MAX = 100;

/** Milliseconds (with a fraction for what is shorter), or undefined for what is no duration. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  const part = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h|d)/y;
  let total = 0n;
  while (part.lastIndex < text.length) {
    const [, whole = '', fraction = '', unit = ''] = part.exec(text) ?? [];
    const scale = NANOSECONDS[unit];
    if (scale === undefined || whole + fraction === '') return undefined;
    total += (BigInt(whole + fraction) * scale) / 10n ** BigInt(fraction.length);
    if (total > NANOSECONDS_MAX) return undefined;
  }
  return text === '' ? undefined : Number(total) / 1e6;
}

/** The shortest text that parses back to the same whole milliseconds: `1d2h`, `1.5s`, `20ms`. */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole === 0) return '0s';
  if (whole < 1000) return `${whole}ms`;
  const seconds = (whole % 60_000) / 1000;
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(whole / 86_400_000), 'd'],
    [Math.floor(whole / 3_600_000) % 24, 'h'],
    [Math.floor(whole / 60_000) % 60, 'm'],
    [seconds, 's'],
  ];
  return parts.map(([count, unit]) => (count === 0 ? '' : `${count}${unit}`)).join('');
}
