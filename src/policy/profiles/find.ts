// `find` has a language of its own for its words, and `fd` is its simpler sibling.

import { isMany, textOf } from '../analyse/args.ts';
import type { Call, Effect, Part, Role } from '../profile.ts';
import type { Arg } from '../unit.ts';
import { DOES } from './judged.ts';

const TESTS_ALONE = new Set(
  `-a -and -o -or -not ! ( ) , -print -print0 -ls -prune -quit -empty -true -false -daystart -depth
  -d -mount -xdev -x -follow -ignore_readdir_race -noignore_readdir_race -nouser -nogroup -readable
  -writable -executable -noleaf -warn -nowarn -help --help -version --version -E -X -s`.split(
    /\s+/,
  ),
);

/** With how many words behind each; all of them inert. */
const TESTS_WITH_VALUE = new Set(
  `-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size
  -mtime -ctime -atime -mmin -cmin -amin -maxdepth -mindepth -perm -user -group -uid -gid -links
  -inum -fstype -used -printf -regextype -newermt -newerct -newerat -context -Btime -Bmin`.split(
    /\s+/,
  ),
);
const TESTS_WITH_FILE = new Set(['-newer', '-anewer', '-cnewer', '-samefile', '-f']);
const EFFECTS: Readonly<Record<string, Effect>> = {
  '-delete': 'delete',
  '-exec': 'exec',
  '-execdir': 'exec',
  '-ok': 'exec',
  '-okdir': 'exec',
  '-fprint': 'write',
  '-fprint0': 'write',
  '-fls': 'write',
  '-fprintf': 'write',
  // That file, which we do not read, says where it looks.
  '-files0-from': 'secret',
};

/** Reads the words behind `find` itself, which is at `program`. */
export function readFind(argv: readonly Arg[], program: number): Call {
  const parts: Part[] = [];
  let expression = false;
  for (let index = program + 1; index < argv.length; index++) {
    const arg = argv[index];
    if (arg === undefined) break;
    const { value, prefix } = textOf(arg);
    if (value === undefined) {
      const starts = !expression && /^[^-(!,]/.test(prefix) && !isSplit(arg);
      parts.push(
        starts
          ? word(index, arg, 'path')
          : word(index, arg, 'word', 'unknown', `\`${arg.source}\` could become \`-exec\``),
      );
      continue;
    }
    if (!expression && isStart(value)) {
      const file = !/^-/.test(value);
      parts.push(word(index, arg, file ? 'path' : 'option'));
      if (value === '-D') index = takeValues(argv, index, 1, 'word', parts);
      continue;
    }
    expression = true;
    index = readTest(argv, index, value, parts);
  }
  return { kind: 'read', subcommands: [], alike: [], parts, inner: undefined, harmless: false };
}

/** A directory to start from, or one of the few options in front of it. */
function isStart(value: string): boolean {
  return /^(-[HLP]+|-D|-O\d*|--)$/.test(value) || !/^([-!,]|[(),]$)/.test(value);
}

function readTest(argv: readonly Arg[], index: number, value: string, parts: Part[]): number {
  const arg = argv[index];
  if (arg === undefined) return index;
  const effect = Object.hasOwn(EFFECTS, value) ? EFFECTS[value] : undefined;
  if (effect !== undefined) {
    parts.push(word(index, arg, 'option', effect, `\`${value}\` ${DOES[effect]}`));
    // Whatever is behind it belongs to it, or to something else: nothing of it is inert.
    for (let at = index + 1; at < argv.length && effect === 'exec'; at++) {
      const next = argv[at];
      if (next !== undefined) parts.push(word(at, next, 'word', 'exec', `\`${value}\` runs code`));
    }
    if (effect === 'exec') return argv.length;
    if (effect === 'secret') return takeValues(argv, index, 1, 'path', parts);
    return effect === 'write' ? takeValues(argv, index, 1, 'write', parts) : index;
  }
  if (TESTS_ALONE.has(value) || TESTS_WITH_VALUE.has(value) || TESTS_WITH_FILE.has(value)) {
    parts.push(word(index, arg, 'option'));
    if (TESTS_WITH_VALUE.has(value)) return takeValues(argv, index, 1, 'word', parts);
    if (TESTS_WITH_FILE.has(value)) return takeValues(argv, index, 1, 'path', parts);
    return index;
  }
  parts.push(word(index, arg, 'option', 'unknown', `\`${value}\` is not a test that is known`));
  return index;
}

function takeValues(
  argv: readonly Arg[],
  index: number,
  count: number,
  role: Role,
  parts: Part[],
): number {
  for (let at = index + 1; at <= index + count; at++) {
    const arg = argv[at];
    if (arg === undefined) break;
    const effect = role === 'write' ? 'write' : isMany(arg) ? 'unknown' : undefined;
    const why = effect === undefined ? undefined : `\`${arg.source}\` is not one plain word`;
    parts.push(word(at, arg, role, effect, why));
  }
  return index + count;
}

function isSplit(arg: Arg): boolean {
  return arg.kind === 'unknown' && !arg.one;
}

function word(
  index: number,
  arg: Arg,
  role: Part['role'],
  effect?: Part['effect'],
  why?: string,
): Part {
  const { value, prefix } = textOf(arg);
  const option = role === 'option' ? value : undefined;
  return { index, role, option, value, prefix, effect, why };
}
