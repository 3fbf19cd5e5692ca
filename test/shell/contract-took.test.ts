// How long a command took is what its runner saw, however late its starter gets to hear of it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findRunner } from '../../src/run/binary.ts';
import { lacking } from '../requirements.ts';
import { describeBackends, world } from './backends.ts';

describeBackends('how long a command took', (backend) => {
  it('is never less than it slept', async () => {
    const run = world(backend).start('sleep 0.2');
    expect(run.tookMs).toBeUndefined();
    await run.done;
    expect(run.tookMs).toBeGreaterThanOrEqual(200);
  });

  it('is not known of one that could not be started', async () => {
    const run = world(backend).start({ kind: 'argv', argv: ['/no/such/program'] });
    await run.done;
    expect(run.tookMs).toBeUndefined();
  });
});

const noRunner = lacking(findRunner().kind === 'none', 'there is no native runner here');

it.skipIf(noRunner)('the time until its starter hears of its end does not count', async () => {
  const began = performance.now();
  const run = world('native').start('true');
  // Nothing is heard in this loop, whatever comes.
  while (!existsSync(join(run.recording.dir, 'final.json')));
  const over = performance.now();
  while (performance.now() < over + 300);
  await run.done;
  expect(run.tookMs).toBeLessThanOrEqual(Math.ceil(over - began));
});
