// The command lines that stand in the records of programs: those that are said to be inert are, and
// the others are not. Every file has some.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { readCall } from '../../../src/policy/profiles/index.ts';
import { tableOf } from '../../../src/policy/profiles/records.ts';
import { callOf } from './lines.ts';

const DIRECTORY = new URL('../../../src/policy/programs/', import.meta.url);
/** Their words are not read: those of commands behind them are, or nothing is known of them. */
const WITHOUT_PROFILES = ['starters.yml', 'manifests.yml', 'protected.yml'];

describe.each(readdirSync(DIRECTORY).filter((name) => !WITHOUT_PROFILES.includes(name)))(
  '%s',
  (name) => {
    const data = parse(readFileSync(new URL(name, DIRECTORY), 'utf8'));
    const { inert, not } = tableOf({ [name]: data }).tests;

    it('says what is inert, and what is not', () => {
      expect(inert.length).toBeGreaterThan(0);
      expect(not.length).toBeGreaterThan(0);
    });

    test.each(inert.map((line) => [line]))('inert: %s', (line) => {
      expect(callOf(line).parts.flatMap(({ effect, why }) => (effect ? [why] : []))).toEqual([]);
    });

    test.each(not.map((line) => [line]))('not inert: %s', (line) => {
      const { kind, parts } = callOf(line);
      const effects = parts.filter(({ effect }) => effect !== undefined);
      expect(effects.length > 0 || kind === 'delete' || kind === 'config').toBe(true);
    });
  },
);

it('a program without a profile is not read', () => {
  expect(readCall([{ kind: 'literal', source: 'sudo', span: undefined, value: 'sudo' }])).toBe(
    undefined,
  );
});
