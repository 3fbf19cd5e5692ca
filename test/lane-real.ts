// The real lane: a file whose tests all ran and started no process belongs into the pure lane.
import { afterAll } from 'vitest';
import { laneComplaint } from './lanes.ts';
import { watchProcesses } from './processes.ts';

let started = 0;
watchProcesses(() => {
  started += 1;
});

// biome-ignore lint/correctness/noEmptyPattern: vitest wants a pattern for what is not used
afterAll(({}, suite) => {
  const complaint = laneComplaint(suite.file.name, started, suite.tasks);
  if (complaint !== undefined) throw new Error(complaint);
});
