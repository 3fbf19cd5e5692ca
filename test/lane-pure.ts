// The pure lane: whatever would start a process throws.
import { watchProcesses } from './processes.ts';

watchProcesses((how) => {
  throw new Error(
    `${how}: a test of the pure lane starts no process. Name its file in test/lanes.ts, ` +
      'so that it runs in the real lane.',
  );
});
