import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { absolute, globRegex, pathSet } from '../../src/policy/paths.ts';
import { isSink, protectedPaths } from '../../src/policy/protected.ts';

const NONE = { more: [], opened: [] };
const places = { project: '/home/user/app', home: '/home/user' };

describe('a set of paths', () => {
  it.each([
    ['src', '/home/user/app/src/a/b', true],
    ['src', '/home/user/app/srcs', false],
    ['/tmp', '/tmp', true],
    ['/tmp/*.log', '/tmp/a.log', true],
    ['/tmp/*.log', '/tmp/a/b.log', false],
    ['/tmp/**', '/tmp/a/b.log', true],
    ['~/notes', '/home/user/notes/x', true],
    ['**/dist', '/home/user/app/packages/a/dist/x.js', true],
    ['..', '/home/user/other', true],
    ['/', '/etc/passwd', true],
    ['a?c', '/home/user/app/abc', true],
    ['a[bx]c', '/home/user/app/abc', true],
    ['a[!b]c', '/home/user/app/abc', false],
    ['/tmp/a.b', '/tmp/axb', false],
  ])('of %j has %j: %s', (glob, path, inside) => {
    expect(pathSet([glob], places).has(path)).toBe(inside);
  });

  it('is asked about paths without dots and doubled slashes', () => {
    expect(absolute('../x/./y//z/', '/a/b')).toBe('/a/x/y/z');
    expect(absolute('//etc//passwd', '/a')).toBe('/etc/passwd');
    expect(absolute('/../..', '/a')).toBe('/');
  });

  it('resolves every path as the system does, also those that look finished', () => {
    const name = fc.constantFrom('a', '.', '..', '.b', '...', '', 'c ', '..d');
    const path = fc.array(name, { maxLength: 5 }).map((names) => names.join('/'));
    const same = (one: string, cwd: string): void => {
      const whole = posix.resolve(`/${cwd}`, one).replace(/^\/+/, '/');
      expect(absolute(one, `/${cwd}`)).toBe(whole);
    };
    fc.assert(fc.property(path, path, same));
  });

  it('has what its globs find one by one, in letters of any size and script', () => {
    const piece = fc.constantFrom('a', 'B', '.e', '*', '?', 'env', 'é', '\u212A');
    const glob = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
    const globs = fc.array(
      fc.tuple(fc.constantFrom('**/', '/x/', '~/', '/x/**/'), glob, fc.constantFrom('', '/y')),
      { minLength: 1, maxLength: 4 },
    );
    const letter = fc.constantFrom('a', 'b', 'A', '.', 'ENV', 'É', 'k', 'x', 'y', '/');
    const path = fc
      .array(letter, { maxLength: 8 })
      .map((letters) => absolute(letters.join(''), '/x'));
    const same = (given: readonly (readonly string[])[], one: string): void => {
      const all = given.map((words) => words.join('').replace(/\*+(?!\/)/g, '*'));
      const whole = all.map((text) =>
        text.startsWith('~') ? `/home/user${text.slice(1)}` : text.replace(/^\*\*/, '/**'),
      );
      const found = whole.some((text) => globRegex(text, '(?:/.*)?').test(one));
      const wild = all.every((text) => /[*?]/.test(text)); // others are compared as they are
      if (wild) expect(pathSet(all, places).has(one)).toBe(found);
    };
    fc.assert(fc.property(globs, path, same));
  });
});

/** What a glob of names means, tried in every way there is. */
function means(glob: string, path: string): boolean {
  const [first] = glob;
  if (first === undefined) return path === '';
  if (first === '*') {
    if (means(glob.slice(1), path)) return true;
    return path !== '' && path[0] !== '/' && means(glob, path.slice(1));
  }
  if (path === '') return false;
  const same = first === '?' ? path[0] !== '/' : first === path[0];
  return same && means(glob.slice(1), path.slice(1));
}

describe('a glob', () => {
  it('finds what it means', () => {
    const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '.'), maxLength: 9 });
    const names = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 9 });
    const globs = fc.tuple(glob, glob).map((two) => two.filter((one) => one !== '').join('/'));
    const paths = fc.tuple(names, names).map((two) => two.filter((one) => one !== '').join('/'));
    fc.assert(
      fc.property(globs, paths, (one, path) => {
        fc.pre(!/(?:^|\/)\*\*(?:\/|$)/.test(one)); // for these, see below
        expect(globRegex(one).test(path)).toBe(means(one, path));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['**/a', 'a', true],
    ['**/a', 'x/y/a', true],
    ['**/**/a', 'x/a', true],
    ['x/**', 'x/y/z', true],
    ['x**z', 'x/z', false],
    ['x***z', 'xyz', true],
    ['\\**', '*a', true],
    ['\\**', 'ba', false],
    ['a[!b]c', 'a/c', false],
  ])('%j finds %j: %s', (glob, path, found) => {
    expect(globRegex(glob).test(path)).toBe(found);
  });

  it('with many stars is tried in a short time', () => {
    const path = `/home/user/app/${'a'.repeat(40)}`;
    for (const part of ['*', '*a', '*?', '[a-z]*', '**/', '*/', '?*a']) {
      expect(globRegex(`/home/user/app/${part.repeat(100)}z`).test(path)).toBe(false);
    }
  });
});

describe('what is protected', () => {
  const held = protectedPaths(places, { more: ['private'], opened: ['/srv/out'] });

  it.each([
    ...[
      '/home/user/.ssh/id_rsa',
      '/home/user/.aws/credentials',
      '/home/user/.netrc',
      '/home/user/.npmrc',
    ],
    ...['/home/user/app/.env', '/home/user/app/.env.local', '/home/user/app/x/server.pem'],
    ...['/proc/self/environ', '/proc/1/environ', '/etc/shadow', '/home/user/.git-credentials'],
    ...['/home/user/.kube/config', '/home/user/app/private/x', '/home/user/.bash_history'],
  ])('%s is a secret', (path) => {
    expect(held.secret(path)).toBe(true);
  });

  it.each([
    ...['/home/user/app/.env.example', '/home/user/app/src/env.ts', '/home/user/app/keys.ts'],
    ...['/home/user/app/package.json', '/etc/hosts', '/home/user/app/environment.md'],
  ])('%s is none', (path) => {
    expect(held.secret(path)).toBe(false);
  });

  it.each([
    ...['/home/user/.bashrc', '/home/user/.profile', '/home/user/.ssh/authorized_keys'],
    ...['/home/user/app/.git/hooks/pre-commit', '/home/user/app/.git/config', '/etc/passwd'],
    ...['/home/user/app/.cuff/policy.yml', '/home/user/app/.claude/settings.json', '/usr/bin/git'],
    ...[
      '/home/user/app/.mcp.json',
      '/home/user/.config/autostart/x',
      '/home/user/app/.vscode/tasks.json',
    ],
    ...['/home/user/app/.GIT/hooks/x', '/home/user/app/.env', '/dev/sda'],
  ])('%s is not written', (path) => {
    expect(held.control(path)).toBe(true);
  });

  it.each([
    ...[
      '/home/user/app/src/a.ts',
      '/home/user/app/.gitignore',
      '/tmp/x',
      '/dev/null',
      '/dev/stderr',
    ],
    ...['/home/user/app/.github/workflows/ci.yml', '/home/user/app/.eslintrc.json'],
  ])('%s may be', (path) => {
    expect(held.control(path)).toBe(false);
  });

  it('has room for a project inside of a protected directory, but for its own hooks', () => {
    const inside = protectedPaths({ project: '/opt/app', home: '/root' }, NONE);
    expect(inside.control('/opt/app/src/a.ts')).toBe(false);
    expect(inside.control('/opt/other/a.ts')).toBe(true);
    expect(inside.control('/opt/app/.git/hooks/x')).toBe(true);
    const deep = { project: '/home/user/.claude/worktrees/app', home: '/home/user' };
    expect(protectedPaths(deep, NONE).control(`${deep.project}/src/a.ts`)).toBe(false);
    expect(protectedPaths(deep, NONE).control(`${deep.project}/.claude/a`)).toBe(true);
  });

  it('has room for a place of the system that a policy opens, but for hooks', () => {
    expect(held.control('/srv/out/a')).toBe(false);
    expect(held.control('/srv/other')).toBe(true);
    expect(held.control('/srv/out/.git/hooks/x')).toBe(true);
  });

  it.each([
    ['/home/user/app/.e*', true],
    ['/home/user/app/.en?', true],
    ['/home/user/app/*', false],
    ['/home/user/app/*.json', false],
    ['/home/user/app/*.pem', true],
    ['/home/user/app/.*', true],
    ['/home/user/app/id*', true],
    ['/home/user/app/src/*.ts', false],
    ['/home/user/.s*/id_*', true],
  ])('the glob %s could name a secret: %s', (glob, could) => {
    expect(held.globSecret(glob)).toBe(could);
  });

  it('knows what swallows everything', () => {
    expect(['/dev/null', '/dev/fd/2', '/dev/sda', '/dev/nullx'].map(isSink)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
