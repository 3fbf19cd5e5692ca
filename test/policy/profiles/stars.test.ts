// What a star in a rule lets through, program by program: words that change nothing about what is
// done are fine, those that make it another kind of thing are not.

import { describe, expect, test } from 'vitest';
import { profileOf } from '../../../src/policy/profiles/index.ts';
import { judgement, PROJECT } from '../helper.ts';
import { FINE } from './stars-fine.ts';
import { REFUSED } from './stars-refused.ts';

function allowed(rule: string, commands: readonly string[]): readonly string[] {
  const judged = judgement({ allow: [rule] });
  return commands.filter((command) => judged.decide(command, PROJECT).verdict === 'allow');
}

describe('a rule', () => {
  test.each(FINE)('%s covers what it is for', (rule, commands) => {
    expect(allowed(rule, commands)).toEqual(commands);
  });

  test.each(REFUSED)('%s does not cover what does something else', (rule, commands) => {
    expect(allowed(rule, commands)).toEqual([]);
  });
});

describe('a program', () => {
  test.each([
    ...[
      ['python3.12', 'python'],
      ['python3.13t', 'python'],
      ['python3-dbg', 'python'],
    ],
    ...[
      ['pip3.11', 'pip'],
      ['nodejs', 'node'],
      ['perl5.36.0', 'perl'],
      ['php8.1', 'php'],
    ],
    ...[
      ['clang-17', 'clang'],
      ['gcc-12', 'gcc'],
      ['lua5.4', 'lua'],
      ['ruby3.0', 'ruby'],
    ],
    ...[
      ['gsed', 'sed'],
      ['ggrep', 'grep'],
      ['gfind', 'find'],
      ['grm', 'rm'],
      ['gawk', 'awk'],
    ],
    ...[
      ['/usr/bin/python3.12', 'python'],
      ['gtar', 'tar'],
      ['gls', 'ls'],
    ],
  ])('%s is known as %s', (name, plain) => {
    expect(profileOf(name)).toBe(profileOf(plain));
    expect(profileOf(name)).toBeDefined();
  });

  test.each(['./python3.12', 'git2', 'gnohup', 'gxargs', 'python-evil', 'gevil', 'rm2', '3'])(
    '%s is not known by its likeness',
    (name) => {
      expect(profileOf(name)).toBeUndefined();
    },
  );
});
