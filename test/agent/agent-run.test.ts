// When a run of an agent stops counting as one that runs, and how a call waits for that.

import { describe, expect, it } from 'vitest';
import { AgentRun, AgentRuns } from '../../src/agent/agent-run.ts';
import type { Start } from '../../src/recorder/recorder.ts';
import type { Ended } from '../../src/types.ts';

it('a run is not live once its shell is done, also while its entry is being written', async () => {
  let end = (_: Ended): void => undefined;
  const done = new Promise<Ended>((resolve) => {
    end = resolve;
  });
  const start = {
    run: { id: 'one', started: Promise.resolve({ pid: 7 }), done },
    draft: { working_directory: '/' },
    ending: new Promise<never>(() => undefined), // a disk that takes its time
  };
  const run = new AgentRun({
    start: start as unknown as Start,
    command: 'true',
    owner: 'a conversation',
    startedAt: 0,
  });
  expect(run.live).toBe(true);
  end({ at: 1, outcome: { kind: 'exited', code: 0 }, endedBy: 'itself' });
  await done;
  expect({ live: run.live, result: run.result }).toEqual({ live: false, result: undefined });
});

/** A run whose shell is done when `end` is called. */
function heldRun(id: string): { readonly run: AgentRun; readonly end: () => Promise<unknown> } {
  let finish = (_: Ended): void => undefined;
  const done = new Promise<Ended>((resolve) => {
    finish = resolve;
  });
  const start = {
    run: { id, started: Promise.resolve({ pid: 7 }), done },
    draft: { working_directory: '/' },
    ending: new Promise<never>(() => undefined),
  };
  const given = { start: start as unknown as Start, command: 'sleep 9', owner: 'me', startedAt: 0 };
  const run = new AgentRun(given);
  const end = (): Promise<unknown> => {
    finish({ at: 1, outcome: { kind: 'exited', code: 0 }, endedBy: 'itself' });
    return done;
  };
  return { run, end };
}

describe('a call for which there is no room', () => {
  const signal = new AbortController().signal;
  const refused = (runs: AgentRuns) => () =>
    runs.refuseMore(1, { key: 'me' }, () => 'bash_1 (pid 7)');

  it('waits for the end of a run, and then has its place', async () => {
    const runs = new AgentRuns();
    const { run, end } = heldRun('one');
    runs.add(run);
    const room = runs.untilRoom(1, signal, { patienceMs: 600_000, now: () => 0 });
    expect(runs.full(1)).toBe(true);
    await end();
    await room;
    expect(refused(runs)).not.toThrow();
  });

  it('is refused when its patience is over, with the pids of those that run', async () => {
    const runs = new AgentRuns();
    runs.add(heldRun('one').run);
    const times = [0, 5_000];
    await runs.untilRoom(1, signal, { patienceMs: 5_000, now: () => times.shift() ?? 9_999 });
    expect(refused(runs)).toThrow(
      expect.objectContaining({
        code: 'too_many_runs',
        hint: 'Wait for one of these or kill it:\n  bash_1 (pid 7): sleep 9',
      }),
    );
  });

  it('waits no longer when its caller gives up', async () => {
    const runs = new AgentRuns();
    runs.add(heldRun('one').run);
    const controller = new AbortController();
    const clock = { patienceMs: 600_000, now: () => 0 };
    const room = runs.untilRoom(1, controller.signal, clock);
    controller.abort();
    await room;
    expect(runs.full(1)).toBe(true);
  });
});
