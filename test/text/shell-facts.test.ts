// The small facts about a command that the tools tell or act upon.
import { describe, expect, it } from 'vitest';
import {
  endingPipeline,
  mainProgram,
  mayChangeDirectory,
  onlyKills,
} from '../../src/text/shell-facts.ts';

describe('a command that only sends signals', () => {
  it.each(['kill -9 -123', 'kill 1 2; kill -TERM 3', 'kill -0 5 && kill 5', 'kill 5 2>/dev/null'])(
    'is: %s',
    (command) => {
      expect(onlyKills(command)).toBe(true);
    },
  );

  it.each([
    'kill 1; sleep 100',
    'sleep 100 & kill 5',
    'kill $(pgrep server)',
    'while kill -0 5; do :; done',
    '(kill 5; exec sleep 9)',
    'echo kill',
    'pkill x',
    'kill 5 "',
    '# kill',
    '',
  ])('is not: %s', (command) => {
    expect(onlyKills(command)).toBe(false);
  });
});

describe('the pipeline whose exit status is seen', () => {
  it.each<[string, number]>([
    ['false | true', 2],
    ['a; b | c', 2],
    ['a | b; c', 1],
    ['a | b && c | d | e', 3],
    ['a |& b', 2],
    ['! a | b', 2],
    ['cat <<E | wc\na | b | c\nE', 2],
    ['if a | b; then c | d; fi', 1],
    ['(a | b)', 1],
    ['for x in y; do a; done | sort', 2],
    ['echo "a | b"', 1],
    ['a | b &', 1],
    ['a | "b', 1],
    ['', 1],
  ])('of %j has %i stages', (command, stages) => {
    expect(endingPipeline(command)?.stages.length ?? 1).toBe(stages);
  });
});

describe('the program whose exit status is seen', () => {
  it.each<[string, string | undefined]>([
    ['grep x y', 'grep'],
    ['cd x && /bin/grep a b', 'grep'],
    ['make; diff a b', 'diff'],
    ['A=1 B=2 cmp a b', 'cmp'],
    ['env -i -u X A=1 grep a', 'grep'],
    ['command grep a', 'grep'],
    ['command -v grep', 'command'],
    ['time -p test -f x', 'test'],
    ['/usr/bin/time -f %e test -f x', 'test'],
    ['timeout -k 5 --signal=KILL 10s nice -n 5 nohup grep a', 'grep'],
    ['nice -10 grep a', 'grep'],
    ['sudo -u me -n -- grep a', 'grep'],
    ['[ -f x ]', '['],
    ['[[ -f x ]]', '[['],
    ['! grep x', 'grep'],
    ['cat x | grep y', 'grep'],
    ['grep x | cat', 'cat'],
    ['xargs grep x', 'xargs'],
    ['"grep" x', 'grep'],
    ['env', 'env'],
    ['timeout $T grep x', undefined],
    ['env -S "grep x"', undefined],
    ['$PROGRAM x', undefined],
    ['if grep x; then y; fi', undefined],
    ['(grep x)', undefined],
    ['grep x &', undefined],
    ['A=1', undefined],
    ['grep "x', undefined],
    ['', undefined],
  ])('of %j is %j', (command, program) => {
    expect(mainProgram(command)).toBe(program);
  });
});

describe('a command that may end in another directory', () => {
  it.each([
    ['cd x', true],
    ['make && cd build', true],
    ['pushd x; popd', true],
    ['. ./env.sh', true],
    ['source env.sh', true],
    ['$go there', true],
    ['eval "$x"', true],
    ['ls -l', false],
    ['make test', false],
    ['sh -c "kill -SEGV \\$\\$"', false],
    ['echo one. two', false],
  ])('%j: %j', (command, may) => {
    expect(mayChangeDirectory(command)).toBe(may);
  });
});
