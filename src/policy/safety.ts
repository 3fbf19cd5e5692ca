// The five things that no agent of ours runs by accident: emptying the disk, writing over it,
// formatting it. Matched on the programs and words that would run, not on the letters of the text,
// so that `echo "rm -rf /"` and `rm -rf /tmp/x` pass and `sudo /bin/rm -r --force //` does not.
// Making a file system in an image, or asking for help, is no formatting.
// This is defence in depth and no security boundary: a variable, a script in a file or any other
// language gets past it. Text that does not parse is judged by the parts that do and by the words
// where a command may begin; otherwise it is left to the shell, which will refuse it.

import { posix } from 'node:path';
import { baseName } from '../text/base-name.ts';
import { optionTable, readOptions } from '../text/options.ts';
import { literalOf, textOf } from './analyse/args.ts';
import { analyse } from './analyse/index.ts';
import type { Analysis, Arg, Unit, UnitRedirect } from './unit.ts';

export type DangerousPattern =
  | 'rm -rf /'
  | 'rm -rf /*'
  | '> /dev/sda'
  | 'mkfs.'
  | 'dd if=.* of=/dev/';

/** The pattern that the command is an instance of, or undefined if it may run. */
export function dangerousPattern(command: string): DangerousPattern | undefined {
  return dangerIn(analyse(command, ANYWHERE));
}

/** A directory that `~` and `$PWD` may stand for: any but the root. */
const ANYWHERE = { cwd: '/home/user', home: '/home/user' };

/** Text in text in text: `bash -c "eval '...'"`. */
const INNER_DEPTH_MAX = 8;

/** The same of a command that was taken apart before. */
export function dangerIn(analysis: Analysis, depth = 0): DangerousPattern | undefined {
  const { text, units, problems, unread } = analysis;
  if (units.some(({ redirects }) => redirects.some(writesDisk))) return '> /dev/sda';
  for (const unit of units) {
    const found = inUnit(unit);
    if (found !== undefined) return found;
  }
  for (const script of depth < INNER_DEPTH_MAX ? unread : []) {
    const found = dangerIn(analyse(script, ANYWHERE), depth + 1);
    if (found !== undefined) return found;
  }
  return problems.some(({ code }) => UNSEEN.test(code)) ? atCommandStart(text) : undefined;
}

/** Parts of the text may be missing among the units. */
const UNSEEN = /^(?:parse_error|nul|too_long|too_deep|too_many|hidden_substitution)$/;

function inUnit({ argv }: Unit): DangerousPattern | undefined {
  const [program, ...args] = argv;
  const path = literalOf(program);
  const name = baseName(path);
  if (name === 'rm') return removesRoot(args);
  if (name === 'mkfs' || name.startsWith('mkfs.')) return formats(path, args) ? 'mkfs.' : undefined;
  if (name === 'dd') return args.some(overwritesDevice) ? 'dd if=.* of=/dev/' : undefined;
  return name === 'tee' && args.some(isDisk) ? '> /dev/sda' : undefined;
}

/** Without --force rm asks, but an agent's shell has no person. GNU takes `--rec` as well. */
const RM = '-r,-R,--recursive -f,--force -i -I --interactive? -d,--dir -v,--verbose -P -W -x';

function removesRoot(args: readonly Arg[]): DangerousPattern | undefined {
  const { uses } = readOptions(args, optionTable(RM), textOf, { anywhere: true });
  if (!uses.some(({ option }) => option?.name === '--recursive')) return undefined;
  const targets = args.filter((_, at) => !uses.some((use) => use.at === at));
  if (targets.some((arg) => isRoot(literalOf(arg)))) return 'rm -rf /';
  return targets.some(isAllOfRoot) ? 'rm -rf /*' : undefined;
}

function isRoot(path: string): boolean {
  return path.startsWith('/') && /^\/+$/.test(posix.normalize(path));
}

/** `@(usr|tmp)` and its like: a choice of names, not all of them. */
const CHOICE = /[@+?*]\([^*?[)]*\)/g;
const EXTENDED = /^[^\s$`'"\\]*[@+?*!]\([^\s$`'"\\]*$/;

/** Nothing but wildcards and dots below the root: `/*`, `"/"*`, `/**`, `/[a-z]*`. */
function isAllOfRoot(arg: Arg): boolean {
  const path = patternOf(arg)
    .replace(/\\[\s\S]/g, 'quoted')
    .replace(CHOICE, 'name')
    .replace(/[@+?*!]\([^)]*\)|\[[^\]]*\]|\?/g, '*');
  if (!path.startsWith('/') || !path.includes('*')) return false;
  return /^[/.*]+$/.test(posix.normalize(path));
}

/** The analysis takes extended patterns for unknown: it cannot tell whether they are on. */
function patternOf(arg: Arg): string {
  if (arg.kind === 'glob') return arg.pattern;
  return arg.kind === 'unknown' && EXTENDED.test(arg.source) ? arg.source : '';
}

function writesDisk({ effect, target }: UnitRedirect): boolean {
  return target !== undefined && /^(?:write|append|readwrite)$/.test(effect) && isDisk(target);
}

function overwritesDevice(arg: Arg): boolean {
  const { prefix } = textOf(arg);
  return prefix.startsWith('of=') && isDevice(prefix.slice('of='.length));
}

const SYSTEM_DIRECTORY = /^(?:\/usr(?:\/local)?)?\/s?bin\/[^/]*$/;
const SCRIPT = /\/[^/]*\.(?:[bkz]?a?sh|[cm]?[jt]s|fish|lua|php|pl|ps1|py|rb)$/;
const ASKS_ONLY = ['-h', '-V', '--help', '--version'];

/** An image in a file may be formatted, but the target has to be known. */
function formats(path: string, args: readonly Arg[]): boolean {
  if (SCRIPT.test(path) && !SYSTEM_DIRECTORY.test(posix.normalize(path))) return false;
  if (args.some(mayNameDevice)) return true;
  return !args
    .map(literalOf)
    .some((word) => ASKS_ONLY.includes(word) || (word !== '' && !/^-/.test(word)));
}

/**
 * For text that does not parse: the plainest forms, where a command may begin. Lengths are bounded
 * so that the search stays linear.
 */
const BEGIN = String.raw`(?:^|[\n;&|(){}\x60]|\b(?:sudo|then|do|else)\s)`;
const START = String.raw`${BEGIN}\s{0,32}(?:[\w./-]{0,64}/)?`;
const PLAIN: readonly (readonly [DangerousPattern, RegExp])[] = [
  ['rm -rf /*', new RegExp(String.raw`${START}rm\s+-(?:rf|fr)\s+/\*+(?=$|[\s;&|)])`)],
  ['rm -rf /', new RegExp(String.raw`${START}rm\s+-(?:rf|fr)\s+/(?=$|[\s;&|)])`)],
  ['mkfs.', new RegExp(String.raw`${START}mkfs\.\w+\s+/dev/`)],
  ['dd if=.* of=/dev/', new RegExp(String.raw`${START}dd\s+if=\S+\s+of=/dev/(?!null|tty)\w`)],
];

function atCommandStart(text: string): DangerousPattern | undefined {
  return PLAIN.find(([, pattern]) => pattern.test(text))?.[0];
}

// Files below /dev that are better not written to, by the names that Linux gives them.

/** Disks, their partitions, and what is put together of them (RAID, LVM, encrypted ones). */
const DISK = new RegExp(
  String.raw`^/dev/(?:(?:sd|hd|vd|xvd)[a-z]{1,2}\d*|nvme\d+(?:n\d+(?:p\d+)?)?` +
    String.raw`|(?:mmcblk|md|nbd|pmem|bcache|drbd)\d+(?:p\d+)?|dm-\d+` +
    '|(?:md|mapper|disk/[^/]+|block)/.+)$',
);
/** The beginning of such a name, when the rest is only known at run time: `/dev/sd$x`. */
const DISK_BEGINNING =
  /^\/dev\/(?:(?:sd|hd|vd|xvd|nvme|mmcblk|md|dm-)[a-z0-9]*|(?:md|mapper|disk|block)\/.*)$/;
/** The one file there that is no disk. */
const MAPPER_CONTROL = '/dev/mapper/control';

function isDisk(arg: Arg): boolean {
  const { value, prefix } = textOf(arg);
  return value === undefined ? DISK_BEGINNING.test(slashed(prefix)) : isDiskPath(slashed(value));
}

function isDiskPath(path: string): boolean {
  return DISK.test(path) && path !== MAPPER_CONTROL;
}

/** Terminals and serial lines, what takes everything and keeps nothing, and what is no device. */
const HARMLESS =
  /^\/dev\/(?:null|zero|full|u?random|tty\w*|std(?:in|out|err)|(?:fd|shm|pts|mqueue)\/.*)$/;

/** Whether a path, of which this is all or the beginning, is one of the other devices. */
function isDevice(path: string): boolean {
  const plain = slashed(path);
  return (plain === '/dev' ? '/dev/' : plain).startsWith('/dev/') && !HARMLESS.test(plain);
}

/** Whether a word may name a device: also from another directory, and when its text is unknown. */
function mayNameDevice(arg: Arg): boolean {
  if (arg.kind !== 'literal' || /[=,]\/+dev\//.test(arg.value)) return true;
  const path = posix.normalize(arg.value);
  return /^(?:\/+|(?:\.\.\/)+)dev(?:\/|$)/.test(path) || isDiskPath(`/dev/${path}`);
}

function slashed(path: string): string {
  return posix.normalize(path).replace(/^\/+/, '/');
}
