// The helper that stays behind its call: which calls it serves, with what, and when it ends.
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Approvals } from '../../../src/policies/approvals.ts';
import { openFilesOf } from '../../../src/run/processes.ts';
import { trustProject } from '../../../src/trust/trust.ts';
import { until } from '../../cli/helper.ts';
import { lacking } from '../../requirements.ts';
import { ResidentWorld } from './resident-world.ts';
import { CUFF } from './world.ts';

let world: ResidentWorld;
beforeEach(() => {
  world = new ResidentWorld();
});
afterEach(() => world.close());

describe('calls of one world', () => {
  it('are served by one helper, each with its own directory and variables', async () => {
    const pid = await world.resident();
    const [one, other] = [world.project(), world.project()];
    const first = await world.heldBy(pid, one);
    const theirs = { ...world.agentEnv, PI_SESSION_ID: 'p-2', MY_TOKEN: 'long-secret-value' };
    const argv = [world.files.bash, '-c', 'echo $MY_TOKEN long-secret-value; pwd'];
    const second = await world.run({ cwd: other, argv, env: theirs }).outcome;
    expect(second.out).toBe(`long-secret-value long-secret-value\n${other}\n`);
    expect((await first.release()).out).toBe(first.said);
    await world.left(pid);
    expect(world.entries(one).at(-1)).toMatchObject({ conversation_id: 'p-1', exit_code: 0 });
    expect(world.entries(one)).toHaveLength(1);
    expect(world.entries(other)).toMatchObject([
      { conversation_id: 'p-2', command: 'echo $MY_TOKEN [REDACTED:MY_TOKEN]; pwd' },
    ]);
  });

  it('are served where the state root has a long path', async () => {
    const usual = world;
    world = new ResidentWorld({ state: 'long'.repeat(40) });
    try {
      const pid = await world.resident();
      const stale = fs.statSync(world.socketPath()).ino;
      await (await world.heldBy(pid, world.project())).release();
      process.kill(pid, 'SIGKILL');
      await world.record('true', world.project());
      await until(() => fs.statSync(world.socketPath()).ino !== stale, 'another listens');
    } finally {
      world.close();
      world = usual;
    }
  });

  it('leave one session, also with those that have a helper of their own', async () => {
    const pid = await world.resident();
    const cwd = world.project();
    await world.record('echo 1', cwd);
    world.hurry();
    process.kill(pid, 'SIGSTOP'); // the next one has its own
    try {
      await world.record('echo 2', cwd);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await world.record('echo 3', cwd);
    expect(new Set(world.entries(cwd).map(({ session_id }) => session_id)).size).toBe(1);
    expect(world.commands(cwd)).toEqual(['echo 1', 'echo 2', 'echo 3']);
  });

  it('fifty at once have fifty entries and their own outputs', async () => {
    await world.resident();
    const cwd = world.project();
    const numbers = Array.from({ length: 50 }, (_, at) => String(at));
    const outs = await Promise.all(
      numbers.map((at) => world.record(`echo ${at}`, cwd).then(({ out }) => out.trim())),
    );
    expect(outs).toEqual(numbers);
    expect(world.commands(cwd).sort()).toEqual(numbers.map((at) => `echo ${at}`).sort());
  });

  it('are judged by policy, grants, settings and trust of their moment', async () => {
    const pid = await world.resident();
    const cwd = world.project();
    const cuff = join(cwd, '.cuff');
    const run = async () => (await world.record('touch made', cwd)).code;
    expect(await run()).toBe(0);
    const rule = (decision: string) =>
      `version: 1\nmode: enforce\ndefault: allow\npolicies:\n  - name: rules\n    commands:\n` +
      `      - { pattern: "touch *", decision: ${decision} }\n`;
    fs.writeFileSync(join(cuff, 'policy.yml'), rule('deny'));
    expect(await run()).toBe(126);
    fs.writeFileSync(join(cuff, 'policy.yml'), rule('ask'));
    const { err, code } = await world.record('touch made', cwd);
    expect(code).toBe(126);
    const approvals = new Approvals(world.root);
    const asked = approvals.find(/cuff policy approve (\w{8})/.exec(err)?.[1] ?? '');
    if (asked !== undefined) approvals.grant(asked);
    expect(await run()).toBe(0);
    expect(await run()).toBe(126);
    fs.rmSync(join(cuff, 'policy.yml'));
    expect(world.commands(cwd)).toHaveLength(5);
    const off =
      'plugins:\n  bash_recorder:\n    config:\n      recording:\n        enabled: false\n';
    fs.writeFileSync(join(cuff, 'settings.yml'), off);
    expect(await run()).toBe(0);
    expect(world.commands(cwd)).toHaveLength(6); // it waits for trust
    trustProject(cwd, world.env);
    expect(await run()).toBe(0);
    expect(world.commands(cwd)).toHaveLength(6);
    fs.rmSync(join(cuff, 'settings.yml'));
    expect(await run()).toBe(0);
    expect(world.commands(cwd)).toHaveLength(7);
    await world.left(pid);
  });

  it('one that cannot be served costs no other its entry', async () => {
    const pid = await world.resident();
    const [good, bad] = [world.project(), world.project()];
    const other = await world.heldBy(pid, good);
    const config = join(world.env.HOME ?? '', '.config', 'cuff');
    fs.mkdirSync(config, { recursive: true });
    fs.writeFileSync(join(config, 'settings.yml'), 'plugins: [');
    expect(await world.record('echo works', bad)).toMatchObject({
      code: 0,
      out: 'works\n',
      err: '',
    });
    fs.rmSync(config, { recursive: true });
    expect(world.entries(bad)).toEqual([]);
    await other.release();
    expect(world.entries(good)).toHaveLength(1);
    await world.left(pid);
  });
});

describe('calls of another world', () => {
  const inside = (words: string, cwd: string) => {
    const argv = ['/bin/bash', '-c', `${words} ${world.files.bash} -c 'mkfifo f; cat f'`];
    return world.run({ cwd, argv, env: world.agentEnv });
  };
  const can = (program: string, ...words: string[]) =>
    spawnSync(program, [...words, 'true']).status === 0;

  const worlds = [
    ['umask 027; exec', true],
    ['TMPDIR=/var/tmp exec', true],
    ['exec unshare --mount', can('unshare', '--mount')],
    ['exec unshare --pid --fork', can('unshare', '--pid', '--fork')],
    ['exec setpriv --no-new-privs', can('setpriv', '--no-new-privs')],
    ['exec setpriv --inh-caps -all --bounding-set -all', can('setpriv', '--bounding-set', '-all')],
  ] as const;
  for (const [words, possible] of worlds) {
    it.skipIf(lacking(!possible, 'no such world can be made'))(
      `have their own: ${words}`,
      async () => {
        const pid = await world.resident();
        const cwd = world.project();
        const { outcome } = inside(words, cwd);
        await until(() => fs.existsSync(join(cwd, 'f')), 'the command runs');
        expect(world.helpers().filter((one) => one !== pid)).toHaveLength(1);
        fs.writeFileSync(join(cwd, 'f'), 'said');
        expect(await outcome).toMatchObject({ code: 0, out: 'said' });
        expect(world.entries(cwd)).toMatchObject([{ stdout: 'said' }]);
      },
    );
  }

  const privileged = !can('setpriv', '--no-new-privs');
  it.skipIf(lacking(privileged, 'there is no setpriv'))(
    'that may be held back by Landlock leave no helper behind',
    async () => {
      const cwd = world.project();
      const argv = [
        '/bin/bash',
        '-c',
        `exec setpriv --no-new-privs ${world.files.bash} -c 'echo a'`,
      ];
      const { outcome } = world.run({ cwd, argv, env: world.agentEnv });
      expect(await outcome).toMatchObject({ out: 'a\n' });
      await until(() => world.helpers().length === 0, 'it ended');
      expect(world.sockets()).toEqual([]);
    },
  );

  it('an upgraded cuff has another helper', async () => {
    const pid = await world.resident();
    const client = join(world.files.shells, 'client');
    const text = fs.readFileSync(client, 'utf8');
    const moved = join(world.base, 'new');
    fs.symlinkSync(join(CUFF, '..'), moved);
    fs.writeFileSync(client, text.replace(/^cuff .*\/(.*)$/m, `cuff ${moved}/$1`));
    const cwd = world.project();
    const other = await world.held(cwd);
    expect(world.helpers()).toHaveLength(2);
    await other.release();
    expect(world.entries(cwd)).toHaveLength(1);
    expect(world.helpers()).toContain(pid);
  });
});

describe('its end', () => {
  it('comes with that of the agent, behind the last call', async () => {
    const cwd = world.project();
    execFileSync('mkfifo', [join(cwd, 'next'), join(cwd, 'agent'), join(cwd, 'command')]);
    const { bash } = world.files;
    const later = `${bash} -c 'echo b; cat command' & read x < agent`;
    const text = `${bash} -c true; read x < next; ${later}`;
    const { child } = world.run({ cwd, argv: ['/bin/bash', '-c', text], env: world.agentEnv });
    await until(() => world.sockets().length === 1, 'a helper stays');
    fs.writeFileSync(join(cwd, 'next'), '\n');
    await once(child.stdout ?? child, 'data');
    fs.writeFileSync(join(cwd, 'agent'), '\n');
    await once(child, 'exit');
    expect(world.helpers()).toHaveLength(1);
    fs.writeFileSync(join(cwd, 'command'), 'said');
    await until(() => world.helpers().length === 0, 'it is gone');
    expect(world.entries(cwd)).toMatchObject([{ command: 'true' }, { stdout: 'b\nsaid' }]);
  });

  it('comes by itself when its only agent is gone', async () => {
    const cwd = world.project();
    execFileSync('mkfifo', [join(cwd, 'agent')]);
    const text = `exec 7<>agent; ${world.files.bash} -c 'echo a'; read x <&7`;
    const argv = ['/bin/bash', '-c', text];
    const { child, outcome } = world.run({ cwd, argv, env: world.agentEnv });
    await until(() => world.sockets().length === 1, 'it stays');
    const [pid = 0] = world.helpers();
    expect(fs.readlinkSync(`/proc/${pid}/cwd`)).toBe('/');
    const [theirs, ours] = [child.pid ?? 0, pid].map((one) => openFilesOf(one));
    const shared = ours?.filter(({ link }) => theirs?.some((one) => one.link === link));
    expect(theirs?.map(({ link }) => link)).toContain(join(cwd, 'agent'));
    expect(new Set(shared?.map(({ link }) => link))).toEqual(new Set(['/dev/null']));
    fs.writeFileSync(join(cwd, 'agent'), 'end\n');
    await outcome;
    await until(() => world.helpers().length === 0, 'it is gone');
    expect(world.sockets()).toEqual([]);
  });

  it('on SIGTERM comes behind the entries of open calls', async () => {
    const pid = await world.resident();
    const cwd = world.project();
    const other = await world.heldBy(pid, cwd);
    process.kill(pid, 'SIGTERM');
    await until(() => world.sockets().length === 0, 'it takes no more calls');
    expect(await other.release()).toMatchObject({ out: other.said });
    expect(world.entries(cwd).at(-1)).toMatchObject({ stdout: other.said, exit_code: 0 });
    await until(() => !world.helpers().includes(pid), 'it is gone');
  });

  it('comes when its socket is gone', async () => {
    await world.resident();
    fs.rmSync(join(world.root, 'helpers'), { recursive: true });
    await until(() => world.helpers().length === 0, 'it is gone');
  });

  it('of two that begin at once, the second stays no longer than its call', async () => {
    const cwd = world.project();
    const begin = world.delayHelpers();
    const both = [world.held(cwd, 'one'), world.held(cwd, 'two')];
    await until(() => world.helpers().length === 2, 'both are on their way');
    begin(2);
    for (const { release } of await Promise.all(both)) await release();
    await until(() => world.helpers().length === 1 && world.sockets().length === 1, 'one is left');
    expect(world.commands(cwd)).toHaveLength(2);
  });
});
