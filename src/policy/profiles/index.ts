// What is known of programs, joined: one table of profiles, and the reading of a command line with
// the profile of its program.

import { literalOf } from '../analyse/args.ts';
import { factsOf, hasTrait } from '../facts.ts';
import type { Call, Part, Profile } from '../profile.ts';
import type { Arg } from '../unit.ts';
import { readFind } from './find.ts';
import { type Family, unpackProfiles } from './pack.ts';
import { type Lookups, readWith } from './read-call.ts';
import { TABLE } from './table.ts';

type Families = { readonly all: readonly Family[]; readonly npx: readonly Family[] };

let known: Families | undefined;
let modules: Family | undefined;

function families(): Families {
  if (known !== undefined) return known;
  const all = TABLE.families.map((packed) => ({ ...unpackProfiles(packed), npx: packed.npx }));
  known = { all, npx: all.filter(({ npx }) => npx) };
  return known;
}

export function profiledPrograms(): readonly string[] {
  const all = families().all.flatMap(({ names }) => names());
  // `@biomejs/biome` is a name behind `npx` alone.
  return all.filter((name) => !name.includes('/')).sort();
}

const KEPT_MAX = 1_000; // names of programs; a generated policy asks for each thousands of times
const kept = new Map<string, Profile | undefined>();

/** By its name, or its path where programs are installed: `./git` is not `git`. */
export function profileOf(program: string): Profile | undefined {
  if (kept.has(program)) return kept.get(program);
  const profile = lookUp(program);
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(program, profile);
  return profile;
}

function lookUp(program: string): Profile | undefined {
  const found = /^\/(?:usr\/(?:local\/)?)?s?bin\/([^/]+)$/.exec(program);
  const name = found?.[1] ?? OWN_PROGRAM.exec(program)?.slice(1).find(Boolean) ?? program;
  if (name.includes('/')) return undefined;
  return profileNamed(name) ?? profileNamed(plainName(name));
}

function profileNamed(name: string, among = families().all): Profile | undefined {
  for (const family of among) {
    const found = family.profile(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** By its name behind `python -m`. */
export function moduleProfile(name: string): Profile | undefined {
  modules ??= unpackProfiles(TABLE.modules);
  return modules.profile(name);
}

/** Where a project has the programs that it installed, and the two that people commit. */
const OWN_PROGRAM =
  /^(?:\.\/)?(?:(?:\.?venv\/bin|node_modules\/\.bin)\/([^/]+)|(?:(gradle)w|(mvn)w))$/;

/** `python3.12`, `pip3.11`, `clang-17`, `php8.1`: the same program with its version. */
const VERSIONED = /^(.*?)-?\d[\d.]*[a-z]?(?:-dbg)?$/;

/** The tools of GNU have a `g` where the system has its own of the same name. */
function plainName(name: string): string {
  const without = VERSIONED.exec(name)?.[1] ?? name;
  const plain = hasTrait(without, 'versioned') ? without : name;
  const own = plain.slice(1);
  if (plain.startsWith('g') && hasTrait(own, 'gnu')) return own;
  return factsOf(plain)?.readsAs ?? plain;
}

/** Undefined when nothing is known of the program. */
export function readCall(argv: readonly Arg[]): Call | undefined {
  const program = argv[0];
  if (program?.kind !== 'literal') return undefined;
  const profile = profileOf(program.value);
  if (profile === undefined) return undefined;
  return readWith(profile, argv, 0, LOOKUPS);
}

const LOOKUPS: Lookups = {
  program: profileOf,
  // `npx cat` runs a registry package named `cat`, not the program.
  nodebin: (name) => profileNamed(name, families().npx),
  module: moduleProfile,
  own: { find: readFind, tar: readTar, sqlite: readSqlite },
};

function readTar(argv: readonly Arg[], program: number, profile: Profile): Call {
  const first = argv[program + 1];
  const dash = first?.kind === 'literal' && /^-./.test(first.value);
  const { letters, dashed } = waysOfTar(profile);
  const call = readWith(dash ? dashed : letters, argv, program, LOOKUPS);
  const has = (names: readonly string[]): boolean =>
    call.parts.some(({ role, option = '' }) => role === 'option' && names.includes(option));
  const archive = ({ option, index }: Part): boolean =>
    dash ? option === '--file' : index === program + 2;
  const creates = dash ? has(['--create']) : LETTERS_CREATE.test(literalOf(first));
  if (creates && !has(TAR_CHANGES)) {
    const member = (part: Part): boolean => part.option === undefined && !archive(part);
    return { ...call, parts: read(call, member) };
  }
  if (has(TAR_WRITES)) return call;
  const reads = dash ? has(TAR_READS) : LETTERS_READ.test(literalOf(first));
  if (!reads) return call;
  const lists = has(['--list']) && harmless(call);
  return { ...call, ...(lists && ONLY_READ), parts: read(call, archive) };
}

const WAYS_OF_TAR = new WeakMap<Profile, Readonly<Record<'letters' | 'dashed', Profile>>>();

/** Its first word is letters, for which there are subcommands, or has a dash. */
function waysOfTar(profile: Profile): Readonly<Record<'letters' | 'dashed', Profile>> {
  const found = WAYS_OF_TAR.get(profile);
  if (found !== undefined) return found;
  const { own: _, ...letters } = profile;
  const { subcommands: __, ...rest } = letters;
  const ways = { letters, dashed: { ...rest, operands: 'output*' } };
  WAYS_OF_TAR.set(profile, ways);
  return ways;
}

/** What goes into an archive is only read. */
const LETTERS_CREATE = /^[^xtruA]*c[^xtruA]*$/;
const LETTERS_READ = /^[^cruA]*[tx][^cruA]*$/;
const TAR_READS = ['--list', '--extract', '--diff'];
const TAR_CHANGES = ['--remove-files', '--extract', '--append', '--update', '--delete'];
const TAR_WRITES = ['--create', '--append', '--update', '--catenate', '--concatenate', '--delete'];

/** `file:x.db?mode=ro`; what cannot be told from it stays as it is. */
function withoutScheme(part: Part): Part {
  const [, path] = DATABASE_URI.exec(part.value ?? '') ?? [];
  if (path === undefined || part.role !== 'output') return part;
  return { ...part, value: path, prefix: path };
}

const DATABASE_URI =
  /^file:(?:\/\/(?=\/))?([^/?#%][^?#%]*|\/(?!\/)[^?#%]*)(?:\?(?:mode=ro|immutable=1|&)*)?$/;

/** Statements that only look at the data leave the file as it is. */
function readSqlite(argv: readonly Arg[], program: number, profile: Profile): Call {
  const { own: _, ...plain } = profile;
  const { parts, ...rest } = readWith(plain, argv, program, LOOKUPS);
  const call = { ...rest, parts: parts.map(withoutScheme) };
  const statements = call.parts.filter(({ role }) => role === 'sql');
  if (statements.length === 0 || !harmless(call)) return call;
  return { ...call, ...ONLY_READ, parts: read(call, ({ role }) => role === 'output') };
}

const ONLY_READ = { kind: 'read' } as const;

function harmless({ parts }: Call): boolean {
  return parts.every(({ effect }) => effect === undefined);
}

/** The parts, with those that name a file which is only read as such. */
function read({ parts }: Call, isFile: (part: Part) => boolean): readonly Part[] {
  return parts.map((part) =>
    part.role === 'output' && isFile(part) ? { ...part, role: 'path' } : part,
  );
}
