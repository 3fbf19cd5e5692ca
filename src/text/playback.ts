// The time of a run that is played: which bytes are to be seen when, and what the keys of a player
// do. Pure, and without anything of Node, so that a page in a browser can play by the same rules.
// Positions are milliseconds of playing: recorded time, with longer pauses shortened if asked for.

/** Output that came at one time, in milliseconds since the start of the run. */
export type PlayedChunk = {
  readonly offset: number;
  readonly length: number;
  readonly atMs: number;
};

export type PlaybackOptions = {
  /** When the run was over; the last output may have come long before. */
  readonly endMs: number;
  /** Longer pauses last only so long. */
  readonly idleMsMax?: number | undefined;
};

export class Playback {
  /** Of each step, in order: its position, its recorded time, and where its bytes end. */
  readonly #at: number[] = [];
  readonly #recorded: number[] = [];
  readonly #end: number[] = [];
  /** The position at which the run was over. */
  readonly lengthMs: number;

  /** `chunks` are in the order of their offsets; a clock that went back is taken to stand still. */
  constructor(chunks: readonly PlayedChunk[], { endMs, idleMsMax }: PlaybackOptions) {
    const pause = (ms: number): number => Math.min(Math.max(0, ms), idleMsMax ?? Infinity);
    let [position, recorded] = [0, 0];
    for (const { offset, length, atMs } of chunks) {
      position += pause(atMs - recorded);
      recorded = Math.max(recorded, atMs);
      const last = this.#at.length - 1;
      if (this.#at[last] === position) this.#end[last] = offset + length;
      else {
        this.#at.push(position);
        this.#recorded.push(recorded);
        this.#end.push(offset + length);
      }
    }
    this.lengthMs = position + pause(endMs - recorded);
  }

  /** Up to here the bytes are to be seen. */
  shownUntil(ms: number): number {
    return this.#end[this.#stepAt(ms)] ?? 0;
  }

  /** The position of the next output, or the end. */
  next(ms: number): number {
    return this.#at[this.#stepAt(ms) + 1] ?? this.lengthMs;
  }

  /** The position of the output before the one that is seen last, or the start. */
  before(ms: number): number {
    const step = this.#stepAt(ms);
    return this.#at[this.#at[step] === ms ? step - 1 : step] ?? 0;
  }

  /** The recorded time of a position. */
  recordedMs(ms: number): number {
    const step = this.#stepAt(ms);
    return (this.#recorded[step] ?? 0) + Math.max(0, ms - (this.#at[step] ?? 0));
  }

  /** The last step that is not later; -1 before the first. */
  #stepAt(ms: number): number {
    let [low, high] = [0, this.#at.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#at[middle] ?? 0) <= ms) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16];
const TENTHS = '0123456789';

/** What a player does: it is at a position since a moment of its own clock. */
export type PlayState = {
  readonly playing: boolean;
  readonly speed: number;
  readonly positionMs: number;
  readonly sinceMs: number;
};

export function startPlaying(nowMs: number, speed = 1): PlayState {
  return { playing: true, speed, positionMs: 0, sinceMs: nowMs };
}

/** Where it is now; at the end it stands. */
export function played(state: PlayState, nowMs: number, { lengthMs }: Playback): PlayState {
  if (!state.playing) return state;
  const positionMs = state.positionMs + Math.max(0, nowMs - state.sinceMs) * state.speed;
  if (positionMs >= lengthMs) return { ...state, playing: false, positionMs: lengthMs };
  return { ...state, positionMs, sinceMs: nowMs };
}

/** What a key does; undefined for one that does nothing. */
export function pressed(
  state: PlayState,
  key: string,
  nowMs: number,
  playback: Playback,
): PlayState | undefined {
  const now = { ...played(state, nowMs, playback), sinceMs: nowMs };
  const { positionMs, speed, playing } = now;
  const tenth = key.length === 1 ? TENTHS.indexOf(key) : -1;
  if (tenth >= 0) return { ...now, positionMs: (playback.lengthMs * tenth) / 10 };
  switch (key) {
    case ' ': {
      const over = positionMs >= playback.lengthMs;
      return { ...now, playing: !playing, positionMs: over && !playing ? 0 : positionMs };
    }
    case '.':
      return { ...now, playing: false, positionMs: playback.next(positionMs) };
    case ',':
      return { ...now, playing: false, positionMs: playback.before(positionMs) };
    case '<':
      return { ...now, speed: SPEEDS.findLast((one) => one < speed) ?? speed };
    case '>':
      return { ...now, speed: SPEEDS.find((one) => one > speed) ?? speed };
    default:
      return undefined;
  }
}

/** How often a client that can keep its screen should, so that it can go back without delay. */
export const KEYFRAME_BYTES = 256 * 1024;

/** The kept screens of a client, by the byte up to which each shows the output. */
export class Keyframes<Screen> {
  readonly #kept: { readonly offset: number; readonly screen: Screen }[] = [];

  /** Whether the screen at this offset is worth keeping. */
  wanted(offset: number): boolean {
    return offset >= (this.#kept.at(-1)?.offset ?? 0) + KEYFRAME_BYTES;
  }

  keep(offset: number, screen: Screen): void {
    if (this.wanted(offset)) this.#kept.push({ offset, screen });
  }

  /** The last one that shows no more than that. */
  before(offset: number): { readonly offset: number; readonly screen: Screen } | undefined {
    return this.#kept.findLast((one) => one.offset <= offset);
  }
}
