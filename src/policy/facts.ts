// What is known of a program besides the meaning of its words (`Facts` of profile.ts).

import type { Facts, Trait } from './profile.ts';
import { unpackFacts } from './profiles/pack.ts';
import { TABLE } from './profiles/table.ts';

let find: ((name: string) => Facts | undefined) | undefined;

/** By its plain name. */
export function factsOf(name: string): Facts | undefined {
  find ??= unpackFacts(TABLE.facts());
  return find(name);
}

export function hasTrait(name: string, trait: Trait): boolean {
  return factsOf(name)?.traits?.includes(trait) === true;
}
