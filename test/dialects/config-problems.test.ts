// Whatever a schema objects to is said in our own words.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { problemsOf } from '../../src/dialects/config-problems.ts';

const name = z.string().regex(/^[a-z]+$/, 'is not a name');

it.each([
  ['another type', z.string(), 5, 'expected text, found the number 5'],
  ['a whole number', z.int(), 1.5, 'expected a whole number, found the number 1.5'],
  ['nothing', z.boolean(), undefined, 'expected true or false, found nothing'],
  ['another word', z.enum(['a', 'b']), 'c', "expected a or b, found the text 'c'"],
  ['too little', z.int().min(1), 0, 'expected 1 or more, found the number 0'],
  ['too much', z.int().max(9), 10, 'expected 9 or less, found the number 10'],
  ['an empty text', z.string().min(1), '', "expected text that is not empty, found the text ''"],
  ['a step', z.number().multipleOf(5), 7, 'expected a multiple of 5, found the number 7'],
  ['a pattern', z.string().regex(/^x/), 'y', "expected a text that fits /^x/, found the text 'y'"],
  ['a form', z.url(), 'y', "expected a text of the form url, found the text 'y'"],
  [
    'none of several',
    z.union([z.literal(1), z.literal(true)]),
    [],
    'expected one of the forms in the documentation, found a list',
  ],
  ['a rule', z.number().refine((n) => n !== 3), 3, 'expected another value, found the number 3'],
  ['words of its own', z.string().regex(/^x/, 'must begin with x'), 'y', 'must begin with x'],
])('%s', (_, schema, given, message) => {
  expect(problemsOf(z.strictObject({ key: schema }), { key: given })).toEqual([
    { path: ['key'], message },
  ]);
});

it('keys that are unknown, or no names', () => {
  const schema = z.strictObject({ map: z.record(name, z.string()) });
  expect(problemsOf(schema, { map: { A: 'x' }, b: 1, c: 2 })).toEqual([
    { path: ['map', 'A'], message: 'is not a name' },
    { path: ['b'], message: 'unknown key' },
    { path: ['c'], message: 'unknown key' },
  ]);
});
