// What is known of build tools and of compilers: make, cargo, go and the compilers of C. A build
// runs the project's own code; another build file, compiler or wrapper is foreign code.

import type { Profile } from '../profile.ts';
import { CONFIG, EXEC, NET } from './common.ts';
import { BUILD_MORE } from './data-build-more.ts';

const HELP = '-h,--help -V,--version';

const MAKE: Profile = {
  kind: 'exec',
  options: `-b -m -B,--always-make -C,--directory:exec -d --debug?word
    -e,--environment-overrides!exec -E,--eval:exec -f,--file,--makefile:exec -h,--help
    -i,--ignore-errors -I,--include-dir:exec -j,--jobs?int -k,--keep-going -l,--load-average?int
    --max-load?int -L,--check-symlink-times -n,--just-print --dry-run --recon
    -o,--old-file,--assume-old:word -O,--output-sync?word -p,--print-data-base -q,--question
    -r,--no-builtin-rules -R,--no-builtin-variables -s,--silent --quiet --no-silent
    -S,--no-keep-going --stop -t,--touch!write --trace -v,--version -w,--print-directory
    --no-print-directory -W,--what-if,--new-file,--assume-new:word --warn-undefined-variables
    --shuffle?word --jobserver-style:word`,
  operands: 'script*',
};

const CARGO_CHOICE = `-p,--package:word --workspace --all --exclude:word --lib --bins --bin:word
  --examples --example:word --tests --test:word --benches --bench:word --all-targets
  -F,--features:word --all-features --no-default-features`;
const CARGO = `-v,--verbose -q,--quiet --color:word --frozen --locked --offline --config:exec
  -Z:exec -C:exec --manifest-path:path --lockfile-path:path -h,--help -vv`;
const CARGO_BUILD = `-r,--release --profile:word -j,--jobs:word --keep-going --target:triple
  --target-dir:output --artifact-dir,--out-dir:output --message-format:word --build-plan
  --unit-graph --future-incompat-report --timings?word --ignore-rust-version ${CARGO_CHOICE}
  ${CARGO}`;
const cargo = (kind: Profile['kind'], operands: string, more = ''): Profile => ({
  kind,
  style: 'exact',
  options: `${more} ${CARGO_BUILD}`,
  operands,
  behindDashes: 'word',
});
const CARGO_COMMANDS: Readonly<Record<string, Profile>> = {
  build: cargo('exec', ''),
  b: cargo('exec', ''),
  check: cargo('exec', ''),
  c: cargo('exec', ''),
  test: cargo('exec', 'word?', '--no-run --no-fail-fast --doc'),
  t: cargo('exec', 'word?', '--no-run --no-fail-fast --doc'),
  bench: cargo('exec', 'word?', '--no-run --no-fail-fast'),
  nextest: {
    kind: 'exec',
    style: 'exact',
    subcommands: {
      run: cargo('exec', 'word*', '-E,--filterset:word --retries:int --no-fail-fast --no-capture'),
      list: cargo('exec', 'word*', '-E,--filterset:word -T:word'),
    },
  },
  run: cargo('exec', 'passed*'),
  r: cargo('exec', 'passed*'),
  clippy: cargo('exec', '', '--no-deps --fix!write --allow-dirty!write --allow-staged!write'),
  doc: cargo('exec', '', '--no-deps --document-private-items --open!exec'),
  rustdoc: EXEC,
  rustc: EXEC,
  fix: cargo('write', '', '--broken-code --edition --allow-dirty --allow-staged --allow-no-vcs'),
  fmt: {
    kind: 'write',
    style: 'exact',
    options: `--check --all -p,--package:word --message-format:word ${CARGO}`,
    behindDashes: 'word',
  },
  add: cargo(
    'net',
    'package*',
    `--dev --build --optional --no-optional --rename:word
    --path:exec --git:exec --branch:word --tag:word --rev:word --registry:exec --dry-run -n`,
  ),
  remove: cargo('write', 'package*', '--dev --build --dry-run -n'),
  rm: cargo('write', 'package*', '--dev --build --dry-run -n'),
  update: cargo('net', 'package*', '--recursive --precise:word --dry-run -w -n'),
  fetch: cargo('net', ''),
  'generate-lockfile': cargo('net', ''),
  vendor: cargo('write', 'fresh?', '--no-delete --versioned-dirs -s,--sync:path'),
  tree: cargo(
    'read',
    'word*',
    `-i,--invert:word --prune:word --depth:word --no-dedupe -d --duplicates
    -e,--edges:word --prefix:word --charset:word -f,--format:word`,
  ),
  metadata: cargo('read', '', '--no-deps --format-version:int --filter-platform:word'),
  'locate-project': cargo('read', '', ''),
  pkgid: cargo('read', 'word?'),
  'verify-project': cargo('read', ''),
  version: cargo('read', ''),
  search: cargo('net', 'word*', '--limit:int --registry:exec --index:exec'),
  info: cargo('net', 'package', '--registry:exec --index:exec'),
  new: cargo('write', 'output', '--bin --lib --name:word --edition:word --vcs:word'),
  init: cargo('write', 'output?', '--bin --lib --name:word --edition:word --vcs:word'),
  clean: { kind: 'delete', style: 'exact', options: `--doc --dry-run -n ${CARGO_BUILD}` },
  install: cargo(
    'exec',
    'package*',
    `--version:word --git:exec --path:exec --root:write -f,--force
    --list --registry:exec --index:exec --no-track --debug`,
  ),
  uninstall: cargo('delete', 'word*', '--root:write'),
  publish: NET,
  yank: NET,
  owner: NET,
  login: CONFIG,
  logout: CONFIG,
  package: cargo('write', '', '-l,--list --no-verify --allow-dirty'),
  audit: cargo('net', '', '-D,--deny:word --json --ignore:word'),
  outdated: cargo('net', '', '-R,--root-deps-only -d,--depth:int --exit-code:int'),
  deny: cargo('net', 'word*'),
  machete: cargo('read', 'path*', '--with-metadata --fix!write'),
  expand: cargo('exec', 'word?'),
  help: cargo('read', 'word?'),
};

/** Packages are directories; flags that name a program, an overlay or a linker run code. */
const GO_BUILD = `-C:exec -a -n -p:int -race -msan -asan -cover -covermode:word -coverpkg:word -v
  -work -x -asmflags:exec -buildmode:word -buildvcs?word -compiler:exec -gccgoflags:exec
  -gcflags:exec -installsuffix:word -json -ldflags:exec -linkshared -mod:word -modcacherw
  -modfile:exec -overlay:exec -pgo:path -pkgdir:write -tags:word -trimpath -toolexec:exec -h -help`;
const GO_TEST = `-bench:word -benchmem -benchtime:word -blockprofile:figures -blockprofilerate:int
  -count:int -coverprofile:figures -cpu:word -cpuprofile:figures -failfast -fullpath -fuzz:word
  -fuzzcachedir:write -fuzzminimizetime:word -fuzztime:word -list:word -memprofile:figures
  -memprofilerate:int -mutexprofile:figures -mutexprofilefraction:int -outputdir:write -parallel:int
  -run:word -short -shuffle:word -skip:word -timeout:word -trace:write -vet:word -c!write
  -exec:exec -o:write -args!exec -i -test.v -test.run:word ${GO_BUILD}`;
const go = (kind: Profile['kind'], operands: string, options: string): Profile => ({
  kind,
  style: 'go',
  options,
  operands,
});
const GO: Profile = {
  kind: 'read',
  style: 'go',
  options: '-C:exec -h -help',
  subcommands: {
    build: go('exec', 'gopkg*', `-o:output ${GO_BUILD}`),
    install: go('exec', 'gopkg*', GO_BUILD),
    // More files of the program, or words for it.
    run: { ...go('exec', 'gopkg passed*', `-exec:exec ${GO_BUILD}`), ends: true },
    test: go('exec', 'gopkg*', GO_TEST),
    vet: go('read', 'gopkg*', `-vettool:exec -fix!write -diff -json -c:int ${GO_BUILD}`),
    fmt: go('write', 'gopkg*', '-n -x -mod:word'),
    fix: go('write', 'gopkg*', '-fix:word -go:word'),
    list: go(
      'read',
      'gopkg*',
      `-f:word -json?word -m -u -versions -deps -test -compiled -e -export
      -find -retracted -reuse:path -all ${GO_BUILD}`,
    ),
    doc: go('read', 'word*', '-all -c -cmd -short -src -u -http!net -C:exec'),
    version: go('read', 'path*', '-m -v'),
    env: {
      kind: 'read',
      style: 'go',
      options: '-json -changed -w!config -u!config',
      operands: 'word*',
      operandsWith: { '-w': 'config*', '-u': 'config*' },
    },
    get: go('exec', 'package*', `-d -t -u?word -insecure!net -tool ${GO_BUILD}`),
    clean: go('delete', 'gopkg*', '-i -n -r -x -cache -testcache -modcache -fuzzcache'),
    generate: EXEC,
    tool: EXEC,
    bug: NET,
    telemetry: CONFIG,
    help: go('read', 'word*', ''),
    mod: {
      kind: 'write',
      style: 'go',
      subcommands: {
        tidy: go('net', '', '-e -v -x -go:word -compat:word -diff'),
        download: go('net', 'word*', '-x -json'),
        verify: go('read', '', ''),
        graph: go('read', '', '-go:word -x'),
        why: go('read', 'word*', '-m -vendor'),
        vendor: go('write', '', '-e -v -o:fresh'),
        init: go('write', 'word?', ''),
        edit: go('write', 'write*', '-json -print -fmt -replace:exec -require:exec -tool:exec'),
      },
    },
    work: {
      kind: 'write',
      style: 'go',
      subcommands: {
        init: go('write', 'path*', ''),
        use: go('write', 'path*', '-r'),
        sync: go('write', '', ''),
        vendor: go('write', '', '-e -v -o:fresh'),
        edit: go('write', 'write*', ''),
      },
    },
  },
};

const GOLANGCI_RUN = `-v,--verbose -c,--config:exec --no-config -E,--enable:word -D,--disable:word
  --enable-all --disable-all --enable-only:word -p,--presets:word --fast --fast-only --fix!write
  -j,--concurrency:int --timeout:word --tests --build-tags:word --out-format:write
  --issues-exit-code:int --max-issues-per-linter:int --max-same-issues:int -n,--new
  --new-from-rev:rev --new-from-patch:path --new-from-merge-base:rev --whole-files
  --print-issued-lines --sort-results --color:word --modules-download-mode:word
  --allow-parallel-runners --skip-dirs:word --skip-files:word --exclude:word -e:word --show-stats
  --path-prefix:word --cpu-profile-path:write --mem-profile-path:write --trace-path:write ${HELP}`;

/** Compilers of C and C++: `-o` is what they are for, plugins and wrappers are code. */
const CC: Profile = {
  kind: 'write',
  style: 'exact',
  options: `-o:output -c -S -E -v -g?word -O?word -W?warning -Xlinker:exec
    -Xassembler:exec -Xpreprocessor:exec -Xclang:exec -mllvm:exec -f?feature -fplugin?exec
    -fpass-plugin?exec -fplugin-arg?exec -fuse-ld?exec -fprofile-use?path -fmodule-mapper?exec
    -ffile-prefix-map?word -fdebug-prefix-map?word -fmacro-prefix-map?word -fopenmp -m?word
    -D:word -U:word -I:path -L:path -l:word
    -isystem:path -iquote:path -idirafter:path -include:path -imacros:path -isysroot:path
    -x:word -std?word --std:word -pthread -pedantic -pedantic-errors -pipe -static -shared -rdynamic
    -nostdlib -nostdinc -nodefaultlibs -nostartfiles -ansi -w -s -M -MM -MD -MMD -MP -MG -MF:write
    -MT:word -MQ:word -H -B:exec -wrapper:exec -specs:exec --specs:exec -T:exec --sysroot:exec
    -dumpversion -dumpmachine -print-search-dirs --version --help?word -save-temps?word!write
    -P -C -CC -dM -dD -undef -traditional-cpp -target:word --target:word -arch:word -p -pg
    -no-pie -pie -fsyntax-only -R?word -z:exec -u:word -e:word -Q -frandom-seed?word
    -gcc-toolchain:exec --gcc-toolchain:exec --config:exec -ivfsoverlay:exec -fmodule-file?exec
    -foffload?exec -dumpdir:write`,
  operands: 'source*',
};

const CMAKE: Profile = {
  kind: 'exec',
  style: 'exact',
  options: `-S:path -B:output -C:exec -D:exec -U:word -G:word -T:exec -A:word -P:exec -E!exec
    --toolchain:exec --install-prefix:write --preset:word --list-presets?word -W?word -L -LA -LH
    -LAH -N --graphviz:write --system-information!write --log-level:word --log-context --trace
    --trace-expand --trace-source:path --fresh!delete --debug-output --debug-find
    --warn-uninitialized --profiling-output:write --find-package!exec --build:output
    --target,-t:script --config:word --clean-first!delete -j,--parallel?int -v,--verbose
    --resolve-package-references:word --use-stderr --install:exec --open:exec --prefix:write
    --component:word --strip --workflow!exec --help?word --version -h`,
  operands: 'path*',
  behindDashes: 'exec',
};

export const BUILD: Readonly<Record<string, Profile>> = {
  ...BUILD_MORE,
  make: MAKE,
  gmake: MAKE,
  bmake: MAKE,
  cmake: CMAKE,
  ctest: {
    kind: 'exec',
    style: 'exact',
    options: `-V,--verbose -VV -j,--parallel?int -R,--tests-regex:word -E,--exclude-regex:word
      -L,--label-regex:word -LE:word -N,--show-only?word --output-on-failure --rerun-failed
      --timeout:int --stop-on-failure --test-dir:path -C,--build-config:word -Q,--quiet
      --preset:word --repeat:word --no-tests:word --progress -I:word -O,--output-log:write
      --output-junit:write -S:exec -SP:exec -D:exec -M:net -T:net --build-and-test!exec ${HELP}`,
  },
  ninja: {
    kind: 'exec',
    options: `--version -v,--verbose --quiet -C:exec -f:exec -j:int -k:int -l:int -n -d:word -t:exec
      -w:word -h,--help`,
    operands: 'script*',
  },
  cargo: {
    kind: 'read',
    style: 'exact',
    options: `+?triple -V,--version --list --explain:word ${CARGO}`,
    subcommands: CARGO_COMMANDS,
    deeds: { 'published 3': 'publish !-n; yank', 'published 2': 'owner --add; owner --remove' },
  },
  rustfmt: {
    kind: 'write',
    options: `--check --emit:word --backup!write --config-path:exec --config:word --edition:word
      --color:word --print-config:write -l,--files-with-diff -v,--verbose -q,--quiet ${HELP}`,
    operands: 'path*',
  },
  rustc: {
    kind: 'write',
    style: 'exact',
    options: `-o:output --out-dir:output --crate-type:word --crate-name:word --edition:word
      --emit:format --print?format -g -O --target:triple --test --cfg:word --explain:word
      -v,--verbose -V,--version -C:exec --codegen:exec -L:exec -l:exec --extern:exec
      --sysroot:exec -Z:exec
      -A:word -W:word -D:word -F:word --color:word --error-format:word -h,--help`,
    operands: 'source*',
  },
  rustup: {
    kind: 'config',
    options: `+?word -v,--verbose -q,--quiet ${HELP}`,
    subcommands: {
      show: { kind: 'read', options: '-v', operands: 'word*' },
      check: { kind: 'net' },
      which: { kind: 'read', options: '--toolchain:word', operands: 'word' },
      doc: { kind: 'exec', operands: 'exec*' },
      run: { kind: 'exec', style: 'first', options: '--install', operands: 'word program' },
      toolchain: { kind: 'config', subcommands: { list: { kind: 'read', options: '-v' } } },
      target: { kind: 'config', subcommands: { list: { kind: 'read', options: '--installed' } } },
      component: {
        kind: 'config',
        subcommands: { list: { kind: 'read', options: '--installed' } },
      },
      update: CONFIG,
      default: CONFIG,
      override: CONFIG,
      set: CONFIG,
      self: CONFIG,
    },
  },
  go: GO,
  gofmt: {
    kind: 'read',
    style: 'go',
    options: '-d -e -l -r:word -s -w!write -cpuprofile:write -h',
    operands: 'path*',
  },
  goimports: {
    kind: 'read',
    style: 'go',
    options: '-d -e -l -w!write -local:word -srcdir:path -v -h',
    operands: 'path*',
  },
  staticcheck: {
    kind: 'read',
    style: 'go',
    options: '-checks:word -f:word -fail:word -go:word -tags:word -tests -explain:word -version -h',
    operands: 'gopkg*',
  },
  'golangci-lint': {
    kind: 'read',
    options: `-v,--verbose --color:word ${HELP}`,
    subcommands: {
      run: { kind: 'read', style: 'exact', options: GOLANGCI_RUN, operands: 'path*' },
      fmt: {
        kind: 'write',
        style: 'exact',
        options: '-d,--diff -c,--config:exec',
        operands: 'path*',
      },
      linters: { kind: 'read', style: 'exact', options: GOLANGCI_RUN },
      formatters: { kind: 'read', style: 'exact' },
      help: { kind: 'read', operands: 'word*' },
      version: { kind: 'read', options: '--format:word --short --debug' },
      cache: {
        kind: 'delete',
        subcommands: { status: { kind: 'read' }, clean: { kind: 'delete' } },
      },
      config: { kind: 'read', subcommands: { path: { kind: 'read' }, verify: { kind: 'read' } } },
      custom: EXEC,
    },
  },
  ...Object.fromEntries(
    ['gcc', 'cc', 'clang', 'g++', 'c++', 'clang++', 'cpp', 'tcc'].map((name) => [name, CC]),
  ),
};
