// Commands that no helper can judge: they run without a policy of the user or the system that is
// enforced, and never with one.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
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
  });

  it('without one it runs, and its streams say nothing of it', async () => {
    world = new World();
    cause();
    const ended = await world.call(pi, 'echo ran', world.project());
    expect(ended).toEqual({ code: 0, signal: null, out: 'ran\n', err: '' });
  });
});

describe('under an enforced policy', () => {
  it('a helper that does not answer in time', async () => {
    world = new World({ enforced: true, helperMs: 1 });
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
