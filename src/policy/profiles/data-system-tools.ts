// Profiles of package managers, manuals, editors, debuggers and what else people have at hand. Most
// of them run code that is not in the text, so that only asking for the version is inert.

import type { Profile } from '../profile.ts';

const VERSION = '--version --help';

/** Runs what it is given, one way or another. */
const RUNS: Profile = { kind: 'exec', style: 'exact', options: VERSION, operands: 'exec*' };

/** Commands inside of the editor come from options, from `+cmd` and from its input. */
const EDITOR: Profile = {
  kind: 'exec',
  style: 'exact',
  options: `-c:exec -s:exec -S:exec -u:exec -U:exec --cmd:exec -l!exec -E!exec -e!exec +?exec
    ${VERSION}`,
  operands: 'exec*',
};

const PACKAGES: Profile = { kind: 'config', style: 'exact', operands: 'package*' };

const LOOKUP: Profile = {
  kind: 'read',
  style: 'exact',
  options: `-o,--option:config -c,--config-file:config --installed --installonly -a,--all-versions
    --all
    --upgradable --available --updates -n,--names-only -f,--full --json -1 -l --versions
    --formula --cask --desc -q,--quiet -v,--verbose --showduplicates`,
  operands: 'word*',
};

/** What reads and what changes, by the words that most of them share. */
function manager(
  reads: readonly string[],
  changes: readonly string[],
  operands = 'word*',
): Profile {
  const lookup = operands === LOOKUP.operands ? LOOKUP : { ...LOOKUP, operands };
  return {
    kind: 'config',
    style: 'exact',
    options: `-o,--option:config -c,--config-file:config -q,--quiet -y,--yes -v,--version --version
      -h,--help`,
    subcommands: Object.fromEntries([
      ...reads.map((name): [string, Profile] => [name, lookup]),
      ...changes.map((name): [string, Profile] => [name, PACKAGES]),
    ]),
  };
}

const APT = manager(
  ['list', 'search', 'show', 'policy', 'depends', 'rdepends', 'showpkg', 'madison', 'pkgnames'],
  ['install', 'remove', 'purge', 'update', 'upgrade', 'autoremove', 'full-upgrade', 'reinstall'],
);

const RPM = manager(
  ['list', 'search', 'info', 'repolist', 'provides', 'history', 'check-update', 'deplist'],
  ['install', 'remove', 'update', 'upgrade', 'erase', 'reinstall', 'clean', 'groupinstall'],
);

const INSTALLING: Readonly<Record<string, Profile>> = {
  apt: APT,
  'apt-get': APT,
  'apt-cache': APT,
  aptitude: APT,
  yum: RPM,
  dnf: RPM,
  apk: manager(
    ['info', 'search', 'list', 'policy', 'stats'],
    ['add', 'del', 'update', 'upgrade', 'fix'],
  ),
  snap: manager(['list', 'info', 'find'], ['install', 'remove', 'refresh']),
  flatpak: manager(['list', 'info', 'search'], ['install', 'uninstall', 'update']),
  brew: manager(
    ['list', 'ls', 'info', 'search', 'outdated', 'deps', 'uses', 'leaves', 'doctor'],
    ['install', 'uninstall', 'upgrade', 'update', 'tap', 'link', 'reinstall', 'cleanup'],
    // A formula by its path or from another tap is code that is run to be shown.
    'package*',
  ),
  dpkg: {
    kind: 'read',
    options: `-i,--install!config --unpack!config --configure!config -r,--remove!delete
      -P,--purge!delete
      --update-avail!config --merge-avail!config --clear-avail!delete --set-selections!config
      --clear-selections!config --add-architecture!config --remove-architecture!config
      --triggers-only!exec --pre-invoke:exec --post-invoke:exec --status-logger:exec
      --root:config --admindir:config --instdir:config --path-include:config --path-exclude:config
      -b,--build!write -x,--extract!write -X,--vextract!write -e,--control!write -R,--recursive
      --raw-extract!write --ctrl-tarfile --fsys-tarfile --log:write --force!config
      --force-all!config --force-things!config
      -l,--list -L,--listfiles -s,--status -S,--search -p,--print-avail -V,--verify -C,--audit
      --get-selections --print-architecture --print-foreign-architectures --compare-versions
      -I,--info -c,--contents -f,--field --version --help --no-pager`,
    operands: 'path*',
  },
  'dpkg-query': {
    kind: 'read',
    options: `--admindir:config --root:config -l,--list -L,--listfiles -s,--status -S,--search
      -W,--show -f,--showformat:word -p,--print-avail -c,--control-path --version --help
      --no-pager`,
    operands: 'word*',
  },
  rpm: {
    kind: 'read',
    options: `-i,--install!config -U,--upgrade!config -F,--freshen!config -e,--erase!delete
      --import!config --initdb!config --rebuilddb!config -D,--define:exec -E,--eval:exec
      --pipe:exec --root:config -r:config --dbpath:config --rcfile:config --macros:config
      --load:config --setperms!config --setugids!config --restore!config --reinstall!config
      -q,--query -a,--all -l,--list -V,--verify -p,--package --info --version --whatprovides`,
    operands: 'path*',
  },
  pacman: {
    kind: 'config',
    options: `-Q,--query -S,--sync!config -R,--remove!delete -U,--upgrade!config
      -D,--database!config
      -i,--info -l,--list -s,--search -o,--owns -q,--quiet -e -d -m -V,--version -h,--help`,
    operands: 'word*',
  },
};

const MANUALS: Readonly<Record<string, Profile>> = {
  man: {
    kind: 'read',
    // A word with a slash in it is a file. Pagers and browsers are programs; a prompt is read by
    // less, which has commands in it.
    options: `-P,--pager:exec -H?word!exec --html?word!exec -C,--config-file:config
      -p,--preprocessor:exec
      -r,--prompt:exec -X?word!exec --gxditview?word!exec -M,--manpath:path!exec
      -l,--local-file!exec -R,--recode:word -T?word --troff-device?word -Z,--ditroff -t,--troff
      -k,--apropos -f,--whatis -K,--global-apropos -w,--where,--path,--location
      -W,--where-cat,--location-cat -a,--all -c,--catman!write -d,--debug -D,--default
      -e,--extension:word -E,--encoding:word -i,--ignore-case -I,--match-case -L,--locale:word
      -m,--systems:word -s,-S,--sections:word -u,--update!write -7,--ascii --names-only
      --no-subpages --regex --wildcard --warnings?word --no-hyphenation --nh --no-justification --nj
      -h,--help -V,--version --usage`,
    operands: 'path*',
  },
  info: {
    kind: 'read',
    options: `-o,--output:write --dribble:write --restore:exec --init-file:config
      -d,--directory:path
      -f,--file:path -n,--node:word -k,--apropos:word -a,--all -O,--show-options --subnodes -w
      --where --location --usage -v,--variable:word!config --index-search:word -h,--help --version`,
    operands: 'path*',
  },
  tldr: {
    kind: 'read',
    options: '-u,--update!net -p,--platform:word -l,--list',
    operands: 'word*',
  },
  apropos: {
    kind: 'read',
    options: `-C,--config-file:config -M,--manpath:path -a,--and -d -e,--exact -l,--long -r,--regex
      -s,--sections:word -w,--wildcard -L,--locale:word -m,--systems:word --help --version`,
    operands: 'word*',
  },
  whatis: {
    kind: 'read',
    options: `-C,--config-file:config -M,--manpath:path -d -l,--long -r,--regex -s,--sections:word
      -w,--wildcard -L,--locale:word -m,--systems:word --help --version`,
    operands: 'word*',
  },
};

const BINARIES: Readonly<Record<string, Profile>> = {
  // It may run the program to find out.
  ldd: RUNS,
  // `@file` has more options in it.
  nm: {
    kind: 'read',
    options: `--plugin:exec -a,--debug-syms -A,-o,--print-file-name -B -C -D,--dynamic
      -f,--format:word
      -g,--extern-only -l,--line-numbers -n,--numeric-sort -p,--no-sort -P,--portability
      -r,--reverse-sort -S,--print-size -s,--print-armap -t,--radix:word -u,--undefined-only
      --defined-only --demangle?word --no-demangle --size-sort --no-weak -V,--version -h,--help`,
    operands: 'source*',
  },
  objdump: {
    kind: 'read',
    options: `--plugin:exec -P,--private:word -a,--archive-headers -d --disassemble?word
      --dwarf?word --dynamic-reloc
      -D,--disassemble-all -f,--file-headers -g,--debugging -h,--section-headers,--headers
      -j,--section:word
      -l,--line-numbers -M,--disassembler-options:word -m,--architecture:word -p,--private-headers
      -r,--reloc -R -s,--full-contents -S,--source --source-comment?word -t,--syms -T,--dynamic-syms
      -x,--all-headers -w,--wide -C --demangle?word --no-show-raw-insn --start-address:word
      --stop-address:word --dwarf-start:int --prefix:path -I,--include:path -v,--version -H,--help`,
    operands: 'source*',
  },
  readelf: {
    kind: 'read',
    options: `-a,--all -h,--file-header -l,--program-headers -S,--section-headers,--sections
      -e,--headers
      -s,--syms,--symbols --dyn-syms -n,--notes -r,--relocs -u,--unwind -d,--dynamic
      -V,--version-info
      -A,--arch-specific -x,--hex-dump:word -p,--string-dump:word -W,--wide -C -v,--version
      -H,--help`,
    operands: 'source*',
  },
  size: { kind: 'read', options: '-A -B -d -o -x -t -G --format:word', operands: 'source*' },
  strip: {
    kind: 'write',
    options: '--plugin:exec -o:output -s,--strip-all -g,--strip-debug -x -v -p --strip-unneeded',
    operands: 'product*',
  },
  ar: {
    kind: 'write',
    style: 'none',
    subcommands: Object.fromEntries([
      ...['t', 'tv', 'p'].map((word): [string, Profile] => [word, archive('read')]),
      ...['r', 'rc', 'rcs', 'rcv', 'cr', 'crs', 'x', 'xv', 's'].map((word): [string, Profile] => [
        word,
        archive('write'),
      ]),
      ['d', { kind: 'delete', style: 'none', operands: 'delete*' }],
    ]),
  },
};

function archive(kind: 'read' | 'write'): Profile {
  return {
    kind,
    style: 'exact',
    options: '--plugin:exec --output:write --target:word --record-libdeps:exec',
    operands: kind === 'read' ? 'source*' : 'product*',
  };
}

const RUNNING: Readonly<Record<string, Profile>> = Object.fromEntries(
  [
    ...['gdb', 'lldb', 'strace', 'ltrace', 'valgrind', 'perf', 'bpftrace', 'hyperfine', 'script'],
    ...['expect', 'screen', 'tmux', 'open', 'xdg-open', 'code', 'subl', 'osascript', 'fzf'],
  ].map((name): [string, Profile] => [name, RUNS]),
);

const EDITORS: Readonly<Record<string, Profile>> = Object.fromEntries(
  ['vim', 'vi', 'nvim', 'view', 'vimdiff', 'ex', 'ed', 'emacs', 'nano', 'pico', 'micro', 'hx'].map(
    (name): [string, Profile] => [name, EDITOR],
  ),
);

const DESKTOP: Readonly<Record<string, Profile>> = {
  pbcopy: { kind: 'read' },
  pbpaste: { kind: 'config' },
  xclip: { kind: 'config', options: '-selection:word -i -o' },
  'notify-send': { kind: 'read', options: '-t:int -u:word -i:word -a:word', operands: 'word*' },
};

const SELF_READ: Profile = {
  kind: 'read',
  style: 'exact',
  options: `-o,--output:write --json --limit:int --state:word --since:word --until:word
    --format:word
    --follow -n,--lines:int -f -h,--help --tree --timeline`,
  operands: 'word*',
};

/** Ourselves: what an agent may see, and what only people change. */
const SELF: Profile = {
  kind: 'config',
  style: 'exact',
  options: '-h,--help --version',
  subcommands: {
    ...{ ls: SELF_READ, tail: SELF_READ, cat: SELF_READ, show: SELF_READ, ps: SELF_READ },
    ...{ trace: SELF_READ, status: SELF_READ, help: SELF_READ },
    record: {
      kind: 'config',
      subcommands: { list: SELF_READ, show: SELF_READ, stats: SELF_READ, search: SELF_READ },
    },
    run: { kind: 'exec', style: 'first', operands: 'exec*', behindDashes: 'program' },
    kill: { kind: 'delete', operands: 'delete*' },
    sweep: { kind: 'delete' },
    policy: { kind: 'config' },
    init: { kind: 'config' },
    mcp: { kind: 'config' },
  },
};

export const SYSTEM_TOOLS: Readonly<Record<string, Profile>> = {
  ...INSTALLING,
  ...MANUALS,
  ...BINARIES,
  ...RUNNING,
  ...EDITORS,
  ...DESKTOP,
  cuff: SELF,
  derun: SELF,
};
