// What is asked about a command before a dialect runs it.
import { describe, expect, it } from 'vitest';
import { hasInteractiveRebase } from '../../src/agent/command-text.ts';

describe('an interactive rebase', () => {
  it.each([
    'git rebase -i HEAD~3',
    'git rebase --interactive main',
    'git rebase --inter main',
    'git rebase -vi main',
    'git -C sub -c a.b=c --no-pager rebase --onto x -i y',
    'cd x && A=1 /usr/bin/git rebase main -i',
    'if true; then (git rebase -i x); fi',
    'echo $(git rebase -i x)',
    'timeout 10 git rebase -i x',
    `bash -c 'git rebase -i x'`,
    'git rebase -x make -i main',
  ])('is in: %s', (command) => {
    expect(hasInteractiveRebase(command)).toBe(true);
  });

  it.each([
    'git rebase main',
    'git rebase --continue',
    'git rebase -Xignore-all-space main',
    'git rebase -s ours main',
    'git rebase --ignore-date main',
    'git rebase -i --no-interactive main',
    'git rebase main -- -i',
    'echo git rebase -i',
    'echo "git rebase -i"',
    '# git rebase -i',
    'git log --grep "rebase -i"',
    'cat <<E\ngit rebase -i\nE',
    'git status',
  ])('is not in: %s', (command) => {
    expect(hasInteractiveRebase(command)).toBe(false);
  });
});
