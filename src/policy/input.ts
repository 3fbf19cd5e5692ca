// What a program does with its input. `curl ... | sh` runs it, and so do `npx`, `vim`, `gdb` and
// many others that look harmless; no list of those is ever whole. So the list is of the programs
// whose input is data, and a rule covers the input of no other.

import { baseName } from '../text/base-name.ts';
import { literalOf } from './analyse/args.ts';
import type { Call } from './profile.ts';
import { PYTHON_MODULES } from './profiles/data-python.ts';
import { isShell, plainName } from './programs.ts';
import type { Arg, Unit } from './unit.ts';

/** `code`: known to run it. `unknown`: it may. */
export type InputUse = 'none' | 'data' | 'code' | 'unknown';

/** They read data, or look at no input at all, whatever their words are. */
const DATA = words(`
  cat tac head tail rev nl fold fmt pr expand unexpand column cut paste join comm tr uniq sort
  wc tee cmp diff diff3 diffstat grep egrep fgrep zgrep zegrep zfgrep rg ag ack sed gsed awk
  gawk mawk nawk jq yq xmllint csplit split shuf tsort factor numfmt seq od hd hexdump xxd
  strings base32 base64 md5 md5sum b2sum sha1sum sha224sum sha256sum sha384sum sha512sum shasum
  cksum sum iconv dos2unix unix2dos less more bat delta pandoc look spell gzip gunzip gzcat zcat
  bzip2 bunzip2 bzcat xz unxz xzcat zstd unzstd zstdcat zip unzip zipinfo tar gtar 7z 7za 7zz dd
  echo printf pwd cd ls dir vdir exa eza lsd tree mkdir rmdir touch chmod chown chgrp ln cp mv
  rm unlink true false : test [ [[ export declare typeset local readonly set unset shift exit
  return break continue wait sleep read readarray mapfile let getopts pushd popd dirs umask
  ulimit times date cal ncal whoami id groups uname arch hostname logname tty tput which type
  whereis hash command dirname basename realpath readlink stat file du df ps pgrep pidof pstree
  nproc free uptime w who last kill pkill killall jobs mktemp truncate install find fd locate
  getconf locale lscpu lsblk lsof ss netstat ping ping6 dig host nslookup whois curl wget rimraf
  clear reset yes expr cloc tokei scc size nm objdump readelf ldd strip gcc g++ cc c++ clang
  clang++ cpp rustc javac tsc vue-tsc protoc buf gofmt goimports rustfmt clang-format clang-tidy
  golangci-lint staticcheck shellcheck shfmt hadolint actionlint yamllint tflint eslint prettier
  biome stylelint markdownlint standardrb rubocop swiftlint knip depcheck commitlint black ruff
  isort flake8 pylint mypy dmypy pyright basedpyright esbuild rollup pbcopy xclip notify-send`);

/** Subcommands whose input is data; others of the same program may run it. */
const DATA_WITH: Readonly<Record<string, ReadonlySet<string>>> = {
  git: words(`add blame cat-file check-attr check-ignore checkout clean clone count-objects describe
    diff diff-files diff-index diff-tree fetch for-each-ref fsck gc grep hash-object init log
    ls-files ls-remote ls-tree merge-base mv name-rev patch-id push reflog remote reset restore
    rev-list rev-parse rm shortlog show show-ref status stripspace switch symbolic-ref version`),
  go: words('build fmt list mod vet version env doc get'),
  cargo: words('build check clippy doc fmt metadata tree update add remove version search'),
  npm: words(`audit ci config doctor explain fund i init install list ls outdated pack ping prune
    root search uninstall update version view why`),
  pip: words('check download freeze hash install list show uninstall'),
  docker: words('ps images logs inspect version info stats top port history'),
  kubectl: words('get describe logs version explain top api-resources'),
};

/** Without a text of its own it starts an editor, which takes its keys from the input. */
const TEXT_GIVEN: Readonly<Record<string, RegExp>> = {
  git: /^(?:-[a-zA-Z]*[mF]|--(?:message|file|no-edit)(?:=.*)?)$/,
  gh: /^(?:-F|--body-file|--notes-file|--input)(?:=.*)?$/,
};

/** `git add -p` asks about each part, and one answer starts an editor. */
const ASKS = /^(?:-[a-zA-Z]*[piec]|--(?:patch|interactive|edit)(?:=.*)?)$/;

/** They run what they read, whatever their words are. */
const CODE = words(`
  psql mysql mariadb sqlite sqlite3 mongo mongosh redis-cli ed ex vi vim nvim view vimdiff emacs
  gdb lldb expect script ftp lftp sftp telnet nc ncat netcat socat at batch crontab bc dc m4
  gnuplot octave irb pry iex ghci jshell ipython jupyter kotlinc xargs make gmake bmake screen
  tmux npx pnpx bunx`);

/** Interpreters, and which letters say that the code is in the next word. */
const INTERPRETERS: Readonly<Record<string, string>> = {
  python: 'c',
  pypy: 'c',
  node: 'ep',
  nodejs: 'ep',
  bun: 'ep',
  'ts-node': 'ep',
  tsx: 'ep',
  deno: '',
  ruby: 'e',
  perl: 'eE',
  php: 'rBRE',
  lua: 'e',
  luajit: 'e',
  Rscript: 'e',
  R: 'e',
  julia: 'eE',
  osascript: 'e',
  elixir: 'e',
  scala: 'e',
  groovy: 'e',
  erl: '',
  tclsh: '',
  wish: '',
  guile: 'c',
  racket: 'e',
  sbcl: '',
  swift: '',
};

/** Words of a script that turn it into an interpreter: `manage.py shell`, `artisan tinker`. */
const REPL = /^(?:shell(?:_plus)?|dbshell|console|tinker|repl|inspect|debug|dbconsole|psysh)$/;

const STDIN_PATH = /(?:^|=)(?:\/dev\/(?:stdin|fd\/0)|\/proc\/[^/]+\/(?:task\/\d+\/)?fd\/0)$/;

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

type Line = { readonly argv: readonly Arg[]; readonly call: Call | undefined };

/** `lines`: the command line, and those inside of it, which get the same input. */
export function inputUse({ stdin }: Pick<Unit, 'stdin'>, lines: readonly Line[]): InputUse {
  if (stdin === 'inherited' || stdin === 'closed') return 'none';
  const { argv, call } = lines.at(-1) ?? { argv: [], call: undefined };
  const inner = lines.length > 1;
  const [first, ...rest] = argv;
  if (first?.kind !== 'literal') return 'unknown';
  const name = plainName(first.value);
  const values = rest.map(literalOf);
  if (isShell(name)) return shellUse(rest);
  if (Object.hasOwn(INTERPRETERS, name)) return interpreterUse(name, rest);
  if (CODE.has(name)) return 'code';
  if (REPL.test(values.find((value) => !value.startsWith('-')) ?? '')) return 'code';
  const base = baseName(first.value);
  const subcommands = DATA_WITH[base];
  if (values.some((value) => base === 'git' && ASKS.test(value))) return 'unknown';
  if (values.some((value) => TEXT_GIVEN[base]?.test(value))) return 'data';
  if (subcommands !== undefined) {
    const subcommand = literalOf(argv[call?.subcommands[0] ?? 1]);
    return subcommands.has(subcommand) ? 'data' : 'unknown';
  }
  if (DATA.has(base) || DATA.has(name)) return 'data';
  return inner && Object.hasOwn(PYTHON_MODULES, base) ? 'data' : 'unknown';
}

/** `bash -e` has no code in its words, `bash -ec` has. */
function shellUse(rest: readonly Arg[]): InputUse {
  const code = rest.some((arg) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(literalOf(arg)));
  const input = rest.some((arg) => /^-[a-zA-Z]*s[a-zA-Z]*$/.test(literalOf(arg)));
  if (rest.some((arg) => isInput(literalOf(arg))) || (input && !code)) return 'code';
  return code || operandsOf(rest).length > 0 ? 'data' : 'code';
}

function interpreterUse(name: string, rest: readonly Arg[]): InputUse {
  const values = rest.map(literalOf);
  const operands = operandsOf(rest);
  const letters = INTERPRETERS[name] ?? '';
  const code =
    (letters !== '' && values.some((value) => new RegExp(`^-[a-zA-Z]*[${letters}]`).test(value))) ||
    values.some((value) => /^--(?:eval|print|execute)(?:=|$)/.test(value));
  if (values.some(isInput)) return 'code';
  if (/^py/.test(name) && values.some((value) => /^-[a-zA-Z]*m$/.test(value))) return 'unknown';
  // When the script is over, it reads on from its input.
  if (/^(?:python|pypy|node|lua|luajit|R)$/.test(name)) {
    if (values.some((value) => /^-[a-zA-Z]*i[a-zA-Z]*$|^--interactive$/.test(value))) return 'code';
  }
  if (name === 'perl' && values.some((value) => /^-[a-zA-Z]*d/.test(value))) return 'code';
  if (operands.some((arg) => REPL.test(literalOf(arg)))) return 'code';
  return code || operands.length > 0 ? 'data' : 'code';
}

function operandsOf(rest: readonly Arg[]): readonly Arg[] {
  return rest.filter((arg) => arg.kind !== 'literal' || !/^-./.test(arg.value));
}

function isInput(value: string): boolean {
  return value === '-' || STDIN_PATH.test(value);
}
