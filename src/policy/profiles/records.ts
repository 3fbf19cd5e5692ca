// Reads what is known of programs, `programs/*.yml`, and makes profiles and facts of it. Only the
// build and the tests run this: what is shipped has them finished in it (table.ts).
//
// `lists` of a file are words and globs that are about several programs.
//
// A record is under the name of its program, or under several with blanks between them. record.ts
// reads what it says about words; `like` is another program of the file whose words are read alike.
// Facts of profile.ts are the other keys, and `also` names programs that a rule about this one is
// about, too. `module` is its name behind `python -m`. `tests` has command lines that are `inert`,
// and others that are `not`: a test tries them.

import { type Deeds, type Facts, type Profile, TRAITS, type Trait } from '../profile.ts';
import { type PackedFamily, packFacts, packProfiles } from './pack.ts';
import { byName, type Data, mapOf, type Profiles, profileOf, wordsOf } from './record.ts';

/** `npx`: the programs of node packages, which `npx` and its like may start. */
type PackedPrograms = PackedFamily & { readonly npx: boolean };

export type Table = {
  readonly families: readonly PackedPrograms[];
  /** By their names behind `python -m`. */
  readonly modules: PackedFamily;
  readonly facts: () => string;
  /** Words with blanks between them, by the name of the list. */
  readonly lists: Readonly<Record<string, () => string>>;
};

type RecordTests = { readonly inert: readonly string[]; readonly not: readonly string[] };

/** `tests` are those of all records. */
export type TestedTable = Table & { readonly tests: RecordTests };

/** `data`: what is in the files, by their names. */
export function tableOf(data: Readonly<Record<string, Data>>): TestedTable {
  const files = Object.entries(data).map(([name, file]) => readFile(name, file));
  const facts: Record<string, Facts> = {};
  for (const [name, one] of files.flatMap((file) => file.facts)) {
    if (Object.hasOwn(facts, name)) throw new Error(`two records of ${name}`);
    facts[name] = one;
  }
  for (const [name, of] of files.flatMap(({ also }) => also)) facts[name] = { ...facts[name], of };
  const packed = packFacts(facts);
  return {
    families: files
      .filter(({ programs }) => Object.keys(programs).length > 0)
      .map(({ programs, npx }) => ({ ...packProfiles(programs), npx })),
    modules: packProfiles(Object.assign({}, ...files.map(({ modules }) => modules))),
    facts: () => packed,
    lists: Object.assign({}, ...Object.values(data).map(listsOf)),
    tests: {
      inert: files.flatMap(({ tests }) => tests.flatMap(({ inert }) => inert)),
      not: files.flatMap(({ tests }) => tests.flatMap(({ not }) => not)),
    },
  };
}

function listsOf(file: Data): Table['lists'] {
  const lists = Object.entries(mapOf(file.lists)).map(([name, lines]) => {
    const words = [lines]
      .flat()
      .flatMap((line) => wordsOf(name, line))
      .join(' ');
    return [name, () => words];
  });
  return Object.fromEntries(lists);
}

type Named<T> = readonly (readonly [name: string, value: T])[];

type ProgramFile = {
  readonly programs: Profiles;
  readonly modules: Profiles;
  readonly facts: Named<Facts>;
  /** The other names of a program. */
  readonly also: Named<string>;
  readonly tests: readonly RecordTests[];
  readonly npx: boolean;
};

function readFile(file: string, data: Data): ProgramFile {
  if ((data.programs ?? data.lists) === undefined) throw new Error(`${file}: no programs`);
  const groups = mapOf(data.groups);
  const programs: Record<string, Profile> = {};
  const modules: Record<string, Profile> = {};
  const facts: [string, Facts][] = [];
  const also: [string, string][] = [];
  const tests: RecordTests[] = [];
  for (const [names, value] of Object.entries(mapOf(data.programs))) {
    const place = `${file}: ${names}`;
    const [own, { like, module, also: others, tests: tried, ...body }] = apart(mapOf(value));
    const profile = like === undefined ? wholeProfile(place, body, groups) : programs[`${like}`];
    if (like !== undefined && profile === undefined) throw new Error(`${place}: what is ${like}?`);
    const known = factsOf(place, own, profile === undefined ? mapOf(body.deeds) : {});
    for (const name of names.split(/\s+/)) {
      facts.push([name, known]);
      if (profile !== undefined) programs[name] = profile;
      if (others !== undefined) also.push([name, name]);
      also.push(...wordsOf(place, others).map((other): [string, string] => [other, name]));
    }
    if (module !== undefined && profile !== undefined) modules[`${module}`] = profile;
    if (tried !== undefined) tests.push(testsOf(place, mapOf(tried)));
  }
  const alone = byName(mapOf(data.modules), (names, value) =>
    profileOf(`${file}: ${names}`, mapOf(value), groups),
  );
  const npx = data.npx === true;
  return { programs, modules: { ...modules, ...alone }, facts, also, tests, npx };
}

/** The keys of a record that are copied as they are, under the names that `Facts` has for them. */
const COPIED: ReadonlyMap<string, keyof Facts> = new Map([
  ['family', 'family'],
  ['input', 'input'],
  ['interpreter', 'interpreter'],
  ['reads-as', 'readsAs'],
  ['shortened', 'shortened'],
  ['same-as', 'sameAs'],
  ['manifests', 'manifests'],
  ['makes-no-links', 'makesNoLinks'],
  ['takes-lines', 'takesLines'],
]);
const FACTS = [...COPIED.keys(), 'traits', 'aliases'];

/** What is known besides of a program, and how its words are read. */
function apart(record: Data): readonly [Data, Data] {
  const entries = Object.entries(record);
  return [
    Object.fromEntries(entries.filter(([key]) => FACTS.includes(key))),
    Object.fromEntries(entries.filter(([key]) => !FACTS.includes(key))),
  ];
}

/** Without a kind nothing is known of the words. */
function wholeProfile(place: string, body: Data, groups: Data): Profile | undefined {
  const facts = body.kind === undefined && Object.keys(body).every((key) => key === 'deeds');
  return facts ? undefined : profileOf(place, body, groups);
}

function factsOf(place: string, own: Data, deeds: Data): Facts {
  const traits = wordsOf(place, own.traits).map((word): Trait => {
    const trait = TRAITS.find((one) => one === word);
    if (trait === undefined) throw new Error(`${place}: what is ${word}?`);
    return trait;
  });
  const aliases = Object.entries(mapOf(own.aliases)).flatMap(([name, others]) =>
    wordsOf(place, others).map((other) => [other, name]),
  );
  const copied = [...COPIED].flatMap(([key, fact]) =>
    own[key] === undefined ? [] : [[fact, own[key]]],
  );
  return {
    ...Object.fromEntries(copied),
    ...(traits.length > 0 && { traits }),
    ...(aliases.length > 0 && { aliases: Object.fromEntries(aliases) }),
    ...(Object.keys(deeds).length > 0 && { deeds: deeds as Deeds }),
  };
}

function testsOf(place: string, { inert = [], not = [], ...more }: Data): RecordTests {
  const [odd] = Object.keys(more);
  if (odd !== undefined) throw new Error(`${place}: what is ${odd}?`);
  return { inert: inert as readonly string[], not: not as readonly string[] };
}
