import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { binary, Cli, type Live, processesWith, until } from './helper.ts';

// What the tour promises to stay below.
const TOUR_MS_MAX = 20_000;

let cli: Cli;
let temp: string;
let mark: string;
beforeEach(() => {
  cli = new Cli();
  temp = mkdtempSync(join(tmpdir(), 'cuff-demo-test-'));
  mark = randomUUID();
});
afterEach(async () => {
  await cli.close();
  rmSync(temp, { recursive: true, force: true });
});

function demo(): Live {
  const env = { TMPDIR: temp, CUFF_DEMO_MARK: mark };
  return cli.start([process.execPath, binary('cuff'), 'demo'], { env });
}

/** No process of the tour and no file. */
async function expectNothingLeft(): Promise<void> {
  const processes = (): number[] => processesWith(`CUFF_DEMO_MARK=${mark}`);
  // The process that serves the runs ends when it sees that its server has.
  await until(() => processes().length === 0, `no process of the tour is left: ${processes()}`);
  expect(readdirSync(temp)).toEqual([]);
  expect(readdirSync(cli.root)).toEqual([]);
}

describe('cuff demo', () => {
  it('shows the real thing in a short time and leaves nothing behind', async () => {
    const start = performance.now();
    const { code, out, err } = await demo().result;
    expect([code, err]).toEqual([0, '']);
    expect(performance.now() - start).toBeLessThan(TOUR_MS_MAX);
    expect(out).toContain('stdout: this is stdout  (15 bytes)\n');
    expect(out).toContain('stderr: this is stderr  (15 bytes)\n');
    expect(out).toContain('how it ended: exit code 3\n');
    expect(out).toMatch(/answered after \d+ ms\n {3}still alive: \d+ sleep 60\n/);
    for (const line of [1, 2, 3]) {
      expect(out).toContain(`line ${line}  (the run is still going on)\n`);
    }
    expect(out.match(/[12] alive before the kill, 0 after it/g)).toHaveLength(2);
    expect(out.match(/^ {3}\d{8}-\d{6}-[0-9a-f]{8} {2}(exited|signaled) /gm)).toHaveLength(6);
    expect(out.match(/exit code [02], recorded as e_\d{8}_\d{6}_00[12]\n/g)).toHaveLength(2);
    expect(out).toContain('command+30: grep -c root /etc/passwd; ls /nowhere\n');
    await expectNothingLeft();
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('leaves nothing behind when it gets %s', async (signal, expected) => {
    const tour = demo();
    await tour.seen(/line 1/);
    expect(processesWith(`CUFF_DEMO_MARK=${mark}`).length).toBeGreaterThan(2);
    tour.child.kill(signal);
    const { code } = await tour.result;
    expect(code).toBe(expected);
    await expectNothingLeft();
  });

  it('leaves nothing behind when its reader leaves', async () => {
    const tour = demo();
    await tour.seen(/still alive/);
    tour.child.stdout?.destroy();
    const { code, err } = await tour.result;
    expect([code, err]).toEqual([0, '']);
    await expectNothingLeft();
  });
});
