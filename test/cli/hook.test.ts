// `cuff hook` as agents start it: it exits 0 and answers in time, whatever it is given.
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lacking } from '../requirements.ts';
import { hungMount, noMount } from '../run/hung-mount.ts';
import { binary } from './helper.ts';

const DENYING = `
default: allow
policies:
  - name: rules
    description: for tests
    commands:
      - { pattern: "touch *", decision: deny, reason: nothing is touched }
`;

type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

class Place {
  readonly dir = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'cuff-hook-')));
  readonly project = join(this.dir, 'project');
  readonly state = join(this.dir, 'state');
  readonly env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: join(this.dir, 'home'),
    CUFF_STATE_ROOT: this.state,
    XDG_CONFIG_HOME: join(this.dir, 'config'),
    CUFF_HOOK_DEADLINE_MS: '9000', // a loaded machine; what is slow by itself says less
  };

  constructor(policy = DENYING) {
    for (const name of ['project', 'home', 'config/cuff']) {
      fs.mkdirSync(join(this.dir, name), { recursive: true });
    }
    fs.writeFileSync(join(this.dir, 'config/cuff/policy.yml'), policy);
    onTestFinished(() => fs.rmSync(this.dir, { recursive: true, force: true }));
  }

  /** `input` undefined: stdin stays open. */
  hook(
    input: string | Buffer | undefined,
    args: readonly string[] = [],
    stdio: 'pipe' | 'closed' = 'pipe',
  ): Promise<Ended> {
    const child = spawn(process.execPath, [binary('cuff'), 'hook', ...args], {
      cwd: this.project,
      env: this.env,
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let [out, err] = ['', ''];
    if (stdio === 'closed') child.stdout.destroy();
    child.stdout.on('data', (part) => {
      out += part;
    });
    child.stderr.on('data', (part) => {
      err += part;
    });
    child.stdin.on('error', () => undefined); // it may answer before it has read all
    if (input !== undefined) child.stdin.end(input);
    return new Promise((resolve) => {
      child.on('close', (code) => resolve({ code, out, err }));
    });
  }

  before(command: string, more: object = {}): string {
    return JSON.stringify({
      ...{ session_id: 's', transcript_path: '/x/s.jsonl', cwd: this.project },
      ...{ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command } },
      ...{ tool_use_id: 'toolu_1', ...more },
    });
  }

  copilot(command: string): string {
    const call = { toolName: 'bash', toolArgs: { command } };
    return JSON.stringify({ sessionId: 's', timestamp: 1, cwd: this.project, ...call });
  }
}

const QUIET = { code: 0, out: '', err: '' };

describe('cuff hook', () => {
  it('denies what the policy denies, and says why', async () => {
    const place = new Place();
    const { code, out, err } = await place.hook(place.before('touch x'));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: [
          'cuff policy: denied (rule.deny).',
          'The rule `touch *` denies `touch x`: nothing is touched',
        ].join('\n'),
      },
    });
    expect(fs.readdirSync(join(place.state, 'intents')).sort()).toHaveLength(2);
  });

  it('says nothing about what the policy allows, with and without flags', async () => {
    const place = new Place();
    const payload = place.before('echo hi');
    for (const args of [[], ['--agent', 'codex'], ['--mode=record'], ['--what', '--agent']]) {
      expect(await place.hook(payload, args)).toEqual(QUIET);
    }
    expect(await place.hook(place.before('touch x'), ['--mode', 'record'])).toEqual(QUIET);
  });

  it('answers one event that two files send at once in the same way, with one entry', async () => {
    const place = new Place();
    const all = await Promise.all([1, 2, 3].map(() => place.hook(place.before('touch x'))));
    expect(new Set(all.map(({ out }) => out)).size).toBe(1);
    const end = place.before('echo hi', {
      ...{ hook_event_name: 'PostToolUse', tool_response: { stdout: 'hi', stderr: '' } },
      tool_use_id: 'toolu_2',
    });
    await Promise.all([1, 2, 3].map(() => place.hook(end)));
    const sessions = join(place.project, '.cuff/recordings/sessions');
    const lines = fs
      .readdirSync(sessions)
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) => fs.readFileSync(join(sessions, name), 'utf8').trim().split('\n'));
    expect(lines.map((line) => JSON.parse(line).command).sort()).toEqual(['echo hi', 'touch x']);
  });

  it('does not wait for the end of its input when the document is whole', async () => {
    const place = new Place();
    const child = spawn(process.execPath, [binary('cuff'), 'hook'], { env: place.env });
    onTestFinished(() => void child.kill('SIGKILL'));
    let out = '';
    child.stdout.on('data', (part) => {
      out += part;
    });
    child.stdin.write(place.before('touch x'));
    const code = await new Promise((resolve) => {
      child.on('close', resolve);
    });
    expect(code).toBe(0);
    expect(out).toContain('nothing is touched');
  });
});

describe('cuff hook on bad input', () => {
  it.each([
    ['nothing', ''],
    ['no JSON', 'hello'],
    ['half of a document', '{"a": 1'],
    ['a list', '[1, 2]'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0, 1])],
    ['ten megabytes of brackets', '['.repeat(10_000_000)],
    ['a document of no agent', '{"hello": "world"}'],
    ['wrong types', '{"hook_event_name": {}, "session_id": [], "tool_name": 7}'],
  ])('says nothing to %s', async (_name, input) => {
    expect(await new Place().hook(input)).toEqual(QUIET);
  });

  it('denies a call of which it could read only the beginning', async () => {
    const place = new Place();
    for (const text of [place.before('echo hi'), place.copilot('echo hi')]) {
      const { code, out } = await place.hook(text.slice(0, -2));
      expect(code).toBe(0);
      expect(out).toContain('what the client sent cannot be read');
    }
  });

  it('denies a call whose input is longer than any call', async () => {
    const place = new Place();
    const { code, out } = await place.hook(place.copilot('x'.repeat(17 * 1024 * 1024)));
    expect(code).toBe(0);
    expect(JSON.parse(out).permissionDecision).toBe('deny');
  });

  it('judges a call of ten megabytes', async () => {
    const place = new Place();
    const { code, out } = await place.hook(place.copilot(`touch ${'x'.repeat(10_000_000)}`));
    expect(code).toBe(0);
    expect(JSON.parse(out).permissionDecision).toBe('deny');
  });

  it('ends in silence when nothing comes', async () => {
    const place = new Place();
    delete place.env.CUFF_HOOK_DEADLINE_MS;
    expect(await place.hook(undefined)).toEqual(QUIET);
  });

  it('ends when its answer cannot be written', async () => {
    const place = new Place();
    expect((await place.hook(place.before('touch x'), [], 'closed')).code).toBe(0);
  });
});

describe('cuff hook on a bad machine', () => {
  it('answers without a home directory', async () => {
    const place = new Place();
    delete place.env.HOME;
    expect((await place.hook(place.before('touch x'))).out).toContain('nothing is touched');
  });

  it('answers with a state root that it cannot make', async () => {
    const place = new Place();
    place.env.CUFF_STATE_ROOT = '/proc/1/no';
    expect((await place.hook(place.before('touch x'))).out).toContain('nothing is touched');
    expect(await place.hook(place.before('echo hi'))).toEqual(QUIET);
    place.env.CUFF_STATE_ROOT = '/dev/null';
    expect((await place.hook(place.before('touch x'))).out).toContain('nothing is touched');
  });

  it('denies in a directory that is gone, by the policy of the user', async () => {
    const place = new Place();
    const payload = place.before('touch x', { cwd: join(place.project, 'gone') });
    expect((await place.hook(payload)).out).toContain('nothing is touched');
  });

  it('denies when the policy is broken and no shell stands behind it', async () => {
    const place = new Place('default: [');
    const { code, out } = await place.hook(place.copilot('echo hi'));
    expect(code).toBe(0);
    expect(JSON.parse(out).permissionDecisionReason).toContain('policy.yml:1:');
  });

  const noFuse = lacking(noMount() !== undefined, 'no FUSE file system can be mounted here');

  it.skipIf(noFuse)('denies in a directory of a mount that does not answer', async () => {
    const place = new Place();
    delete place.env.CUFF_HOOK_DEADLINE_MS;
    const mount = await hungMount();
    await mount.hang();
    const call = { toolName: 'bash', toolArgs: { command: 'echo hi' } };
    const payload = { sessionId: 's', timestamp: 1, cwd: mount.dir, ...call };
    const { code, out } = await place.hook(JSON.stringify(payload));
    expect(code).toBe(0);
    expect(JSON.parse(out).permissionDecision).toBe('deny');
  });
});
