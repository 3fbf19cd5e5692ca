// What is around a run: a umask that closes files to their owner, links where files of ours belong,
// and captures that cannot be removed.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stateRoot } from '../../src/capture/paths.ts';
import { sweep } from '../../src/capture/sweep.ts';
import { findRunner } from '../../src/run/binary.ts';
import { openStore } from '../../src/shell/store.ts';
import { binary, Cli } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';

const cli = new Cli();
const dir = mkdtempSync(join(tmpdir(), 'cuff-around-'));
afterAll(async () => {
  await cli.close();
  rmSync(dir, { recursive: true, force: true });
});

const runner = findRunner();
const noRunner = lacking(runner.kind === 'none', 'there is no native runner here');

describe('a umask', () => {
  it.each(['0277', '0777'])('of %s costs no capture and stays the command’s', async (mask) => {
    const root = join(dir, `umask-${mask}`);
    const words = [process.execPath, binary('cuff'), 'run', '--session-id', 'm', '--'];
    const script = `umask ${mask}; exec "$@"`;
    const env = { CUFF_STATE_ROOT: root };
    const live = cli.start(['sh', '-c', script, 'sh', ...words, 'sh', '-c', 'umask'], { env });
    live.child.stdin?.end();
    expect((await live.result).out).toBe(`${mask}\n`);
    const capture = join(root, 'sessions', 'm');
    const mode = (path: string): string => (lstatSync(path).mode & 0o777).toString(8);
    expect(mode(capture)).toBe('700');
    const modes = readdirSync(capture).map((name) => [name, mode(join(capture, name))]);
    expect(modes.filter(([, one]) => one !== '600')).toEqual([]);
    expect(modes.map(([name]) => name)).toContain('final.json');
    expect(mode(join(root, 'logs'))).toBe('700');
  });
});

it('an empty or relative HOME does not put the state root into the current directory', () => {
  const home = join(userInfo().homedir, '.local', 'state', 'derun');
  expect(stateRoot({ HOME: '' }, 'linux')).toBe(home);
  expect(stateRoot({ HOME: 'here' }, 'linux')).toBe(home);
  expect(stateRoot({ HOME: '/my' }, 'linux')).toBe('/my/.local/state/derun');
});

describe('a link', () => {
  it('in the place of logs/ is not followed', async () => {
    const [root, elsewhere] = [join(dir, 'linked'), join(dir, 'elsewhere')];
    mkdirSync(root, { mode: 0o700 });
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(root, 'logs'));
    expect((await cli.with({ CUFF_STATE_ROOT: root }, 'run', '--', 'true')).code).toBe(0);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it.skipIf(noRunner)(
    'in the place of a file of the runner is neither followed nor written',
    () => {
      const path = runner.kind === 'native' ? runner.path : '';
      for (const [index, link] of [symlinkSync, linkSync].entries()) {
        for (const name of ['append.lock', 'final.json.tmp']) {
          const victim = join(dir, `victim-${index}-${name}`);
          const capture = join(dir, `capture-${index}-${name}`);
          writeFileSync(victim, 'precious\n');
          mkdirSync(capture, { mode: 0o700 });
          link(victim, join(capture, name));
          const words = ['run', 'l', '--dir', capture, '--', 'true'];
          expect(spawnSync(path, words, { stdio: 'ignore' }).status).toBe(0);
          expect(readFileSync(victim, 'utf8')).toBe('precious\n');
          // The one is recorded beside the link, the other is not recorded at all.
          expect(existsSync(join(capture, 'final.json'))).toBe(name === 'final.json.tmp');
        }
      }
    },
  );
});

const noScript = lacking(
  noRunner || !existsSync('/usr/bin/script'),
  'there is no runner or no `script` here',
);

it.skipIf(noScript)('a terminal is plain again when its runner was killed', async () => {
  const full = 'printf "\\033[?1049h\\033[?25lready"; exec sleep 1000';
  const cuff = `'${process.execPath}' '${binary('cuff')}'`;
  const command = `${cuff} run --session-id tty -- sh -c '${full}'`;
  const live = cli.start(['script', '-qec', command, '/dev/null']);
  await live.seen(/ready/);
  const { runner_pid } = await cli.live('tty', 'sleep 1000');
  process.kill(runner_pid ?? 0, 'SIGKILL');
  const { out } = await live.result;
  const after = out.slice(out.indexOf('ready'));
  for (const plain of ['[?1047l', '[?25h', '[?1000l', '[?1006l', '[?2004l']) {
    expect(after).toContain(`\x1b${plain}`);
  }
});

it('a capture that cannot be removed stays whole, with the real reason', async () => {
  const root = join(dir, 'stuck');
  const env = { CUFF_STATE_ROOT: root };
  await cli.with(env, 'run', '--session-id', 'stuck', '--retention', '1s', '--', 'echo', 'hi');
  const capture = join(root, 'sessions', 'stuck');
  const stuck = join(capture, 'output.bin');
  const locked = spawnSync('chattr', ['+i', stuck]).status === 0;
  if (lacking(!locked, 'a file cannot be made immutable here')) return;
  try {
    const before = readdirSync(capture);
    const store = { ...openStore(root), now: () => Date.now() + 10_000_000 };
    const report: unknown[] = [];
    for await (const one of sweep(store)) report.push(one);
    expect(report).toMatchObject([{ reason: 'remove_error', error: 'EPERM' }]);
    expect(readdirSync(capture)).toEqual(before);
  } finally {
    spawnSync('chattr', ['-i', stuck]);
  }
});
