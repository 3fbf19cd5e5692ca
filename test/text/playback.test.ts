// The time of a run that is played, and what the keys of a player do.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  KEYFRAME_BYTES,
  Keyframes,
  Playback,
  type PlayedChunk,
  type PlayState,
  played,
  pressed,
  startPlaying,
} from '../../src/text/playback.ts';

const chunk = (offset: number, length: number, atMs: number): PlayedChunk => ({
  offset,
  length,
  atMs,
});

// Two that came at once, a clock that went back, a long pause, and a second of silence at the end.
const CHUNKS = [
  chunk(0, 10, 100),
  chunk(10, 5, 100),
  chunk(15, 5, 90),
  chunk(20, 10, 5100),
  chunk(30, 1, 5200),
];
const whole = new Playback(CHUNKS, { endMs: 6200 });
const short = new Playback(CHUNKS, { endMs: 6200, idleMsMax: 1000 });

describe('the time of a run that is played', () => {
  it('shows the bytes that had come by then', () => {
    const at = [0, 99, 100, 5099, 5100, 5200, 9999];
    expect(at.map((ms) => whole.shownUntil(ms))).toEqual([0, 0, 20, 20, 30, 31, 31]);
    expect(whole.lengthMs).toBe(6200);
  });

  it('shortens long pauses, and knows the recorded time all the same', () => {
    expect(short.lengthMs).toBe(2200);
    expect([100, 1100, 1200].map((ms) => short.shownUntil(ms))).toEqual([20, 30, 31]);
    expect([0, 100, 600, 1100, 2200].map((ms) => short.recordedMs(ms))).toEqual([
      0, 100, 600, 5100, 6200,
    ]);
  });

  it('has a step for each output, forth and back', () => {
    expect([0, 100, 3000, 5200].map((ms) => whole.next(ms))).toEqual([100, 5100, 5100, 6200]);
    expect([6200, 5200, 5150, 5100, 100].map((ms) => whole.before(ms))).toEqual([
      5200, 5100, 5100, 100, 0,
    ]);
  });

  it('of a run that printed nothing is its length', () => {
    const silent = new Playback([], { endMs: 50 });
    expect([silent.lengthMs, silent.shownUntil(50), silent.next(0), silent.before(50)]).toEqual([
      50, 0, 50, 0,
    ]);
  });

  const anyRun = fc
    .array(
      fc.record({
        gap: fc.integer({ min: -50, max: 4000 }),
        length: fc.integer({ min: 1, max: 99 }),
      }),
    )
    .map((all) => {
      let [offset, atMs] = [0, 0];
      return all.map(({ gap, length }) => {
        atMs = Math.max(0, atMs + gap);
        offset += length;
        return chunk(offset - length, length, atMs);
      });
    });
  const anyIdle = fc.option(fc.integer({ min: 0, max: 2000 }), { nil: undefined });

  it('shows every byte in order, whatever the pauses, and is never longer than the run', () => {
    fc.assert(
      fc.property(anyRun, anyIdle, (chunks, idleMsMax) => {
        const last = Math.max(0, ...chunks.map(({ atMs }) => atMs));
        const playback = new Playback(chunks, { endMs: last + 10, idleMsMax });
        expect(playback.lengthMs).toBeLessThanOrEqual(last + 10);
        const end = chunks.reduce((sum, { length }) => sum + length, 0);
        expect(playback.shownUntil(playback.lengthMs)).toBe(end);
        let [ms, shown] = [0, playback.shownUntil(0)];
        while (ms < playback.lengthMs) {
          const next = playback.next(ms);
          expect(next).toBeGreaterThan(ms);
          expect(playback.recordedMs(next)).toBeGreaterThanOrEqual(playback.recordedMs(ms));
          expect(playback.shownUntil(next)).toBeGreaterThanOrEqual(shown);
          if (next < playback.lengthMs) expect(playback.before(playback.next(next))).toBe(next);
          [ms, shown] = [next, playback.shownUntil(next)];
        }
      }),
    );
  });
});

const at = (state: PlayState, ms: number): number => played(state, ms, whole).positionMs;

function press(state: PlayState, keys: string, nowMs: number): PlayState {
  let next = state;
  for (const key of keys) next = pressed(next, key, nowMs, whole) ?? next;
  return next;
}

describe('a player', () => {
  const started = startPlaying(1000);

  it('goes on with its clock, at its speed, and stands at the end', () => {
    expect([at(started, 1000), at(started, 2500)]).toEqual([0, 1500]);
    const fast = press(started, '>>', 2000);
    expect([fast.speed, at(fast, 2000), at(fast, 2500)]).toEqual([4, 1000, 3000]);
    expect(played(fast, 99_999, whole)).toMatchObject({ playing: false, positionMs: 6200 });
  });

  it('pauses and plays with space, at the end from the start', () => {
    const paused = press(started, ' ', 1700);
    expect([paused.playing, at(paused, 9999)]).toEqual([false, 700]);
    expect(at(press(paused, ' ', 5000), 5100)).toBe(800);
    const over = played(started, 99_999, whole);
    expect(press(over, ' ', 99_999)).toMatchObject({ playing: true, positionMs: 0 });
  });

  it('steps, and stands then', () => {
    const step = press(started, '.', 1000);
    expect([step.playing, step.positionMs]).toEqual([false, 100]);
    expect(press(step, '..', 1000).positionMs).toBe(5200);
    expect(press(step, '..,', 1000).positionMs).toBe(5100);
  });

  it('goes to a tenth of the run, and plays on if it played', () => {
    expect(press(started, '5', 1300)).toMatchObject({ playing: true, positionMs: 3100 });
    expect(press(press(started, ' ', 1300), '0', 1300)).toMatchObject({
      playing: false,
      positionMs: 0,
    });
  });

  it('is as slow as a quarter and as fast as sixteen times', () => {
    expect(press(started, '<<<<<', 1000).speed).toBe(0.25);
    expect(press(started, '>>>>>>>>>', 1000).speed).toBe(16);
    expect(press({ ...started, speed: 3 }, '>', 1000).speed).toBe(4);
    expect(press({ ...started, speed: 3 }, '<', 1000).speed).toBe(2);
  });

  it('does nothing for other keys', () => {
    for (const key of ['x', 'é', '\r', '']) {
      expect(pressed(started, key, 1000, whole)).toBeUndefined();
    }
  });

  it('is somewhere in the run, whatever is typed', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...' ,.<>05q'), fc.nat(3000))), (typed) => {
        let [state, ms] = [startPlaying(0), 0];
        for (const [key, pause] of typed) {
          ms += pause;
          state = pressed(state, key, ms, whole) ?? state;
          const { positionMs, speed } = played(state, ms, whole);
          expect(positionMs).toBeGreaterThanOrEqual(0);
          expect(positionMs).toBeLessThanOrEqual(whole.lengthMs);
          expect([0.25, 0.5, 1, 2, 4, 8, 16]).toContain(speed);
        }
      }),
    );
  });
});

describe('kept screens', () => {
  it('are far enough apart, and the last one before a place is found', () => {
    const frames = new Keyframes<string>();
    expect(frames.before(10)).toBeUndefined();
    frames.keep(KEYFRAME_BYTES, 'a');
    frames.keep(KEYFRAME_BYTES + 1, 'too near');
    frames.keep(3 * KEYFRAME_BYTES, 'b');
    const screens = [0, 1, 2, 3].map((i) => frames.before(i * KEYFRAME_BYTES + 5)?.screen);
    expect(screens).toEqual([undefined, 'a', 'a', 'b']);
  });
});
