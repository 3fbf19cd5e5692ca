// When a run of an agent stops counting as one that runs.

import { expect, it } from 'vitest';
import { AgentRun } from '../../src/agent/agent-run.ts';
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
