// What is known of the build tools and languages that are met less often: the JVM, .NET, task
// runners, linters, generators.

import type { Profile } from '../profile.ts';
import { EXEC, NET } from './common.ts';
import { CODE_LINTER, LANGUAGES } from './data-languages.ts';

const HELP = '-h,--help -v,--version';

const GRADLE: Profile = {
  kind: 'exec',
  style: 'exact',
  options: `-q,--quiet -w,--warn -i,--info -d,--debug -s,--stacktrace -S,--full-stacktrace
    --scan!net --no-scan --build-cache --no-build-cache --configuration-cache
    --no-configuration-cache --configure-on-demand --console:word --continue --no-continue --daemon
    --no-daemon --stop --status --foreground -m,--dry-run -x,--exclude-task:word --offline
    --parallel --no-parallel --max-workers:int --rerun-tasks --refresh-dependencies -t,--continuous
    --tests:word --warning-mode:word --profile --no-rebuild -a --version -v -h,--help -?
    -b,--build-file:exec -c,--settings-file:exec -I,--init-script:exec -p,--project-dir:exec
    -g,--gradle-user-home:exec --include-build:exec -D:exec -P:exec --system-prop:exec
    --project-prop:exec --project-cache-dir:write --write-locks!write
    --write-verification-metadata:write --update-locks:write --info --args:word!exec`,
  operands: 'task*',
};
const MVN: Profile = {
  kind: 'exec',
  style: 'exact',
  options: `-q,--quiet -X,--debug -e,--errors -B,--batch-mode -o,--offline -U,--update-snapshots
    -nsu,--no-snapshot-updates -N,--non-recursive -pl,--projects:word -am,--also-make
    -amd,--also-make-dependents -rf,--resume-from:word -fae,--fail-at-end -ff,--fail-fast
    -fn,--fail-never -T,--threads:word -P,--activate-profiles:word -ntp,--no-transfer-progress
    -V,--show-version -v,--version -h,--help -C,--strict-checksums -c,--lax-checksums
    -DskipTests?word -Dtest?word -Dmaven.test.skip?word -D:exec -f,--file:exec -s,--settings:exec
    -gs,--global-settings:exec -t,--toolchains:exec -gt,--global-toolchains:exec -l,--log-file:write
    -b,--builder:exec -emp,--encrypt-master-password:config -ep,--encrypt-password:config`,
  operands: 'goal*',
};

// MSBuild's own options begin with the letters of others: `-flp:x` writes, `-rp:x` sets a property.
const DOTNET = `-c,--configuration:switch -f,--framework:switch -r,--runtime:switch
  -o,--output:report -v,--verbosity:switch -clp?word --nologo --no-restore --no-build
  --no-dependencies --no-incremental --force
  --interactive --filter:word -l,--logger:exec --results-directory:output --collect:word
  -t,--list-tests --blame --settings,-s:exec -p,--property:exec --source:exec --configfile:exec
  --self-contained --os:word -a,--arch:switch --verify-no-changes --include:path --exclude:path
  --severity:word --diagnostics:word --no-color -h,--help`;
// `@file` has more options in it.
const dotnet = (kind: Profile['kind'], operands = 'source?'): Profile => ({
  kind,
  style: 'exact',
  options: DOTNET,
  operands,
  behindDashes: 'exec',
});

const JUST: Profile = {
  kind: 'exec',
  style: 'first',
  options: `-l,--list --summary --show,-s:word -n,--dry-run --evaluate --dump --fmt!write --check
    --unstable -q,--quiet -v,--verbose --color:word --no-color --groups --variables --choose!exec
    --init!write -f,--justfile:exec -d,--working-directory:exec --shell:exec --shell-arg:exec
    --set:exec -c,--command:exec -e,--edit!exec --dotenv-path:exec --dotenv-filename:exec --yes
    -V,--version -h,--help -g,--global-justfile!exec`,
  operands: 'script passed*',
};

const PROTOC: Profile = {
  kind: 'write',
  style: 'exact',
  // `--x_out` starts `protoc-gen-x`; those that are built in only write.
  options: `-I,--proto_path:paths --plugin:exec --descriptor_set_in:path
    -o,--descriptor_set_out:output --include_imports --include_source_info --error_format:word
    --fatal_warnings --version -h,--help --cpp_out:report --java_out:report --python_out:report
    --pyi_out:report --csharp_out:report --php_out:report --ruby_out:report --kotlin_out:report
    --objc_out:report --rust_out:report --go_out:report --go_opt:word --go-grpc_out:report
    --go-grpc_opt:word --ts_out:report --ts_opt:word --js_out:report --grpc_out:report --encode:word
    --decode:word --decode_raw`,
  operands: 'source*',
};

export const BUILD_MORE: Readonly<Record<string, Profile>> = {
  ...LANGUAGES,
  gradle: { ...GRADLE, deeds: { 'published 3': '** publish; ** *:publish; ** publishPlugins' } },
  mvn: { ...MVN, deeds: { 'published 3': '** deploy; ** *:deploy; ** release:perform' } },
  javac: {
    kind: 'write',
    style: 'go',
    options: `-d:output -s:output -h:output -cp:paths -classpath:paths --class-path:paths
      -sourcepath:paths -source:word -target:word --release:word -encoding:word -g -nowarn -verbose
      -version -help -parameters -deprecation -Werror --enable-preview -proc:word -implicit:word
      -Xlint -processor:exec -processorpath:exec --processor-path:exec -A?exec -J?exec
      -Xplugin:exec`,
    operands: 'source*',
  },
  java: {
    kind: 'exec',
    style: 'none',
    operands: 'exec*',
    subcommands: { '-version': { kind: 'read' }, '--version': { kind: 'read' } },
  },
  kotlinc: EXEC,
  scala: EXEC,
  sbt: EXEC,
  ld: EXEC,
  meson: {
    kind: 'exec',
    options: HELP,
    subcommands: {
      setup: { kind: 'exec', options: '--buildtype:word', operands: 'output path?' },
      compile: { kind: 'exec', options: '-C:path -j:int -v --clean!delete', operands: 'script*' },
      test: { kind: 'exec', options: '-C:path -v --list --no-rebuild', operands: 'word*' },
      introspect: { kind: 'read', options: '--targets --tests -a,--all', operands: 'path' },
    },
  },
  dotnet: {
    kind: 'read',
    style: 'exact',
    options: '--version --info --list-sdks --list-runtimes -h,--help -d',
    deeds: {
      'published 3': 'nuget push; nuget delete',
      'deleted 3': 'ef database drop',
      'published 2': 'ef database update',
    },
    subcommands: {
      build: dotnet('exec'),
      test: dotnet('exec'),
      restore: dotnet('exec'),
      publish: dotnet('exec'),
      pack: dotnet('exec'),
      format: dotnet('write'),
      clean: dotnet('delete'),
      list: dotnet('read', 'source? word*'),
      run: EXEC,
      add: EXEC,
      remove: EXEC,
      new: EXEC,
      tool: EXEC,
      nuget: EXEC,
      exec: EXEC,
      msbuild: EXEC,
    },
  },
  msbuild: EXEC,
  swift: {
    kind: 'exec',
    style: 'exact',
    options: '--version -h,--help',
    subcommands: {
      build: { kind: 'exec', options: '-c,--configuration:word -v,--verbose --target:word' },
      test: { kind: 'exec', options: '--filter:word --parallel --skip:word -l,--list-tests' },
      package: {
        kind: 'exec',
        subcommands: {
          describe: { kind: 'read', options: '--type:word' },
          resolve: { kind: 'net' },
          update: { kind: 'net' },
          'show-dependencies': { kind: 'read', options: '--format:word' },
          clean: { kind: 'delete' },
        },
      },
      run: EXEC,
    },
  },
  swiftlint: CODE_LINTER,
  xcodebuild: EXEC,
  bazel: {
    kind: 'exec',
    style: 'exact',
    options: '--version --help',
    subcommands: {
      build: { kind: 'exec', style: 'exact', options: '-c:word -k -j:int', operands: 'label*' },
      test: {
        kind: 'exec',
        style: 'exact',
        options: '-c:word --test_output:word',
        operands: 'label*',
      },
      query: { kind: 'read', style: 'exact', options: '--output:word', operands: 'word' },
      info: { kind: 'read', operands: 'word*' },
      version: { kind: 'read' },
      clean: { kind: 'delete', style: 'exact', options: '--expunge' },
      run: EXEC,
    },
  },
  just: JUST,
  task: {
    kind: 'exec',
    options: `-l,--list -a,--list-all -n,--dry -s,--silent -f,--force -p,--parallel --summary
      --status -v,--verbose -t,--taskfile:exec -d,--dir:exec -g,--global!exec --init!write -j,--json
      -w,--watch -c,--color --version -h,--help -y,--yes`,
    operands: 'script*',
    behindDashes: 'word',
  },
  bats: {
    kind: 'exec',
    options: `-c,--count -f,--filter:word --filter-tags:word -F,--formatter:format -t,--tap
      -j,--jobs:int -p,--pretty -r,--recursive -T,--timing -x,--trace --verbose-run
      --print-output-on-failure -o,--output:write --report-formatter:format --no-tempdir-cleanup
      -h,--help -v,--version`,
    operands: 'path*',
  },
  shellcheck: {
    kind: 'read',
    options: `-a,--check-sourced -C,--color?word -i,--include:word -e,--exclude:word
      -f,--format:word --list-optional --norc --rcfile:path -o,--enable:word -P,--source-path:paths
      -s,--shell:word -S,--severity:word -V,--version -W,--wiki-link-count:int -x,--external-sources
      --help`,
    operands: 'path*',
  },
  shfmt: {
    kind: 'read',
    style: 'go',
    options: `-l --list -w!write --write!write -d --diff -s --simplify -mn -ln:word -p -i:int
      --indent:int -bn -ci -sr -kp -fn -f --find -filename:path --version --help`,
    operands: 'path*',
  },
  protoc: PROTOC,
  buf: {
    kind: 'read',
    options: HELP,
    subcommands: {
      lint: {
        kind: 'read',
        options: '--error-format:word --path:path',
        operands: 'kustomization?',
      },
      build: {
        kind: 'read',
        options: '-o,--output:write --path:path',
        operands: 'kustomization?',
      },
      format: {
        kind: 'read',
        options: '-w,--write!write -d,--diff --exit-code',
        operands: 'kustomization?',
      },
      breaking: { kind: 'net', options: '--against:net', operands: 'kustomization?' },
      generate: {
        kind: 'exec',
        options: '--template:exec -o,--output:output',
        operands: 'kustomization?',
      },
      push: NET,
    },
  },
  hugo: {
    kind: 'write',
    options: `-D,--buildDrafts -F,--buildFuture -E,--buildExpired --minify --gc -b,--baseURL:word
      --environment,-e:word --logLevel:word --quiet -d,--destination:output -s,--source:exec
      --config:exec --configDir:exec --themesDir:exec -t,--theme:format
      --cleanDestinationDir!delete`,
    subcommands: {
      version: { kind: 'read' },
      list: { kind: 'read', operands: 'word' },
      env: { kind: 'read' },
      new: { kind: 'write', operands: 'word? output*' },
      server: NET,
      mod: NET,
    },
  },
  mkdocs: {
    kind: 'exec',
    options: `-V -q,--quiet -v,--verbose ${HELP}`,
    subcommands: {
      build: {
        kind: 'exec',
        options: '-c,--clean --dirty -s,--strict -d,--site-dir:fresh -f,--config-file:exec -q -v',
      },
      serve: NET,
      'gh-deploy': NET,
      new: { kind: 'write', operands: 'output' },
    },
  },
};
