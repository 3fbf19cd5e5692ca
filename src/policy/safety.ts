// The five things that no agent of ours runs by accident: emptying the disk, writing over it,
// formatting it. Matched on the programs and words that would run, not on the letters of the text,
// so that `echo "rm -rf /"` and `rm -rf /tmp/x` pass and `sudo /bin/rm -r --force //` does not.
// Making a file system in an image, or asking for help, is no formatting.
// This is defence in depth and no security boundary: a variable, a script in a file or any other
// language gets past it. Text that does not parse is judged by the parts that do and by the words
// where a command may begin; otherwise it is left to the shell, which will refuse it.

import { posix } from 'node:path';
import { bracesExpanded } from '../text/shell-braces.ts';
import {
  parseShell,
  type Redirection,
  type SimpleCommand,
  type Word,
} from '../text/shell-parse.ts';
import { innermostProgram, innerTexts, type Program } from '../text/shell-program.ts';

export type DangerousPattern =
  | 'rm -rf /'
  | 'rm -rf /*'
  | '> /dev/sda'
  | 'mkfs.'
  | 'dd if=.* of=/dev/';

/** Text in text in text: `bash -c "eval '...'"`. */
const INNER_DEPTH_MAX = 8;

/** The pattern that the command is an instance of, or undefined if it may run. */
export function dangerousPattern(command: string): DangerousPattern | undefined {
  return inText(command, 0);
}

function inText(text: string, depth: number): DangerousPattern | undefined {
  const { ok, commands, redirections } = parseShell(text);
  if (redirections.some(writesDisk)) return '> /dev/sda';
  for (const written of commands) {
    const command = bracesExpanded(written);
    const found = inCommand(command) ?? inInnerTexts(command, depth);
    if (found !== undefined) return found;
  }
  return ok ? undefined : atCommandStart(text);
}

function inInnerTexts(command: SimpleCommand, depth: number): DangerousPattern | undefined {
  if (depth >= INNER_DEPTH_MAX) return undefined;
  for (const inner of innerTexts(command)) {
    const found = inText(inner, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function inCommand(command: SimpleCommand): DangerousPattern | undefined {
  const program = innermostProgram(command);
  if (program === undefined) return undefined;
  const { name, args } = program;
  if (name === 'rm') return removesRoot(args);
  if (name === 'mkfs' || name.startsWith('mkfs.')) return formats(program) ? 'mkfs.' : undefined;
  if (name === 'dd') return overwritesDevice(program) ? 'dd if=.* of=/dev/' : undefined;
  if (name === 'tee') return args.some(isDisk) ? '> /dev/sda' : undefined;
  return undefined;
}

function removesRoot(args: readonly Word[]): DangerousPattern | undefined {
  const end = args.findIndex(({ literal }) => literal === '--');
  const isOption = (word: Word, at: number): boolean =>
    (end < 0 || at < end) && /^-./.test(word.literal ?? '');
  const recursive = args.some((word, at) => isOption(word, at) && isRecursive(word.literal ?? ''));
  if (!recursive) return undefined;
  const targets = args.filter((word, at) => !isOption(word, at));
  if (targets.some(({ literal }) => isRoot(literal))) return 'rm -rf /';
  return targets.some(isAllOfRoot) ? 'rm -rf /*' : undefined;
}

/** Without --force rm asks, but an agent's shell has no person. GNU takes `--rec` as well. */
function isRecursive(option: string): boolean {
  if (option.startsWith('--')) return /^--r/.test(option) && '--recursive'.startsWith(option);
  return /[rR]/.test(option);
}

function isRoot(path: string | undefined): boolean {
  return path?.startsWith('/') === true && /^\/+$/.test(posix.normalize(path));
}

/** `@(usr|tmp)` and its like: a choice of names, not all of them. */
const CHOICE = /^[@+?*]\([^*?[]*\)$/;

/** Nothing but wildcards and dots below the root: `/*`, `"/"*`, `/**`, `/[a-z]*`. */
function isAllOfRoot({ pieces }: Word): boolean {
  let path = '';
  for (const piece of pieces) {
    if (piece.kind === 'text') path += piece.value.replaceAll('*', 'quoted');
    else if (piece.kind !== 'glob') return false;
    else path += CHOICE.test(piece.source) ? 'name' : '*';
  }
  if (!path.startsWith('/') || !path.includes('*')) return false;
  return /^[/.*]+$/.test(posix.normalize(path));
}

const WRITING = ['>', '>>', '>|', '<>', '>&', '&>', '&>>'];

function writesDisk({ operator, target }: Redirection): boolean {
  return target !== undefined && WRITING.includes(operator) && isDisk(target);
}

function overwritesDevice({ args }: Program): boolean {
  return args.some(({ literal, pieces }) => {
    const [first] = pieces;
    if (first?.kind !== 'text' || !first.value.startsWith('of=')) return false;
    return isDevice((literal ?? first.value).slice('of='.length));
  });
}

const SYSTEM_DIRECTORY = /^(?:\/usr(?:\/local)?)?\/s?bin\/[^/]*$/;
const SCRIPT = /\/[^/]*\.(?:[bkz]?a?sh|[cm]?[jt]s|fish|lua|php|pl|ps1|py|rb)$/;
const ASKS_ONLY = ['-h', '-V', '--help', '--version'];

/** An image in a file may be formatted, but the target has to be known. */
function formats({ path, args, more }: Program): boolean {
  if (SCRIPT.test(path) && !SYSTEM_DIRECTORY.test(posix.normalize(path))) return false;
  if (more || args.some(mayNameDevice)) return true;
  return !args.some(
    ({ literal = '' }) => ASKS_ONLY.includes(literal) || (literal !== '' && !/^-/.test(literal)),
  );
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

function isDisk({ literal, pieces }: Word): boolean {
  if (literal !== undefined) return isDiskPath(slashed(literal));
  const [first] = pieces;
  return first?.kind === 'text' && DISK_BEGINNING.test(slashed(first.value));
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
function mayNameDevice({ literal }: Word): boolean {
  if (literal === undefined || /[=,]\/+dev\//.test(literal)) return true;
  const path = posix.normalize(literal);
  return /^(?:\/+|(?:\.\.\/)+)dev(?:\/|$)/.test(path) || isDiskPath(`/dev/${path}`);
}

function slashed(path: string): string {
  return posix.normalize(path).replace(/^\/+/, '/');
}
