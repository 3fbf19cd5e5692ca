// One line of output as spans of text with colours, the way a terminal would have left it: carriage
// returns and backspaces overwrite, escape sequences are obeyed if they are about colour or erase
// the line, and are dropped otherwise. Nothing in here makes HTML: a span is text and a style.
import { visible } from './visible.ts';

/** A colour: 0-15 of the palette, or `#rrggbb`. */
type Colour = number | string;

export type Ink = {
  readonly fg?: Colour;
  readonly bg?: Colour;
  readonly bold?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly inverse?: true;
  readonly strike?: true;
};

export type Span = { readonly text: string; readonly ink: Ink };
export type PaintedLine = { readonly spans: readonly Span[]; readonly ink: Ink };

export const PLAIN: Ink = {};

/** Columns that a line may have here: what stands behind them is told by its length. */
export const COLUMNS_MAX = 8_192;

// CSI, the strings (OSC, DCS, SOS, PM, APC) to their end, then two-character escapes.
const ESCAPE =
  /\x1b\[([0-?]*)([ -/]*)([@-~])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?/y;
const QUIET = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/;

/** `ink` is what the line before left on. */
export function paint(line: string, ink: Ink = PLAIN): PaintedLine {
  if (!QUIET.test(line) && line.length <= COLUMNS_MAX) {
    return { spans: line === '' ? [] : [{ text: visible(line), ink }], ink };
  }
  return new Painter(ink).line(line);
}

/** The same text without a terminal: every control character is shown as what it is. */
export function raw(line: string): PaintedLine {
  const text = visible(line.slice(0, COLUMNS_MAX));
  return { spans: text === '' ? [] : [{ text, ink: PLAIN }], ink: PLAIN };
}

/** What a reader of the line sees, for searches. */
export function plainText(line: string): string {
  if (!QUIET.test(line)) return line;
  return paint(line)
    .spans.map((span) => span.text)
    .join('');
}

class Painter {
  readonly #cells: string[] = [];
  readonly #inks: Ink[] = [];
  #column = 0;
  #ink: Ink;

  constructor(ink: Ink) {
    this.#ink = ink;
  }

  line(line: string): PaintedLine {
    for (let at = 0; at < line.length && this.#column < COLUMNS_MAX; ) {
      const code = line.charCodeAt(at);
      if (code === 0x1b) {
        ESCAPE.lastIndex = at;
        const found = ESCAPE.exec(line);
        this.#obey(found);
        at += Math.max(1, found?.[0].length ?? 1);
      } else {
        const wide = code >= 0xd800 && code < 0xdc00 && at + 1 < line.length ? 2 : 1;
        this.#put(line.slice(at, at + wide), code);
        at += wide;
      }
    }
    return { spans: this.#spans(), ink: this.#ink };
  }

  #put(character: string, code: number): void {
    if (code === 0x0d) this.#column = 0;
    else if (code === 0x08) this.#column = Math.max(0, this.#column - 1);
    else if (code === 0x07 || code === 0x0e || code === 0x0f)
      return; // rings, or changes the font
    else {
      while (this.#cells.length < this.#column) this.#write(this.#cells.length, ' ');
      this.#write(this.#column, character);
      this.#column += 1;
    }
  }

  #write(column: number, character: string): void {
    this.#cells[column] = character;
    this.#inks[column] = this.#ink;
  }

  #obey(found: RegExpExecArray | null): void {
    const [, parameters, between, final] = found ?? [];
    if (parameters === undefined || between !== '') return;
    if (final === 'm') this.#ink = inkAfter(this.#ink, parameters);
    else if (final === 'K') this.#erase(Number(parameters) || 0);
    else if (final === 'G') this.#column = columnOf(parameters) - 1;
    else if (final === 'C')
      this.#column = Math.min(COLUMNS_MAX, this.#column + columnOf(parameters));
    else if (final === 'D') this.#column = Math.max(0, this.#column - columnOf(parameters));
  }

  /** 0: from here to the end; 1: from the start to here; 2: everything. */
  #erase(what: number): void {
    if (what === 1) {
      for (let at = 0; at <= this.#column && at < this.#cells.length; at += 1) {
        this.#cells[at] = ' ';
      }
      return;
    }
    const from = what === 2 ? 0 : this.#column;
    this.#cells.length = Math.min(this.#cells.length, from);
    this.#inks.length = this.#cells.length;
  }

  #spans(): Span[] {
    const spans: { text: string; ink: Ink }[] = [];
    this.#cells.forEach((character, column) => {
      const ink = this.#inks[column] ?? PLAIN;
      const last = spans.at(-1);
      if (last?.ink === ink) last.text += character;
      else spans.push({ text: character, ink });
    });
    return spans.map(({ text, ink }) => ({ text: visible(text), ink }));
  }
}

function columnOf(parameters: string): number {
  return Math.min(COLUMNS_MAX, Math.max(1, Number.parseInt(parameters, 10) || 1));
}

const SWITCHES: Readonly<Record<number, keyof Ink>> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  7: 'inverse',
  9: 'strike',
};

const OFF: Readonly<Record<number, readonly (keyof Ink)[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['strike'],
  39: ['fg'],
  49: ['bg'],
};

/** The colours after `CSI parameters m`. */
export function inkAfter(ink: Ink, parameters: string): Ink {
  const codes = parameters.split(/[;:]/).map((word) => Number(word) || 0);
  let now: Ink = ink;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    const on = SWITCHES[code];
    if (code === 0) now = PLAIN;
    else if (on !== undefined) now = { ...now, [on]: true };
    else if (OFF[code] !== undefined) now = without(now, OFF[code]);
    else if (code === 38 || code === 48) {
      const { colour, used } = longColour(codes, at + 1);
      if (colour !== undefined) now = { ...now, [code === 38 ? 'fg' : 'bg']: colour };
      at += used;
    } else now = withPalette(now, code);
  }
  return now;
}

function withPalette(ink: Ink, code: number): Ink {
  if (code >= 30 && code <= 37) return { ...ink, fg: code - 30 };
  if (code >= 90 && code <= 97) return { ...ink, fg: code - 82 };
  if (code >= 40 && code <= 47) return { ...ink, bg: code - 40 };
  if (code >= 100 && code <= 107) return { ...ink, bg: code - 92 };
  return ink;
}

function without(ink: Ink, keys: readonly (keyof Ink)[]): Ink {
  return Object.fromEntries(
    Object.entries(ink).filter(([key]) => !keys.includes(key as keyof Ink)),
  ) as Ink;
}

/** `5;N` or `2;R;G;B`, as they stand behind 38 and 48. */
function longColour(codes: readonly number[], at: number): { colour?: Colour; used: number } {
  if (codes[at] === 5) {
    const index = codes[at + 1] ?? -1;
    return index >= 0 && index <= 255 ? { colour: indexed(index), used: 2 } : { used: 2 };
  }
  if (codes[at] !== 2) return { used: 1 };
  const rgb = codes.slice(at + 1, at + 4);
  return rgb.length === 3 && rgb.every((one) => one <= 255)
    ? { colour: hex(rgb), used: 4 }
    : { used: 4 };
}

function indexed(index: number): Colour {
  if (index < 16) return index;
  if (index >= 232) return hex(Array(3).fill(8 + (index - 232) * 10));
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  const cube = index - 16;
  return hex([level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)]);
}

function hex(parts: readonly number[]): string {
  return `#${parts.map((one) => one.toString(16).padStart(2, '0')).join('')}`;
}
