// What an agent can say besides the text of a command, and what it types into a shell that lives:
// the policy judges that, too.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Codex } from '../../src/dialects/codex/dialect.ts';
import { CuffShellPlugin } from '../../src/dialects/cuff_shell/dialect.ts';
import { PhoenixBashPlugin } from '../../src/dialects/phoenix_bash/dialect.ts';
import { generateFromJournal, policyYaml } from '../../src/recordings/evidence.ts';
import { call, World } from '../recorder/helper.ts';

/** Everything may run but these. */
const OPEN = `default: allow
policies:
  - name: test
    commands:
      - { pattern: touch *, decision: deny }
      - pattern: bash --norc --noprofile
`;

const ASKED = {
  success: true,
  text: expect.stringMatching(/^cuff policy: needs approval/),
};

/** Codex knows a refusal as an error. */
const ERROR = { ...ASKED, success: false };

const PAGERS = 'echo "$LESSSECURE,$PAGER,$GIT_PAGER,$MANPAGER"';

describe('the native shell under a policy', () => {
  it('asks about keys for a pager, and gives programs none', async () => {
    const rules = 'policies: [{ name: x, commands: [{ pattern: git log * }, { pattern: cat * }] }]';
    const world = new World({ policy: rules });
    const plugin = await world.open(CuffShellPlugin);
    const keys = { tty: true, stdin: '\n!touch made\n\nq' };
    expect(await call(plugin, 'shell_run', { command: 'git log', ...keys })).toEqual(ASKED);
    expect(existsSync(join(world.project, 'made'))).toBe(false);
    const read = await call(plugin, 'shell_run', { command: 'cat', ...keys });
    expect(read).toMatchObject({ success: true, text: expect.stringContaining('!touch made') });
  });

  it.each([
    ['enforce', undefined, '1,cat,cat,cat'],
    ['enforce', { PAGER: '' }, '1,,cat,cat'],
    ['warn', undefined, ',more,less,'],
    ['record', undefined, ',more,less,'],
  ])('under %s with %j of the caller has these pagers: %s', async (mode, given, pagers) => {
    const env = { ...process.env, PAGER: 'more', GIT_PAGER: 'less' };
    const world = new World({ policy: `mode: ${mode}\ndefault: allow\n`, env });
    const plugin = await world.open(CuffShellPlugin);
    const { text } = await call(plugin, 'shell_run', { command: PAGERS, env: given });
    expect(text.split('\n')[0]).toBe(pagers);
  });

  it('writes down what was judged with a command, and makes no rules of that', async () => {
    const world = new World({ policy: 'default: allow\n' });
    const plugin = await world.open(CuffShellPlugin);
    await call(plugin, 'shell_run', { command: 'cat', env: { CI: 'yes' }, stdin: 'a' });
    await call(plugin, 'shell_run', { command: 'ls -a' });
    const [with_, without] = world.entries();
    expect(with_?.decision).toMatchObject({ verdict: 'allow', beside: ['env CI', 'stdin'] });
    expect(without?.decision).not.toHaveProperty('beside');
    const query = { directory: world.journal, minFrequency: 1, now: Date.now(), home: '/root' };
    const { generated } = generateFromJournal({ ...query, strategy: 'exact' });
    const text = policyYaml(generated);
    expect([text.includes('ls -a'), text.includes('cat')]).toEqual([true, false]);
  });

  it('does not take from variables what it would not take from the text', async () => {
    const world = new World({ policy: OPEN });
    const plugin = await world.open(CuffShellPlugin);
    const run = (env: Readonly<Record<string, string>>) =>
      call(plugin, 'shell_run', { command: 'echo hi', env });
    for (const name of ['LD_PRELOAD', 'BASH_ENV', 'PATH', 'GIT_PAGER', 'BASH_FUNC_ls%%']) {
      const { text } = await run({ [name]: '/tmp/x' });
      expect(text).toMatch(/^cuff policy: /);
    }
    expect((await run({ 'A; touch made; B': '1' })).text).toMatch(/^cuff policy: /);
    expect(existsSync(join(world.project, 'made'))).toBe(false);
    expect(await run({ CI: '1' })).toMatchObject({
      success: true,
      text: expect.stringMatching(/^hi/),
    });
  });

  it('judges the input of a shell as what it is', async () => {
    const world = new World({ policy: OPEN });
    const plugin = await world.open(CuffShellPlugin);
    for (const command of ['bash', 'sh -s', 'exec bash', 'cat | sh']) {
      for (const tty of [false, true]) {
        const args = { command, stdin: 'touch made\n', tty };
        const { text } = await call(plugin, 'shell_run', args);
        expect([command, text.slice(0, 19)]).toEqual([command, 'cuff policy: denied']);
      }
    }
    expect(existsSync(join(world.project, 'made'))).toBe(false);
    const plain = await call(plugin, 'shell_run', { command: 'cat', stdin: 'touch made\n' });
    expect(plain).toMatchObject({ success: true, text: expect.stringContaining('touch made') });
  });

  it('binds a grant to what came with the command', async () => {
    const world = new World({ policy: 'default: ask\n' });
    const plugin = await world.open(CuffShellPlugin);
    const run = (stdin: string) => call(plugin, 'shell_run', { command: 'cat', stdin });
    const person = { ask: async () => ({ kind: 'chosen', value: 'always' }) as const };
    const { text } = await call(plugin, 'shell_run', { command: 'cat', stdin: 'a' }, person);
    expect(text).toContain('[policy: it ran this once; what came with the command is in no rule]');
    const [first, other] = [await run('a'), await run('b')];
    const ids = [first, other].map((one) => /approve ([a-z2-7]{8})$/.exec(one.text)?.[1]);
    expect(ids[0]).toBeDefined();
    expect(ids[0]).not.toBe(ids[1]);
  });
});

describe('the recorder under a policy', () => {
  it('judges by the shell that the settings want', async () => {
    const world = new World({ policy: 'policies: [{ name: x, commands: [{ pattern: echo * }] }]' });
    const plugin = await world.plugin({ execution: { shell: '/bin/sh' } });
    const run = (command: string) => call(plugin, 'execute', { command });
    expect(await run('echo hi &>/dev/null touch made')).toEqual(ASKED);
    expect(await run('echo hi')).toMatchObject({ success: true });
    expect(existsSync(join(world.project, 'made'))).toBe(false);
  });

  it('runs a command where it was judged, whatever the settings say by then', async () => {
    const world = new World({ policy: 'default: ask\n' });
    const other = join(world.dir, 'other');
    mkdirSync(other);
    const plugin = await world.plugin({});
    const ask = async () => {
      await plugin.onConfigReload({ execution: { working_directory: other, shell: '/bin/sh' } });
      return { kind: 'chosen', value: 'once' } as const;
    };
    await call(plugin, 'execute', { command: 'pwd; echo "$BASH"' }, { ask });
    expect(world.entry()).toMatchObject({
      working_directory: world.project,
      stdout: expect.stringMatching(new RegExp(`^${world.project}\n.*bash\n$`)),
    });
  });
});

describe('phoenix under a policy', () => {
  it('refuses what nobody means before any policy is asked', async () => {
    const world = new World({ policy: OPEN });
    const plugin = await world.open(PhoenixBashPlugin);
    const { text } = await call(plugin, 'bash', { command: 'rm -rf /' });
    expect(text).not.toContain('cuff policy');
    expect(world.entry()).toMatchObject({ end_reason: 'denied', decision: null });
  });

  it('judges a commit as it was asked for, without the co-author it adds', async () => {
    const rule = '  - { name: x, commands: [{ pattern: git commit --allow-empty -m hello }] }\n';
    const world = new World({ policy: `policies:\n${rule}` });
    const plugin = await world.open(PhoenixBashPlugin);
    await call(plugin, 'bash', { command: 'git commit --allow-empty -m hello' });
    expect(world.entry()).toMatchObject({
      command: expect.stringContaining('Co-authored-by'),
      decision: { verdict: 'allow', code: 'rule.allow' },
    });
  });
});

describe('codex under a policy', () => {
  it('judges another shell as the program that it is', async () => {
    const world = new World({ policy: 'policies: [{ name: x, commands: [{ pattern: echo * }] }]' });
    const plugin = await world.open(Codex);
    const run = (shell?: string) => call(plugin, 'exec_command', { cmd: 'echo hi', shell });
    expect(await run()).toMatchObject({ success: true });
    expect(await run('/bin/sh')).toMatchObject({ success: true });
    for (const shell of ['./bash', '/tmp/bash', 'python3', 'env']) {
      expect([shell, await run(shell)]).toEqual([
        shell,
        { success: false, text: expect.stringMatching(/^cuff policy: /) },
      ]);
    }
  });

  async function session(world: World, cmd: string) {
    const plugin = await world.open(Codex);
    const begun = await call(plugin, 'exec_command', { cmd, tty: true, yield_time_ms: 300 });
    const id = Number(/session ID (\d+)/.exec(begun.text)?.[1]);
    return (chars: string) =>
      call(plugin, 'write_stdin', { session_id: id, chars, yield_time_ms: 300 });
  }

  /** Types and looks until this is printed; a shell may be late. */
  async function shows(type: Awaited<ReturnType<typeof session>>, keys: string, wanted: string) {
    let { text } = await type(keys);
    for (let i = 0; i < 20 && !text.includes(wanted); i += 1) text += (await type('')).text;
    expect([keys, text]).toEqual([keys, expect.stringContaining(wanted)]);
  }

  it('judges what is typed into a shell, also in pieces and by keys that edit', async () => {
    const world = new World({ policy: OPEN });
    const type = await session(world, 'bash --norc --noprofile');
    await shows(type, 'echo one-$((1+0))\r', 'one-1');
    expect(await type('touch made\n')).toMatchObject({
      success: false,
      text: expect.stringMatching(/^cuff policy: denied/),
    });
    const denied = world.entries().find(({ end_reason }) => end_reason === 'denied');
    expect(denied).toMatchObject({ command: 'touch made\n', decision: { verdict: 'deny' } });
    // Half of it is no harm yet.
    const [half, rest] = await Promise.all([type('tou'), type('ch made\n')]);
    expect([half.success, rest.success]).toEqual([true, false]);
    // What was typed is still there, so that whatever follows is part of it.
    expect(await type('ch made\n')).toMatchObject({ success: false });
    expect(await type('\u0003')).toMatchObject({ success: true });
    expect(existsSync(join(world.project, 'made'))).toBe(false);
  });

  it('asks about lines that were put together with keys', async () => {
    const world = new World({ policy: OPEN });
    const type = await session(world, 'bash --norc --noprofile');
    expect(await type('ouch made\u0001t\r')).toMatchObject({
      success: false,
      text: expect.stringMatching(/^cuff policy: (needs approval|denied)/),
    });
    expect(existsSync(join(world.project, 'made'))).toBe(false);
  });

  it('remembers what a word was made to mean before', async () => {
    const world = new World({ policy: OPEN });
    const type = await session(world, 'bash --norc --noprofile');
    const first = await type('ls() { "$@"; }; t=touch\n');
    const second = await type('ls $t made\n');
    expect([first.success, second.success]).not.toEqual([true, true]);
    expect(existsSync(join(world.project, 'made'))).toBe(false);
  });

  it('lets anything be typed into what only reads, and asks about keys for all else', async () => {
    const world = new World({ policy: OPEN });
    const type = await session(world, 'cat');
    await shows(type, '!touch made\n', '!touch made');
    for (const cmd of ['python3 -q', 'sleep 100 | less', 'node -i']) {
      const open = new World({ policy: `${OPEN}      - pattern: ${cmd.split(' ')[0]} *\n` });
      const into = await session(open, cmd);
      expect([cmd, await into('!touch made\n')]).toEqual([cmd, ERROR]);
      // It goes on, and can be ended.
      expect(await into('\u0003')).toMatchObject({ success: true });
      expect(existsSync(join(open.project, 'made'))).toBe(false);
    }
  });

  it('judges another shell that is typed into, and history, as what they are', async () => {
    const rules = ['bash', 'sh'].map((name) => `{ pattern: ${name}, stdin: any }`);
    const commands = `[{ pattern: echo * }, ${rules.join(', ')}]`;
    const world = new World({ policy: `policies: [{ name: x, commands: ${commands} }]` });
    for (const [cmd, keys] of [
      ['sh', 'echo hi &>/dev/null touch made\n'],
      ['b\\ash', 'touch made\n'],
      ['bash', 'echo !:1-$:s/x//\n'],
      ['bash', 'echo \u0003touch made\n'],
    ] as const) {
      const type = await session(world, cmd);
      await shows(type, 'echo fine\n', 'fine');
      expect([keys, await type(keys)]).toEqual([keys, ERROR]);
      await type('exit\n');
    }
    expect(existsSync(join(world.project, 'made'))).toBe(false);
  });

  it('knows no other shell as the one that reads as it does', async () => {
    const world = new World({ policy: 'policies: [{ name: x, commands: [{ pattern: echo * }] }]' });
    const plugin = await world.open(Codex);
    const run = (cmd: string, shell?: string) => call(plugin, 'exec_command', { cmd, shell });
    for (const shell of ['sh', 'dash', '/bin/sh']) {
      expect([shell, await run('echo hi &>/dev/null touch made', shell)]).toEqual([shell, ERROR]);
    }
    expect(existsSync(join(world.project, 'made'))).toBe(false);
    // Naming the one that is there anyway is no other question.
    const [named, plain] = [await run('ls', 'bash'), await run('ls')];
    expect(named.text).toMatch(/cuff policy approve/);
    expect(named.text).toBe(plain.text);
  });
});
