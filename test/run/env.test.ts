// What a command gets as its environment.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  argvOf,
  childEnvironment,
  NO_EDITOR,
  SECRET_PREFIXES,
  shellEnvironment,
} from '../../src/run/env.ts';

const names = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.tuple(fc.constantFrom(...SECRET_PREFIXES), fc.string()).map((parts) => parts.join('')),
);
const environments = fc.dictionary(names, fc.option(fc.string(), { nil: undefined }));

test('a variable may have any name', () => {
  const odd = JSON.parse('{"__proto__": "x", "constructor": "y"}');
  expect(Object.entries(childEnvironment(odd))).toEqual(Object.entries(odd));
});

test('no environment leaves a secret key in the filtered one, and every other stays', () => {
  fc.assert(
    fc.property(environments, (parent) => {
      const env = childEnvironment(parent, { removePrefixes: SECRET_PREFIXES });
      const secret = (name: string): boolean =>
        ['ANTHROPIC_', 'OPENAI_', 'GEMINI_', 'AWS_SECRET', 'PHOENIX_'].some((prefix) =>
          name.startsWith(prefix),
        );
      const expected = Object.entries(parent).filter(
        ([name, value]) => value !== undefined && !secret(name),
      );
      expect(Object.entries(env).sort()).toEqual(expected.sort());
    }),
  );
});

test('the prefixes and the editor are those of the seed', () => {
  expect(SECRET_PREFIXES).toEqual(['ANTHROPIC_', 'OPENAI_', 'GEMINI_', 'AWS_SECRET', 'PHOENIX_']);
  expect(NO_EDITOR).toEqual({ EDITOR: '/bin/false', VISUAL: '/bin/false' });
});

test('what is added wins over what is there', () => {
  expect(childEnvironment({ A: '1', B: '2' }, { add: { B: '3' } })).toEqual({ A: '1', B: '3' });
});

test('shell text gets no start-up file, an argv is left alone', () => {
  const env = { BASH_ENV: '/x', ENV: '/y', A: '1' };
  expect(shellEnvironment(env)).toEqual({ A: '1', SHLVL: '1' });
  expect(shellEnvironment({ SHLVL: '4' })).toEqual({ SHLVL: '4' });
  expect(argvOf({ kind: 'shell', text: 'echo' })).toEqual([
    'bash',
    '--noprofile',
    '--norc',
    '-c',
    'echo',
  ]);
  expect(argvOf({ kind: 'argv', argv: ['a', 'b'] })).toEqual(['a', 'b']);
});
