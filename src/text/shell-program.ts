// Which program a simple command really runs: the one behind `env A=1`, `sudo -u x`, `timeout 10`
// and the like. Only options that are listed here are stepped over; at any other, and at one that
// is not literal, the answer is "unsure" (undefined), never a guess.

import type { SimpleCommand, Word } from './shell-parse.ts';

export type Program = {
  /** Without its directory. */
  readonly name: string;
  /** As it is named. */
  readonly path: string;
  readonly args: readonly Word[];
  /** There may be other arguments, which come from somewhere else: those of `xargs`. */
  readonly more: boolean;
};

type Wrapper = {
  /** Short options without and with a value, one letter each. */
  readonly flags?: string;
  readonly valued?: string;
  readonly longFlags?: readonly string[];
  readonly longValued?: readonly string[];
  /** With one of these it does not run what follows: the wrapper is the program. */
  readonly instead?: string;
  readonly longInstead?: readonly string[];
  /** Words of its own in front of the program. */
  readonly operands?: number;
  /** Whether `NAME=value` may stand in front of the program. */
  readonly assignments?: boolean;
  /** It adds arguments to those that are written. */
  readonly appends?: boolean;
};

const ENV = {
  flags: 'i0v',
  valued: 'uC',
  longFlags: ['ignore-environment', 'null', 'debug'],
  longValued: ['unset', 'chdir'],
  assignments: true,
} satisfies Wrapper;

/** These end as the program ends that they run. */
const TRANSPARENT: Readonly<Record<string, Wrapper>> = {
  builtin: {},
  chronic: {},
  command: { flags: 'p', instead: 'vV' },
  doas: { flags: 'ns', valued: 'uCa' },
  env: ENV,
  exec: { flags: 'cl', valued: 'a' },
  ionice: { flags: 't', valued: 'cn', longFlags: ['ignore'], longValued: ['class', 'classdata'] },
  nice: { flags: '0123456789', valued: 'n', longValued: ['adjustment'] },
  nohup: {},
  setsid: { flags: 'cfw', longFlags: ['ctty', 'fork', 'wait'] },
  stdbuf: { valued: 'ioe', longValued: ['input', 'output', 'error'] },
  sudo: {
    flags: 'AbEHknPSis',
    valued: 'CDghpRrTtu',
    longFlags: `askpass background login non-interactive preserve-env preserve-groups
      reset-timestamp set-home shell stdin`.split(/\s+/),
    longValued: ['chdir', 'group', 'host', 'preserve-env', 'prompt', 'user'],
    instead: 'eKlVv',
    assignments: true,
  },
  time: {
    flags: 'apqv',
    valued: 'fo',
    longFlags: ['append', 'portability', 'quiet', 'verbose'],
    longValued: ['format', 'output'],
  },
  timeout: {
    flags: 'fpv',
    valued: 'ks',
    longFlags: ['foreground', 'preserve-status', 'verbose'],
    longValued: ['kill-after', 'signal'],
    operands: 1,
  },
};

/** These run their program too, but have words or an ending of their own. */
const OTHER: Readonly<Record<string, Wrapper>> = {
  busybox: {},
  chroot: { longFlags: ['skip-chdir'], longValued: ['groups', 'userspec'], operands: 1 },
  env: { ...ENV, instead: 'S', longInstead: ['split-string'] },
  flock: {
    flags: 'eFnosux',
    valued: 'Ew',
    longFlags: ['close', 'exclusive', 'no-fork', 'nonblock', 'shared', 'unlock', 'verbose'],
    longValued: ['conflict-exit-code', 'timeout', 'wait'],
    instead: 'c',
    longInstead: ['command'],
    operands: 1,
  },
  ltrace: { flags: 'bcCfiLrStTV', valued: 'adDeFlnopsuwx' },
  pkexec: { longFlags: ['disable-internal-agent', 'keep-cwd'], longValued: ['user'] },
  strace: {
    flags: 'AcCdDfFiknNqrtTvVwxyYzZ',
    valued: 'abeEIoOpPsSuUX',
    longFlags: ['follow-forks', 'no-abbrev', 'summary', 'summary-only', 'summary-wall-clock'],
    longValued: ['env', 'output', 'signal', 'status', 'string-limit', 'trace', 'user'],
  },
  toybox: {},
  xargs: {
    appends: true,
    flags: '0oprtx',
    valued: 'adEILnPs',
    longFlags: ['null', 'open-tty', 'interactive', 'no-run-if-empty', 'verbose', 'exit'],
    longValued: ['arg-file', 'delimiter', 'max-args', 'max-chars', 'max-procs', 'replace'],
  },
};

const ALL: Readonly<Record<string, Wrapper>> = { ...TRANSPARENT, ...OTHER };

/** The program that gives the command its exit status. */
export function programOf(command: SimpleCommand): Program | undefined {
  return behind(command.words, TRANSPARENT);
}

/** The same, and also behind what hands words on to a program, like `xargs`. */
export function innermostProgram(command: SimpleCommand): Program | undefined {
  return behind(command.words, ALL);
}

/** `env env env ...`: people write one or two, and each copies what is behind it. */
const WRAPPERS_MAX = 32;

function behind(
  words: readonly Word[],
  wrappers: Readonly<Record<string, Wrapper>>,
): Program | undefined {
  let rest = words;
  let more = false;
  for (let depth = 0; depth < WRAPPERS_MAX; depth += 1) {
    const [first, ...args] = rest;
    const path = first?.literal;
    if (path === undefined) return undefined;
    const name = path.slice(path.lastIndexOf('/') + 1);
    const wrapper = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
    if (wrapper === undefined) return { name, path, args, more };
    const inner = unwrapped(args, wrapper);
    if (inner === undefined) return undefined;
    if (inner === 'itself' || inner.length === 0) return { name, path, args, more };
    more ||= wrapper.appends === true;
    rest = inner;
  }
  return undefined;
}

/** The words behind the wrapper's own. */
function unwrapped(
  args: readonly Word[],
  wrapper: Wrapper,
): readonly Word[] | 'itself' | undefined {
  let at = 0;
  for (; at < args.length; at += 1) {
    const option = args[at]?.literal;
    if (option === undefined || !option.startsWith('-') || option === '-') break;
    if (option === '--') {
      at += 1;
      break;
    }
    const values = optionValues(option, wrapper);
    if (values === undefined || values === 'itself') return values;
    at += values;
  }
  if (args[at]?.literal === '-' && wrapper.assignments === true) at += 1; // env's old -i
  while (wrapper.assignments === true && /^[A-Za-z_]\w*=/.test(args[at]?.source ?? '')) at += 1;
  for (let operand = 0; operand < (wrapper.operands ?? 0); operand += 1) {
    if (args[at]?.literal === undefined) return undefined;
    at += 1;
  }
  const next = args[at]?.literal ?? ''; // flock has an option behind its operand
  if (next.startsWith('-') && optionValues(next, wrapper) === 'itself') return 'itself';
  return args.slice(at);
}

/** How many words behind this option are its value. */
function optionValues(option: string, wrapper: Wrapper): 0 | 1 | 'itself' | undefined {
  if (option.startsWith('--')) {
    const [name, value] = splitOnce(option.slice(2), '=');
    const takes = wrapper.longValued?.includes(name) === true;
    if (wrapper.longFlags?.includes(name) === true && value === undefined) return 0;
    if (takes) return value === undefined ? 1 : 0;
    return wrapper.longInstead?.includes(name) === true ? 'itself' : undefined;
  }
  for (let at = 1; at < option.length; at += 1) {
    const letter = option.charAt(at);
    if (wrapper.instead?.includes(letter) === true) return 'itself';
    if (wrapper.valued?.includes(letter) === true) return at === option.length - 1 ? 1 : 0;
    if (wrapper.flags?.includes(letter) !== true) return undefined;
  }
  return 0;
}

export function splitOnce(text: string, mark: string): readonly [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)];
}

const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash'];

/** Programs with an option whose value is shell text; `env` makes words of it, much alike. */
const TEXT_OPTIONS: Readonly<Record<string, RegExp>> = {
  env: /^(?:-[i0v]*S|--split-string(?:=|$))/,
  flock: /^(?:-[a-zA-Z]*?c|--command(?:=|$))/,
  runuser: /^(?:-[a-z]*?c|--(?:session-)?command(?:=|$))/,
  script: /^(?:-[a-z]*?c|--command(?:=|$))/,
  su: /^(?:-[a-z]*?c|--(?:session-)?command(?:=|$))/,
};

/**
 * Texts that a program will run as shell text: `bash -c '...'`, `su -c '...'`, `eval ...`,
 * `trap '...'`, a here-document or here-string for a shell that reads its script from there.
 * Expansions in them are left as written, which is how they look inside.
 */
export function innerTexts(command: SimpleCommand): readonly string[] {
  const program = innermostProgram(command);
  if (program === undefined) return [];
  const { name, args } = program;
  if (name === 'eval') return [args.map(textOf).join(' ')];
  if (name === 'trap') {
    const action = args.find(({ literal }) => literal !== '--');
    return action === undefined ? [] : [textOf(action)];
  }
  const option = Object.hasOwn(TEXT_OPTIONS, name) ? TEXT_OPTIONS[name] : undefined;
  if (option !== undefined) return optionText(args, option, name === 'env');
  if (!SHELLS.includes(name)) return [];
  const script = scriptOf(args);
  if (script !== 'stdin') return script === undefined ? [] : [textOf(script)];
  return command.redirections.flatMap(({ operator, target, body }) => {
    if (operator === '<<<' && target !== undefined) return [textOf(target)];
    return body === undefined ? [] : [body];
  });
}

/** The value of the option, in its word or else in the next; `rest`: with all words after it. */
function optionText(args: readonly Word[], option: RegExp, rest: boolean): readonly string[] {
  const at = args.findIndex((word) => option.test(textOf(word)));
  const word = args[at];
  if (word === undefined) return [];
  const glued = textOf(word).replace(option, '');
  const texts = [...(glued === '' ? [] : [glued]), ...args.slice(at + 1).map(textOf)];
  return [texts.slice(0, rest ? undefined : 1).join(' ')];
}

function scriptOf(args: readonly Word[]): Word | 'stdin' | undefined {
  let asText = false;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at];
    const option = word?.literal ?? '';
    if (!/^[-+]./.test(option)) return asText ? word : undefined;
    if (option.startsWith('--')) {
      if (option === '--rcfile' || option === '--init-file') at += 1;
    } else {
      if (option.includes('c')) asText = true;
      if (/[oO]$/.test(option)) at += 1;
    }
  }
  return asText ? undefined : 'stdin';
}

/** A word without its quotes, its expansions as they are written. */
function textOf(word: Word): string {
  return word.pieces.map((piece) => (piece.kind === 'text' ? piece.value : piece.source)).join('');
}
