// The headers of every answer: the page runs its own code alone, is in no frame, and leaves nothing
// in a cache.

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
];

const COMMON: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** With a nonce: of the page, whose styles carry it. */
export function headersOf(nonce?: string): Readonly<Record<string, string>> {
  const styles = nonce === undefined ? '' : ` 'nonce-${nonce}'`;
  const policy = [...POLICY, `style-src 'self'${styles}`];
  return { ...COMMON, 'content-security-policy': policy.join('; ') };
}
