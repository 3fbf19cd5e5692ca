import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { untraceable } from '../tracing/helper.ts';
import { binary, Cli, type Live, processesWith, until } from './helper.ts';

// A tour takes a few seconds. Only one that hangs takes this long, also on a busy machine.

// In front of the real one: the run that is followed goes on when the test lets it.
const SLEEP = `#!/bin/bash
[ "$1" = 0.4 ] || exec -a sleep /bin/sleep "$@"
until rmdir "$CUFF_DEMO_GATE" 2>/dev/null; do /bin/sleep 0.02; done
`;

let cli: Cli;
let temp: string;
let beside: string;
let mark: string;
beforeEach(() => {
  cli = new Cli();
  temp = mkdtempSync(join(tmpdir(), 'cuff-demo-test-'));
  beside = mkdtempSync(join(tmpdir(), 'cuff-demo-beside-'));
  writeFileSync(join(beside, 'sleep'), SLEEP, { mode: 0o755 });
  mark = randomUUID();
});
afterEach(async () => {
  await cli.close();
  for (const path of [temp, beside]) rmSync(path, { recursive: true, force: true });
});

function demo(more: Readonly<Record<string, string>> = {}): Live {
  const env = { TMPDIR: temp, CUFF_DEMO_MARK: mark, ...more };
  return cli.start([process.execPath, binary('cuff'), 'demo'], { env });
}

/** A tour whose run prints a line and waits: however late others are, it is still going on. */
function held(): Live {
  return demo({ PATH: `${beside}:${process.env.PATH}`, CUFF_DEMO_GATE: join(beside, 'gate') });
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
  it('shows the real thing and leaves nothing behind', async () => {
    const tour = held();
    for (const line of [1, 2, 3]) {
      await tour.seen(new RegExp(`line ${line} .*\\n`));
      mkdirSync(join(beside, 'gate'));
      await until(() => !readdirSync(beside).includes('gate'), 'the run goes on');
    }
    const { code, out, err } = await tour.result;
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('stdout: this is stdout  (15 bytes)\n');
    expect(out).toContain('stderr: this is stderr  (15 bytes)\n');
    expect(out).toContain('how it ended: exit code 3\n');
    // One that has not got its turn since it was forked still has the words of its shell.
    expect(out).toMatch(/answered after \d+ ms\n {3}still alive: \d+ .*\bsleep 60\b.*\n/);
    for (const line of [1, 2, 3]) {
      expect(out).toContain(`line ${line}  (the run is still going on)\n`);
    }
    expect(out.match(/[12] alive before the kill, 0 after it/g)).toHaveLength(2);
    expect(out.match(/^ {3}\d{8}-\d{6}-[0-9a-f]{8} {2}(exited|signaled) /gm)).toHaveLength(7);
    expect(
      out.match(/exit code [02], recorded as e_\d{8}_\d{6}_00[12]-[0-9a-f]{4}\n/g),
    ).toHaveLength(2);
    expect(out).toContain('command+30: grep -c root /etc/passwd; ls /nowhere\n');
    if (!untraceable) {
      expect(out).toMatch(/ exit 2 +err \d+ B +├─ ls \/nowhere\n/);
      expect(out).toMatch(/ exit 7 +└─ \(bash\)\n/);
    }
    expect(out).toContain('Wrote policy.yml: 3 rules, 2 of 2 commands accepted\n');
    expect(out).toContain('   allow (rule.allow)\n');
    expect(out).toContain('   deny (path.protected)\n');
    await expectNothingLeft();
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('leaves nothing behind when it gets %s', async (signal, expected) => {
    const tour = held();
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
