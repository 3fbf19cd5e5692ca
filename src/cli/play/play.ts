// `cuff play`: a run as it was, in this terminal, at the speed and from the place that its keys ask
// for. Ctrl-C and `q` end it.

import { AppError } from '../../errors.ts';
import { captureNamed, storeOf } from '../../shell/captures.ts';
import { Playback, type PlayState, played, pressed, startPlaying } from '../../text/playback.ts';
import { say } from '../output.ts';
import { Recording } from './recording.ts';
import { Screen } from './screen.ts';
import { statusText } from './status.ts';

type Options = {
  /** Milliseconds. */
  readonly idle?: number;
  readonly speed?: number;
};

export async function play(part: string, { idle, speed }: Options): Promise<void> {
  const { stdin, stdout } = process;
  if (stdin.isTTY !== true || stdout.isTTY !== true) {
    throw new AppError('usage', 'A run is played in a terminal, and this is none.', {
      hint: 'Read it with `cuff cat ID`.',
    });
  }
  const capture = captureNamed(storeOf(process.env), part);
  const recording = new Recording(capture);
  if (recording.end === 0) {
    say('This run printed nothing.');
    return;
  }
  const times = { endMs: recording.endMs, idleMsMax: idle };
  await new Player(recording, new Playback(recording.chunks, times), speed).run();
}

const FRAME_MS = 250; // how often the clock in the line of status goes on
const INTERRUPT = '\x03';

class Player {
  readonly #playback: Playback;
  readonly #screen: Screen;
  #state: PlayState;
  /** Keys that were typed and not yet obeyed. */
  #keys: string[] = [];
  #resized = false;
  #wake: () => void = () => undefined;
  #signal: NodeJS.Signals | undefined;

  constructor(recording: Recording, playback: Playback, speed = 1) {
    this.#playback = playback;
    this.#screen = new Screen(recording);
    this.#state = startPlaying(now(), speed);
  }

  async run(): Promise<void> {
    const { stdin, stdout } = process;
    const typed = (text: string): void => this.#typed(text);
    const resized = (): void => {
      this.#resized = true;
      this.#wake();
    };
    const leave = (): void => this.#screen.leave();
    const ended = (signal: NodeJS.Signals): void => {
      this.#signal = signal;
      this.#wake();
    };
    for (const signal of ENDING) process.on(signal, ended);
    process.on('exit', leave);
    stdin.setEncoding('latin1').on('data', typed);
    stdout.on('resize', resized);
    try {
      this.#screen.enter();
      await this.#play();
    } finally {
      leave();
      stdin.off('data', typed).pause();
      stdout.off('resize', resized);
      process.off('exit', leave);
      for (const signal of ENDING) process.off(signal, ended);
    }
    if (this.#signal !== undefined) process.kill(process.pid, this.#signal);
  }

  async #play(): Promise<void> {
    for (;;) {
      if (this.#signal !== undefined || !this.#obey()) return;
      if (this.#resized) {
        this.#resized = false;
        await this.#screen.redraw();
      }
      const wasPlaying = this.#state.playing;
      this.#state = played(this.#state, now(), this.#playback);
      await this.#screen.show(this.#playback.shownUntil(this.#state.positionMs));
      await this.#tell(wasPlaying && !this.#state.playing);
      await this.#wait();
    }
  }

  /** False to end. */
  #obey(): boolean {
    for (const key of this.#keys.splice(0)) {
      if (key === 'q' || key === INTERRUPT) return false;
      const wasPlaying = this.#state.playing;
      const next = pressed(this.#state, key, now(), this.#playback);
      if (next === undefined) continue;
      this.#state = next;
      // The line of status may have covered a line of the output.
      if (!wasPlaying && next.playing) this.#resized = true;
    }
    return true;
  }

  async #tell(ended: boolean): Promise<void> {
    const { playing } = this.#state;
    const text = statusText(this.#state, this.#playback, this.#screen.tooSmallFor);
    await this.#screen.status(text, !playing || ended);
  }

  /** For a key, a signal, or the next output. */
  #wait(): Promise<void> {
    if (this.#keys.length > 0 || this.#resized || this.#signal !== undefined) {
      return Promise.resolve();
    }
    const { playing, positionMs, speed } = this.#state;
    const nextMs = (this.#playback.next(positionMs) - positionMs) / speed;
    return new Promise((resolve) => {
      const timer = playing ? setTimeout(resolve, Math.min(FRAME_MS, nextMs)) : undefined;
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Keys that send a sequence, and what the terminal itself answers, are no letters. */
  #typed(text: string): void {
    this.#keys.push(...text.replace(SEQUENCES, ''));
    this.#wake();
  }
}

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[\]P_^X][^\x07\x1b]*(?:\x07|\x1b\\)|.)?/gs;

function now(): number {
  return performance.now();
}
