// A painted line as elements: classes for the palette, colours by the style object (which a strict
// policy lets scripts set), the text as a text node.
import type { Ink, Span } from '../core/ansi.ts';
import type { FoundSpan } from '../core/highlight.ts';

export function Painted({ spans }: { readonly spans: readonly (Span | FoundSpan)[] }) {
  return (
    <>
      {spans.map((span, at) => {
        const { text, ink } = span;
        const look = lookOf(ink);
        if ('found' in span && span.found) return <mark key={at}>{text}</mark>;
        if (look === undefined) return text;
        return (
          <span key={at} class={look.classes} style={look.style}>
            {text}
          </span>
        );
      })}
    </>
  );
}

type Look = { readonly classes: string; readonly style: Readonly<Record<string, string>> };

function lookOf(ink: Ink): Look | undefined {
  const { fg, bg } = ink;
  const classes = (['bold', 'dim', 'italic', 'underline', 'inverse', 'strike'] as const)
    .filter((name) => ink[name] === true)
    .map((name) => `ink-${name}`);
  if (typeof fg === 'number') classes.push(`fg${fg}`);
  if (typeof bg === 'number') classes.push(`bg${bg}`);
  const style = {
    ...(typeof fg === 'string' && { color: fg }),
    ...(typeof bg === 'string' && { backgroundColor: bg }),
  };
  if (classes.length === 0 && Object.keys(style).length === 0) return undefined;
  return { classes: classes.join(' '), style };
}
