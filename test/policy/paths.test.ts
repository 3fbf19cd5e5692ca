import { describe, expect, it } from 'vitest';
import { absolute, pathSet } from '../../src/policy/paths.ts';
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
