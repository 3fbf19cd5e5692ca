// The same for users of zsh: by the path of our zsh, by PATH, and by ZDOTDIR, where only a variable
// can be set. What the agent gets is what the bare zsh gives it, and there is one entry.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { lacking } from '../../requirements.ts';
import { type Shape, World } from './world.ts';

const ZSH = '/usr/bin/zsh';
const without = lacking(!existsSync(ZSH), 'there is no zsh here');

const world = new World();
afterAll(() => world.close());

const OPENCODE = { OPENCODE: '1', SHELL: ZSH };
const PATH = world.env.PATH ?? '';

const WAYS: Readonly<Record<string, Shape>> = {
  'its path': {
    argv: (command, { zsh }) => [zsh, '-c', command],
    bare: (command) => [ZSH, '-c', command],
    env: OPENCODE,
  },
  PATH: {
    argv: (command) => ['zsh', '-c', command],
    bare: (command) => ['zsh', '-c', command],
    env: { QWEN_CODE: '1', SHELL: ZSH },
    knob: ({ shells }) => ({ PATH: `${shells}:${PATH}` }),
  },
  ZDOTDIR: {
    argv: (command) => [ZSH, '-c', command],
    bare: (command) => [ZSH, '-c', command],
    env: OPENCODE,
    knob: ({ zdotdir }) => ({ ZDOTDIR: zdotdir }),
  },
  'ZDOTDIR, as a login shell': {
    argv: (command) => [ZSH, '-lc', command],
    bare: (command) => [ZSH, '-lc', command],
    env: OPENCODE,
    knob: ({ zdotdir }) => ({ ZDOTDIR: zdotdir }),
  },
  'ZDOTDIR, with options and words': {
    argv: (command) => [ZSH, '-e', '-u', '-o', 'pipefail', '-c', command, 'name', 'a b', ''],
    bare: (command) => [ZSH, '-e', '-u', '-o', 'pipefail', '-c', command, 'name', 'a b', ''],
    env: OPENCODE,
    knob: ({ zdotdir }) => ({ ZDOTDIR: zdotdir }),
  },
};

const COMMANDS = [
  "cat <<'EOF'\nline $x 'q'\nEOF",
  'echo out; echo err >&2; exit 3',
  "head -c 300000 /dev/zero | tr '\\0' x",
  "printf 'a\\0b\\0'; printf '\\xff\\xfe\\n'",
  'kill -TERM $$',
  'exec echo replaced',
  'cd /; pwd',
  'no-such-command-here',
  'echo "unterminated',
  'env | sort; print -r -- $- $0 "$#" "$@"; [[ -o login ]]; echo $?',
  'setopt | sort; echo "[$mine]"; printenv ZDOTDIR',
  'false | true; echo $?',
  'false; echo after',
  `zsh -c 'echo nested'; sh -c 'echo sh'; bash -c 'echo bash'; echo 'echo script' > s; zsh s`,
  'print -l /etc/host*(N) | head -n 1; for x (a b) echo $x',
];

describe.each(Object.entries(WAYS))('zsh by %s', (_, shape) => {
  it.skipIf(without)('gives what the bare zsh gives, and one entry each', async () => {
    writeFileSync(join(world.env.HOME ?? '', '.zshenv'), 'mine=yes\n');
    const cwd = world.project();
    for (const command of COMMANDS) {
      const [bare, ours] = await Promise.all([
        world.call(shape, command, world.project(), true),
        world.call(shape, command, cwd),
      ]);
      expect({ command, ...plain(ours) }).toEqual({ command, ...plain(bare) });
    }
    expect(world.entries(cwd).map(({ command }) => command)).toEqual(COMMANDS);
  });
});

it.skipIf(without)("puts back the user's ZDOTDIR, and sources its file once", async () => {
  const own = join(world.base, 'own');
  mkdirSync(own);
  writeFileSync(join(own, '.zshenv'), 'mine+=1\n');
  const { zdotdir } = world.files;
  const env = { ...world.env, ...OPENCODE, ZDOTDIR: zdotdir, CUFF_USER_ZDOTDIR: own };
  const argv = [ZSH, '-c', 'echo $mine $ZDOTDIR; env | grep -c CUFF_USER'];
  const cwd = world.project();
  expect((await world.run({ cwd, argv, env }).outcome).out).toBe(`1 ${own}\n0\n`);
  expect(world.entries(cwd)).toHaveLength(1);
});

it.skipIf(without)(
  'goes on as the real zsh where ZDOTDIR brought no call of an agent',
  async () => {
    const env = { ...world.env, ZDOTDIR: world.files.zdotdir };
    const cwd = world.project();
    const argv = [ZSH, '-c', 'echo ran; env | grep -c -e CUFF_INSIDE -e ZDOTDIR'];
    expect((await world.run({ cwd, argv, env }).outcome).out).toBe('ran\n0\n');
    expect(world.entries(cwd)).toEqual([]);
  },
);

/** Without the names of the two projects. */
function plain({ code, signal, out, err }: Awaited<ReturnType<World['call']>>) {
  const same = (text: string): string => text.replaceAll(/\/p\d+\b/g, '/p');
  return { code, signal, out: same(out), err: same(err) };
}
