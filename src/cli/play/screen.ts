// A person's terminal while a run is played in it: a screen of its own, of which the last line says
// where the player is, if there is room. It is given back whatever ends the player.

import { writeSync } from 'node:fs';
import { drawnFrom, PlayedBytes } from '../../text/played-bytes.ts';
import { displayWidth } from '../../text/table.ts';
import { put } from '../output.ts';
import type { Recording, TerminalSize } from './recording.ts';

const ENTER = '\x1b[?1049h\x1b[2J\x1b[H';
const LEAVE = '\x1b[0m\x1b(B\x0f\x1b[4l\x1b[?7h\x1b[?25h\x1b[r\x1b[?1049l';
const STDOUT = 1;

/** To go somewhere else, the screen is drawn anew from at most so many bytes before. */
const DRAWN_BYTES_MAX = 1024 * 1024;

/** Of a terminal that does not say its size. */
const SIZE: TerminalSize = { cols: 80, rows: 24 };

export class Screen {
  readonly #recording: Recording;
  #filter: PlayedBytes;
  #entered = false;
  /** The bytes up to here have been shown. */
  #shown = 0;

  constructor(recording: Recording) {
    this.#recording = recording;
    this.#filter = this.#newFilter(0);
  }

  get size(): TerminalSize {
    const { columns = SIZE.cols, rows = SIZE.rows } = process.stdout;
    return { cols: columns || SIZE.cols, rows: rows || SIZE.rows };
  }

  /** The size that the run had, where this terminal is smaller. */
  get tooSmallFor(): TerminalSize | undefined {
    const recorded = this.#recording.sizeAt(this.#shown);
    if (recorded === undefined) return undefined;
    const { cols, rows } = this.size;
    return recorded.cols > cols || recorded.rows > rows ? recorded : undefined;
  }

  enter(): void {
    this.#entered = true;
    process.stdin.setRawMode(true);
    writeSync(STDOUT, ENTER + this.#filter.clear());
  }

  /** May be called at any time, and more than once. */
  leave(): void {
    if (!this.#entered) return;
    this.#entered = false;
    try {
      process.stdin.setRawMode(false);
      writeSync(STDOUT, LEAVE);
    } catch {
      // The terminal is gone, and with it what was to be given back.
    }
  }

  /** Shows the output up to an offset; going back, or far on, draws the screen anew. */
  async show(until: number): Promise<void> {
    if (until < this.#shown || until - this.#shown > DRAWN_BYTES_MAX) await this.#drawAnew(until);
    else await this.#add(until);
  }

  /** After the terminal got another size. */
  async redraw(): Promise<void> {
    await this.#drawAnew(this.#shown);
  }

  /** The line of status, where the output leaves room for it, or is to be covered by it. */
  async status(text: string, cover: boolean): Promise<void> {
    const { rows, cols } = this.size;
    const covers = this.#filter.rows >= rows;
    if (this.#filter.cursorSaved || (covers && !cover)) return;
    const line = fitted(text, cols - 1);
    await put(`\x1b7\x1b[${rows};1H\x1b[0;7m${line}\x1b[0m\x1b[K\x1b8`);
  }

  async #drawAnew(until: number): Promise<void> {
    const from = Math.max(0, until - DRAWN_BYTES_MAX);
    const window = Buffer.concat([...this.#recording.bytes(from, until)]);
    const start = from === 0 ? 0 : drawnFrom(window);
    this.#filter = this.#newFilter(from + start);
    await put(this.#filter.clear());
    this.#shown = from + start;
    await this.#add(until);
  }

  async #add(until: number): Promise<void> {
    const stops = [...this.#recording.resizedBetween(this.#shown, until), until];
    for (const stop of stops) {
      for (const bytes of this.#recording.bytes(this.#shown, stop)) {
        await put(this.#filter.push(bytes));
      }
      this.#shown = stop;
      const rows = this.#rowsAt(stop);
      if (rows === this.#filter.rows) continue;
      this.#filter.rows = rows;
      await put(`\x1b7\x1b[1;${rows}r\x1b8`);
    }
  }

  #newFilter(offset: number): PlayedBytes {
    return new PlayedBytes(this.#rowsAt(offset), { newlines: this.#recording.isPlain });
  }

  /** Of the output: as many as the run had, if there are so many; else all but the last one. */
  #rowsAt(offset: number): number {
    const { rows } = this.size;
    const recorded = this.#recording.isPlain ? undefined : this.#recording.sizeAt(offset);
    const fits = recorded !== undefined && recorded.rows <= rows;
    return Math.max(1, fits ? recorded.rows : rows - 1);
  }
}

function fitted(text: string, width: number): string {
  let line = text;
  while (displayWidth(line) > width) line = line.slice(0, -1);
  return line;
}
