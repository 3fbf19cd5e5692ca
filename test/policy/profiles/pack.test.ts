// Profiles come out of their packed form as they went in.
import { expect, it } from 'vitest';
import type { Profile } from '../../../src/policy/profile.ts';
import { GIT } from '../../../src/policy/profiles/data-git.ts';
import { OPS } from '../../../src/policy/profiles/data-ops.ts';
import { PYTHON, PYTHON_MODULES } from '../../../src/policy/profiles/data-python.ts';
import { packProfiles, unpackProfiles } from '../../../src/policy/profiles/pack.ts';

type Profiles = Readonly<Record<string, Profile>>;

/** Options are words, so that the blanks between them say nothing. */
function plain(profiles: Profiles): Profiles {
  const entries = Object.entries(profiles).map(([name, { options, subcommands, ...rest }]) => {
    const words = options !== undefined && { options: options.trim().split(/\s+/).join(' ') };
    const inner = subcommands && { subcommands: plain(subcommands) };
    return [name, { ...rest, ...words, ...inner }] as const;
  });
  return Object.fromEntries(entries);
}

it.each(Object.entries({ GIT, OPS, PYTHON, PYTHON_MODULES }))('%s', (_, profiles) => {
  const family = unpackProfiles(packProfiles(profiles));
  expect(family.names()).toEqual(Object.keys(profiles));
  const found = family.names().map((name) => [name, family.profile(name)]);
  expect(Object.fromEntries(found)).toEqual(plain(profiles));
});

it('has no profile for a name that it does not have, or that is several', () => {
  const family = unpackProfiles(packProfiles(OPS));
  const [one, other] = family.names();
  for (const name of [`${one} ${other}`, 'constructor', '', ' ', `${one}x`]) {
    expect(family.profile(name)).toBeUndefined();
  }
  expect(family.profile(one ?? '')).toBe(family.profile(one ?? ''));
});
