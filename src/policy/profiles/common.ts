// What several files of profiles use.

import type { Profile } from '../profile.ts';

export type Profiles = Readonly<Record<string, Profile>>;

/** The same profile for several names, with blanks between them. */
export function each(names: string, profile: Profile): Profiles {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, profile]));
}

/** Runs code that its words choose, talks to the network, changes configuration: never inert. */
export const EXEC: Profile = { kind: 'exec', style: 'none', operands: 'exec*' };
export const NET: Profile = { kind: 'net', style: 'none', operands: 'net*' };
export const CONFIG: Profile = { kind: 'config', style: 'none', operands: 'config*' };
