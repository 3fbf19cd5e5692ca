// Output of a terminal as a player may show it in a person's. What moves the cursor, erases
// and colours passes; what would change the terminal itself, ask it for an answer (which would come
// as typed keys) or leave its part of the screen does not: titles, clipboards, mouse and key modes,
// other screens, bells, pictures. Pure, and without anything of Node.
//
// The bytes mean the same whatever pieces they come in: an unfinished sequence or character is kept
// until its end, so that a line of status can be drawn between two pieces.

const ESC = 0x1b;
const BELL = 0x07;
const NEWLINE = 0x0a;
const CANCEL = 0x18;
const SUBSTITUTE = 0x1a;
const C1_LEAD = 0xc2; // with a byte below 0xa0 it spells a control in UTF-8

/** Backspace, tab, return and the two shifts of character sets. */
const CONTROLS = new Set([0x08, 0x09, 0x0d, 0x0e, 0x0f]);
const SEQUENCE_MAX = 128;
const STRING_MAX = 1024 * 1024;

/** Of ESC and one character: save and restore the cursor, index, next line, tab stop, reverse. */
const ESCAPES = '78DEHM';
const FINALS = '@ABCDEFGHIJKLMPSTXZ`abdefgmrsu';
/** Cursor and wrapping. */
const MODES = new Set(['7', '25']);
/** Other screens: here each is a cleared one. */
const SCREENS = new Set(['47', '1047', '1049']);
const PARAMETERS = /^[0-9;:]*$/;
const LARGE = /\d{5}/; // no terminal has so many cells, and some count every one
const CHARACTER_SETS = /^[()][0AB]$/;

type State = 'text' | 'escape' | 'control' | 'string' | 'title';

export class PlayedBytes {
  /** Lines of the part of the screen that the output may use. */
  rows: number;
  /** The output has saved the cursor and not restored it: the terminal keeps only one. */
  cursorSaved = false;
  readonly #newlines: boolean;
  #state: State = 'text';
  #sequence = '';
  #length = 0;
  /** Bytes of an unfinished character, and how many are still to come. */
  #character: number[] = [];
  #missing = 0;
  #out: number[] = [];

  /** `newlines`: the output did not come from a terminal, so that lines end with `\n` alone. */
  constructor(rows: number, { newlines }: { readonly newlines: boolean }) {
    this.rows = rows;
    this.#newlines = newlines;
  }

  push(bytes: Uint8Array): Uint8Array {
    this.#out = [];
    for (const byte of bytes) this.#take(byte);
    return Uint8Array.from(this.#out);
  }

  /** An empty screen, with nothing left of what was before. */
  clear(): string {
    this.#begin('text');
    this.#missing = 0;
    this.cursorSaved = false;
    return `\x1b[0m\x1b(B\x0f\x1b[4l\x1b[?7h\x1b[?25h${this.#margins('')}\x1b[2J\x1b[H`;
  }

  #take(byte: number): void {
    if (this.#state === 'text') this.#text(byte);
    else if (this.#state === 'string' || this.#state === 'title') this.#string(byte);
    else if (byte < 0x20 || byte > 0x7e) {
      // It was no sequence, and this byte belongs to what follows.
      this.#begin('text');
      this.#text(byte);
    } else if (this.#state === 'escape') this.#escape(byte, String.fromCharCode(byte));
    else this.#control(byte, String.fromCharCode(byte));
  }

  #text(byte: number): void {
    if (this.#missing > 0 && byte >= 0x80 && byte < 0xc0) {
      this.#continue(byte);
      return;
    }
    this.#missing = 0;
    if (byte === ESC) this.#begin('escape');
    else if (byte >= 0xc2 && byte < 0xf5) {
      this.#character = [byte];
      this.#missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    } else if (byte === NEWLINE) this.#emit(this.#newlines ? '\r\n' : '\n');
    else if ((byte >= 0x20 && byte < 0x7f) || CONTROLS.has(byte)) this.#out.push(byte);
  }

  #continue(byte: number): void {
    this.#character.push(byte);
    this.#missing -= 1;
    const isControl = this.#character[0] === C1_LEAD && byte < 0xa0;
    if (this.#missing === 0 && !isControl) this.#out.push(...this.#character);
  }

  #escape(byte: number, character: string): void {
    const whole = this.#sequence + character;
    if (byte < 0x30) this.#more(character);
    else if (whole === '[') this.#begin('control');
    else if (whole === ']') this.#begin('title');
    else if (/^[PX^_]$/.test(whole)) this.#begin('string');
    else {
      this.#begin('text');
      this.#emit(this.#short(whole));
    }
  }

  #short(whole: string): string {
    if (whole === 'c') return this.clear();
    if (whole === '7' || whole === '8') this.cursorSaved = whole === '7';
    const allowed = CHARACTER_SETS.test(whole) || (whole.length === 1 && ESCAPES.includes(whole));
    return allowed ? `\x1b${whole}` : '';
  }

  #control(byte: number, character: string): void {
    if (byte < 0x40) {
      this.#more(character);
      return;
    }
    const parameters = this.#sequence;
    this.#begin('text');
    this.#emit(this.#allowed(parameters, character));
  }

  /** What there is of a control sequence for the terminal. */
  #allowed(parameters: string, final: string): string {
    const isMode = final === 'h' || final === 'l';
    if (parameters.startsWith('?')) return isMode ? this.#modes(parameters.slice(1), final) : '';
    if (!PARAMETERS.test(parameters) || LARGE.test(parameters)) return '';
    if (isMode) return parameters === '4' ? `\x1b[4${final}` : '';
    if (!FINALS.includes(final)) return '';
    if (final === 'r') return this.#margins(parameters);
    // The lines above the screen are the person's; and these letters mean more with parameters.
    if (final === 'J' && /(^|;)3/.test(parameters)) return '';
    if ('su'.includes(final)) return parameters === '' ? this.#saved(final) : '';
    if (final === 'T' && parameters.includes(';')) return '';
    return `\x1b[${parameters}${final}`;
  }

  #saved(final: string): string {
    this.cursorSaved = final === 's';
    return `\x1b[${final}`;
  }

  #modes(parameters: string, final: string): string {
    const all = parameters.split(';');
    const kept = all.filter((mode) => MODES.has(mode)).map((mode) => `\x1b[?${mode}${final}`);
    const screen = all.some((mode) => SCREENS.has(mode)) ? this.clear() : '';
    return screen + kept.join('');
  }

  /** The region that scrolls is within the part of the screen. */
  #margins(parameters: string): string {
    const [top = 1, bottom = this.rows] = parameters
      .split(';')
      .map((one) => Number(one) || undefined);
    const last = Math.min(bottom, this.rows);
    return `\x1b[${top < last ? top : 1};${last}r`;
  }

  #string(byte: number): void {
    this.#length += 1;
    // A title that was never ended is over with its line.
    const broken = this.#state === 'title' && byte === NEWLINE;
    if (byte === ESC) this.#begin('escape');
    else if (byte === CANCEL || byte === SUBSTITUTE || this.#length > STRING_MAX || broken) {
      this.#begin('text');
    } else if (byte === BELL && this.#state === 'title') this.#begin('text');
  }

  #begin(state: State): void {
    this.#state = state;
    this.#sequence = '';
    this.#length = 0;
  }

  #more(character: string): void {
    this.#sequence += character;
    if (this.#sequence.length > SEQUENCE_MAX) this.#begin('text');
  }

  #emit(text: string): void {
    for (let i = 0; i < text.length; i += 1) this.#out.push(text.charCodeAt(i));
  }
}

const CLEARS = ['\x1b[2J', '\x1bc', '\x1b[?1049h', '\x1b[?1049l'];

/** Where in these last bytes of some output a screen can be drawn from: a clearing, else a line. */
export function drawnFrom(bytes: Uint8Array): number {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  const clear = Math.max(...CLEARS.map((one) => text.lastIndexOf(one)));
  return clear >= 0 ? clear : text.indexOf('\n') + 1;
}
