// A capture whose starter is about to write meta.json, or was killed before it had.
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { encodeMeta } from '../../src/capture/format.ts';
import { createCapture, openCapture } from '../../src/capture/store.ts';
import { metaOf, testStore } from './helper.ts';

it('whose meta.json is not written to its end is starting, and later never started', () => {
  const store = testStore();
  const whole = encodeMeta(metaOf('one'), ['x'.repeat(10_000)]);
  const dir = createCapture(store, metaOf('one'), ['x']);
  for (const length of [0, 1, 4096, whole.length - 2]) {
    writeFileSync(join(dir, 'meta.json'), whole.slice(0, length));
    const made = statSync(dir).mtimeMs;
    const soon = openCapture({ ...store, now: () => made + 1_900 }, 'one');
    expect(soon).toMatchObject({ state: 'starting', outputOpen: true });
    const late = openCapture({ ...store, now: () => made + 2_000 }, 'one');
    expect(late).toMatchObject({ state: 'failed', reason: 'never started', outputOpen: false });
    expect(() => createCapture(store, metaOf('one'), ['x'])).toThrow("a session 'one' already");
  }
});
