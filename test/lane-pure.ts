// The pure lane: whatever would start a process throws. Files share a worker, so each must leave
// the worker's directory and variables as it found them.
import { afterAll, expect } from 'vitest';
import { watchProcesses } from './processes.ts';

watchProcesses((how) => {
  throw new Error(
    `${how}: a test of the pure lane starts no process. Name its file in test/lanes.ts, ` +
      'so that it runs in the real lane.',
  );
});

const surroundings = () => ({ directory: process.cwd(), variables: { ...process.env } });
const before = surroundings();

afterAll(() => {
  expect(surroundings(), 'the next file finds them changed').toEqual(before);
});
