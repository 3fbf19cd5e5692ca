// Profiles come out of their packed form as they went in.
import { expect, it } from 'vitest';
import type { Profile } from '../../../src/policy/profile.ts';
import { packProfiles, unpackProfiles } from '../../../src/policy/profiles/pack.ts';
import { TABLE } from '../../../src/policy/profiles/table.ts';

it('keeps every profile', () => {
  for (const packed of [...TABLE.families, TABLE.modules]) {
    const family = unpackProfiles(packed);
    const found = family.names().map((name) => [name, family.profile(name)] as const);
    const all: Readonly<Record<string, Profile>> = Object.fromEntries(
      found.flatMap(([name, profile]) => (profile === undefined ? [] : [[name, profile]])),
    );
    expect(Object.keys(all)).toHaveLength(found.length);
    const again = unpackProfiles(packProfiles(all));
    expect(again.names()).toEqual(family.names());
    for (const [name, profile] of found) expect(again.profile(name)).toEqual(profile);
  }
});

it('shares lines, and takes blanks in options for one', () => {
  const some: Profile = { kind: 'read', options: ' -a\n  -b:int ', operands: 'path*' };
  const profiles = {
    a: some,
    b: { ...some },
    c: { kind: 'exec', subcommands: { d: some } },
  } as const;
  const packed = packProfiles(profiles);
  expect(packed.text().split('\n')).toHaveLength(4);
  const family = unpackProfiles(packed);
  const plain = { ...some, options: '-a -b:int' };
  expect(family.profile('b')).toEqual(plain);
  expect(family.profile('c')).toEqual({ kind: 'exec', subcommands: { d: plain } });
});

it('has no profile for a name that it does not have, or that is several', () => {
  const family = unpackProfiles(packProfiles({ one: { kind: 'read' }, other: { kind: 'exec' } }));
  for (const name of ['one other', 'constructor', '', ' ', 'onex']) {
    expect(family.profile(name)).toBeUndefined();
  }
  expect(family.profile('one')).toBe(family.profile('one'));
});
