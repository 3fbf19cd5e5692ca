// Finding lines in captures: text and regular expressions, lines around them, bounds on everything,
// and a regular expression that would never end.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SearchOptions, searchOutputs } from '../../src/agent/search.ts';
import { matcherOf, PatternError } from '../../src/agent/search-match.ts';
import type { Capture } from '../../src/capture/store.ts';
import { OutputReader } from '../../src/shell/output/reader.ts';
import { build, testStore } from '../capture/helper.ts';

function text(pattern: string, ignoreCase = false) {
  return matcherOf({ text: pattern, regex: false, ignoreCase });
}

function regex(pattern: string, ignoreCase = false) {
  return matcherOf({ text: pattern, regex: true, ignoreCase });
}

async function found(captures: readonly Capture[], options: Partial<SearchOptions>) {
  const { signal } = new AbortController();
  const defaults = { matcher: text('x'), limit: 100, context: 0, signal };
  return searchOutputs(captures, (one) => OutputReader.of(one), { ...defaults, ...options });
}

describe('a search', () => {
  it('finds what grep -n finds', async () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'é', ' '), maxLength: 6 }));
    await fc.assert(
      fc.asyncProperty(lines, fc.constantFrom('a', 'ab', 'é', ' '), async (some, wanted) => {
        const capture = build(testStore(), [{ bytes: some.map((line) => `${line}\n`).join('') }]);
        const { found: runs } = await found([capture], { matcher: text(wanted), limit: 1_000 });
        const expected = some.flatMap((line, i) => (line.includes(wanted) ? [[i + 1, line]] : []));
        const matches = runs.flatMap((run) => run.matches.map((one) => [one.number, one.text]));
        expect(matches).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  it('looks at both streams, without colours, at what is left of progress bars', async () => {
    const capture = build(testStore(), [
      { bytes: 'one\n\x1b[31mred x\x1b[0m\n' },
      { bytes: 'err x\n', channel: 'stderr' },
      { bytes: 'x 10%\rx 90%\n' },
    ]);
    const { found: runs } = await found([capture], {});
    expect(runs[0]?.matches).toMatchObject([
      { channel: 'stdout', number: 2, text: 'red x' },
      { channel: 'stdout', number: 3, text: 'x 90%' },
      { channel: 'stderr', number: 1, text: 'err x' },
    ]);
  });

  it('gives the lines around a match, each once', async () => {
    const bytes = ['1', '2', '3 x', '4', '5 x', '6', '7', '8'].join('\n');
    const { found: runs } = await found([build(testStore(), [{ bytes }])], { context: 2 });
    const numbers = runs[0]?.matches.map(({ before, number, after }) => [
      before.map((line) => line.number),
      number,
      after.map((line) => line.number),
    ]);
    expect(numbers).toEqual([
      [[1, 2], 3, [4]],
      [[], 5, [6, 7]],
    ]);
  });

  it('stops at its limit and says how far it came', async () => {
    const store = testStore();
    const captures = ['c', 'b', 'a'].map((id) => build(store, [{ bytes: 'x\nx\n' }], { id }));
    const result = await found(captures, { limit: 3 });
    expect(result).toMatchObject({ searched: 1, stopped: 'limit' });
    expect(result.found.map(({ source, matches }) => [source.id, matches.length])).toEqual([
      ['c', 2],
      ['b', 1],
    ]);
  });

  it('stops when its caller gives up', async () => {
    const controller = new AbortController();
    controller.abort();
    const capture = build(testStore(), [{ bytes: 'x\n' }]);
    const { signal } = controller;
    expect(await found([capture], { signal })).toEqual({ found: [], searched: 0, stopped: 'time' });
  });

  it('leaves binary output out and bears long lines', async () => {
    const store = testStore();
    const binary = build(store, [{ bytes: 'x\0\x01x\n' }], { id: 'binary' });
    const long = build(store, [{ bytes: `x${'y'.repeat(5_000_000)}x` }], { id: 'long' });
    const { found: runs } = await found([binary, long], {});
    expect(runs.map(({ source }) => source.id)).toEqual(['long']);
    expect(runs[0]?.matches[0]?.text).toHaveLength(65_536);
  });
});

describe('a pattern', () => {
  it('is text unless it is said to be more', () => {
    const lines = ['a.c', 'abc', 'A.C'];
    expect(text('a.c').find(lines)).toEqual([0]);
    expect(text('a.c', true).find(lines)).toEqual([0, 2]);
    expect(regex('^a.c$').find(lines)).toEqual([0, 1]);
    expect(regex('^a.c$', true).find(lines)).toEqual([0, 1, 2]);
    expect(regex('\\-|\\p{Lu}').find(['-', 'É', 'é'])).toEqual([0]);
    expect(regex('^.$').find(['😀'])).toEqual([0]);
  });

  it('that is no regular expression is named', () => {
    expect(() => regex('(')).toThrow(PatternError);
    expect(() => regex('(')).toThrow('Invalid regular expression: /(/u: Unterminated group.');
  });

  it('that would never end is given up, and the next one works', () => {
    const endless = regex('^(a+)+$');
    expect(() => endless.find([`${'a'.repeat(60)}!`])).toThrow(
      'The regular expression takes too long on some line: simplify it.',
    );
    expect(endless.find(['aaa'])).toEqual([0]);
  });
});
