// Profiles of programs that list, make, move and remove files. `cp` and its like are there to
// write: where to is for the scopes to say. What deletes is never covered by a star. Archives are
// in data-archives.ts.

import type { Profile } from '../profile.ts';
import { ARCHIVES } from './data-archives.ts';

const HELP = '--help --version';

const LS: Profile = {
  kind: 'read',
  options: `-a,--all -A,--almost-all --author -b,--escape --block-size:word -B,--ignore-backups -c
    -C
    --color?word -d,--directory -D,--dired -f -F --classify?word --file-type --format:word
    --full-time -g -G,--no-group --group-directories-first -h,--human-readable --si
    -H,--dereference-command-line --hide:word --hyperlink?word --indicator-style:word -i,--inode
    -I,--ignore:word -k,--kibibytes -l -L,--dereference -m -n,--numeric-uid-gid -N,--literal -o -O
    -p -q,--hide-control-chars --show-control-chars -Q,--quote-name --quoting-style:word
    -r,--reverse -R,--recursive -s,--size -S --sort:word --time:word --time-style:word -t
    -T,--tabsize:int -u -U -v -w,--width:int -x -X -Z,--context --zero -1 -e -@ -% ${HELP}`,
  operands: 'path*',
};

/** exa and eza. */
const EXA: Profile = {
  kind: 'read',
  style: 'exact',
  options: `-1,--oneline -l,--long -G,--grid -x,--across -R,--recurse -T,--tree -F,--classify?word
    --color:word --colour:word --color-scale?word --icons?word --no-icons --hyperlink -w,--width:int
    -a,--all -A,--almost-all -d,--list-dirs -L,--level:int -r,--reverse -s,--sort:word
    --group-directories-first --group-directories-last --git-ignore -I,--ignore-glob:word -D
    --only-dirs -f,--only-files -b,--binary -B,--bytes -g,--group -h,--header -H,--links -i,--inode
    -m,--modified -S,--blocksize -t,--time:word -u,--accessed -U,--created -X,--dereference -@
    --changed --git --git-repos --no-git --time-style:word --no-permissions -o --no-filesize
    --no-user --no-time --absolute?word --total-size -v,--version --help`,
  operands: 'path*',
};

const LISTING: Readonly<Record<string, Profile>> = {
  ls: LS,
  dir: LS,
  vdir: LS,
  exa: EXA,
  eza: EXA,
  lsd: {
    kind: 'read',
    style: 'exact',
    options: `--config-file:path -a,--all -A,--almost-all -l,--long -1,--oneline -R,--recursive
      -h,--human-readable --tree --depth:int -d,--directory-only -t,--timesort -S,--sizesort
      -r,--reverse --group-dirs:word --color:word --icon:word --date:word --blocks:word --git
      --total-size -I,--ignore-glob:word -F,--classify -i,--inode -L,--dereference`,
    operands: 'path*',
  },
  tree: {
    kind: 'read',
    style: 'exact',
    // In a cluster every letter takes a word of its own (`-Io a b`), so that a value counts as a
    // file here. `-R` writes a page into every directory.
    options: `-o:write -R!write --output:write -a -d -l -f -x -L -I -P -H -T -i -q -N -Q -p -u -g -s
      -h -D -F -v -t -c -U -r -n -C -A -S -J -X -V --fromfile --fromtabfile --info --infofile:path
      --gitignore --gitfile:path --ignore-case --matchdirs --metafirst --prune --noreport --nolinks
      --charset:word --filelimit:int --si --du --timefmt:word --inodes --device --dirsfirst
      --filesfirst --sort?word --hintro:path --houtro:path --fflinks --acl --compress:int
      --opt-toggle --help --version -NUM -0 -1 -2 -3 -4 -5 -6 -7 -8 -9`,
    operands: 'path*',
  },
  stat: {
    kind: 'read',
    options: `-c,--format:word --printf:word -f,--file-system -L,--dereference -t,--terse
      --cached:word -x -s ${HELP}`,
    operands: 'path*',
  },
  file: {
    kind: 'read',
    options: `-C,--compile!write -z,--uncompress!exec -Z,--uncompress-noreport!exec
      -S,--no-sandbox!config -m,--magic-file:path -f,--files-from:path
      -b,--brief -c,--checking-printout -d,--debug -e,--exclude:word --exclude-quiet:word
      --extension
      -E -F,--separator:word -h,--no-dereference -i,--mime -I -k,--keep-going -l,--list
      -L,--dereference --mime-type --mime-encoding -n,--no-buffer -N,--no-pad -p,--preserve-date
      -P,--parameter:word -r,--raw -s,--special-files -v,--version -0,--print0 --apple --help`,
    operands: 'path*',
  },
  du: {
    kind: 'read',
    options: `-0,--null -a,--all --apparent-size -A -b,--bytes -B,--block-size:word -c,--total
      -d,--max-depth:int -D,-H,--dereference-args --files0-from:path -h,--human-readable --inodes
      -k -l,--count-links -L,--dereference -m -P,--no-dereference --si -s,--summarize
      -S,--separate-dirs -t,--threshold:word --time?word --time-style:word -x,--one-file-system
      -X,--exclude-from:path --exclude:word -g ${HELP}`,
    operands: 'path*',
  },
  df: {
    kind: 'read',
    options: `-a,--all -B,--block-size:word -h,--human-readable -H,--si -i,--inodes -k -l,--local -m
      --no-sync --sync --output?word -P,--portability --total -t,--type:word -T,--print-type
      -x,--exclude-type:word ${HELP}`,
    operands: 'path*',
  },
  basename: {
    kind: 'read',
    options: `-a,--multiple -s,--suffix:word -z,--zero ${HELP}`,
    operands: 'word*',
  },
  dirname: { kind: 'read', options: `-z,--zero ${HELP}`, operands: 'word*' },
  realpath: {
    kind: 'read',
    options: `-e,--canonicalize-existing -m,--canonicalize-missing -L,--logical -P,--physical
      -q,--quiet --relative-to:path --relative-base:path -s,--strip,--no-symlinks -z,--zero
      ${HELP}`,
    operands: 'path*',
  },
  readlink: {
    kind: 'read',
    options: `-f,--canonicalize -e,--canonicalize-existing -m,--canonicalize-missing -n,--no-newline
      -q,--quiet -s,--silent -v,--verbose -z,--zero ${HELP}`,
    operands: 'path*',
  },
  pathchk: { kind: 'read', options: `-p -P --portability ${HELP}`, operands: 'word*' },
  namei: {
    kind: 'read',
    options: '-l,--long -m,--modes -n,--nosymlinks -o,--owners -v,--vertical -x,--mountpoints',
    operands: 'path*',
  },
  locate: {
    kind: 'read',
    options: `-A,--all -b,--basename -c,--count -d,--database:path -e,--existing -i,--ignore-case
      -l,--limit:int -n:int -q,--quiet -r,--regexp:word --regex -w,--wholename -0,--null
      -S,--statistics`,
    operands: 'word*',
  },
  which: {
    kind: 'read',
    options: '-a,--all -s --skip-dot --skip-tilde --show-dot --show-tilde --tty-only -v,--version',
    operands: 'word*',
  },
  whereis: { kind: 'read', options: '-b -m -s -u -l -g', operands: 'word*' },
  fd: {
    kind: 'read',
    style: 'exact',
    options: `-x,--exec:exec -X,--exec-batch:exec -C,--base-directory:path --search-path:path
      --ignore-file:path -e,--extension:word -t,--type:word -d,--max-depth:int --min-depth:int
      --exact-depth:int --maxdepth:int -E,--exclude:word -S,--size:word --changed-within:word
      --changed-before:word --newer:word --older:word -o,--owner:word --format:word -c,--color:word
      -j,--threads:int --batch-size:int --max-results:int --max-buffer-time:word
      --path-separator:word --and:word --hyperlink?word --gen-completions?word
      -H,--hidden -I,--no-ignore --no-ignore-vcs --no-ignore-parent --no-global-ignore-file
      --no-require-git -u,--unrestricted -s,--case-sensitive -i,--ignore-case -g,--glob --regex
      -F,--fixed-strings -a,--absolute-path -l,--list-details -L,--follow -p,--full-path -0,--print0
      --prune -1 -q,--quiet --show-errors --strip-cwd-prefix?word --one-file-system --xdev
      -h,--help -V,--version`,
    operands: 'word path*',
  },
  lsof: {
    kind: 'read',
    style: 'exact',
    options: `-D?word!write -A:word!exec -k:word -m:word -i?word -p:word -u:word -c:word -d:word
      -g?word
      -s?word -F?word -o?word -r?word -t -n -P -a -b -l -N -O -R -U -v -V -w -X -h +?word`,
    operands: 'path*',
  },
  fuser: {
    kind: 'read',
    style: 'exact',
    options: '-k,--kill!delete -a,--all -i -l -m,--mount -M -n,--namespace:word -s -u -v -4 -6',
    operands: 'path*',
  },
  inotifywait: {
    kind: 'read',
    options: `-o,--outfile:write -d,--daemon!config --fromfile:path -e,--event:word --exclude:word
      --excludei:word --include:word --includei:word --format:word --timefmt:word -t,--timeout:int
      -m,--monitor -r,--recursive -q,--quiet -s,--syslog -c,--csv -P,--no-dereference -h,--help`,
    operands: 'path*',
  },
  sync: { kind: 'read', options: '-d,--data -f,--file-system', operands: 'path*' },
};

const MAKING: Readonly<Record<string, Profile>> = {
  mkdir: {
    kind: 'write',
    options: `-p,--parents -v,--verbose -m,--mode:mode -Z ${HELP}`,
    operands: 'output*',
  },
  touch: {
    kind: 'write',
    options: `-a -c,--no-create -d,--date:word -f -h,--no-dereference -m -r,--reference:path -t:word
      --time:word ${HELP}`,
    operands: 'output*',
  },
  cp: {
    kind: 'write',
    options: `-t,--target-directory:output --remove-destination!delete
      -a,--archive --attributes-only -b --backup?word --copy-contents -c -d --debug -f,--force
      -i,--interactive -H -l,--link -L,--dereference -n,--no-clobber -P,--no-dereference -p
      --preserve?word --no-preserve:word --parents -r,-R,--recursive --reflink?word --sparse:word
      --strip-trailing-slashes -s,--symbolic-link!config -S,--suffix:output -T,--no-target-directory
      -u --update?word -v,--verbose -x,--one-file-system -X -Z --context?word ${HELP}`,
    operands: 'path* output',
    operandsWith: { '-t': 'path*' },
  },
  mv: {
    kind: 'delete',
    options: `-t,--target-directory:output -b --backup?word -f,--force -i,--interactive
      -n,--no-clobber --strip-trailing-slashes -S,--suffix:output -T,--no-target-directory
      -u --update?word -v,--verbose -Z ${HELP}`,
    operands: 'output*',
  },
  // Where a symbolic link leads is read from where the link is, which the line may not tell.
  ln: {
    kind: 'write',
    options: `-s,--symbolic!config -t,--target-directory:output -b --backup?word -d,-F,--directory
      -f,--force!delete -i,--interactive -L,--logical -n,--no-dereference -P,--physical
      -r,--relative
      -S,--suffix:output -T,--no-target-directory -v,--verbose ${HELP}`,
    operands: 'output*',
  },
  install: {
    kind: 'write',
    options: `--strip-program:exec -s,--strip!exec -m,--mode:mode -o,--owner:word!config
      -g,--group:word!config -t,--target-directory:output -d,--directory -D -b --backup?word -c
      -C,--compare -p,--preserve-timestamps -S,--suffix:output -T,--no-target-directory
      -v,--verbose`,
    operands: 'output*',
  },
  mktemp: {
    kind: 'write',
    options: `-d,--directory -u,--dry-run -q,--quiet --suffix:output -p:output --tmpdir?output -t
      ${HELP}`,
    operands: 'output',
  },
  // The mode has to stand in the rule: `u+s` is one, too.
  chmod: {
    kind: 'write',
    options: `--reference:path!config -R,--recursive -c,--changes -f,--silent --quiet -v,--verbose
      --no-preserve-root!delete --preserve-root ${HELP}`,
    operands: 'config output*',
    operandsWith: { '--reference': 'output*' },
  },
  chown: { kind: 'config', options: '-R,--recursive -v -c -f -h', operands: 'config output*' },
  chgrp: { kind: 'config', options: '-R,--recursive -v -c -f -h', operands: 'config output*' },
  chattr: { kind: 'config', operands: 'config output*' },
  setfacl: { kind: 'config', options: '-m:config -x:config -b -R', operands: 'output*' },
  getfacl: { kind: 'read', options: '-a -c -d -e -E -s -R -L -P -t -p -n', operands: 'path*' },
};

const REMOVING: Readonly<Record<string, Profile>> = {
  rm: {
    kind: 'delete',
    options: `-r,-R,--recursive -f,--force -i -I --interactive?word -d,--dir -v,--verbose
      --one-file-system --no-preserve-root!delete --preserve-root?word ${HELP}`,
    operands: 'delete*',
  },
  rmdir: {
    kind: 'delete',
    options: `-p,--parents -v,--verbose --ignore-fail-on-non-empty ${HELP}`,
    operands: 'delete*',
  },
  unlink: { kind: 'delete', options: HELP, operands: 'delete' },
  shred: {
    kind: 'delete',
    options: '-f,--force -n,--iterations:int -s,--size:word -u -v,--verbose -x,--exact -z,--zero',
    operands: 'delete*',
  },
  truncate: {
    kind: 'delete',
    options: '-c,--no-create -o,--io-blocks -r,--reference:path -s,--size:word',
    operands: 'delete*',
  },
  dd: { kind: 'delete', style: 'none', operands: 'write*' },
};

/** What waits for files, to run something. */
const WATCHING: Readonly<Record<string, Profile>> = {
  entr: { kind: 'exec', style: 'first', options: '-a -c -d -n -p -r -s -z', operands: 'exec*' },
  watchman: { kind: 'exec', operands: 'exec*' },
};

export const FILES: Readonly<Record<string, Profile>> = {
  ...LISTING,
  ...MAKING,
  ...REMOVING,
  ...WATCHING,
  ...ARCHIVES,
};
