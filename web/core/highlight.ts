// Where a text was found, inside of painted spans: the same spans, cut at the edges of each match.
import type { Span } from './ansi.ts';

export type FoundSpan = Span & { readonly found: boolean };

/** Letters of either case are the same. A match that colours cut in two is marked in both. */
export function highlight(spans: readonly Span[], text: string): FoundSpan[] {
  const whole = spans.map((span) => span.text).join('');
  const lower = whole.toLowerCase();
  const wanted = text.toLowerCase();
  // Letters whose lower case is longer would move what stands behind them.
  if (wanted === '' || lower.length !== whole.length) return spans.map(unfound);
  const edges: (readonly [number, number])[] = [];
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length)) {
    edges.push([at, at + wanted.length]);
  }
  if (edges.length === 0) return spans.map(unfound);
  let start = 0;
  return spans.flatMap((span) => {
    const pieces = cutSpan(span, start, edges);
    start += span.text.length;
    return pieces;
  });
}

const unfound = (span: Span): FoundSpan => ({ ...span, found: false });

function cutSpan(
  { text, ink }: Span,
  start: number,
  edges: readonly (readonly [number, number])[],
): FoundSpan[] {
  const end = start + text.length;
  const pieces: FoundSpan[] = [];
  const add = (from: number, to: number, found: boolean) => {
    if (to > from) pieces.push({ text: text.slice(from - start, to - start), ink, found });
  };
  let at = start;
  for (const [from, to] of edges) {
    if (to <= at || from >= end) continue;
    add(at, Math.max(at, from), false);
    add(Math.max(at, from), Math.min(to, end), true);
    at = Math.min(to, end);
  }
  add(at, end, false);
  return pieces;
}
