// Finding in a log: the server searches, some of it at a time, and the count grows while it does.
// Errors are looked for here, by the words that tell them in every answer of cuff.
import { signal } from '@preact/signals';
import { errorWeight } from '../../src/text/error-lines.ts';
import type { FindAnswer } from '../../src/web/api.ts';
import { plainText } from '../core/ansi.ts';
import { get, Refusal } from './client.ts';
import type { LogSource } from './log.ts';

const MATCHES_MAX = 20_000; // that can be stepped through; the count goes on
const ERROR_STEP_BYTES = 1_048_576;
const ERROR_BYTES_MAX = 67_108_864; // looked through for one key

export class LogFind {
  /** Line numbers from 0 that match, in order, each once. */
  readonly lines = signal<readonly number[]>([]);
  readonly count = signal(0);
  readonly busy = signal(false);
  readonly failure = signal<Refusal | undefined>(undefined);
  text = '';
  #run = 0;

  async look(id: string, text: string, regex: boolean): Promise<void> {
    this.#run += 1;
    const run = this.#run;
    this.text = text;
    this.lines.value = [];
    this.count.value = 0;
    this.failure.value = undefined;
    this.busy.value = text !== '';
    try {
      let from: number | null = text === '' ? null : 0;
      while (from !== null) {
        const path = `runs/${encodeURIComponent(id)}/find`;
        const query = { q: text, regex: regex ? 1 : undefined, from, limit: 5_000 };
        const answer: FindAnswer = await get<FindAnswer>(path, query);
        if (run !== this.#run) return;
        this.count.value += answer.count;
        if (this.lines.value.length < MATCHES_MAX) {
          const more = answer.matches.map(({ line }) => line - 1);
          this.lines.value = [...new Set([...this.lines.value, ...more])];
        }
        from = answer.next !== null && answer.next > from ? answer.next : null;
      }
    } catch (error) {
      if (run === this.#run && error instanceof Refusal) this.failure.value = error;
    } finally {
      if (run === this.#run) this.busy.value = false;
    }
  }

  next(from: number, direction: 1 | -1): number | undefined {
    const lines = this.lines.value;
    return direction === 1
      ? (lines.find((line) => line > from) ?? lines[0])
      : (lines.findLast((line) => line < from) ?? lines.at(-1));
  }
}

/** The next line that says an error, from a line on; undefined where there is none near enough. */
export async function nextError(
  log: LogSource,
  from: number,
  direction: 1 | -1,
): Promise<number | undefined> {
  const isError = (text: string) => errorWeight(plainText(text)) === 'strong';
  let searched = 0;
  if (direction === 1) {
    if (from + 1 >= log.count.value) return undefined;
    let { line, offset } = await log.place({ line: from + 1 });
    while (searched < ERROR_BYTES_MAX && offset < log.bytes.value) {
      const piece = await log.piece(offset, Math.min(log.bytes.value, offset + ERROR_STEP_BYTES));
      if (piece === undefined || piece.end <= offset) return undefined;
      if (piece.offset !== offset) line = (await log.place({ offset: piece.offset })).line;
      const found = piece.lines.findIndex(({ text }) => isError(text));
      if (found >= 0) return line + found;
      line += piece.lines.length;
      searched += piece.end - offset;
      offset = piece.end;
    }
    return undefined;
  }
  let end = from <= 0 ? 0 : (await log.place({ line: from })).offset;
  while (searched < ERROR_BYTES_MAX && end > 0) {
    const { line, offset } = await log.place({ offset: Math.max(0, end - ERROR_STEP_BYTES) });
    const piece = await log.piece(offset, end);
    const at = piece?.lines.findLastIndex((one) => one.offset < end && isError(one.text)) ?? -1;
    if (at >= 0) return line + at;
    searched += end - offset;
    if (offset >= end) return undefined;
    end = offset;
  }
  return undefined;
}
