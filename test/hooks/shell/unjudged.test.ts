// Commands that no helper can judge: they run without a policy of the user or the system that is
// enforced, and never with one.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { unrecordedCommands } from '../../../src/hooks/shell/unrecorded.ts';
import { lacking } from '../../requirements.ts';
import { SHAPES, World } from './world.ts';

const { codex, pi } = SHAPES;

let world: World;
afterEach(() => world.close());

const client = () => join(world.files.shells, 'client');

function rewriteClient(line: RegExp, by: string): void {
  writeFileSync(client(), readFileSync(client(), 'utf8').replace(line, by));
}

/** A program in the place of the helper. */
function helperIs(script: string): void {
  const path = join(world.base, 'helper.cjs');
  writeFileSync(path, script);
  rewriteClient(/^cuff .*/m, `cuff ${path}`);
}

const SAYS = 'cuff policy: not run, because a policy is enforced and cannot be asked: ';

const CAUSES: readonly (readonly [string, () => void, RegExp])[] = [
  ['cuff is gone', () => rewriteClient(/^cuff .*/m, 'cuff /nowhere'), /cuff or its Node is gone/],
  ['Node is gone', () => rewriteClient(/^node .*/m, 'node /nowhere'), /cuff or its Node is gone/],
  ['its file names no cuff', () => rewriteClient(/^cuff .*\n/m, ''), /cuff or its Node is gone/],
  ['Node cannot start', () => rewriteClient(/^node .*/m, 'node /bin/false'), /did not answer/],
  [
    'the helper is killed',
    () => helperIs("process.kill(process.pid, 'SIGKILL')"),
    /did not answer/,
  ],
  ['the helper breaks', () => helperIs("throw new Error('broken')"), /did not answer/],
  [
    'the helper is killed in its answer',
    () =>
      helperIs("require('fs').writeSync(3, 'r 4 100\\n'); process.kill(process.pid, 'SIGKILL')"),
    /did not answer/,
  ],
  [
    'the settings cannot be read',
    () => {
      const config = join(world.env.HOME ?? '', '.config', 'cuff');
      mkdirSync(config, { recursive: true });
      writeFileSync(join(config, 'settings.yml'), 'plugins: [');
    },
    /settings\.yml:\d+:\d+: /,
  ],
];

describe.each(CAUSES)('%s', (_, cause, why) => {
  it('under an enforced policy it does not run, and hears why', async () => {
    world = new World({ enforced: true });
    const cwd = world.project();
    cause();
    const { code, out, err } = await world.call(pi, 'touch made; echo ran', cwd);
    expect({ code, out }).toEqual({ code: 126, out: '' });
    expect(err.startsWith(SAYS)).toBe(true);
    expect(err).toMatch(why);
    expect(err.match(/\n/g)).toHaveLength(1);
    expect(existsSync(join(cwd, 'made'))).toBe(false);
    expect(unrecordedCommands(world.root)).toEqual([]);
  });

  it('without one it runs, its streams say nothing of it, and it is noted', async () => {
    world = new World();
    cause();
    const ended = await world.call(pi, 'echo ran', world.project());
    expect(ended).toEqual({ code: 0, signal: null, out: 'ran\n', err: '' });
    const noted = [{ count: 1, lastAt: expect.any(Number), reason: expect.stringMatching(why) }];
    expect(unrecordedCommands(world.root)).toEqual(noted);
    expect(notes('')).not.toContain('echo');
  });
});

const notes = (suffix: string) => readFileSync(join(world.root, `unrecorded${suffix}`), 'utf8');

describe('notes of what ran unrecorded', () => {
  const gone = async (count: number) => {
    const cwd = world.project();
    rewriteClient(/^cuff .*/m, 'cuff /nowhere');
    for (let at = 0; at < count; at += 1) await world.call(pi, 'true', cwd);
  };

  it('are counted by cause, for a day', async () => {
    world = new World();
    const before = Date.now();
    await gone(3);
    const [one, ...more] = unrecordedCommands(world.root);
    expect([one?.count, more]).toEqual([3, []]);
    expect(one?.lastAt).toBeGreaterThanOrEqual(before);
    expect(unrecordedCommands(world.root, Date.now() + 25 * 3_600_000)).toEqual([]);
  });

  it('take no more than two files of 64 kB', async () => {
    world = new World();
    const old = `${'x'.repeat(99)}\n`.repeat(700);
    writeFileSync(join(world.root, 'unrecorded'), old);
    await gone(1);
    expect(notes('.1')).toBe(old);
    expect(notes('').split('\n')).toHaveLength(2);
    expect(unrecordedCommands(world.root)).toMatchObject([{ count: 1 }]);
  });

  it('go through no link, and stop no command', async () => {
    world = new World();
    const other = join(world.base, 'other');
    writeFileSync(other, '');
    symlinkSync(other, join(world.root, 'unrecorded'));
    rewriteClient(/^cuff .*/m, 'cuff /nowhere');
    const ended = await world.call(pi, 'echo ran', world.project());
    expect(ended).toMatchObject({ code: 0, out: 'ran\n', err: '' });
    expect(readFileSync(other, 'utf8')).toBe('');
  });
});

describe('under an enforced policy', () => {
  it('a helper that does not answer in time', async () => {
    world = new World({ enforced: true, waits: { 'helper-ms': 1 } });
    helperIs("require('node:fs').readFileSync(3)"); // until the client has gone
    const { code, out, err } = await world.call(pi, 'echo ran', world.project());
    expect({ code, out }).toEqual({ code: 126, out: '' });
    expect(err).toContain('did not answer');
  });

  it('what no agent runs goes to the real shell as ever', async () => {
    world = new World({ enforced: true });
    rewriteClient(/^cuff .*/m, 'cuff /nowhere');
    const argv = [world.files.bash, '-c', 'echo ran'];
    const { outcome } = world.run({ cwd: world.project(), argv, env: world.env });
    expect(await outcome).toMatchObject({ code: 0, out: 'ran\n', err: '' });
  });

  const noZsh = lacking(!existsSync('/usr/bin/zsh'), 'there is no zsh here');
  it('our bash is gone: its start file refuses for it', () => goneShell('bash'));
  it.skipIf(noZsh)('our zsh is gone: its start file refuses for it', () => goneShell('zsh'));

  async function goneShell(name: 'bash' | 'zsh') {
    world = new World({ enforced: true });
    rmSync(world.files[name]);
    const variables =
      name === 'zsh' ? { ZDOTDIR: world.files.zdotdir } : { BASH_ENV: world.files.bashEnv };
    const call = (env: Readonly<Record<string, string>>) =>
      world.run({ cwd: world.project(), argv: [name, '-c', 'echo ran'], env }).outcome;
    const { code, out, err } = await call({ ...world.env, ...codex.env, ...variables });
    expect({ code, out }).toEqual({ code: 126, out: '' });
    expect(err).toContain('the shell of cuff is gone');
    expect(await call({ ...world.env, ...variables })).toMatchObject({ code: 0, out: 'ran\n' });
  }
});
