// The one reading of options: what a word is by the list of its program, in every style.
import { describe, expect, it } from 'vitest';
import {
  type OptionStyle,
  optionsIn,
  optionTable,
  readOptions,
  type WordText,
} from '../../src/text/options.ts';

const LIST = '-v,--verbose -n,--lines: -i,--in-place? -x!exec --exec: --execute -NUM -o>';

/** A word that ends in `...` is only known up to there. */
function seen(word: string): WordText {
  const prefix = word.replace(/\.\.\.$/, '');
  return { value: prefix === word ? word : undefined, prefix };
}

/** `--lines=5` for an option with a joined value, `--lines 2` for the word that is its value. */
function told(words: string, style: OptionStyle, anywhere = false): string {
  const { uses, at } = readOptions(words.split(' '), optionTable(LIST, style), seen, { anywhere });
  const options = uses.map(({ option, joined, next, off }) => {
    const value = joined === undefined ? '' : `=${joined.value ?? '?'}`;
    const behind = next === undefined ? '' : ` ${next}`;
    return `${off ? 'off ' : ''}${option?.name ?? '?'}${value}${behind}`;
  });
  return [...options, `at ${at}`].join(', ');
}

describe('options of a command line', () => {
  it.each<[string, OptionStyle, string]>([
    ['-vn5 x', 'gnu', '--verbose, --lines=5, at 1'],
    ['-n 5 x', 'gnu', '--lines 1, at 2'],
    ['-n=5 x', 'gnu', '--lines=5, at 1'],
    ['-n=5 x', 'getopt', '--lines==5, at 1'],
    ['-i.bak -i x', 'gnu', '--in-place=.bak, --in-place, at 2'],
    ['--li 5 x', 'gnu', '--lines 1, at 2'],
    ['--li=5 x', 'exact', '?, at 1'],
    ['--exec x y', 'gnu', '--exec 1, at 2'],
    ['--exe x y', 'gnu', '?, at 1'],
    ['--verbose=1 x', 'gnu', '?=1, at 1'],
    ['-20 x', 'gnu', 'at 1'],
    ['-vqn5 x', 'gnu', '--verbose, ?, at 1'],
    ['-vqo x y', 'shell', '--verbose, ?, -o 1, at 2'],
    ['+vo x -v y', 'shell', 'off --verbose, off -o 1, --verbose, at 3'],
    ['-lines=5 --verbose x', 'go', '--lines=5, --verbose, at 2'],
    ['- -v', 'gnu', 'at 0'],
    ['-v -- -v', 'gnu', '--verbose, at 2'],
    ['-v x -n', 'gnu', '--verbose, at 1'],
    ['-v... x', 'gnu', '--verbose, ?, at 1'],
    ['--lines=... x', 'gnu', '--lines=?, at 1'],
    ['... -v', 'gnu', 'at 0'],
    ['-n', 'gnu', '--lines 1, at 1'],
  ])('%s in the style %s', (words, style, expected) => {
    expect(told(words, style)).toBe(expected);
  });

  it('may stand behind operands, where the caller says so', () => {
    expect(told('-v x -n 5 y', 'gnu', true)).toBe('--verbose, --lines 3, at 1');
    expect(told('x -- -v', 'gnu', true)).toBe('at 0');
  });

  it('tell what is left of a word that is not known', () => {
    const text = { value: '-qn5', prefix: '-qn5' };
    expect(
      optionsIn(optionTable('-v', 'gnu'), { value: '-vqn5', prefix: '-vqn5' })?.at(-1),
    ).toEqual({ kind: 'options', options: [], joined: undefined, text });
  });

  it('are not more than a bounded number in one word', () => {
    const word = `-${'v'.repeat(100_000)}`;
    const found = optionsIn(optionTable(LIST, 'shell'), { value: word, prefix: word });
    expect(found).toHaveLength(33);
  });

  it('of a list that is written wrongly are an error', () => {
    expect(() => optionTable('lines')).toThrow('not an option of a profile: lines');
    expect(() => optionTable('-n,lines')).toThrow('not the name of an option');
  });
});
