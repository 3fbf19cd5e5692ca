// Profiles of programs that print, cut, sort, search and compare text. Most have no effect at all;
// the options that write a file or start a program are the reason that the others are listed.
// Languages of their own (sed, awk, jq) and viewers are in data-text-tools.ts.

import type { Profile } from '../profile.ts';
import { TEXT_TOOLS } from './data-text-tools.ts';

const HELP = '--help --version';

const FILES: Profile = { kind: 'read', options: HELP, operands: 'path*' };
const WORDS: Profile = { kind: 'read', operands: 'word*', style: 'none' };

const CHECKSUM: Profile = {
  kind: 'read',
  options: `-b,--binary -t,--text -c,--check -z,--zero --tag --ignore-missing --quiet --status
    --strict -w,--warn -a,--algorithm:word -l,--length:int -r -s,--sysv -q ${HELP}`,
  operands: 'path*',
};

const GREP: Profile = {
  kind: 'read',
  options: `-e,--regexp:word -f,--file:path --exclude-from:path
    --include:files --exclude:word --exclude-dir:word
    -A,--after-context:int -B,--before-context:int -C,--context:int -m,--max-count:int
    -d,--directories:word -D,--devices:word --binary-files:word --label:word
    --color?word --colour?word --group-separator:word --no-group-separator
    -E,--extended-regexp -F,--fixed-strings -G,--basic-regexp -P,--perl-regexp
    -a,--text -b,--byte-offset -c,--count -h,--no-filename -H,--with-filename
    -i,--ignore-case --no-ignore-case -y -I -u -l,--files-with-matches -L,--files-without-match
    -n,--line-number -o,--only-matching -q,--quiet --silent -r,--recursive
    -R,--dereference-recursive -s,--no-messages -T,--initial-tab -U,--binary
    -v,--invert-match -w,--word-regexp -x,--line-regexp -z,--null-data -Z,--null
    --line-buffered -NUM -V ${HELP}`,
  operands: 'word path*',
  operandsWith: { '-e': 'path*', '-f': 'path*' },
};

/** What prints files, or parts of them, as they are. */
const PRINTING: Readonly<Record<string, Profile>> = {
  cat: {
    kind: 'read',
    options: `-A,--show-all -b,--number-nonblank -e -E,--show-ends -n,--number -s,--squeeze-blank
      -t -T,--show-tabs -u -v,--show-nonprinting ${HELP}`,
    operands: 'path*',
  },
  tac: { kind: 'read', options: '-s,--separator:word -b,--before -r,--regex', operands: 'path*' },
  head: {
    kind: 'read',
    options: `-n,--lines:word -c,--bytes:word -q,--quiet --silent -v,--verbose
      -z,--zero-terminated -NUM ${HELP}`,
    operands: 'path*',
  },
  tail: {
    kind: 'read',
    options: `-n,--lines:word -c,--bytes:word -f --follow?word -F --retry --pid:int
      -s,--sleep-interval:word --max-unchanged-stats:int -q,--quiet --silent -v,--verbose
      -z,--zero-terminated -NUM ${HELP}`,
    operands: 'path*',
  },
  rev: FILES,
  nl: {
    kind: 'read',
    options: `-b,--body-numbering:word -d,--section-delimiter:word -f,--footer-numbering:word
      -h,--header-numbering:word -i,--line-increment:int -l,--join-blank-lines:int
      -n,--number-format:word -p,--no-renumber -s,--number-separator:word
      -v,--starting-line-number:int -w,--number-width:int`,
    operands: 'path*',
  },
  pr: {
    kind: 'read',
    options: `-h,--header:word -l,--length:int -w,--width:int -W,--page-width:int -o,--indent:int
      -D,--date-format:word -N,--first-line-number:int -s?word -S?word -e?word -i?word -n?word
      --columns:int --pages:word -a,--across -c -d,--double-space -f,-F,--form-feed -J,--join-lines
      -m,--merge -r -t,--omit-header -T -v -NUM`,
    operands: 'path*',
  },
  od: {
    kind: 'read',
    options: `-A,--address-radix:word -j,--skip-bytes:word -N,--read-bytes:word -t,--format:word
      -w?int --width?int -S:word --strings?word --endian:word -v,--output-duplicates -a -b -c -d -f
      -i -l -o -s
      -x`,
    operands: 'path*',
  },
  hexdump: {
    kind: 'read',
    options: '-b -c -C -d -e:word -f:path -n:int -o -s:word -v -x -L?word',
    operands: 'path*',
  },
  hd: { kind: 'read', options: '-n:int -s:word -v', operands: 'path*' },
  strings: {
    kind: 'read',
    options: `-n,--bytes:int -t,--radix:word -e,--encoding:word -a,--all -f,--print-file-name
      -T,--target:word -s,--output-separator:word -w -NUM`,
    operands: 'source*',
  },
  base64: {
    kind: 'read',
    options: `-d,--decode -D -i -w,--wrap:int ${HELP}`,
    operands: 'path*',
    deeds: { decodes: '--decode; -D' },
  },
  base32: {
    kind: 'read',
    options: `-d,--decode -i -w,--wrap:int ${HELP}`,
    operands: 'path*',
    deeds: { decodes: '--decode' },
  },
  echo: WORDS,
  seq: { kind: 'read', options: '-f,--format:word -s,--separator:word -w -NUM', operands: 'word*' },
  yes: WORDS,
  factor: WORDS,
  expr: WORDS,
  numfmt: {
    kind: 'read',
    options: `-d,--delimiter:word --field:word --format:word --from:word --from-unit:word
      --grouping --header?word --invalid:word --padding:word --round:word --suffix:word
      --to:word --to-unit:word -z,--zero-terminated`,
    operands: 'word*',
  },
  // `-v` sets a variable, and its subscript is evaluated.
  printf: { kind: 'read', style: 'first', options: '-v:word!config', operands: 'word*' },
};

/** What changes text on its way. */
const SHAPING: Readonly<Record<string, Profile>> = {
  wc: {
    kind: 'read',
    options: `-c,--bytes -m,--chars -l,--lines -L,--max-line-length -w,--words --total:word
      --files0-from:path --debug ${HELP}`,
    operands: 'path*',
  },
  fold: {
    kind: 'read',
    options: `-b,--bytes -s,--spaces -w,--width:int -NUM`,
    operands: 'path*',
  },
  fmt: {
    kind: 'read',
    options: `-c -t -s -u -p,--prefix:word -w,--width:int -g,--goal:int -NUM`,
    operands: 'path*',
  },
  column: {
    kind: 'read',
    options: `-t,--table -s,--separator:word -o,--output-separator:word -c,--output-width:word
      -N,--table-columns:word -R,--table-right:word -H,--table-hide:word -n,--table-name:word
      -O,--table-order:word -T,--table-truncate:word -W,--table-wrap:word -E,--table-noextreme:word
      -C,--table-column:word -l,--table-columns-limit:int -r,--tree:word -i,--tree-id:word
      -p,--tree-parent:word -J,--json -x,--fillrows -L,--keep-empty-lines -e,--table-header-repeat`,
    operands: 'path*',
  },
  expand: { kind: 'read', options: '-i,--initial -t,--tabs:word', operands: 'path*' },
  unexpand: { kind: 'read', options: '-a,--all --first-only -t,--tabs:word', operands: 'path*' },
  paste: {
    kind: 'read',
    options: '-d,--delimiters:word -s,--serial -z,--zero-terminated',
    operands: 'path*',
  },
  join: {
    kind: 'read',
    options: '-a:word -e:word -i -j:word -o:word -t:word -v:word -1:word -2:word -z --header',
    operands: 'path*',
  },
  cut: {
    kind: 'read',
    options: `-b,--bytes:word -c,--characters:word -d,--delimiter:word -f,--fields:word -n
      --complement -s,--only-delimited --output-delimiter:word -z,--zero-terminated ${HELP}`,
    operands: 'path*',
  },
  tr: {
    kind: 'read',
    options: '-c,-C,--complement -d,--delete -s,--squeeze-repeats -t,--truncate-set1',
    operands: 'word*',
  },
  sort: {
    kind: 'read',
    // A list of names can name any file, and what is in it is printed.
    options: `-o,--output:write --compress-program:exec -T,--temporary-directory:write
      --files0-from:path!secret --random-source:path
      -b,--ignore-leading-blanks -d,--dictionary-order -f,--ignore-case -g,--general-numeric-sort
      -i,--ignore-nonprinting -M,--month-sort -h,--human-numeric-sort -n,--numeric-sort
      -R,--random-sort -r,--reverse --sort:word -V,--version-sort --batch-size:int
      -c -C --check?word --debug -k,--key:word -m,--merge -s,--stable -S,--buffer-size:word
      -t,--field-separator:word --parallel:int -u,--unique -z,--zero-terminated
      --help --version`,
    operands: 'path*',
  },
  uniq: {
    kind: 'read',
    options: `-c,--count -d,--repeated -D --all-repeated?word -f,--skip-fields:int --group?word
      -i,--ignore-case -s,--skip-chars:int -u,--unique -z,--zero-terminated
      -w,--check-chars:int --help --version`,
    operands: 'path? write?',
  },
  shuf: {
    kind: 'read',
    options: `-o,--output:write --random-source:path -e,--echo -i,--input-range:word
      -n,--head-count:int -r,--repeat -z,--zero-terminated --help --version`,
    operands: 'path*',
  },
  tsort: FILES,
  iconv: {
    kind: 'read',
    options: `-o,--output:write -f,--from-code:word -t,--to-code:word -c -l,--list -s,--silent
      --verbose --help --version`,
    operands: 'path*',
  },
  split: {
    kind: 'write',
    options: `--filter:exec -a,--suffix-length:int --additional-suffix:write -b,--bytes:word
      -C,--line-bytes:word -d -x --numeric-suffixes?int --hex-suffixes?int -e,--elide-empty-files
      -l,--lines:int -n,--number:word -t,--separator:word -u,--unbuffered --verbose -NUM`,
    operands: 'path output',
  },
  csplit: {
    kind: 'write',
    options: `-f,--prefix:output -b,--suffix-format:write -n,--digits:int -k,--keep-files
      -s,--quiet --silent -z,--elide-empty-files --suppress-matched`,
    operands: 'path word*',
  },
  tee: {
    kind: 'write',
    options: '-a,--append -i,--ignore-interrupts -p --output-error?word --help --version',
    operands: 'output*',
  },
  dos2unix: {
    kind: 'write',
    options: '-k,--keepdate -o,--oldfile -q,--quiet -i?word -c,--convmode:word -v,--verbose -f',
    operands: 'output*',
  },
  unix2dos: {
    kind: 'write',
    options: '-k,--keepdate -o,--oldfile -q,--quiet -i?word -c,--convmode:word -v,--verbose -f',
    operands: 'output*',
  },
  ptx: {
    kind: 'read',
    // The traditional one writes its second operand.
    options: `-G,--traditional!write -A,--auto-reference -b,--break-file:path -f,--ignore-case
      -i,--ignore-file:path -o,--only-file:path -w,--width:int -g,--gap-size:int`,
    operands: 'path*',
  },
};

const SEARCHING: Readonly<Record<string, Profile>> = {
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  zgrep: GREP,
  zegrep: GREP,
  zfgrep: GREP,
  look: { kind: 'read', options: '-a -d -f -t:word', operands: 'word path' },
  rg: {
    kind: 'read',
    style: 'exact',
    // `-z` starts the programs that unpack.
    options: `--pre:exec --hostname-bin:exec -z,--search-zip!exec --pre-glob:word
      -f,--file:path --ignore-file:path -e,--regexp:word
      -g,--glob:files --iglob:files -t,--type:word -T,--type-not:word --type-add:files
      --type-clear:word --type-list -A,--after-context:int -B,--before-context:int
      -C,--context:int -m,--max-count:int -j,--threads:int -M,--max-columns:int
      -d,--max-depth:int --maxdepth:int --max-filesize:word --dfa-size-limit:word
      --regex-size-limit:word -E,--encoding:word --engine:word -r,--replace:word --color:word
      --colors:word --context-separator:word --field-match-separator:word
      --field-context-separator:word --path-separator:word --sort:word --sortr:word
      --hyperlink-format:word --generate:word --no-config --no-pre --no-search-zip
      -i,--ignore-case -s,--case-sensitive -S,--smart-case -F,--fixed-strings -w,--word-regexp
      -x,--line-regexp -v,--invert-match -P,--pcre2 -U,--multiline --multiline-dotall
      -n,--line-number -N,--no-line-number -H,--with-filename -I,--no-filename --heading
      --no-heading -c,--count --count-matches --include-zero -l,--files-with-matches
      --files-without-match --files -o,--only-matching -q,--quiet --column --no-column --vimgrep
      --json -p,--pretty --stats --no-stats --trim -b,--byte-offset -0,--null --null-data --crlf
      -a,--text --binary -L,--follow -u,--unrestricted -.,--hidden --no-hidden --no-ignore
      --no-ignore-vcs --no-ignore-parent --no-ignore-global --no-ignore-exclude --no-ignore-dot
      --no-ignore-files --no-ignore-messages --no-messages --no-require-git --ignore-vcs
      --ignore-file-case-insensitive --glob-case-insensitive --one-file-system --passthru
      --line-buffered --block-buffered --mmap --no-mmap --max-columns-preview
      --stop-on-nonmatch --auto-hybrid-regex --no-unicode --pcre2-version --debug --trace
      -h,--help -V,--version`,
    operands: 'word path*',
    operandsWith: { '-e': 'path*', '-f': 'path*', '--files': 'path*', '--type-list': '' },
  },
  ag: {
    kind: 'read',
    options: `--pager:exec -p,--path-to-ignore:path -G,--file-search-regex:files -g:word
      -A,--after?int -B,--before?int -C,--context?int -m,--max-count:int --depth:int
      -W,--width:int --ignore:word --ignore-dir:word --workers:int -c,--count -i,--ignore-case
      -l,--files-with-matches -L,--files-without-matches -n,--norecurse -o,--only-matching
      -Q,--literal -F,--fixed-strings -s,--case-sensitive -S,--smart-case -v,--invert-match
      -w,--word-regexp -u,--unrestricted -U,--skip-vcs-ignores --hidden --nocolor --color
      --nogroup --group --noheading --column --numbers --nonumbers --stats --vimgrep
      -z,--search-zip`,
    operands: 'word path*',
    operandsWith: { '-g': 'path*' },
  },
  ack: {
    kind: 'read',
    options: `--pager:exec --ackrc:config --output:exec --files-from:path!secret -x!secret
      -A,--after-context:int -B,--before-context:int -C?int --context?int -m,--max-count:int
      -t,--type:word -c,--count -f -g -H,--with-filename -h,--no-filename -i,--ignore-case
      -l,--files-with-matches -L,--files-without-matches -n,--no-recurse -o -Q,--literal
      -s -v,--invert-match -w,--word-regexp --nocolor --color --nogroup --group --noenv --nopager
      --ignore-dir:word --ignore-file:word --column --python --js --ts --go --rust --ruby --perl`,
    operands: 'word path*',
  },
};

const COMPARING: Readonly<Record<string, Profile>> = {
  comm: {
    kind: 'read',
    options: '-1 -2 -3 --check-order --nocheck-order --output-delimiter:word --total -z',
    operands: 'path*',
  },
  cmp: {
    kind: 'read',
    options: `-b,--print-bytes -i,--ignore-initial:word -l,--verbose -n,--bytes:word -s,--quiet
      --silent ${HELP}`,
    operands: 'path path word*',
  },
  diff: {
    kind: 'read',
    options: `--from-file:path --to-file:path -X,--exclude-from:path -S,--starting-file:word
      -x,--exclude:word -I,--ignore-matching-lines:word -F,--show-function-line:word --label:word
      -L:word -U:int -C:int --unified?int --context?int -W,--width:int -D,--ifdef:word
      --color?word --palette:word --tabsize:int --horizon-lines:int --line-format:word
      --old-line-format:word --new-line-format:word --unchanged-line-format:word
      --old-group-format:word --new-group-format:word --unchanged-group-format:word
      --changed-group-format:word -a,--text -b,--ignore-space-change -B,--ignore-blank-lines -c
      -d,--minimal -e,--ed -E,--ignore-tab-expansion -H,--speed-large-files -i,--ignore-case
      -l,--paginate -n,--rcs -N,--new-file -p,--show-c-function -P --unidirectional-new-file
      -q,--brief -r,--recursive -s,--report-identical-files -t,--expand-tabs -T,--initial-tab -u
      --left-column --suppress-common-lines --suppress-blank-empty --strip-trailing-cr --normal
      --no-dereference --ignore-file-name-case --no-ignore-file-name-case -w,--ignore-all-space
      -y,--side-by-side -Z,--ignore-trailing-space -v -NUM ${HELP}`,
    operands: 'path*',
  },
  diff3: {
    kind: 'read',
    options: `--diff-program:exec -A,--show-all -e,--ed -E,--show-overlap -3,--easy-only
      -x,--overlap-only -X -i -m,--merge -a,--text --strip-trailing-cr -T,--initial-tab
      -L,--label:word`,
    operands: 'path*',
  },
  sdiff: {
    kind: 'read',
    options: `-o,--output:write --diff-program:exec -i,--ignore-case -E,--ignore-tab-expansion
      -b,--ignore-space-change -W,--ignore-all-space -B,--ignore-blank-lines
      -I,--ignore-matching-lines:word --strip-trailing-cr -a,--text -w,--width:int
      -l,--left-column -s,--suppress-common-lines -t,--expand-tabs --tabsize:int -d,--minimal
      -H,--speed-large-files`,
    operands: 'path*',
  },
  diffstat: {
    kind: 'read',
    options: `-o:write -b -c -C -D:path -e:write -E -f:int -h -k -K -l -m -n:int -N:int -p:int -q
      -r:int
      -R -s -S:path -t -T -u -v -w:int`,
    operands: 'path*',
  },
  md5sum: CHECKSUM,
  sha1sum: CHECKSUM,
  sha224sum: CHECKSUM,
  sha256sum: CHECKSUM,
  sha384sum: CHECKSUM,
  sha512sum: CHECKSUM,
  shasum: CHECKSUM,
  b2sum: CHECKSUM,
  cksum: CHECKSUM,
  sum: CHECKSUM,
  md5: CHECKSUM,
};

export const TEXT: Readonly<Record<string, Profile>> = {
  ...PRINTING,
  ...SHAPING,
  ...SEARCHING,
  ...COMPARING,
  ...TEXT_TOOLS,
};
