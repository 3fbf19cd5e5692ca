// What is known of programs besides their words, and what is made of it.
import { describe, expect, it, test } from 'vitest';
import { analyse } from '../../src/policy/analyse/index.ts';
import { programNames, subcommandName } from '../../src/policy/equivalents.ts';
import { factsOf, hasTrait, isListed, LISTS, listOf } from '../../src/policy/facts.ts';
import { inputUse } from '../../src/policy/input.ts';
import { readCall } from '../../src/policy/profiles/index.ts';
import { TABLE } from '../../src/policy/profiles/table.ts';
import { needsNoRule } from '../../src/policy/programs.ts';
import type { Unit } from '../../src/policy/unit.ts';
import { HOME, PROJECT } from './helper.ts';

function unitOf(line: string): Unit {
  const [unit] = analyse(line, { cwd: PROJECT, home: HOME }).units;
  if (unit === undefined) throw new Error(`no unit: ${line}`);
  return unit;
}

test.each([
  ['cat a', 'data'],
  ['npx x', 'code'],
  ['redis-cli', 'code'],
  ['bash -s', 'code'],
  ['python3 a.py', 'data'],
  ['python3', 'code'],
  ['node -e 1', 'data'],
  ['python3 -W ignore', 'code'],
  ['node -r ./x.js', 'code'],
  ['perl -Mfeature=say', 'code'],
  ['python3 -i a.py', 'code'],
  ['python3 -m x', 'unknown'],
  ['git log', 'data'],
  ['git rebase main', 'unknown'],
  ['git commit -m x', 'data'],
  ['git commit --message=x', 'data'],
  ['git commit', 'unknown'],
  ['git add -p', 'unknown'],
  ['gh pr create --body-file -', 'data'],
  ['gh pr create', 'unknown'],
  ['unheard-of', 'unknown'],
])('the input of `%s` is %s', (line, use) => {
  const { argv } = unitOf(line);
  expect(inputUse({ stdin: 'pipe' }, [{ argv, call: readCall(argv) }])).toBe(use);
});

describe('other names', () => {
  test.each([
    ['npm', 'i', 'install'],
    ['npm', 'uninst', 'uninstall'],
    ['npm', 'un', 'uninstall'],
    ['docker', 'remove', 'rm'],
    ['git', 'stage', 'add'],
    ['git', 'constructor', 'constructor'],
    ['unheard-of', 'i', 'i'],
    ['chmod', 'a+rwx', '777'],
  ])('%s %s is %s', (program, given, name) => {
    expect(subcommandName(program, given)).toBe(name);
  });

  test.each([
    ['apt', 'aptitude', true],
    ['tar', 'bsdtar', true],
    ['vim', 'rview', true],
    ['python', 'python3.12', true],
    ['apt', 'dnf', false],
  ])('a rule about %s is about %s: %s', (rule, given, same) => {
    expect(programNames(rule, given)).toBe(same);
  });
});

it('a builtin that steers needs no rule, and one that declares only with a name', () => {
  const free = (line: string) => needsNoRule(unitOf(line));
  expect(['cd src', 'true', 'export A=1', 'set -e'].map(free)).toEqual([true, true, true, true]);
  expect(['export', 'ls', 'set', 'declare -x'].map(free)).toEqual([false, false, false, false]);
});

it('each list of the records is asked for by its name, and is there', () => {
  expect(Object.keys(TABLE.lists).sort()).toEqual([...LISTS].sort());
  for (const name of LISTS) expect(new Set(listOf(name)).size).toBe(listOf(name).length);
  expect([isListed('secrets', '~/.ssh'), isListed('secrets', '~/.sh')]).toEqual([true, false]);
});

it('nothing is known of a name that no record has', () => {
  for (const name of ['unheard-of', 'constructor', '']) expect(factsOf(name)).toBeUndefined();
  expect(hasTrait('unheard-of', 'opaque')).toBe(false);
  expect(hasTrait('sudo', 'opaque')).toBe(true);
});
