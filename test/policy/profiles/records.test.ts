// The records of `programs/*.yml`: what their notation means, which mistakes are found, and that
// every one of them can be used.
import { expect, it, test } from 'vitest';
import { parse } from 'yaml';
import type { Profile } from '../../../src/policy/profile.ts';
import { compile } from '../../../src/policy/profiles/options.ts';
import { unpackProfiles } from '../../../src/policy/profiles/pack.ts';
import { tableOf } from '../../../src/policy/profiles/records.ts';
import { TABLE } from '../../../src/policy/profiles/table.ts';

function profileOf(text: string, name = 'tool'): Profile | undefined {
  const { families } = tableOf({ 'some.yml': parse(text) });
  return families
    .map(unpackProfiles)
    .find((family) => family.profile(name))
    ?.profile(name);
}

it('tells of options by what they do, and of shared ones behind those of its own', () => {
  const text = `
groups:
  common: { runs: --exec=, flags: -v }
programs:
  tool other:
    kind: read
    style: exact
    operands: path*
    with: { --all: '' }
    behind-dashes: word
    runs: --hook --pager[=] --filter=sql
    writes: -o,--output= --log[=path]
    values: { int: '-n,--lines', word?: --color }
    flags: --all
    uses: common
    deeds: { deleted 2: reset }
    commands:
      ls list: { kind: read, uses: [common] }
`;
  const sub = { kind: 'read', options: '--exec:exec -v' };
  const profile = {
    kind: 'read',
    style: 'exact',
    operands: 'path*',
    operandsWith: { '--all': '' },
    behindDashes: 'word',
    options:
      '--hook!exec --pager?exec --filter:sql!exec -o,--output:write --log?path!write ' +
      '-n,--lines:int --color?word --all --exec:exec -v',
    deeds: { 'deleted 2': 'reset' },
    subcommands: { ls: sub, list: sub },
  };
  expect(profileOf(text)).toEqual(profile);
  expect(profileOf(text, 'other')).toEqual(profile);
});

it('has the modules of python apart, also those that are programs', () => {
  const text = `
programs:
  pre-commit: { kind: exec, module: pre_commit }
modules:
  this: { kind: read }
`;
  const { modules } = tableOf({ 'some.yml': parse(text) });
  expect(unpackProfiles(modules).names()).toEqual(['pre_commit', 'this']);
  expect(profileOf(text, 'this')).toBeUndefined();
});

test.each([
  ['program: {}', 'some.yml: no programs'],
  ['programs: { a: { operands: path } }', 'some.yml: a: no kind'],
  ['programs: { a: { kind: read, flag: -x } }', 'some.yml: a: what is flag?'],
  ['programs: { a: { kind: read, uses: b } }', 'some.yml: a: what is the group b?'],
  ['programs: { a: { kind: read, runs: -x=y= } }', 'some.yml: a: no option: -x=y='],
  ['programs: { a: { kind: read, values: { int: -n,--lines } } }', 'some.yml: a: no words: null'],
  ['programs: { a b: { kind: read }, b: { kind: exec } }', 'two records of b'],
  [
    'programs: { a: { kind: read, commands: { b c: { kind: read, x: 1 } } } }',
    'some.yml: a b c: what is x?',
  ],
])('%s is refused', (text, why) => {
  expect(() => tableOf({ 'some.yml': parse(text) })).toThrow(why);
});

it('refuses a second record in another file', () => {
  const data = { programs: { a: { kind: 'read' } } };
  expect(() => tableOf({ 'b.yml': data, 'c.yml': data })).toThrow('two records of a');
});

it('every record can be used', () => {
  const seen = new Set<Profile>();
  const visit = (profile: Profile | undefined): void => {
    if (profile === undefined || seen.has(profile)) return;
    seen.add(profile);
    compile(profile);
    for (const sub of Object.values(profile.subcommands ?? {})) visit(sub);
  };
  const families = [...TABLE.families, TABLE.modules].map(unpackProfiles);
  for (const family of families) for (const name of family.names()) visit(family.profile(name));
  expect(seen.size).toBeGreaterThan(1_000);
});
