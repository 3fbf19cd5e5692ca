// Plays a run into a terminal: its bytes at the times at which they were recorded, its sizes where
// they changed. To seek, the terminal is put back to a keyframe and written to from there.
import { signal } from '@preact/signals';
import { SerializeAddon } from '@xterm/addon-serialize';
import { Terminal } from '@xterm/xterm';
import type { IndexAnswer, PlaceAnswer, RunAnswer } from '../../src/web/api.ts';
import { type Beat, KEYFRAME_BYTES, keyframeBefore, stepOf, waitBefore } from '../core/clock.ts';
import { get, getBytes } from './client.ts';

const BEATS = 2_000; // of the index, fetched at once
const BEATS_LOW = 200;
const FAR_BYTES = 4_194_304; // without a keyframe nearer, so much is written to seek
const SCROLLBACK = 1_000;

export type Size = { readonly cols: number; readonly rows: number };

export class Player {
  readonly time = signal(0);
  readonly end = signal(0);
  readonly playing = signal(false);
  readonly speed = signal(1);
  readonly idleCap = signal(2);
  readonly terminal: Terminal;
  readonly #answer: RunAnswer;
  readonly #path: string;
  readonly #serialize = new SerializeAddon();
  readonly #keyframes = new Map<number, string>();
  readonly #sizes: readonly (Size & { readonly offset: number })[];
  #beats: Beat[] = [];
  #next = 0; // where the index goes on
  #offset = 0;
  #steps: number[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #chain: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(answer: RunAnswer, reader: boolean) {
    this.#answer = answer;
    this.#path = `runs/${encodeURIComponent(answer.run.session_id)}`;
    this.#sizes = sizesOf(answer);
    const { cols, rows } = this.#sizeAt(0);
    this.terminal = new Terminal({
      cols,
      rows,
      scrollback: SCROLLBACK,
      convertEol: answer.meta?.transport !== 'pty',
      disableStdin: true,
      screenReaderMode: reader,
      fontSize: 13,
      fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace',
      theme: { background: '#101417', foreground: '#e3e8ea' },
      // What a command prints is never a link here: OSC 8 can say one thing and open another.
      linkHandler: { activate: () => undefined },
    });
    this.terminal.loadAddon(this.#serialize);
  }

  get bytes(): number {
    return this.#answer.totals.bytes;
  }

  get offset(): number {
    return this.#offset;
  }

  async begin(): Promise<void> {
    const last = await get<PlaceAnswer>(`${this.#path}/place`, {
      offset: Math.max(0, this.bytes - 1),
    });
    const { run, t0 } = this.#answer;
    const ended = run.ended_at === null ? 0 : Date.parse(run.ended_at) - t0;
    this.end.value = Math.max(1, last.t ?? 0, ended);
  }

  close(): void {
    this.#closed = true;
    this.pause();
    this.terminal.dispose();
  }

  toggle(): void {
    if (this.playing.value) this.pause();
    else this.play();
  }

  pause(): void {
    clearTimeout(this.#timer);
    this.playing.value = false;
  }

  play(): void {
    this.playing.value = true;
    if (this.#offset >= this.bytes) void this.#do(() => this.#to(0));
    void this.#do(() => this.#schedule());
  }

  /** One thing after the other: a key that comes while bytes are fetched waits for them. */
  #do(what: () => Promise<void>): Promise<void> {
    this.#chain = this.#chain.then(() => (this.#closed ? undefined : what()));
    return this.#chain;
  }

  async #schedule(): Promise<void> {
    clearTimeout(this.#timer);
    const [beat] = await this.#ahead();
    if (beat === undefined || !this.playing.value) return this.pause();
    const wait = waitBefore(beat, this.time.value, this.speed.value, this.idleCap.value);
    this.#timer = setTimeout(() => {
      void this.#do(async () => {
        if (!this.playing.value) return;
        await this.#step();
        await this.#schedule();
      });
    }, wait);
  }

  step(): void {
    this.pause();
    void this.#do(() => this.#step());
  }

  stepBack(): void {
    this.pause();
    void this.#do(async () => {
      const before = this.#steps.pop() ?? 0;
      await this.#to(before);
    });
  }

  /** To a time of the recording. */
  seek(t: number): void {
    void this.#do(async () => {
      const place =
        t <= 0 ? 0 : (await get<PlaceAnswer>(`${this.#path}/place`, { t: Math.round(t) })).offset;
      await this.#to(t >= this.end.value ? this.bytes : place);
      this.time.value = Math.min(this.end.value, Math.max(0, t));
      if (this.playing.value) await this.#schedule();
    });
  }

  async #step(): Promise<void> {
    const beats = stepOf(await this.#ahead());
    const last = beats.at(-1);
    if (last === undefined) return;
    this.#steps = [...this.#steps.slice(-999), this.#offset];
    await this.#write(last.offset + last.length);
    this.time.value = last.t;
  }

  /** What comes next, by the index. */
  async #ahead(): Promise<readonly Beat[]> {
    this.#beats = this.#beats.filter((beat) => beat.offset + beat.length > this.#offset);
    if (this.#beats.length < BEATS_LOW && this.#next < this.bytes) {
      const answer = await get<IndexAnswer>(`${this.#path}/index`, {
        from: this.#next,
        limit: BEATS,
      });
      for (const { offset, length, t, timestamp } of answer.records) {
        const at = t ?? Date.parse(timestamp) - this.#answer.t0;
        if (offset + length > this.#offset) this.#beats.push({ offset, length, t: at });
      }
      this.#next = answer.next > this.#next ? answer.next : this.bytes;
    }
    return this.#beats;
  }

  /** To a byte: forward from here or from a keyframe that is nearer. */
  async #to(target: number): Promise<void> {
    const keyframe = keyframeBefore(this.#keyframes.keys(), target);
    const far = target - FAR_BYTES;
    if (target < this.#offset || (keyframe ?? far) > this.#offset) {
      this.terminal.reset();
      this.#offset = keyframe ?? Math.max(0, far);
      const state = keyframe === undefined ? '' : (this.#keyframes.get(keyframe) ?? '');
      this.#resize();
      await this.#put(state);
    }
    await this.#write(target);
    this.#beats = [];
    this.#next = this.#offset;
    this.#steps = this.#steps.filter((one) => one < this.#offset);
    const [beat] = await this.#ahead();
    this.time.value = beat === undefined ? this.end.value : Math.min(this.time.value, beat.t);
    if (target === 0) this.time.value = 0;
  }

  /** Everything up to a byte, with sizes where they changed and keyframes on the way. */
  async #write(end: number): Promise<void> {
    while (this.#offset < end) {
      const resize = this.#sizes.find(({ offset }) => offset > this.#offset && offset < end);
      const stop = Math.min(end, resize?.offset ?? end, this.#offset + KEYFRAME_BYTES);
      const piece = await getBytes(this.#answer.run.session_id, this.#offset, stop);
      if (piece === undefined || piece.bytes.length === 0) {
        this.#offset = stop;
        continue;
      }
      await this.#put(piece.bytes);
      this.#offset = piece.offset + piece.bytes.length;
      this.#resize();
      this.#keep();
    }
  }

  #put(data: string | Uint8Array): Promise<void> {
    return new Promise((done) => this.terminal.write(data, done));
  }

  #keep(): void {
    const last = keyframeBefore(this.#keyframes.keys(), this.#offset);
    if (this.#offset - (last ?? 0) < KEYFRAME_BYTES) return;
    this.#keyframes.set(this.#offset, this.#serialize.serialize({ scrollback: 0 }));
  }

  #resize(): void {
    const { cols, rows } = this.#sizeAt(this.#offset);
    if (cols !== this.terminal.cols || rows !== this.terminal.rows)
      this.terminal.resize(cols, rows);
  }

  #sizeAt(offset: number): Size {
    const found = this.#sizes.findLast((size) => size.offset <= offset);
    return found ?? this.#sizes[0] ?? { cols: 80, rows: 24 };
  }
}

const COLS_MAX = 500;

function sizesOf({ events, meta }: RunAnswer): (Size & { offset: number })[] {
  const sizes = events
    .filter((event) => event.type === 'resize')
    .map((event) => ({
      offset: event.offset ?? 0,
      cols: Math.min(COLS_MAX, Math.max(2, Number(event.cols) || 80)),
      rows: Math.min(COLS_MAX, Math.max(1, Number(event.rows) || 24)),
    }));
  const first = meta?.transport === 'pty' ? { cols: 80, rows: 24 } : { cols: 120, rows: 30 };
  return sizes.length > 0 ? sizes : [{ offset: 0, ...first }];
}
