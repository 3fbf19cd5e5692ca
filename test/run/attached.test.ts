// The runner that `cuff run` starts, at the moment of its end.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { startAttached } from '../../src/run/attached.ts';
import { findRunner } from '../../src/run/binary.ts';
import type { RunMessage, RunSpec } from '../../src/run/spec.ts';
import { FACT_MS_MAX } from '../pace.ts';
import { lacking } from '../requirements.ts';

const runner = findRunner();
const path = runner.kind === 'native' ? runner.path : '';
const noRunner = lacking(runner.kind === 'none', 'there is no native runner here');

const SPEC: RunSpec = {
  id: 'ended',
  argv: ['bash', '-c', 'kill -KILL $$'],
  env: { PATH: process.env.PATH ?? '' },
  cwd: '/',
  dir: undefined,
  transport: 'pipe',
  stdin: 'null',
  forward: true,
  session: 'own',
  killAfterMs: undefined,
  graceMs: 1_000,
  outputBytesMax: 1_000_000,
  strict: false,
  sync: 'answer',
  size: { cols: 80, rows: 24 },
};

/** Nothing of this process is read meanwhile: a zombie has said all that it had to say. */
function blockUntilZombie(pid: number): void {
  for (const began = Date.now(); Date.now() - began < FACT_MS_MAX; ) {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    if (stat.slice(stat.lastIndexOf(')')).startsWith(') Z')) return;
  }
  throw new Error('the runner did not end');
}

it.skipIf(noRunner)(
  'an order that comes too late loses nothing of what the runner said',
  async () => {
    const heard: RunMessage[] = [];
    await new Promise<void>((resolve) => {
      const attached = startAttached(path, SPEC, (message) => {
        heard.push(message);
        if (message.kind === 'gone') resolve();
      });
      blockUntilZombie(attached.child.pid ?? 0);
      attached.order('cont');
      attached.order('signal SIGINT');
    });
    expect(heard.find(({ kind }) => kind === 'done')).toMatchObject({
      outcome: { kind: 'signaled', signal: 'SIGKILL' },
    });
  },
);
