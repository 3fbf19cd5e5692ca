// How a command line is read with a profile: forms of options, roles by position, words that are
// not known before the command runs.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Profile } from '../../../src/policy/profile.ts';
import { profiledPrograms, profileOf, readCall } from '../../../src/policy/profiles/index.ts';
import { compile } from '../../../src/policy/profiles/options.ts';
import type { Arg } from '../../../src/policy/unit.ts';
import { workOf } from '../../pace.ts';
import { argOf, call, effects, files, line, literal } from './words.ts';

test('a program is known by its name or by its place in the system', () => {
  expect(profileOf('git')).toBeDefined();
  expect(profileOf('/usr/bin/git')).toBe(profileOf('git'));
  expect(profileOf('/usr/local/bin/git')).toBe(profileOf('git'));
  for (const other of ['./git', '/tmp/git', 'bin/git', '/usr/bin/../x/git', '@biomejs/biome', '']) {
    expect(profileOf(other)).toBeUndefined();
  }
  expect(profileOf('constructor')).toBeUndefined();
  expect(readCall([])).toBeUndefined();
  expect(readCall([argOf('$x'), literal('a')])).toBeUndefined();
});

test('more than 600 programs are known, as the README says', () => {
  expect(profiledPrograms().length).toBeGreaterThan(600);
});

test('every profile is written in the notation', () => {
  const seen = new Set<Profile>();
  const see = (profile: Profile): void => {
    if (seen.has(profile)) return;
    seen.add(profile);
    Object.values(profile.subcommands ?? {}).forEach(see);
  };
  for (const name of profiledPrograms()) see(profileOf(name) as Profile);
  const wrong = [...seen].filter((profile) => {
    try {
      compile(profile);
      return false;
    } catch {
      return true; // the profile itself is what the failure shows
    }
  });
  expect(wrong).toEqual([]);
});

test('one option is found in all of its forms', () => {
  for (const form of ['-n 5', '-n5', '--max-count=5', '--max-count 5', '--max-co=5', '-in 5']) {
    const read = line(`git log ${form}`);
    expect(read.parts.map((part) => part.option)).toContain('--max-count');
    expect(read.parts.find((part) => part.role === 'int')?.value).toBe('5');
  }
});

test('parts carry the word, the option and a clause', () => {
  expect(line('git diff --output=/tmp/x src').parts).toEqual([
    {
      index: 1,
      role: 'word',
      option: undefined,
      value: 'diff',
      prefix: 'diff',
      effect: undefined,
      why: undefined,
    },
    {
      index: 2,
      role: 'option',
      option: '--output',
      value: '--output',
      prefix: '--output',
      effect: undefined,
      why: undefined,
    },
    {
      index: 2,
      role: 'write',
      option: '--output',
      value: '/tmp/x',
      prefix: '/tmp/x',
      effect: 'write',
      why: '`/tmp/x` writes a file',
    },
    {
      index: 3,
      role: 'path',
      option: undefined,
      value: 'src',
      prefix: 'src',
      effect: undefined,
      why: undefined,
    },
  ]);
});

test('subcommands and inner command lines are located', () => {
  expect(line('git --no-pager stash list').subcommands).toEqual([2, 3]);
  expect(line('npx tsc --noEmit')).toMatchObject({ inner: 1, kind: 'write' });
  expect(line('uv run --frozen pytest -q')).toMatchObject({ inner: 3, kind: 'exec' });
  expect(line('python3 -u -m pytest -q')).toMatchObject({ inner: 3, kind: 'exec' });
  expect(line('uv run unheard -x')).toMatchObject({ inner: 2, kind: 'exec' });
  expect(line('git status')).toMatchObject({ inner: undefined, kind: 'read' });
});

test('behind two dashes nothing is an option', () => {
  expect(effects(line('git log -- --output=x'))).toEqual(['unknown']);
  expect(files(line('git add -- -x'))).toEqual(['path -x']);
});

describe('words that are not known before the command runs', () => {
  test('do no harm where no option has an effect', () => {
    for (const text of ['wc $x', 'wc *', 'wc -l "$x"', 'head -n $x a', 'cat $x']) {
      const read = line(text);
      expect(read.harmless, text).toBe(true);
      expect(effects(read), text).toEqual([]);
      expect(
        files(read).some((file) => file.endsWith('...')),
        text,
      ).toBe(true);
    }
  });

  test('are unknown where one has', () => {
    for (const text of [
      'git log $x',
      'git log *',
      'git log "$x"',
      'git log -$x',
      'git log -n $x',
    ]) {
      expect(effects(line(text)), text).toEqual(['unknown']);
    }
  });

  test('are operands when they begin with something else', () => {
    expect(effects(line('git add "src/$x" src/*.ts'))).toEqual([]);
    expect(files(line('git add "src/$x" src/*.ts'))).toEqual(['path src/...', 'path src/...']);
    expect(effects(line('git commit -m "$x"'))).toEqual([]);
    expect(effects(line('git log "--since=$x"'))).toEqual([]);
    expect(effects(line('git log --since=$x'))).toEqual(['unknown']);
  });

  test('make the position of those behind them uncertain', () => {
    const read = line('git grep src/* /etc/passwd');
    expect(files(read)).toContain('path /etc/passwd');
    expect(effects(line('go run ./$x'))).toContain('unknown');
  });
});

const WORDS = fc.constantFrom(
  ...['-', '--', '-x', '-C', '--output', '--output=x', '--o', '-nO', 'a', './a', '*', '-*', 'a=b'],
  ...['status', 'log', 'run', 'install', 'test', '-m', '-c', '-e', 'pytest', '__proto__', '+x', ''],
  ...['exec', '$x', '"$x"', '--x=$x', '-n$x', '"a$x"', '-5', '@x', '::', 'constructor', 'tsc'],
);
const PROGRAMS = fc.constantFrom(...profiledPrograms());
const ARGV = fc
  .tuple(PROGRAMS, fc.array(fc.oneof(WORDS, fc.string({ maxLength: 6 })), { maxLength: 8 }))
  .map(([program, words]): readonly Arg[] => [literal(program), ...words.map(argOf)]);

test('whatever the words are, each has a part', () => {
  fc.assert(
    fc.property(ARGV, (argv) => {
      const read = call(argv);
      const seen = new Set(read.parts.map((part) => part.index));
      expect(seen).toEqual(new Set([...argv.keys()].slice(1)));
      const order = read.parts.map((part) => part.index);
      expect(order).toEqual([...order].sort((a, b) => a - b));
    }),
    { numRuns: 1_500 },
  );
});

test('how a word was quoted does not matter', () => {
  fc.assert(
    fc.property(ARGV, (argv) => {
      const quoted = argv.map((arg) => ({ ...arg, source: `'${arg.source}'` }));
      const plain = (args: readonly Arg[]) => call(args).parts.map(({ why: _, ...part }) => part);
      expect(plain(quoted)).toEqual(plain(argv));
    }),
    { numRuns: 500 },
  );
});

test('an option with an effect takes none of the others away', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['git', ['diff', '--output=x']],
    ['git', ['rebase', '--exec=x']],
    ['eslint', ['--rulesdir=x']],
    ['make', ['--eval=x']],
    ['tsc', ['--init']],
    ['pytest', ['--basetemp=x']],
  ];
  fc.assert(
    fc.property(fc.constantFrom(...cases), fc.array(WORDS), ([program, words], more) => {
      const front = words.slice(0, -1);
      const without = call([program, ...front, ...more].map(argOf));
      const found = call([program, ...words, ...more].map(argOf));
      const own = call([program, ...words].map(argOf));
      for (const effect of [...effects(without), ...effects(own)]) {
        expect(effects(found)).toContain(effect);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('command lines in command lines are read to a depth, and unknown below it', () => {
  const deep = Array.from({ length: 20_000 }, () => ['uv', 'run']).flat();
  expect(effects(call([...deep, 'pytest']))).toEqual(['exec', 'unknown']);
  expect(effects(call(['uv', 'run', 'uv', 'run', 'pytest']))).toEqual([]);
});

test('hostile lengths are little work', () => {
  const long = 'v'.repeat(60_000);
  const programs = ['npm install', 'git log', 'pip install', 'make', 'npx', 'find', 'cargo add'];
  const work = workOf(() => {
    for (const program of programs) {
      const front = program.split(' ').map(literal);
      for (const word of [`x@${long}!`, `--${long}`, `-${long}`, `${long}=`, `[${long}`, long]) {
        call([...front, literal(word)]);
      }
      call([...front, ...Array.from({ length: 5_000 }, () => literal('a'))]);
    }
  });
  expect(work).toBeLessThan(200);
});
