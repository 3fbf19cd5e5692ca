// What is known of programs, joined: one table of profiles, and the reading of a command line with
// the profile of its program.

import { literalOf } from '../analyse/args.ts';
import type { Call, Part, Profile } from '../profile.ts';
import type { Arg } from '../unit.ts';
import { readFind } from './find.ts';
import { unpackProfiles } from './pack.ts';
import { type Lookups, readWith } from './read-call.ts';
import { TABLE } from './table.ts';

const MODULES = unpackProfiles(TABLE.PYTHON_MODULES);
const TARS = unpackProfiles(TABLE.TAR);
const NODE = unpackProfiles(TABLE.NODE);

const { BUILD, PYTHON, GIT, FIND, TEXT, SYSTEM, OPS, NET, FILES, BUILTINS } = TABLE;

/** Of two profiles for one name, the first counts. */
const FAMILIES = [
  ...[BUILD, PYTHON].map(unpackProfiles),
  NODE,
  ...[GIT, FIND, TEXT, SYSTEM, OPS, NET, FILES, BUILTINS].map(unpackProfiles),
];

export function profiledPrograms(): readonly string[] {
  const all = new Set(FAMILIES.flatMap(({ names }) => names()));
  // `@biomejs/biome` is a name behind `npx` alone.
  return [...all].filter((name) => !name.includes('/')).sort();
}

/** By its name, or its path where programs are installed: `./git` is not `git`. */
export function profileOf(program: string): Profile | undefined {
  const found = /^\/(?:usr\/(?:local\/)?)?s?bin\/([^/]+)$/.exec(program);
  const name = found?.[1] ?? OWN_PROGRAM.exec(program)?.slice(1).find(Boolean) ?? program;
  if (name.includes('/')) return undefined;
  return profileNamed(name) ?? profileNamed(plainName(name));
}

function profileNamed(name: string): Profile | undefined {
  for (const family of FAMILIES) {
    const found = family.profile(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Where a project has the programs that it installed, and the two that people commit. */
const OWN_PROGRAM =
  /^(?:\.\/)?(?:(?:\.?venv\/bin|node_modules\/\.bin)\/([^/]+)|(?:(gradle)w|(mvn)w))$/;

/** `python3.12`, `pip3.11`, `clang-17`, `php8.1`: the same program with its version. */
const VERSIONED = new RegExp(
  [
    '^(pythonw?|pypy|pip|node|nodejs|perl|ruby|irb|gem|php|lua|luac|gcc|g\\+\\+|cpp|clang',
    'clang\\+\\+|clang-format|clang-tidy|make|awk|tclsh)-?\\d[\\d.]*[a-z]?(?:-dbg)?$',
  ].join('|'),
);
const SAME: Readonly<Record<string, string>> = {
  nodejs: 'node',
  pythonw: 'python',
  luajit: 'lua',
  jruby: 'ruby',
  'original-awk': 'awk',
};
/** The tools of GNU where the system has its own of the same name. Wrappers are left out. */
const GNU: ReadonlySet<string> = new Set(
  `grep egrep fgrep find tar sed awk diff cmp patch make strings strip nm objdump readelf size ar
  cp mv rm ls cat tac head tail sort uniq wc cut tr date echo mkdir rmdir touch ln chmod chown chgrp
  stat du df tee test true false seq split csplit install readlink realpath basename dirname shred
  dd mktemp paste join comm nl fold fmt expr printf pwd sleep base64 base32 md5sum sha1sum sha256sum
  sha512sum cksum sum od truncate tsort unexpand expand unlink link uname whoami groups nproc
  shuf numfmt pr ptx yes factor tty which`.split(/\s+/),
);

function plainName(name: string): string {
  const plain = VERSIONED.exec(name)?.[1] ?? name;
  if (Object.hasOwn(SAME, plain)) return SAME[plain] ?? plain;
  return plain.startsWith('g') && GNU.has(plain.slice(1)) ? plain.slice(1) : plain;
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
  nodebin: NODE.profile,
  module: MODULES.profile,
  own: { find: readFind, tar: readTar, sqlite: readSqlite },
};

function readTar(argv: readonly Arg[], program: number): Call {
  const first = argv[program + 1];
  const dash = first?.kind === 'literal' && /^-./.test(first.value);
  const profile = TARS.profile(dash ? 'dashed' : 'letters');
  if (profile === undefined) throw new Error('tar has no profile');
  const call = readWith(profile, argv, program, LOOKUPS);
  const has = (names: readonly string[]): boolean =>
    call.parts.some(({ role, option = '' }) => role === 'option' && names.includes(option));
  if (has(TAR_WRITES)) return call;
  const reads = dash ? has(TAR_READS) : LETTERS_READ.test(literalOf(first));
  if (!reads) return call;
  const archive = ({ option, index }: Part): boolean =>
    dash ? option === '--file' : index === program + 2;
  const lists = has(['--list']) && harmless(call);
  return { ...call, ...(lists && ONLY_READ), parts: read(call, archive) };
}

const LETTERS_READ = /^[^cruA]*[tx][^cruA]*$/;
const TAR_READS = ['--list', '--extract', '--diff'];
const TAR_WRITES = ['--create', '--append', '--update', '--catenate', '--concatenate', '--delete'];

/** Statements that only look at the data leave the file as it is. */
function readSqlite(argv: readonly Arg[], program: number, profile: Profile): Call {
  const { own: _, ...plain } = profile;
  const call = readWith(plain, argv, program, LOOKUPS);
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
