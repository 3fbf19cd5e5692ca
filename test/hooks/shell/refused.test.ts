// What an agent's shell does where the policy wants more than the command alone: a sandbox that
// does not work, a gate that there is none of, and calls of a shell that never come to us.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { checkSandbox } from '../../../src/guard/sandbox.ts';
import type { Channel } from '../../../src/hooks/shell/channel.ts';
import { serveCall } from '../../../src/hooks/shell/helper.ts';
import { DEFAULT_RECORDING } from '../../../src/recorder/settings.ts';
import { openStore } from '../../../src/shell/store.ts';
import { processesWith, until } from '../../cli/helper.ts';
import { lacking } from '../../requirements.ts';
import { trusted } from '../../trust.ts';
import { CUFF, SHAPES, World } from './world.ts';

const world = new World();
afterAll(() => world.close());
afterEach(() => {
  vi.unstubAllEnvs();
});

const { codex, pi } = SHAPES;

/** A project with a file that the policy lets no command remove. */
function ruled(more: string): string {
  const cwd = world.project();
  mkdirSync(join(cwd, '.cuff'));
  const deny = '{ pattern: "rm *", decision: deny }';
  const policies = `policies:\n  - name: rules\n    commands:\n      - ${deny}\n`;
  const head = 'version: 1\nmode: enforce\ndefault: allow\n';
  writeFileSync(join(cwd, '.cuff', 'policy.yml'), `${head}${more}${policies}`);
  writeFileSync(join(cwd, 'kept'), '');
  return cwd;
}

/** A search path with this program as `bwrap`. */
function pathWith(script: string): string {
  const bin = join(world.project(), 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'bwrap'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, 'bwrap'), 0o755);
  return `${bin}:${world.env.PATH}`;
}

const noBwrap = lacking(!checkSandbox().ok, 'there is no bwrap that works here');

describe('a sandbox that the policy wants', () => {
  const SANDBOX = 'sandbox: bwrap\n';
  const touch = (cwd: string, PATH: string) => {
    const argv = [world.files.bash, '-c', 'touch made'];
    return world.run({ cwd, argv, env: { ...world.env, ...pi.env, PATH } }).outcome;
  };

  it.skipIf(noBwrap)('is around the command, which is recorded all the same', async () => {
    const cwd = ruled(SANDBOX);
    const text = 'touch made; echo $0; test -w /usr || echo sealed; exit 3';
    const argv = [world.files.bash, '-c', text, 'name'];
    const { outcome } = world.run({ cwd, argv, env: { ...world.env, ...pi.env } });
    const out = 'name\nsealed\n';
    expect(await outcome).toEqual({ code: 3, signal: null, out, err: '' });
    expect(existsSync(join(cwd, 'made'))).toBe(true);
    expect(world.entries(cwd)).toMatchObject([{ exit_code: 3, stdout: out }]);
  });

  it.skipIf(noBwrap)('lets nothing more run when what is protected has changed', async () => {
    const cwd = ruled(SANDBOX);
    const plain = `version: 1\ndefault: allow\n${SANDBOX}`;
    writeFileSync(join(cwd, '.cuff', 'policy.yml'), plain);
    writeFileSync(join(cwd, 'build.sh'), 'echo x > CLAUDE.md\n');
    const argv = [world.files.bash, '-c', 'bash build.sh'];
    const call = (words: readonly string[]) =>
      world.run({ cwd, argv: words, env: { ...world.env, ...pi.env } }).outcome;
    expect(await call(argv)).toMatchObject({ code: 0, err: '' });
    const { code, err } = await call([world.files.bash, '-c', 'touch made']);
    expect(code).toBe(126);
    expect(err).toMatch(/^cuff policy: denied \(changes\)\.\n.*new CLAUDE\.md/);
    expect(existsSync(join(cwd, 'made'))).toBe(false);
    expect(world.entries(cwd).map(({ decision }) => decision)).toMatchObject([
      { verdict: 'allow', changed: ['new CLAUDE.md'] },
      { verdict: 'deny', code: 'changes' },
    ]);
  });

  it('does not work here: the command is refused', async () => {
    const cwd = ruled(SANDBOX);
    const { code, err } = await touch(cwd, pathWith('echo "no namespaces" >&2; exit 1'));
    expect(code).toBe(126);
    expect(err).toMatch(/^cuff policy: not run\. .*`sandbox: bwrap`.*no namespaces/);
    expect(existsSync(join(cwd, 'made'))).toBe(false);
    expect(world.entries(cwd)).toMatchObject([{ command: 'touch made', end_reason: 'denied' }]);
  });

  it('worked when it was tried, and fails now: the command does not run without it', async () => {
    const cwd = ruled(SANDBOX);
    const tried = 'for last; do :; done; [ "$last" = : ] && exit 0';
    const { code, err } = await touch(cwd, pathWith(`${tried}; echo broken >&2; exit 9`));
    expect({ code, err }).toEqual({ code: 9, err: 'broken\n' });
    expect(existsSync(join(cwd, 'made'))).toBe(false);
    expect(world.entries(cwd)).toMatchObject([{ exit_code: 9, stderr: 'broken\n' }]);
  });

  it.each([
    ['no', '', 'x\n'],
    ['such a', SANDBOX, 'd 22\ncuff: the clock broke\n'],
  ])('of %s policy, where the start of its record fails', async (_, more, answer) => {
    vi.stubEnv('PATH', pathWith('exit 0'));
    const cwd = more === '' ? world.project() : ruled(more);
    const said: string[] = [];
    const channel: Channel = {
      send: (text) => said.push(Buffer.from(text).toString()),
      line: async () => undefined,
    };
    const now = (): number => {
      throw new Error('the clock broke');
    };
    const recording = { ...DEFAULT_RECORDING, directory: join(cwd, '.cuff', 'recordings') };
    await serveCall({
      env: { ...world.env, ...pi.env },
      store: { ...openStore(world.root), now },
      real: '/bin/bash',
      text: 'touch made',
      cwd,
      terminal: false,
      channel,
      recordingOf: async () => ({ project: cwd, recording }),
    });
    expect(said).toEqual([answer]);
  });
});

it('strict settings of a project refuse what cannot be recorded, once trusted', async () => {
  const cwd = world.project();
  const recording = 'recording:\n        strict: true\n';
  const text = `plugins:\n  bash_recorder:\n    config:\n      ${recording}`;
  writeFileSync(join(cwd, 'settings.yml'), text);
  writeFileSync(join(cwd, '.cuff'), 'a file in its place');
  const env = { ...world.env, ...pi.env, XDG_CONFIG_HOME: join(world.base, 'config') };
  const argv = [world.files.bash, '-c', 'echo ran'];
  const call = () => world.run({ cwd, argv, env }).outcome;
  expect(await call()).toMatchObject({ code: 0, out: 'ran\n' });
  trusted(cwd, env);
  const { code, out, err } = await call();
  expect({ code, out }).toEqual({ code: 126, out: '' });
  expect(err).toContain('cannot be recorded');
});

describe('gate: strict', () => {
  it('refuses every command, with an entry', async () => {
    const cwd = ruled('gate: strict\n');
    const { code, err } = await world.call(pi, 'touch made', cwd);
    expect(code).toBe(126);
    expect(err).toMatch(/^cuff policy: not run\. .*`gate: strict`/);
    expect(existsSync(join(cwd, 'made'))).toBe(false);
    expect(world.entries(cwd)).toMatchObject([{ command: 'touch made', end_reason: 'denied' }]);
  });

  it('runs nothing where the shell is killed before it has its answer', async () => {
    const other = new World();
    try {
      const cwd = ruled('gate: strict\n');
      const gate = join(other.base, 'gate');
      execFileSync('mkfifo', [gate]);
      const { child, outcome } = held(other, cwd, gate);
      // Opens only when the helper is there and waits.
      const open = openSync(gate, 'w');
      child.kill('SIGKILL');
      expect(await outcome).toMatchObject({ signal: 'SIGKILL' });
      writeSync(open, 'x');
      await until(() => other.entries(cwd).length === 1, 'an entry');
      expect(other.entries(cwd)).toMatchObject([{ end_reason: 'denied', run_id: null }]);
      expect(existsSync(join(cwd, 'made'))).toBe(false);
    } finally {
      await until(() => processesWith(`CUFF_STATE_ROOT=${other.root}`).length === 0, 'its end');
      other.close();
    }
  });
});

/** A call whose helper reads one byte from the FIFO before it begins. */
function held(other: World, cwd: string, gate: string) {
  const script = join(other.base, 'held.cjs');
  const wait = `const fs = require('fs'); fs.readSync(fs.openSync('${gate}'), Buffer.alloc(1));`;
  writeFileSync(script, `${wait} require('${join(dirname(CUFF), 'sh.cjs')}');`);
  const client = join(other.files.shells, 'client');
  writeFileSync(client, readFileSync(client, 'utf8').replace(/^cuff .*/m, `cuff ${script}`));
  const env = { ...other.env, ...pi.env };
  return other.run({ cwd, argv: [other.files.bash, '-c', 'touch made'], env });
}

describe('calls that do not come to us, or that do', () => {
  const { bash, bashEnv } = world.files;
  const byBashEnv = { ...world.env, ...codex.env, BASH_ENV: bashEnv };
  const byPath = { ...world.env, ...pi.env };
  const RM = 'rm kept; echo ran';

  it.each([
    ['-i, by our path', [bash, '--norc', '-i', '-c', RM], byPath],
    ['-i, by BASH_ENV', ['/bin/bash', '--norc', '-ic', RM], byBashEnv],
    ['--posix, by BASH_ENV', ['/bin/bash', '--posix', '-c', RM], byBashEnv],
    ['sh, by BASH_ENV', ['/bin/sh', '-c', RM], byBashEnv],
  ])('%s: neither judged nor recorded', async (_, argv, env) => {
    const cwd = ruled('');
    const { code, out } = await world.run({ cwd, argv, env }).outcome;
    expect({ code, out }).toEqual({ code: 0, out: 'ran\n' });
    expect(existsSync(join(cwd, 'kept'))).toBe(false);
    expect(world.entries(cwd)).toEqual([]);
  });

  it.each([
    ['--posix, by our path', [bash, '--posix', '-c', RM], byPath],
    ['--norc, by our path', [bash, '--norc', '--noprofile', '-c', RM], byPath],
    ['-p, by our path', [bash, '-p', '-c', RM], byPath],
  ])('%s: judged', async (_, argv, env) => {
    const cwd = ruled('');
    expect((await world.run({ cwd, argv, env }).outcome).code).toBe(126);
    expect(existsSync(join(cwd, 'kept'))).toBe(true);
    expect(world.entries(cwd)).toMatchObject([{ command: RM, end_reason: 'denied' }]);
  });
});
