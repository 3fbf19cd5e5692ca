// Who else wrote a commit, shown by the text that comes out and by what real git makes of it.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasGitCommit, mayCommit, withCoAuthor } from '../../src/run/git-trailer.ts';

const TRAILER = 'Co-authored-by: Phoenix <phoenix@exe.dev>';
const BEFORE = '-c trailer.co-authored-by.ifexists=addIfDifferent ';
const BEHIND = ` --trailer '${TRAILER}'`;
const COMMIT = `${BEFORE}commit${BEHIND}`;

/** Each COMMIT stands for a `commit` that gets the trailer. */
const CHANGED = [
  'git COMMIT',
  'git COMMIT -m x',
  `git COMMIT -am "it's done"`,
  'git -C dir -c a=b --no-pager COMMIT -m x',
  'git -C "$dir" --git-dir="$dir/.git" --work-tree x COMMIT -m x',
  '/usr/bin/git COMMIT -m x',
  'FOO=1 git COMMIT -m x',
  'cd x && git COMMIT -m y',
  'git add . && git COMMIT -m y && git push',
  'git COMMIT -m x | cat',
  'git COMMIT -m x 2>&1 | tail -n 3',
  '(git COMMIT -m x)',
  'x=$(git COMMIT -m x)',
  'echo "$(git COMMIT -m x)"',
  'echo `git COMMIT -m x`',
  'echo "`git COMMIT -m x`"',
  'cat <<E\n$(git COMMIT -m x)\nE',
  'if git COMMIT -m x; then git COMMIT -m y; fi',
  'for x in a b; do git COMMIT -m "$x"; done',
  'case x in x) git COMMIT -m x;; esac',
  'f() { git COMMIT "$@"; }; f -m x',
  'git COMMIT -m "$(cat <<\'E\'\ngit commit\nE\n)"',
  'git COMMIT -F - <<E\ngit commit -m x\nE',
  'git COMMIT -m "$(git log -1 --format=%s)" && echo "git commit"',
  'git "COMMIT" -m x'.replace('"COMMIT"', `${BEFORE}"commit"${BEHIND}`),
  '"git" COMMIT -m x',
  'env -u A B=1 git COMMIT -m x',
  'command git COMMIT -m x',
  'sudo -u me git COMMIT -m x',
  'time git COMMIT -m x',
  'nice -n 5 git COMMIT -m x',
  'timeout -k 1 10 git COMMIT -m x',
  'nohup git COMMIT -m x &',
  '! git COMMIT -m x',
  'git COMMIT --amend --no-edit',
  'git COMMIT -m --dry-run',
  'git COMMIT -m x -- --help',
  'git COMMIT --allow-empty-message -m ""',
  'git COMMIT -m "" --allow-empty-message',
  'git COMMIT -m -t',
  'git COMMIT -m "on commit.template"',
  'git COMMIT --fixup HEAD -m ""',
  'git COMMIT -m "" -m "$x"',
  'git COMMIT -m "not Co-authored-by: Phoenix <phoenix@exe.dev>, is it"',
  'git   COMMIT   -m  x  ; ',
].map((text) => text.replaceAll('COMMIT', COMMIT));

const UNTOUCHED = [
  'ls',
  '',
  'echo git commit',
  'echo "git commit -m x"',
  `echo 'git commit -m x'`,
  `bash -c 'git commit -m x'`,
  'eval git commit -m x',
  '# git commit -m x',
  'ls # git commit -m x',
  'cat <<E\ngit commit -m x\nE',
  `cat > f <<'E'\n$(git commit -m x)\nE`,
  'git log --grep commit',
  'git stash push commit',
  'git stash commit',
  'git commit-tree x',
  'git commit-graph write',
  'git help commit',
  'git --help commit',
  'git commit --help',
  'git commit -h',
  'git commit --dry-run',
  'git commit --dry -m x',
  'git commit --porcelain',
  'git commit --short -m x',
  'git commit -m ""',
  `git commit -m ' ' -m ''`,
  'git commit --message= --amend',
  'git commit -t /dev/null',
  'git commit -st/dev/null',
  'git commit --template /dev/null',
  'git commit --template=/dev/null -v',
  'git commit --temp /dev/null',
  'git commit --allow-empty -t "$template"',
  'git -c commit.template=/dev/null commit',
  'git ci -m x',
  'git merge --continue',
  'git rebase --continue',
  'git $flags commit -m x',
  'git --unknown commit -m x',
  '$GIT commit -m x',
  'timeout $t git commit -m x',
  'env -S "git commit"',
  'command -v git commit',
  'xgit commit -m x',
  'git commit -m "never closed',
  'git commit -m x )',
  'echo `git commit -m \\`x\\``',
  `git commit --trailer "${TRAILER}" -m x`,
  `git commit --trailer="${TRAILER}" -m x`,
  `git commit -m "x\n\n${TRAILER}"`,
  `git commit -m x -m '${TRAILER}'`,
  `git commit -m "$x\n\n${TRAILER}"`,
  `git commit -m "$(cat <<'E'\nx\n\n${TRAILER}\nE\n)"`,
  `git commit -F - <<E\nx\n\n${TRAILER}\n\nmore\nE`,
  `git commit -m "x\n\n${TRAILER.toLowerCase()}"`,
];

function without(text: string): string {
  return text.replaceAll(BEFORE, '').replaceAll(BEHIND, '');
}

describe('the text of a command', () => {
  it.each(CHANGED)('gets the trailer: %j', (expected) => {
    const command = without(expected);
    expect(withCoAuthor(command, TRAILER)).toBe(expected);
    expect([mayCommit(command), hasGitCommit(command)]).toEqual([true, true]);
  });

  it.each(UNTOUCHED)('stays as it is: %j', (command) => {
    expect(withCoAuthor(command, TRAILER)).toBe(command);
  });

  it('is changed once: what has the trailer does not get it again', () => {
    for (const text of CHANGED) expect(withCoAuthor(text, TRAILER)).toBe(text);
  });

  it('quotes a name with an apostrophe, and takes only a trailer that is one', () => {
    expect(withCoAuthor('git commit', "Helped-by: Pat O'Hara <p@x>")).toBe(
      'git -c trailer.helped-by.ifexists=addIfDifferent commit' +
        ` --trailer 'Helped-by: Pat O'\\''Hara <p@x>'`,
    );
    for (const bad of ['', 'no colon', 'a b: c', 'A: x\ny', 'A: `x`', 'A: \\', '-a: b']) {
      expect(withCoAuthor('git commit', bad)).toBe('git commit');
    }
  });

  it('stays as it is, whatever is only said', () => {
    const said = fc.constantFrom(...CHANGED.map(without), ...UNTOUCHED);
    const embed: readonly ((text: string) => string)[] = [
      (text) => `echo ${quoted(text)}`,
      (text) => `# ${text.replaceAll('\n', ' ')}`,
      (text) => `cat <<'END'\n${text}\nEND`,
      (text) => `cat <<-"END" | sort\n\t${text}\n\tEND`,
      (text) => `git log --grep=${quoted(text)} # ${text.replaceAll('\n', ' ')}`,
      (text) => `cat <<END\n${text.replace(/[\\$`]/g, '\\$&')}\nEND`,
      (text) => `x=$(echo ${quoted(text)})`,
    ];
    fc.assert(
      fc.property(
        fc.array(fc.tuple(said, fc.constantFrom(...embed)), { minLength: 1, maxLength: 4 }),
        (parts) => {
          const text = parts.map(([inner, layer]) => layer(inner)).join('\n');
          expect(withCoAuthor(text, TRAILER)).toBe(text);
          expect(hasGitCommit(text)).toBe(false);
        },
      ),
    );
  });

  const snippet = fc.oneof(
    fc.constantFrom(...CHANGED.filter((text) => !/ $|&$/.test(text))),
    fc.constantFrom(...UNTOUCHED.filter((text) => !/never|\)$|# git|^$/.test(text))),
  );
  const list = fc
    .array(fc.tuple(snippet, fc.constantFrom('\n', '\n\n', ' &&\n', ' ||\n')), { maxLength: 6 })
    .map((parts) =>
      // An operator has to stand in front of the body of a here-document, so those get a new line.
      parts.map(([text, mark]) => text + (text.includes('<<') ? '\n' : mark)).join(''),
    )
    .map((text) => `${text}true`);

  it('gets as many trailers as it makes commits, and nothing else', () => {
    fc.assert(
      fc.property(list, (expected) => {
        const command = without(expected);
        const result = withCoAuthor(command, TRAILER);
        expect(result).toBe(expected);
        expect(without(result)).toBe(command);
      }),
    );
  });

  it('is text that bash takes if it took it before', () => {
    const accepted = (text: string): boolean => spawnSync('bash', ['-n', '-c', text]).status === 0;
    for (const text of [...CHANGED, ...UNTOUCHED]) {
      if (accepted(without(text))) expect(accepted(text), text).toBe(true);
    }
    fc.assert(
      fc.property(list, (expected) => {
        const command = without(expected);
        expect(accepted(command), command).toBe(true);
        expect(accepted(withCoAuthor(command, TRAILER)), command).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});

describe('what real git makes of it', () => {
  const root = mkdtempSync(join(tmpdir(), 'cuff-trailer-'));
  const env = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: root,
    EDITOR: '/bin/false',
    VISUAL: '/bin/false',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.org',
  };
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: root, env, encoding: 'utf8' }).trim();
  const run = (command: string, more: Readonly<Record<string, string>> = {}) =>
    spawnSync('bash', ['-c', command], { cwd: root, env: { ...env, ...more }, encoding: 'utf8' });
  const message = (): string => git('log', '-1', '--format=%B');
  /** Runs each command with the trailer in it; the message of the last commit. */
  const committed = (...commands: readonly string[]): string => {
    for (const command of commands) {
      writeFileSync(join(root, 'file'), `${Math.random()}\n`);
      const { status, stderr } = run(`git add -A; ${withCoAuthor(command, TRAILER)}`);
      expect([status, stderr]).toEqual([0, '']);
    }
    return message();
  };

  beforeAll(() => {
    git('init', '-q', '-b', 'main', '.');
    git('config', 'commit.gpgsign', 'false');
    git('config', 'alias.ci', 'commit');
    writeFileSync(join(root, 'message'), 'from a file\n\nbody\n');
    mkdirSync(join(root, 'sub'));
    git('commit', '-q', '--allow-empty', '-m', 'first');
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it.each<[string, string]>([
    ['git commit -q -m x', 'x'],
    ['git commit -qam x', 'x'],
    ['git commit -q -m x -m "a body: yes"', 'x\n\na body: yes'],
    ['git commit -q -F message', 'from a file\n\nbody'],
    ['git commit -q -F - <<E\nx\n\nbody\nE', 'x\n\nbody'],
    ['git commit -q -m "$(cat <<\'E\'\nx\n\nbody\nE\n)"', 'x\n\nbody'],
    ['git commit -q --no-verify -m x', 'x'],
    ['git -C sub commit -q -m x', 'x'],
    ['timeout 10 git commit -q -m x', 'x'],
    ['true "`git commit -q -m x`"', 'x'],
    ['cat <<E >/dev/null\n$(git commit -q -m "x y")\nE', 'x y'],
    ['f() { git commit -q "$@"; }; f -m x', 'x'],
    ['git commit -q --cleanup=verbatim -m x', 'x'],
  ])('%j has it in a paragraph of its own', (command, text) => {
    expect(committed(command)).toBe(`${text}\n\n${TRAILER}`);
  });

  it('puts it to the trailers that are there', () => {
    const signed = 'Signed-off-by: A <a@example.org>';
    expect(committed('git commit -q -s -m x')).toBe(`x\n\n${signed}\n${TRAILER}`);
    expect(committed('git commit -q -m x -m "Fixes: 1"')).toBe(`x\n\nFixes: 1\n${TRAILER}`);
    expect(committed('git commit -q -m x --trailer "Helped-by: B"')).toBe(
      `x\n\n${TRAILER}\nHelped-by: B`,
    );
  });

  it('amends without adding it again, also when it is not the last trailer', () => {
    const amend = 'git commit -q --amend --no-edit';
    const text = `x\n\n${TRAILER}`;
    expect(committed('git commit -q -m x', amend, amend)).toBe(text);
    expect(committed(`${amend} --trailer "Helped-by: B"`, amend)).toBe(`${text}\nHelped-by: B`);
    expect(committed('git commit -q -C HEAD')).toBe(`${text}\nHelped-by: B`);
    expect(committed('git commit -q --reuse-message HEAD~1')).toContain(TRAILER);
    // The reason for the setting: without it git looks at the last trailer only.
    run(`git commit -q --amend --no-edit --trailer '${TRAILER}' --trailer 'Helped-by: B'`);
    expect(message().split(TRAILER).length).toBeGreaterThan(2);
  });

  it('does not repeat what the message says', () => {
    const inside = `x\n\n${TRAILER}\nHelped-by: B`;
    writeFileSync(join(root, 'message'), inside);
    expect(committed('git commit -q -F message')).toBe(inside);
    expect(committed(`git commit -q -m "x\n\n${TRAILER}\n\nmore"`)).toBe(`x\n\n${TRAILER}\n\nmore`);
    expect(committed(`T='${TRAILER}'; git commit -q -m x -m "$T"`)).toBe(`x\n\n${TRAILER}`);
  });

  it('works for --fixup and --squash', () => {
    committed('git commit -q -m subject');
    expect(committed('git commit -q --fixup HEAD')).toBe(`fixup! subject\n\n${TRAILER}`);
    expect(committed('git commit -q --squash HEAD~1 -m more')).toBe(
      `squash! subject\n\nmore\n\n${TRAILER}`,
    );
  });

  it('leaves aliases alone', () => {
    expect(committed('git ci -q -m x')).toBe('x');
  });

  it('fails as it did before', () => {
    const head = git('rev-parse', 'HEAD');
    for (const command of [
      'git commit --allow-empty',
      'git commit --allow-empty -m ""',
      'git commit -m "nothing to commit"',
      'git commit --allow-empty -F nowhere',
      'git commit --no-such-option -m x',
    ]) {
      git('add', '-A');
      git('reset', '-q', '--hard');
      const [plain, changed] = [command, withCoAuthor(command, TRAILER)].map((text) => run(text));
      expect(changed?.status, command).not.toBe(0);
      expect([changed?.status, changed?.stdout, changed?.stderr]).toEqual([
        plain?.status,
        plain?.stdout,
        plain?.stderr,
      ]);
    }
    expect(git('rev-parse', 'HEAD')).toBe(head);
  });

  it('refuses a template that was left as it is, as it did before', () => {
    const head = git('rev-parse', 'HEAD');
    for (const option of ['-t /dev/null', '--template=message', '--no-edit -t message']) {
      const command = `git commit --allow-empty ${option}`;
      const { status, stderr } = run(withCoAuthor(command, TRAILER), { GIT_EDITOR: 'true' });
      expect([status, stderr], command).toEqual([1, expect.stringMatching(/^Aborting commit/)]);
    }
    expect(git('rev-parse', 'HEAD')).toBe(head);
  });

  it('runs hooks as before, and they see the trailer', () => {
    const hook = join(root, '.git', 'hooks', 'commit-msg');
    mkdirSync(join(root, '.git', 'hooks'), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\ngrep -c "^Co-authored-by: Phoenix" "$1" >&2\nexit 3\n', {
      mode: 0o755,
    });
    const { status, stderr } = run(withCoAuthor('git commit -q --allow-empty -m x', TRAILER));
    rmSync(hook);
    expect([status, stderr]).toEqual([1, '1\n']);
  });
});

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
