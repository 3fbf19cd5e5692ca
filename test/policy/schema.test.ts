// docs/policy.schema.json is what editors check a policy with. It has to say of every document what
// the loader says, but for what only the loader can know: patterns, tests that fail.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromJSONSchema } from 'zod';
import { readPolicy } from '../../src/policy/load.ts';

type Schema = {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly definitions: Readonly<Record<string, Schema>>;
};

const FILE = join(import.meta.dirname, '..', '..', 'docs', 'policy.schema.json');
const schema: Schema = JSON.parse(readFileSync(FILE, 'utf8'));
const checked = fromJSONSchema(schema as never);

function loaderSays(document: unknown): readonly string[] {
  const read = readPolicy(JSON.stringify(document), { home: '/home/user', project: '/project' });
  return 'policy' in read ? [] : read.problems.map(({ message }) => message);
}

/** The keys that the loader knows in a place, from what it says of one that it does not know. */
function knownIn(place: (key: object) => unknown): readonly string[] {
  const [message = ''] = loaderSays(place({ zzzzzzzzzzzz: 1 }));
  return /known are (.*)$/.exec(message)?.[1]?.split(', ') ?? [];
}

const RULE = { pattern: 'git status' };
const GROUP = { name: 'a', commands: [RULE] };

/** Where keys may stand: a document with this map in that place. */
const PLACES = {
  policy: (map: object) => map,
  scopes: (map: object) => ({ scopes: map }),
  group: (map: object) => ({ policies: [{ name: 'a', ...map }] }),
  rule: (map: object) => ({ policies: [{ ...GROUP, commands: [{ ...RULE, ...map }] }] }),
  tests: (map: object) => ({ policies: [{ ...GROUP, commands: [{ ...RULE, tests: map }] }] }),
} as const;

function keysInSchema(place: keyof typeof PLACES): readonly string[] {
  const { properties, definitions } = schema;
  const rule = definitions.rule?.properties ?? {};
  const found: Readonly<Record<keyof typeof PLACES, Schema['properties']>> = {
    policy: properties,
    scopes: properties.scopes?.properties ?? {},
    group: definitions.group?.properties ?? {},
    rule,
    tests: rule.tests?.properties ?? {},
  };
  return Object.keys(found[place]);
}

/** One of each kind of value, and those that some key means. */
const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, 1, 2, 3, -1, 1.5, 1e300, '', 'x', 'a b', ' ', 'a\0b', 'off', 'on'],
  ...['allow', 'ask', 'deny', 'record', 'warn', 'enforce', 'strict', 'bwrap', 'allow_recorded'],
  ...['inert', 'any', 'none', 'unset', 'git status', 'claude-code', '-x', 'x'.repeat(70)],
  ...[[], [''], [null], [1], ['a\0b'], ['git status'], ['x', 'y'], [[]], [{}], ['-x']],
  ...[{}, { x: 1 }, { name: 'x' }, [{ name: 'x' }], [{ pattern: 'git status' }], [{ name: null }]],
];

/** What a rule matches, or what a name may be, is for the loader alone. */
const LOADER_ALONE = /tests\.(?:not_)?match has|\.pattern: "/;

const DOCUMENTS = Object.entries(PLACES).flatMap(([place, put]) =>
  keysInSchema(place as keyof typeof PLACES).flatMap((key) =>
    VALUES.map((value) => ({ place, key, document: put({ [key]: value }) })),
  ),
);

describe('docs/policy.schema.json', () => {
  it.each(Object.keys(PLACES) as (keyof typeof PLACES)[])('has the keys of a %s', (place) => {
    expect([...keysInSchema(place)].sort()).toEqual([...knownIn(PLACES[place])].sort());
  });

  it('takes and refuses the same documents as the loader, every key with every value', () => {
    expect(DOCUMENTS.length).toBeGreaterThan(1_000);
    const verdicts = DOCUMENTS.map(({ place, key, document }) => {
      const problems = loaderSays(document);
      const alone = problems.length > 0 && problems.every((one) => LOADER_ALONE.test(one));
      const loads = problems.length === 0 || alone;
      const what = `${place}.${key}: ${JSON.stringify(document)}`;
      return { what, loads, valid: checked.safeParse(document).success };
    });
    expect(verdicts.filter(({ loads, valid }) => loads !== valid)).toEqual([]);
    // Neither side would be worth much if it said the same of everything.
    expect(verdicts.filter(({ loads }) => loads).length).toBeGreaterThan(200);
    expect(verdicts.filter(({ loads }) => !loads).length).toBeGreaterThan(500);
  });

  it.each([
    ['null', null, false],
    ['an empty one', {}, true],
    ['a list', [], false],
    ['a text', 'x', false],
    ['a group without a name', { policies: [{ commands: [] }] }, false],
    ['a group without commands', { policies: [{ name: 'a' }] }, true],
    ['a rule without a pattern', { policies: [{ name: 'a', commands: [{}] }] }, false],
    ['a rule that is a text', { policies: [{ name: 'a', commands: ['git status'] }] }, true],
    ['a rule that is no text', { policies: [{ name: 'a', commands: [1] }] }, false],
    ['a rule that is a blank text', { policies: [{ name: 'a', commands: [' '] }] }, false],
    ['a rule that is a list', { policies: [{ name: 'a', commands: [['git status']] }] }, false],
    ['a rule that is nothing', { policies: [{ name: 'a', commands: [null] }] }, false],
    ['an empty group', { policies: [null] }, false],
  ])('agrees with the loader about %s', (_, document, valid) => {
    expect(checked.safeParse(document).success).toBe(valid);
    expect(loaderSays(document).length === 0).toBe(valid);
  });

  it('describes every key', () => {
    const described = Object.values(schema.properties).filter((one) => 'description' in one);
    expect(described.length).toBe(Object.keys(schema.properties).length);
  });
});
