// Output that came as text of channels, as painted lines.
import type { OutputPart } from '../../src/web/api.ts';
import { COLUMNS_MAX, type Ink, PLAIN, paint, type Span } from './ansi.ts';

export type OutputLine = {
  readonly channel: OutputPart['channel'];
  readonly spans: readonly Span[];
  /** Characters that are not shown. */
  readonly cut: number;
};

/** A line that two channels share is two lines: nothing says in which order they were seen. */
export function outputLines(parts: readonly OutputPart[]): OutputLine[] {
  const lines: OutputLine[] = [];
  const inks = new Map<string, Ink>();
  for (const { channel, text } of parts) {
    let ink = inks.get(channel) ?? PLAIN;
    const texts = text.split('\n');
    if (texts.at(-1) === '') texts.pop();
    for (const one of texts) {
      const painted = paint(one.endsWith('\r') ? one.slice(0, -1) : one, ink);
      ink = painted.ink;
      lines.push({ channel, spans: painted.spans, cut: Math.max(0, one.length - COLUMNS_MAX) });
    }
    inks.set(channel, ink);
  }
  return lines;
}

/** The same as a person would copy it. */
export function outputText(parts: readonly OutputPart[]): string {
  return outputLines(parts)
    .map(({ spans }) => spans.map(({ text }) => text).join(''))
    .join('\n');
}
