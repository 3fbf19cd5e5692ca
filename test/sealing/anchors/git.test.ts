// Anchors in a real git repository, which may be one that means harm.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AnchorWorld, troubles, verdicts } from './world.ts';

function git(folder: string, ...args: readonly string[]): string {
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', ['--git-dir', folder, ...args], { env, encoding: 'utf8' }).trim();
}

function repository(world: AnchorWorld, name = 'evidence.git'): string {
  const folder = join(world.seal.dir, name);
  execFileSync('git', ['init', '-q', '--bare', folder], { env: world.env });
  return folder;
}

describe('an anchor in a git repository', () => {
  it('is a commit of the checkpoint on the branch cuff-seal, behind the one before', async () => {
    const world = new AnchorWorld();
    const folder = repository(world);
    const first = await world.grow();
    const note = world.seal.bytes('checkpoint').toString();
    expect(troubles(await world.anchor(`git ${folder}`))).toEqual([undefined]);
    expect(git(folder, 'show', 'cuff-seal:checkpoint')).toBe(note.trim());
    await world.grow();
    expect(troubles(await world.anchor(`git ${folder}`))).toEqual([undefined]);
    expect(git(folder, 'log', '--format=%an %s', 'cuff-seal').split('\n')).toEqual([
      `cuff ${first.origin} ${first.size + 4}`,
      `cuff ${first.origin} ${first.size}`,
    ]);
    expect(world.notes.map(({ receipt }) => receipt).reverse()).toEqual(
      git(folder, 'log', '--format=%H', 'cuff-seal').split('\n'),
    );
    const found = await world.verify();
    expect(found.outside).toMatchObject([{ kind: 'git', where: folder, heads: [{}, {}] }]);
    expect(found.ledger.anchor).toMatchObject({ size: first.size + 4, source: 'place' });
    expect(verdicts(found)).toEqual([]);
  });

  it('holds the anchors of several ledgers, each verified by its own', async () => {
    const [one, other] = [new AnchorWorld(), new AnchorWorld()];
    const folder = repository(one);
    for (const world of [one, other, one]) {
      await world.grow();
      expect(troubles(await world.anchor(`git file://${folder}`))).toEqual([undefined]);
    }
    for (const [world, count] of [[one, 2] as const, [other, 1] as const]) {
      const found = await world.verify();
      expect(found.outside[0]?.heads).toHaveLength(count);
      expect(verdicts(found)).toEqual([]);
    }
  });

  it('shows that history was rewritten, with the notes gone and the branch cut', async () => {
    const world = new AnchorWorld();
    const folder = repository(world);
    await world.grow();
    await world.anchor(`git ${folder}`);
    world.rewrite();
    fs.rmSync(world.seal.path('anchors.jsonl'));
    await world.ledger.sign();
    expect(verdicts(await world.verify())).toEqual(['history_rewritten']);
    git(folder, 'update-ref', '-d', 'refs/heads/cuff-seal');
    const cut = await world.verify();
    expect(cut.ledger.anchor).toBeUndefined();
    expect(cut.outside[0]?.why).toBe('it has no branch cuff-seal');
  });

  it('runs nothing that the repository, the project or the environment names', async () => {
    const world = new AnchorWorld();
    const folder = repository(world);
    const ran = join(world.seal.dir, 'ran');
    const script = `#!/bin/sh\necho "$0" >> ${ran}\n`;
    const hooks = ['pre-receive', 'update', 'post-receive', 'post-update', 'reference-transaction'];
    for (const hook of [...hooks, 'pre-push', 'proc-receive']) {
      fs.writeFileSync(join(folder, 'hooks', hook), script, { mode: 0o755 });
    }
    const evil = join(world.seal.dir, 'evil');
    fs.writeFileSync(evil, script, { mode: 0o755 });
    for (const key of ['core.alternateRefsCommand', 'uploadpack.packObjectsHook']) {
      git(folder, 'config', key, evil);
    }
    git(folder, 'config', 'core.fsmonitor', evil);
    // The project is a repository, too, and first on the PATH.
    fs.mkdirSync(join(world.project, 'bin'));
    fs.writeFileSync(join(world.project, 'bin', 'git'), script, { mode: 0o755 });
    const env = {
      ...world.env,
      PATH: `bin:${join(world.project, 'bin')}:${process.env.PATH}`,
      GIT_DIR: folder,
      GIT_EXTERNAL_DIFF: evil,
      GIT_SSH_COMMAND: evil,
    };
    await world.grow();
    expect(troubles(await world.anchor(`git ${folder}`, { env }))).toEqual([undefined]);
    await world.grow();
    expect(troubles(await world.anchor(`git ${folder}`, { env }))).toEqual([undefined]);
    expect((await world.verify({ env })).outside[0]?.heads).toHaveLength(2);
    expect(fs.existsSync(ran)).toBe(false);
    // They would have run.
    execFileSync('git', ['-C', folder, 'push', '-q', folder, 'cuff-seal:refs/heads/x'], {
      env: world.env,
    });
    expect(fs.readFileSync(ran, 'utf8')).toContain('pre-receive');
  });

  it('that is not there, or has no time left, is trouble with a reason', async () => {
    const world = new AnchorWorld();
    await world.grow();
    const [gone] = troubles(await world.anchor(`git ${join(world.seal.dir, 'gone.git')}`));
    expect(gone).toMatch(/^git failed: .*does not appear to be a git repository/);
    const folder = repository(world);
    const late = { signal: AbortSignal.abort() };
    expect(troubles(await world.anchor(`git ${folder}`, late))).toEqual(['there was no time left']);
    const env = { PATH: join(world.seal.dir, 'nowhere') };
    const none = troubles(await world.anchor(`git ${folder}`, { env }));
    expect(none).toEqual(['there is no program git here']);
    expect(fs.existsSync(world.seal.path('anchors.jsonl'))).toBe(false);
  });
});
