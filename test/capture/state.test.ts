import { describe, expect, it } from 'vitest';
import { active, captureState, outputOpen } from '../../src/capture/state.ts';
import type { CaptureFinal, CaptureMeta, ProcessId } from '../../src/types.ts';
import { finalOf, metaOf, NOW, RUNNER, STARTER } from './helper.ts';

const SURVIVOR = { pid: 400, startTime: 4_000, command: 'sleep 100', holdsOutput: true };

function world(living: readonly ProcessId[], now = NOW) {
  const alive = (one: ProcessId): boolean =>
    living.some(({ pid, startTime }) => pid === one.pid && startTime === one.startTime);
  return { alive, now: () => now };
}

function all(
  meta: CaptureMeta | undefined,
  final: CaptureFinal | undefined,
  w: ReturnType<typeof world>,
) {
  const { state, reason } = captureState(meta, final, w);
  return [state, reason, outputOpen(meta, final, w), active(meta, final, w)];
}

describe('the state of a capture', () => {
  const begun = metaOf('one');
  const launched = metaOf('one', { runner: RUNNER });

  it('starting, running, exited, signaled, failed, expired', () => {
    const signaled = finalOf({
      state: 'signaled',
      outcome: { kind: 'signaled', signal: 'SIGTERM' },
    });
    const failed = finalOf({
      state: 'failed',
      outcome: { kind: 'failed', error: 'ENOENT', message: 'nope: not found' },
    });
    const later = NOW + 86_400_000;
    expect(all(begun, undefined, world([STARTER]))).toEqual(['starting', undefined, true, true]);
    expect(all(launched, undefined, world([RUNNER]))).toEqual(['running', undefined, true, true]);
    expect(all(launched, finalOf(), world([]))).toEqual(['exited', undefined, false, false]);
    expect(all(launched, signaled, world([]))).toEqual(['signaled', undefined, false, false]);
    expect(all(begun, failed, world([]))).toEqual(['failed', 'nope: not found', false, false]);
    expect(all(launched, finalOf(), world([], later))).toEqual([
      'expired',
      'retention over',
      false,
      false,
    ]);
    expect(captureState(launched, finalOf(), world([], later - 1)).state).toBe('exited');
  });

  it('a run whose runner or starter is gone has failed, never ended well', () => {
    expect(all(launched, undefined, world([]))).toEqual(['failed', 'interrupted', false, false]);
    expect(all(begun, undefined, world([]))).toEqual(['failed', 'never started', false, false]);
    expect(all(launched, undefined, world([STARTER]))[1]).toBe('interrupted');
  });

  it('a pid that somebody else has by now is not the process that had it', () => {
    const reused = world([
      { ...RUNNER, startTime: RUNNER.startTime + 1 },
      { ...STARTER, startTime: 9 },
      { ...SURVIVOR, startTime: 9 },
    ]);
    expect(all(launched, undefined, reused)).toEqual(['failed', 'interrupted', false, false]);
    expect(all(begun, undefined, reused)).toEqual(['failed', 'never started', false, false]);
    const left = finalOf({ outputClosed: false, survivors: [SURVIVOR] });
    expect(all(launched, left, reused)).toEqual(['exited', undefined, false, false]);
  });

  it('survivors keep the output open while their runner reads, and nothing expires', () => {
    const left = finalOf({ outputClosed: false, survivors: [SURVIVOR] });
    const old = NOW + 10 * 86_400_000;
    expect(all(launched, left, world([RUNNER, SURVIVOR]))).toEqual([
      'exited',
      undefined,
      true,
      true,
    ]);
    expect(all(launched, left, world([RUNNER], old))).toEqual(['exited', undefined, true, true]);
    expect(all(launched, left, world([SURVIVOR], old))).toEqual(['exited', undefined, false, true]);
    expect(all(launched, left, world([], old))[0]).toBe('expired');
    // A server that runs commands in its own process outlives them; that keeps nothing open.
    expect(all(launched, finalOf(), world([RUNNER], old))[0]).toBe('expired');
  });

  it('without meta.json the end is still known, and without both nothing is', () => {
    const left = finalOf({ outputClosed: false, survivors: [SURVIVOR] });
    expect(all(undefined, finalOf(), world([], NOW * 2))).toEqual([
      'exited',
      undefined,
      false,
      false,
    ]);
    expect(all(undefined, left, world([SURVIVOR]))).toEqual(['exited', undefined, true, true]);
    expect(all(undefined, undefined, world([STARTER]))).toEqual([
      'failed',
      'unreadable',
      false,
      false,
    ]);
  });

  it('a clock that was set back expires nothing', () => {
    expect(captureState(launched, finalOf(), world([], 0)).state).toBe('exited');
  });
});
