// A capture that is opened while its runner writes it and ends is that of one moment.

import { expect, it } from 'vitest';
import { encodeFinal, encodeMeta } from '../../src/capture/format.ts';
import { openCapture, type Store } from '../../src/capture/store.ts';
import { build, fileOf, finalOf, metaOf, RUNNER, STARTER, setFile, testStore } from './helper.ts';

it('an end that is written while we look is seen', () => {
  const base = testStore();
  const { dir } = build(base, [], { final: 'missing' });
  // The runner writes final.json and is gone, after we looked for the file and before we ask.
  const alive = (): boolean => {
    setFile({ dir }, 'final.json', Buffer.from(encodeFinal(finalOf(), 'one')));
    return false;
  };
  expect(openCapture({ ...base, alive }, 'one').state).toBe('exited');
});

it('a launch that is written while we look is seen', () => {
  const base = testStore();
  const { dir } = build(base, [], { final: 'missing' });
  const launched = fileOf({ dir }, 'meta.json');
  setFile({ dir }, 'meta.json', Buffer.from(encodeMeta(metaOf('one'), ['x'])));
  const alive: Store['alive'] = (one) => {
    if (one.pid === STARTER.pid) setFile({ dir }, 'meta.json', launched);
    return one.pid === RUNNER.pid;
  };
  expect(openCapture({ ...base, alive }, 'one').state).toBe('running');
});

it('a runner that ends while we look was running, and was not killed', () => {
  const base = testStore();
  build(base, [], { final: 'missing' });
  let asked = 0;
  const alive: Store['alive'] = () => asked++ === 0;
  const { state, outputOpen } = openCapture({ ...base, alive }, 'one');
  expect({ state, outputOpen }).toEqual({ state: 'running', outputOpen: true });
});
