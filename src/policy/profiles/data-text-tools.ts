// Profiles of programs that have a language of their own (sed, awk, jq), that patch or convert, and
// of viewers, which start other programs when they are told to.

import type { Profile } from '../profile.ts';

const AWK: Profile = {
  kind: 'read',
  style: 'first',
  // Programs in files can run commands; libraries and extensions are code.
  options: `-f,--file:exec -i,--include:exec -l,--load:exec -E,--exec:exec -D,--debug?path!exec
    -W:word!exec -o,--pretty-print?path!write -p,--profile?path!write
    -d,--dump-variables?path!write -e,--source:awk -F,--field-separator:word -v,--assign:word
    -b,--characters-as-bytes -c,--traditional -k,--csv -M,--bignum -n,--non-decimal-data
    -N,--use-lc-numeric -O,--optimize -P,--posix -r,--re-interval -s,--no-optimize -S,--sandbox
    -t,--lint-old -C,--copyright -h,--help -V,--version`,
  operands: 'awk path*',
  operandsWith: { '-f': 'path*', '-e': 'path*', '-E': 'path*' },
};

const SED: Profile = {
  kind: 'read',
  // A script in a file can write, and run commands, as one on the line can.
  options: `-i,--in-place?output!write -f,--file:exec -e,--expression:sed -n,--quiet --silent
    -E,-r,--regexp-extended -s,--separate -u,--unbuffered -z,--null-data -l,--line-length:int
    --posix --debug --follow-symlinks --sandbox -b,--binary --help --version`,
  operands: 'sed path*',
  operandsWith: { '-e': 'path*', '-f': 'path*' },
};

const LANGUAGES: Readonly<Record<string, Profile>> = {
  sed: SED,
  gsed: SED,
  awk: AWK,
  gawk: AWK,
  mawk: AWK,
  nawk: AWK,
  jq: {
    kind: 'read',
    style: 'exact',
    // `--arg` has two values; the second counts as an operand, so that files are files for sure.
    // A filter in a file can show the environment.
    options: `-f,--from-file!secret -L:path --arg:word --argjson:word --indent:int --slurpfile
      --rawfile --args --jsonargs -c,--compact-output -C,--color-output -M,--monochrome-output
      -e,--exit-status -n,--null-input -r,--raw-output -R,--raw-input -j,--join-output -a
      --ascii-output -s,--slurp -S,--sort-keys --tab --seq --stream --stream-errors --unbuffered
      --raw-output0 -h,--help -V,--version --build-configuration`,
    operands: 'word path*',
    operandsWith: { '-f': 'path*' },
  },
  yq: {
    kind: 'read',
    style: 'exact',
    options: `-i,--inplace!write --in-place!write -s,--split-exp:word!write
      --split-exp-file:path!write
      -w,--width:int --from-file:path!secret -f,--front-matter:word --front-matter-slurp
      -o,--output-format:word -p,--input-format:word --indent:int -I:int -P,--prettyPrint
      -n,--null-input -r,--unwrapScalar --raw-output -j,--tojson -y,--yaml-output
      -Y,--yaml-roundtrip -C,--colors -M,--no-colors -e,--exit-status -N,--no-doc -0 -c -S
      -v,--verbose -V,--version -h,--help --xml-output -x -t,--toml-output --arg:word`,
    operands: 'expression path*',
    // Without an expression the first word is a file.
    subcommands: {
      eval: { kind: 'read', options: '-i,--inplace!write', operands: 'expression path*' },
      e: { kind: 'read', options: '-i,--inplace!write', operands: 'expression path*' },
      'eval-all': { kind: 'read', options: '-i,--inplace!write', operands: 'expression path*' },
      ea: { kind: 'read', options: '-i,--inplace!write', operands: 'expression path*' },
    },
  },
  bc: { kind: 'read', options: '-l,--mathlib -q,--quiet -s -w -i', operands: 'path*' },
  // `!` runs a command, also in a file and in what it reads.
  dc: { kind: 'exec', options: '-e,--expression:exec -f,--file:exec', operands: 'exec*' },
  xmllint: {
    kind: 'read',
    style: 'go',
    options: `--output:write -o:write --shell!exec --noent!secret --xinclude!secret
      --noxincludenode!secret --loaddtd!net --dtdattr!net --valid!net --dtdvalid:path!net
      --dtdvalidfpi:word!net --catalogs!config --nocatalogs --path:path --load-trace
      --noout --format --pretty:int --xpath:word --pattern:word --schema:path --relaxng:path
      --schematron:path --html --htmlout --xmlout --recover --nonet --huge --encode:word --noblanks
      --nocdata --nsclean --c14n --c14n11 --exc-c14n --noenc --nowarning --quiet --version`,
    operands: 'path*',
  },
  gettext: { kind: 'read', options: '-d,--domain:word -e -E -n -s', operands: 'word*' },
  xxd: {
    kind: 'read',
    style: 'go',
    deeds: { decodes: '-r; -revert' },
    // The second operand is written, with or without `-r`.
    options: `-r!write -revert!write -a -autoskip -b -bits -c:int -cols:int -C -capitalize -d
      -e -E -g:int -groupsize:int -i -include -l:word -len:word -n:word -name:word -o:word -p -ps
      -plain -postscript -s:word -seek:word -u -uppercase -R:word -v -version -h -help`,
    operands: 'path? write?',
  },
};

const CONVERTERS: Readonly<Record<string, Profile>> = {
  // Which files are overwritten is in the patch.
  patch: {
    kind: 'delete',
    // An ed script is run by ed, and `-g` lets a version control fetch files.
    options: `-e,--ed!exec -g,--get:word!exec -o,--output:output -r,--reject-file:output
      -i,--input:path -d,--directory:output -p,--strip:int -B,--prefix:output
      -Y,--basename-prefix:output
      -z,--suffix:output -D,--ifdef:word -F,--fuzz:int -V,--version-control:word
      --follow-symlinks!config --backup -b --backup-if-mismatch --no-backup-if-mismatch -c,--context
      -n,--normal -u,--unified -E,--remove-empty-files!delete -f,--force -l,--ignore-whitespace
      -N,--forward -R,--reverse -s,--quiet --silent -t,--batch -T,--set-time -Z,--set-utc
      --merge?word --dry-run --verbose --posix --binary --reject-format:word --read-only:word
      -v,--version --help`,
    operands: 'output path',
  },
  pandoc: {
    kind: 'read',
    style: 'exact',
    // It fetches what a document or a template names.
    options: `-o,--output:write -F,--filter:exec -L,--lua-filter:exec --pdf-engine:exec
      --pdf-engine-opt:exec -d,--defaults:config --data-dir:path!exec --extract-media:write
      --log:write --syntax-definition:path --abbreviations:path --template:path
      -H,--include-in-header:path -B,--include-before-body:path -A,--include-after-body:path
      --metadata-file:path --css:word -c:word --bibliography:path --csl:path --reference-doc:path
      --resource-path:paths --embed-resources!net --self-contained!net --request-header:word!net
      --no-check-certificate!config -f,--from:format -t,--to:format -r,--read:format
      -w,--write:format -s,--standalone -N,--number-sections --toc --table-of-contents
      --toc-depth:int -M,--metadata:word -V,--variable:word --wrap:word --columns:int --quiet
      --verbose --sandbox -C,--citeproc --highlight-style:word --list-input-formats
      --list-output-formats -h,--help -v,--version`,
    operands: 'path*',
  },
  spell: { kind: 'read', options: '-b -v -x -d:path!exec', operands: 'path*' },
  aspell: {
    kind: 'exec',
    subcommands: {
      list: { kind: 'read', options: '-l,--lang:word --mode:word --conf:config --per-conf:config' },
      dicts: { kind: 'read' },
    },
  },
};

const VIEWERS: Readonly<Record<string, Profile>> = {
  // `+!cmd` runs a command, LESSOPEN starts a program, and keys do more.
  less: {
    kind: 'exec',
    options: `-o,--log-file:write -O,--LOG-FILE:write -k,--lesskey-file:exec --lesskey-src:exec
      -t,--tag:word -T,--tag-file:path -N,--LINE-NUMBERS -S,--chop-long-lines -R -r -F -X -i -I
      -V,--version +?exec`,
    operands: 'path*',
  },
  more: { kind: 'exec', options: '-V,--version -h,--help -NUM +?exec', operands: 'path*' },
  most: { kind: 'exec', operands: 'exec*' },
  bat: {
    kind: 'read',
    style: 'exact',
    options: `--pager:exec --lessopen!exec --generate-config-file!write --config-dir --cache-dir
      -l,--language:word -n,--number -A,--show-all -r,--line-range:word -H,--highlight-line:word
      --theme:word --style:word --wrap:word --tabs:int --color:word --decorations:word --paging:word
      -p,--plain -P,--no-pager -d,--diff --diff-context:int --file-name:word -m,--map-syntax:word
      --ignored-suffix:word --terminal-width:int --italic-text:word -u,--unbuffered -f
      --force-colorization -L,--list-languages --list-themes --squeeze-blank --no-lessopen
      -h,--help -V,--version`,
    operands: 'path*',
    subcommands: { cache: { kind: 'write', operands: '' } },
  },
  delta: {
    kind: 'read',
    style: 'exact',
    options: `--pager:exec --paging:word --config:config --features:word -s,--side-by-side
      -n,--line-numbers --color-only --dark --light --no-gitconfig --syntax-theme:word
      -w,--width:word
      --diff-highlight --list-themes -V,--version`,
    operands: 'path*',
  },
};

const COUNTERS: Readonly<Record<string, Profile>> = {
  tokei: {
    kind: 'read',
    style: 'exact',
    options: `-i,--input:path -o,--output:format -e,--exclude:word -t,--type:word -s,--sort:word
      -f,--files -C,--compact -c,--columns:int -l,--languages --hidden --no-ignore`,
    operands: 'path*',
  },
  scc: {
    kind: 'read',
    style: 'exact',
    options: `-o,--output:write --format-multi:word!write --sql-project:word!write
      -f,--format:format
      --by-file -s,--sort:word --no-cocomo --no-complexity -i,--include-ext:word
      -x,--exclude-ext:word
      --exclude-dir:word -w,--wide -l,--languages -h,--help --version`,
    operands: 'path*',
  },
  cloc: {
    kind: 'read',
    options: `--out:write --report-file:write --sql:write --ignored:write --counted:write
      --found:write
      --categorized:write --write-lang-def:write --write-lang-def-incl-dup:write --sdir:write
      --strip-comments:word!write --strip-code:word!write --diff-alignment:write --unique!write
      --xsl:word!write --save!write --config:config --extract-with:exec --vcs:exec --git!exec
      --use-sloccount!exec --custom-config!exec --read-lang-def:path --force-lang-def:path
      --list-file:path --exclude-list-file:path --read-binary-files
      --by-file --by-file-by-lang --json --csv --yaml --md --xml --quiet --hide-rate --sum-one
      --sum-reports
      --progress-rate:int --exclude-dir:word --exclude-ext:word --include-ext:word
      --exclude-lang:word --include-lang:word --match-f:word --not-match-f:word --match-d:word
      --not-match-d:word --fullpath --max-file-size:int --timeout:int --skip-uniqueness
      --follow-links --csv-delimiter:word --diff --processes:int --help --version`,
    operands: 'path*',
  },
};

export const TEXT_TOOLS: Readonly<Record<string, Profile>> = {
  ...LANGUAGES,
  ...CONVERTERS,
  ...VIEWERS,
  ...COUNTERS,
};
