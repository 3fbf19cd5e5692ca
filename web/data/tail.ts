// The last lines of a live run, as they come.
import { signal } from '@preact/signals';
import { type Ink, PLAIN, paint, type Span } from '../core/ansi.ts';
import { followRun } from './live.ts';

const START_BYTES = 32_768; // before what is there when it begins
const LINES_MAX = 300;
const LINE_MAX = 4_096; // characters of a line that is not over

export type TailLine = { readonly number: number; readonly spans: readonly Span[] };

export class Tail {
  readonly lines = signal<readonly TailLine[]>([]);
  /** Of lines since it began. */
  readonly count = signal(0);
  readonly #id: string;
  #offset: number;
  #decoder = new TextDecoder();
  #rest = '';
  #ink: Ink = PLAIN;
  #done: TailLine[] = [];
  #drawing = false;

  constructor(id: string, bytes: number) {
    this.#id = id;
    this.#offset = Math.max(0, bytes - START_BYTES);
  }

  follow(): () => void {
    return followRun({
      id: this.#id,
      from: () => this.#offset,
      bytes: (offset, bytes) => {
        this.#offset = offset + bytes.length;
        this.#add(this.#decoder.decode(bytes, { stream: true }));
      },
      behind: (_, to) => {
        this.#offset = to;
        this.#add('\n');
      },
      state: () => undefined,
    });
  }

  #add(text: string): void {
    const texts = (this.#rest + text).split('\n');
    this.#rest = (texts.pop() ?? '').slice(-LINE_MAX);
    for (const line of texts.slice(-LINES_MAX)) {
      const { spans, ink } = paint(line.endsWith('\r') ? line.slice(0, -1) : line, this.#ink);
      this.#ink = ink;
      this.count.value += 1;
      this.#done.push({ number: this.count.value, spans });
    }
    this.#done = this.#done.slice(-LINES_MAX);
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawing = false;
      const open = paint(this.#rest, this.#ink).spans;
      const last = open.length === 0 ? [] : [{ number: this.count.value + 1, spans: open }];
      this.lines.value = [...this.#done, ...last];
    });
  }
}
