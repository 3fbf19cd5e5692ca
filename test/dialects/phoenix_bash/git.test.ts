// `phoenix_bash` and a real git: who is named in commits, who is not, and an interactive rebase
// that fails at once and leaves the repository as it was.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { leafHash, StoredHashes } from '../../../src/ledger/tree.ts';
import { anchorOfCode } from '../../../src/sealing/verify/anchors.ts';
import { FACT_MS_MAX } from '../../pace.ts';
import type { World } from '../../recorder/helper.ts';
import { background, bash, newWorld, phoenix, text } from './helper.ts';

const TRAILER = 'Co-authored-by: Phoenix <phoenix@exe.dev>\n';

/** A world whose project is a repository with one commit. */
function repository(): World {
  const world = newWorld({
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.org',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  });
  git(world, 'init', '-q', '-b', 'main');
  git(world, 'commit', '-q', '--allow-empty', '-m', 'first');
  return world;
}

function git(world: World, ...args: readonly string[]): string {
  const env = world.services.env as NodeJS.ProcessEnv;
  return execFileSync('git', args, { cwd: world.project, env, encoding: 'utf8' });
}

function message(world: World): string {
  return git(world, 'log', '-1', '--format=%B').replace(/\n+$/, '\n');
}

const COMMIT = 'git commit -q --allow-empty';

describe('commits of phoenix_bash', () => {
  it('carry the root of the ledger where the user wants that', async () => {
    const world = repository();
    const home = join(world.dir, 'home');
    const settings = 'seal: {anchor: [trailer]}\n';
    Object.assign(world.services.env, { HOME: home, XDG_CONFIG_HOME: home });
    fs.mkdirSync(join(home, 'cuff'), { recursive: true });
    fs.writeFileSync(join(world.project, 'settings.yml'), settings);
    const plugin = await phoenix(world);
    await text(bash(plugin, `${COMMIT} -m none`));
    expect(message(world)).toBe(`none\n\n${TRAILER}`);
    fs.writeFileSync(join(home, 'cuff', 'settings.yml'), settings);
    const signed = () => fs.existsSync(join(world.stateRoot, 'seal', 'checkpoint'));
    await expect.poll(signed, { timeout: FACT_MS_MAX }).toBe(true);
    await text(bash(plugin, `${COMMIT} -m one && git log -1 --format=%H`));
    const seal = /^Cuff-Seal: (.*)$/m.exec(message(world))?.[0] ?? '';
    expect(message(world)).toBe(`one\n\n${TRAILER}${seal}\n`);
    const leaves = fs.readFileSync(join(world.stateRoot, 'seal', 'leaves'), 'utf8').match(/.*\n/g);
    const anchor = anchorOfCode(seal);
    const tree = new StoredHashes();
    for (const leaf of leaves?.slice(0, anchor?.size) ?? []) tree.append(leafHash(leaf));
    expect(anchor?.holds(tree.root())).toBe(true);
  });

  it('name the co-author, once, also when they are amended or made in the background', async () => {
    const world = repository();
    const plugin = await phoenix(world);
    await text(bash(plugin, `${COMMIT} -m 'one' && echo done`));
    expect(message(world)).toBe(`one\n\n${TRAILER}`);
    await text(bash(plugin, `${COMMIT} --amend --no-edit`));
    expect(message(world)).toBe(`one\n\n${TRAILER}`);
    const run = await background(plugin, `${COMMIT} -m two`);
    await run.has('[background process completed]');
    expect(message(world)).toBe(`two\n\n${TRAILER}`);
    // The journal says what was executed.
    expect(world.entries()[0]?.command).toContain('--trailer');
  });

  it('are left as they are when git is told so', async () => {
    const world = repository();
    const plugin = await phoenix(world);
    git(world, 'config', 'cuff.no-trailer', 'true');
    await text(bash(plugin, `${COMMIT} -m one`));
    expect(message(world)).toBe('one\n');
    git(world, 'config', 'cuff.no-trailer', 'off');
    await text(bash(plugin, `${COMMIT} -m two`));
    expect(message(world)).toBe(`two\n\n${TRAILER}`);
  });

  it('are left as they are in the repository where git is told so, and in no other', async () => {
    const world = repository();
    const plugin = await phoenix(world);
    git(world, 'init', '-q', 'quiet');
    git(world, '-C', 'quiet', 'config', 'cuff.no-trailer', 'true');
    const last = (): string => git(world, '-C', 'quiet', 'log', '-1', '--format=%B').trim();
    for (const [n, command] of [
      'git -C quiet commit',
      'cd quiet && git commit',
      'cd "./quiet"; git -c a.b=c commit',
      `git -C ${world.project} -C quiet commit`,
      '(cd quiet && git commit',
    ].entries()) {
      const close = command.startsWith('(') ? ')' : '';
      await text(bash(plugin, `${command} -q --allow-empty -m ${n}${close}`));
      expect([command, last()]).toEqual([command, `${n}`]);
    }
    const both = `git -C quiet commit -q --allow-empty -m in && ${COMMIT} -m out`;
    await text(bash(plugin, both));
    expect([last(), message(world)]).toEqual(['in', `out\n\n${TRAILER}`]);
    expect(world.entries().at(-1)?.command).toMatch(
      /^git -C quiet commit -q --allow-empty -m in &&/,
    );
  });

  it('name whom the settings name, or nobody', async () => {
    const world = repository();
    const plugin = await phoenix(world, { co_author: "O'Brien <o@example.org>" });
    await text(bash(plugin, `${COMMIT} -m one`));
    expect(message(world)).toBe("one\n\nCo-authored-by: O'Brien <o@example.org>\n");
    await plugin.onConfigReload({ co_author: false });
    await text(bash(plugin, `${COMMIT} -m two`));
    expect(message(world)).toBe('two\n');
  });

  it('are only those that are commits', async () => {
    const world = repository();
    const plugin = await phoenix(world);
    const command = `echo "git commit -m x" # git commit -m x`;
    expect(await text(bash(plugin, command))).toBe('git commit -m x\n');
    expect(world.entry().command).toBe(command);
  });
});

it('what is recorded is not seen by git, so that an agent does not commit it', async () => {
  const world = repository();
  const plugin = await phoenix(world, { recording: { directory: '.cuff/recordings' } });
  expect(await text(bash(plugin, 'echo x > file; git status --short'))).toBe('?? file\n');
  const commit = 'git add -A && git commit -qm all && git show --format= --name-only';
  expect(await text(bash(plugin, commit))).toBe('file\n');
  expect(fs.readdirSync(join(world.project, '.cuff', 'recordings'))).toContain('sessions');
});

describe('an interactive rebase with phoenix_bash', () => {
  it.each(['git rebase -i HEAD~1', 'git rebase --interactive HEAD~1'])(
    '%s fails at once, and says what to do',
    async (command) => {
      const world = repository();
      git(world, 'commit', '-q', '--allow-empty', '-m', 'second');
      const head = git(world, 'rev-parse', 'HEAD');
      const plugin = await phoenix(world);
      const answer = await bash(plugin, command);
      expect(answer.success).toBe(false);
      expect(answer.text).toMatch(/^\[command failed: exit code \d+\]\n/);
      expect(answer.text).toContain('Interactive rebase requires background=true\n');
      expect(git(world, 'rev-parse', 'HEAD')).toBe(head);
      expect(fs.existsSync(join(world.project, '.git', 'rebase-merge'))).toBe(false);
    },
  );

  it('has no such editor in the background, and other commands neither', async () => {
    const world = repository();
    git(world, 'commit', '-q', '--allow-empty', '-m', 'second');
    const plugin = await phoenix(world);
    const show = 'echo "[$GIT_SEQUENCE_EDITOR]"';
    expect(await text(bash(plugin, `${show} # git rebase -i`))).toBe('[]\n');
    expect(await text(bash(plugin, `git rebase -i HEAD --help >/dev/null; ${show}`))).toBe(
      `[echo 'Interactive rebase requires background=true' && exit 1]\n`,
    );
    const run = await background(plugin, `${show}; git rebase -i HEAD~1`);
    const all = await run.has('[background process failed');
    expect(all).toContain('[]\n');
    expect(all).not.toContain('requires background');
  });

  it('is not needed to commit without a message: the editor fails', async () => {
    const world = repository();
    const answer = await bash(await phoenix(world), COMMIT);
    expect(answer.success).toBe(false);
    expect(message(world)).toBe('first\n');
  });
});
