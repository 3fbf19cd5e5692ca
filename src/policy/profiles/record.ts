// One record of `programs/*.yml` as a profile: what the program does with its words.
//
// Options are told by what they do. `runs`, `writes`, `deletes`, `configures`, `sends`, `secrets`
// list those with an effect, `values` by its role what has a value, `flags` the rest:
//   `-n,--lines`   names of one option
//   `--output=`    among effects: its value names what is written, run or deleted
//   `--rules=path` its value is a path, and the option has the effect whatever that says
//   `--diff[=]`    the same, and the value may be missing; as `word?` among `values`
// Of an option that is listed twice the first counts, and what a record `uses` stands behind its
// own options. profile.ts tells the meaning of the other keys.

import type { Deeds, Effect, Profile } from '../profile.ts';

export type Data = Readonly<Record<string, unknown>>;
export type Profiles = Readonly<Record<string, Profile>>;

/** A key is a name, or several with blanks between them. */
export function byName<T>(
  records: Data,
  read: (names: string, value: unknown) => T,
): Readonly<Record<string, T>> {
  const entries = Object.entries(records).flatMap(([names, value]) => {
    const made = read(names, value);
    return names.split(/\s+/).map((name): [string, T] => [name, made]);
  });
  const all = Object.fromEntries(entries);
  if (Object.keys(all).length === entries.length) return all;
  throw new Error(`one name has two records: ${entries.map(([one]) => one).join(' ')}`);
}

const EFFECTS: Readonly<Record<string, Effect>> = {
  runs: 'exec',
  writes: 'write',
  deletes: 'delete',
  configures: 'config',
  sends: 'net',
  secrets: 'secret',
};

/** Keys that are the same in a profile. */
const SAME = ['kind', 'style', 'ends', 'bare', 'asks', 'alike', 'own', 'operands'];
const OPTIONS = [...Object.keys(EFFECTS), 'values', 'flags', 'uses'];
const KEYS: ReadonlySet<string> = new Set([
  ...[...SAME, ...OPTIONS, 'with', 'behind-dashes', 'deeds', 'commands'],
]);

export function profileOf(place: string, body: Data, groups: Data): Profile {
  const odd = Object.keys(body).find((key) => !KEYS.has(key));
  if (odd !== undefined || body.kind === undefined) {
    throw new Error(`${place}: ${odd === undefined ? 'no kind' : `what is ${odd}?`}`);
  }
  const options = optionsOf(place, body, groups).join(' ');
  const { commands } = body;
  const same = Object.entries(body).filter(([key]) => SAME.includes(key));
  return {
    ...(Object.fromEntries(same) as Pick<Profile, 'kind'>),
    ...(options !== '' && { options }),
    ...(body.with !== undefined && { operandsWith: mapOf(body.with) as Record<string, string> }),
    ...(body['behind-dashes'] !== undefined && {
      behindDashes: body['behind-dashes'] as NonNullable<Profile['behindDashes']>,
    }),
    ...(body.deeds !== undefined && { deeds: mapOf(body.deeds) as Deeds }),
    ...(commands !== undefined && {
      subcommands: byName(mapOf(commands), (names, value) =>
        profileOf(`${place} ${names}`, mapOf(value), groups),
      ),
    }),
  };
}

/** In the notation of profile.ts. */
function optionsOf(place: string, body: Data, groups: Data): readonly string[] {
  const effects = Object.entries(EFFECTS).flatMap(([key, effect]) =>
    wordsOf(place, body[key]).map((word) => effective(place, word, effect)),
  );
  const values = Object.entries(mapOf(body.values)).flatMap(([role, names]) => {
    const mark = role.endsWith('?') ? '?' : ':';
    return wordsOf(place, names).map((name) => `${name}${mark}${role.replace('?', '')}`);
  });
  const used = [body.uses ?? []].flat().flatMap((name) => {
    const group = groups[String(name)];
    if (group === undefined) throw new Error(`${place}: what is the group ${name}?`);
    return optionsOf(`${place}, ${name}`, mapOf(group), groups);
  });
  return [...effects, ...values, ...wordsOf(place, body.flags), ...used];
}

function effective(place: string, word: string, effect: Effect): string {
  const found = /^([^=[\]]+)(?:(\[?)=([a-z]*)\]?)?$/.exec(word);
  const [, names, bracket, role] = found ?? [];
  if (names === undefined) throw new Error(`${place}: no option: ${word}`);
  if (role === undefined) return `${names}!${effect}`;
  const mark = bracket === '[' ? '?' : ':';
  return role === '' ? `${names}${mark}${effect}` : `${names}${mark}${role}!${effect}`;
}

export function wordsOf(place: string, value: unknown): readonly string[] {
  if (value === undefined) return [];
  // `-1` alone is a number to YAML; what is behind a comma in braces is a key without a value.
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw new Error(`${place}: no words: ${JSON.stringify(value)}`);
  }
  return String(value).split(/\s+/);
}

export function mapOf(value: unknown): Data {
  return (value ?? {}) as Data;
}
