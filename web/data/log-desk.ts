// Where a reader stands in a log, and the ways from there: to a line, a match, an error, the end.
import { signal } from '@preact/signals';
import type { RunAnswer } from '../../src/web/api.ts';
import { type LogRow, rowOfLine } from '../core/fold.ts';
import { bytesText } from '../core/words.ts';
import { LogFind, nextError } from './find.ts';
import { FOLDED_BYTES_MAX, foldLog } from './folded.ts';
import { ListState } from './list-state.ts';
import { LogSource } from './log.ts';
import { requery, route, say } from './view.ts';

const ROWS_AHEAD = 40; // fetched behind the screen, before the reader is there

export class LogDesk {
  readonly rowHeight = 20;
  readonly log: LogSource;
  readonly find = new LogFind();
  readonly list = new ListState();
  readonly following;
  readonly folds = signal<readonly LogRow[] | undefined>(undefined);
  /** Lines there were when the reader was at the end last. */
  readonly #seen = signal(0);

  constructor(answer: RunAnswer, follow: boolean) {
    this.log = new LogSource(answer);
    this.following = signal(this.log.open.value && follow);
    this.#seen.value = this.log.count.value;
  }

  /** Lines that came since. */
  get fresh(): number {
    return this.following.value ? 0 : Math.max(0, this.log.count.value - this.#seen.value);
  }

  show(line: number): void {
    const folds = this.folds.value;
    this.following.value = false;
    this.list.count = folds?.length ?? this.log.count.value;
    this.list.rowHeight = this.rowHeight;
    this.list.centre(folds === undefined ? line : rowOfLine(folds, line));
  }

  toEnd(): void {
    this.list.count = this.folds.value?.length ?? this.log.count.value;
    this.list.rowHeight = this.rowHeight;
    this.list.toEnd();
    this.#seen.value = this.log.count.value;
  }

  follow(): void {
    this.following.value = !this.following.value;
    if (this.following.value) this.toEnd();
  }

  /** The reader moved: at the end of what is open is to follow it. */
  scrolled(): void {
    this.following.value = this.log.open.value && this.list.atEnd;
    if (this.list.atEnd) this.#seen.value = this.log.count.value;
  }

  toMatch(direction: 1 | -1): void {
    this.#goTo(this.find.next(here(), direction), 'Nothing is found.');
  }

  async toError(direction: 1 | -1): Promise<void> {
    const found = await nextError(this.log, here(), direction);
    this.#goTo(found, 'No line that says an error in that direction.');
  }

  #goTo(line: number | undefined, otherwise: string): void {
    if (line === undefined) {
      say(otherwise);
      return;
    }
    requery({ line: String(line + 1) });
    this.show(line);
  }

  async fold(): Promise<void> {
    if (this.folds.value !== undefined) this.folds.value = undefined;
    else if (this.log.bytes.value > FOLDED_BYTES_MAX) {
      say(`Folding reads all of a log; this one has ${bytesText(this.log.bytes.value)}.`);
    } else this.folds.value = await foldLog(this.log);
  }

  /** Asks for the lines around what is seen; to be called whenever that moves. */
  ask(): void {
    const from = Math.max(0, Math.floor(this.list.position.value) - ROWS_AHEAD / 2);
    const seen = Math.ceil(this.list.viewport.value / this.rowHeight);
    const end = from + seen + 2 * ROWS_AHEAD;
    const count = this.log.count.value;
    const folds = this.folds.value;
    if (folds === undefined) {
      this.log.want(from, Math.min(count, end));
      return;
    }
    const lines = folds.slice(from, end).flatMap((row) => (row.kind === 'line' ? [row.line] : []));
    const [first, last] = [lines[0], lines.at(-1)];
    if (first !== undefined && last !== undefined) this.log.want(first, last + 1);
  }
}

/** The line that the address names, from 0. */
function here(): number {
  return (Number(route.value.query.line) || 0) - 1;
}
