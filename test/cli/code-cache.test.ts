// The code of a part that V8 compiled in an earlier process: used only where it may be trusted,
// and never a reason for another answer.
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { binary } from './helper.ts';

const DENYING = `
default: allow
policies:
  - name: rules
    description: for tests
    commands:
      - { pattern: "touch *", decision: deny, reason: nothing is touched }
`;

const [HEAD, TAIL] = ['(function(exports,require,module,__filename,__dirname){', '\n})'];

/** A name for code of this Node: the hash of the part stands in front. */
const NAME = /^[0-9a-f]{64}-v[\d.]+-\w+$/;

let dir: string;
let folder: string;

beforeEach(() => {
  dir = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'cuff-code-')));
  folder = join(dir, 'state/code');
  fs.mkdirSync(join(dir, 'config/cuff'), { recursive: true });
  fs.writeFileSync(join(dir, 'config/cuff/policy.yml'), DENYING);
  fs.mkdirSync(join(dir, 'state'), { mode: 0o700 });
  onTestFinished(() => fs.rmSync(dir, { recursive: true, force: true }));
});

function run(command = 'touch a') {
  return spawnSync(process.execPath, [binary('cuff'), 'hook'], {
    cwd: dir,
    env: {
      PATH: process.env.PATH,
      HOME: dir,
      CUFF_STATE_ROOT: join(dir, 'state'),
      XDG_CONFIG_HOME: join(dir, 'config'),
      CUFF_HOOK_DEADLINE_MS: '9000',
    },
    input: JSON.stringify({
      ...{ session_id: 's', transcript_path: '/x/s.jsonl', cwd: dir, tool_use_id: 'toolu_1' },
      ...{ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command } },
    }),
    encoding: 'utf8',
  });
}

function hook(): string {
  const { status, stdout, stderr } = run();
  expect([status, stderr]).toEqual([0, '']);
  return stdout;
}

function kept(): string {
  const names = fs.readdirSync(folder);
  expect(names).toEqual([expect.stringMatching(NAME)]);
  return join(folder, names[0] ?? '');
}

function place(path: string, code: Buffer, mode = 0o600): void {
  const half = [Uint8Array.of(8), code]; // it has learned enough
  fs.rmSync(path, { force: true });
  fs.writeFileSync(path, Buffer.concat([...half, ...half]), { mode });
}

/** Of another program, which V8 takes for the hook: it compares no more than the length. */
function foreign(): Buffer {
  const { size } = fs.statSync(join(dirname(binary('cuff')), 'judging.cjs'));
  const length = size - HEAD.length - TAIL.length;
  const body = 'if(require){process._rawDebug("from the cache");process.exit(0)}';
  const script = new Script(`${HEAD}${body.padEnd(length)}${TAIL}`);
  script.runInThisContext()({}, undefined, {}, '', '');
  return script.createCachedData();
}

describe('the code of a part', () => {
  it('is written by no command under a policy', () => {
    const verdict = (name: string): boolean =>
      run(`cp x ${join(dir, 'state', name, 'y')}`).stdout.includes('"deny"');
    expect([verdict('code'), verdict('another')]).toEqual([true, false]);
  });

  it('is kept for the user alone, and answers as the part does', () => {
    const first = hook();
    expect(first).toContain('nothing is touched');
    expect(fs.statSync(folder).mode & 0o777).toBe(0o700);
    expect(fs.statSync(kept()).mode & 0o777).toBe(0o600);
    expect(hook()).toBe(first);
    // A policy that is new has to be read by a module, which code from a cache cannot import.
    fs.rmSync(join(dir, 'state/rules'), { recursive: true });
    expect(hook()).toBe(first);
  });

  it('is made anew where it is damaged', () => {
    const first = hook();
    const path = kept();
    const whole = fs.readFileSync(path);
    const middle = whole.length >> 1;
    const flipped = Buffer.from(whole);
    flipped.fill(0xff, middle, middle + 4_096);
    for (const bytes of [flipped, whole.subarray(0, middle), Buffer.alloc(0), Buffer.alloc(64)]) {
      fs.writeFileSync(path, bytes);
      expect(hook()).toBe(first);
      expect(fs.statSync(path).size).toBeGreaterThan(whole.length / 2 + 64);
    }
    // One half is as it was, so that V8 itself would take it.
    const second = Buffer.from(whole);
    second.fill(0xff, middle + 5_000, middle + 9_096);
    fs.writeFileSync(path, second);
    expect(hook()).toBe(first);
    place(path, Buffer.from('no code of V8'));
    expect(hook()).toBe(first);
  });

  it('is used only where it belongs to this user and is closed to others', () => {
    const first = hook();
    const path = kept();
    const code = foreign();
    const said = (): string => {
      const { stderr, stdout } = run();
      return stdout || stderr.trim();
    };
    place(path, code);
    expect(said()).toBe('from the cache');
    for (const mode of [0o620, 0o602, 0o644]) {
      place(path, code);
      fs.chmodSync(path, mode);
      expect(said()).toBe(first);
    }
    place(path, code);
    fs.renameSync(path, join(dir, 'elsewhere'));
    fs.symlinkSync(join(dir, 'elsewhere'), path);
    expect(said()).toBe(first);
    if (process.getuid?.() === 0) {
      place(path, code);
      fs.chownSync(path, 65_534, 65_534);
      expect(said()).toBe(first);
    }
    place(path, code);
    fs.chmodSync(folder, 0o770);
    expect(said()).toBe(first);
  });
});
