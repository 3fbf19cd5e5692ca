// What `pattern` makes of ways to look, of which several were seen.
import { describe, expect, it } from 'vitest';
import { allowing, evidenceOf, generated, PROJECT } from './helper.ts';

function allowed(seen: readonly string[], commands: readonly string[]): readonly string[] {
  const { policy } = generated(evidenceOf([seen, seen]), 'pattern');
  const allows = allowing(policy);
  return commands.filter((command) => allows({ command, cwd: PROJECT, project: PROJECT }));
}

describe('looking', () => {
  it('with a program in four ways stands for the others that it has', () => {
    const four = ['git status', 'git log -1', 'git diff', 'git show HEAD'];
    const others = ['git blame a', 'git ls-files', 'git merge-base a b', 'git branch -a'];
    const not = ['git tag v9', 'git branch x', 'git clean -fd', 'git push', 'git config user.name'];
    expect(allowed(four, [...others, ...not, 'gh pr view 1'])).toEqual(others);
    expect(allowed(four.slice(0, 3), others)).toEqual([]);
  });

  it('at four files of a temporary directory is for all of it, but for secrets and code', () => {
    const names = ['a/x.go', 'b/y.go', 'c/z.go', 'd/u.go'];
    const seen = names.flatMap((name) => [`cat /tmp/${name}`, `go test ./${name}`]);
    const others = ['cat /tmp/e/v.go', 'cd /tmp/e && cat v.go'];
    const not = [
      'cat /tmp/krb5cc_1000',
      'cat /tmp/e/.env',
      'cat /var/tmp/e/v.go',
      'go test /tmp/e',
    ];
    expect(allowed(seen, [...others, ...not])).toEqual(others);
    expect(allowed(seen.slice(0, 6), others)).toEqual([]);
  });

  it('gives a script of sed in place, as on a Mac, a hole of its own', () => {
    const seen = ['a', 'b', 'c', 'd'].map((name) => `sed -i '' 's/x/${name}/' src/${name}.ts`);
    const others = [`sed -i '' s/q/r/ src/e.ts`];
    const not = [`sed -i '' s/q/r/e src/e.ts`, `sed -i '' s/q/r/ ../e.ts`, `sed -i '' 1e e.ts`];
    expect(allowed(seen, [...others, ...not])).toEqual(others);
  });
});
