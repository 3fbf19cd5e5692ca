// SIGKILL at any moment: what was shown is on disk, and a run outlives whoever started it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findRunner } from '../../src/run/binary.ts';
import { alive, binary, Cli, until } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';

const cli = new Cli();
afterAll(() => cli.close());

const runner = findRunner();
const path = runner.kind === 'native' ? runner.path : '';
const noRunner = lacking(runner.kind === 'none', 'there is no native runner here');

/** A linear congruential generator: the moments differ, and a failure can be run again. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test.skipIf(noRunner)(
  '200 runners killed at random: every byte shown is in output.bin',
  async () => {
    const next = random(20261115);
    const command = 'i=0; while :; do echo line $i; i=$((i+1)); done';
    let shownInAll = 0;
    for (let i = 0; i < 200; i++) {
      const dir = cli.dir(`k-${i}`);
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      writeFileSync(join(dir, 'meta.json'), `{"session_id":"k-${i}"}\n`);
      const words = ['run', `k-${i}`, '--dir', dir, '--forward', '--', 'bash', '-c', command];
      const child = spawn(path, words, { stdio: ['ignore', 'pipe', 'ignore'] });
      const shown: Buffer[] = [];
      child.stdout.on('data', (piece: Buffer) => shown.push(piece));
      const bytes = Math.floor(next() * 200_000);
      let count = 0;
      child.stdout.on('data', (piece: Buffer) => {
        count += piece.length;
        if (count > bytes) child.kill('SIGKILL');
      });
      await once(child, 'close');
      const seen = Buffer.concat(shown);
      const kept = readFileSync(join(dir, 'output.bin'));
      expect(kept.subarray(0, seen.length).equals(seen)).toBe(true);
      shownInAll += seen.length;
    }
    expect(shownInAll).toBeGreaterThan(1_000_000);
  },
);

test.skipIf(noRunner)(
  'killing the starter does not end the run; others read and wait',
  async () => {
    const fifo = join(cli.root, 'fifo');
    await cli.start(['mkfifo', fifo]).result;
    const text = `echo before; read < ${fifo}; echo after; exit 6`;
    const live = await cli.running('orphan', /before/, 'bash', '-c', text);
    live.child.kill('SIGKILL');
    await once(live.child, 'exit');
    // One that was killed before this test may not be quite gone.
    const run = (await cli.ps()).find(({ session_id }) => session_id === 'orphan');
    expect(run).toMatchObject({ session_id: 'orphan', state: 'running', runner_alive: true });
    const follower = cli.start([process.execPath, binary('cuff'), 'tail', '-f', 'orphan']);
    await follower.seen(/before/);
    writeFileSync(fifo, '\n');
    expect((await follower.result).out).toBe('before\nafter\n');
    const final = JSON.parse(readFileSync(join(cli.dir('orphan'), 'final.json'), 'utf8'));
    expect(final).toMatchObject({ state: 'exited', exit_code: 6, output_closed: true });
  },
);

test.skipIf(noRunner)(
  'a run without its starter can still be killed, descendants included',
  async () => {
    const text = 'setsid sleep 100 & echo ready; wait';
    const live = await cli.running('lonely', /ready/, 'bash', '-c', text);
    live.child.kill('SIGKILL');
    await once(live.child, 'exit');
    const pids = await cli.pids('lonely');
    expect(pids.length).toBe(2);
    expect((await cli.cuff('kill', 'lonely')).code).toBe(0);
    expect(pids.filter(alive)).toEqual([]);
  },
);

test.skipIf(noRunner)(
  'a killed runner shows as failed, not as ended, and its rest can be killed',
  async () => {
    const live = await cli.running('lost', /ready/, 'bash', '-c', 'echo ready; exec sleep 100');
    const run = (await cli.ps()).find(({ session_id }) => session_id === 'lost');
    process.kill(run?.runner_pid ?? 0, 'SIGKILL');
    const ended = await live.result;
    expect(ended.code).toBe(1);
    expect(ended.err).toBe('cuff: the runner was killed; the command may still be running\n');
    const [capture] = (await cli.json<{ sessions: { state: string }[] }>('ls')).sessions;
    expect(capture?.state).toBe('failed');
    const pids = await cli.pids('lost');
    expect(pids.length).toBe(1);
    await cli.cuff('kill', 'lost', '--grace', '0');
    await until(() => pids.filter(alive).length === 0, 'nobody is left');
  },
);
