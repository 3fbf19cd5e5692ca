// The rarer subcommands of git: stashes, patches, worktrees, configuration, and those that exist to
// run or rewrite something.

import type { Profile } from '../profile.ts';
import { EXEC } from './common.ts';
import { LOG } from './data-git-options.ts';

const STASH_PUSH = `-p,--patch -S,--staged -k,--keep-index --no-keep-index -q,--quiet
  -u,--include-untracked -a,--all -m,--message:word --pathspec-from-file:path --pathspec-file-nul`;

const GET = { kind: 'read', options: '--all --push', operands: 'word*' } as const;
const SCOPE = `--global --system --local --worktree -f,--file:path --blob:revpath -z,--null
  --name-only --show-origin --show-scope --type:word --bool --int --bool-or-int --path
  --expiry-date --includes --no-includes --default:word --no-type`;

/** Values in a configuration can be tokens, its settings can be programs. */
const CONFIG: Profile = {
  kind: 'config',
  bare: 'read',
  asks: 1,
  options: `--get --get-all --get-regexp!secret --get-urlmatch!secret --get-color
    --get-colorbool -l,--list!secret --add!config --replace-all!config --unset!config
    --unset-all!config
    --remove-section!config --rename-section!config -e,--edit!exec --fixed-value --append!config
    ${SCOPE}`,
  operands: 'setting config*',
  operandsWith: {
    '--get': 'setting word*',
    '--get-all': 'setting word*',
    '--get-regexp': 'word*',
    '--get-urlmatch': 'word*',
    '--get-color': 'word*',
    '--get-colorbool': 'word*',
    '--list': '',
  },
  subcommands: {
    list: { kind: 'config', options: SCOPE },
    get: {
      kind: 'read',
      options: `--all --regexp --value:word --fixed-value --url:word --show-names ${SCOPE}`,
      operands: 'setting',
    },
    set: { kind: 'config', operands: 'config*' },
    unset: { kind: 'config', operands: 'config*' },
    edit: { kind: 'exec', operands: 'exec*' },
    'rename-section': { kind: 'config', operands: 'config*' },
    'remove-section': { kind: 'config', operands: 'config*' },
  },
};

const REMOTE: Profile = {
  kind: 'config',
  bare: 'read',
  options: '-v,--verbose',
  subcommands: {
    show: { kind: 'net', options: '-n', operands: 'remote*' },
    'get-url': { ...GET, operands: 'remote' },
    add: { kind: 'config', options: '-t:rev -m:rev -f --tags --no-tags', operands: 'rev config' },
    rename: { kind: 'config', options: '--progress --no-progress', operands: 'config*' },
    remove: { kind: 'config', operands: 'config*' },
    rm: { kind: 'config', operands: 'config*' },
    'set-url': { kind: 'config', options: '--push --add --delete', operands: 'config*' },
    'set-head': { kind: 'config', options: '-a,--auto -d,--delete', operands: 'config*' },
    'set-branches': { kind: 'config', options: '--add', operands: 'config*' },
    prune: { kind: 'delete', options: '-n,--dry-run', operands: 'remote*' },
    update: { kind: 'net', options: '-p,--prune!delete', operands: 'remote*' },
  },
};

const SUBMODULE: Profile = {
  kind: 'read',
  options: '-q,--quiet --cached',
  subcommands: {
    status: { kind: 'read', options: '--cached --recursive', operands: 'path*' },
    summary: { kind: 'read', options: '--cached --files -n:int', operands: 'revpath*' },
    init: { kind: 'config', operands: 'path*' },
    deinit: { kind: 'delete', options: '-f,--force --all', operands: 'path*' },
    update: {
      kind: 'net',
      options: `--init --remote -N,--no-fetch -f,--force!delete --checkout --merge --rebase
        --recursive --depth:int -j,--jobs:int --single-branch --recommend-shallow
        --no-recommend-shallow --reference:path --progress --filter:word`,
      operands: 'path*',
    },
    add: { kind: 'net', options: '-b:rev --name:word --depth:int', operands: 'config output?' },
    sync: { kind: 'config', options: '--recursive', operands: 'path*' },
    foreach: { kind: 'exec', style: 'first', options: '--recursive', operands: 'exec*' },
    'set-url': { kind: 'config', operands: 'config*' },
    'set-branch': { kind: 'config', operands: 'config*' },
    absorbgitdirs: { kind: 'write', operands: 'path*' },
  },
};

const BISECT: Profile = {
  kind: 'write',
  subcommands: {
    start: {
      kind: 'write',
      options: '--term-new:word --term-old:word --term-bad:word --term-good:word --no-checkout',
      operands: 'revpath*',
    },
    good: { kind: 'write', operands: 'rev*' },
    bad: { kind: 'write', operands: 'rev*' },
    old: { kind: 'write', operands: 'rev*' },
    new: { kind: 'write', operands: 'rev*' },
    skip: { kind: 'write', operands: 'rev*' },
    reset: { kind: 'write', operands: 'rev?' },
    log: { kind: 'read' },
    terms: { kind: 'read' },
    run: { kind: 'exec', style: 'none', operands: 'exec*' },
    replay: { kind: 'exec', operands: 'exec' },
    visualize: { kind: 'exec', operands: 'exec*' },
    view: { kind: 'exec', operands: 'exec*' },
  },
};

const STASH: Profile = {
  kind: 'write',
  options: STASH_PUSH,
  subcommands: {
    list: { kind: 'read', options: LOG, operands: 'rev*' },
    show: { kind: 'read', options: LOG, operands: 'revpath*' },
    push: { kind: 'write', options: STASH_PUSH, operands: 'path*' },
    save: { kind: 'write', options: STASH_PUSH, operands: 'word*' },
    pop: { kind: 'write', options: '--index -q,--quiet', operands: 'rev?' },
    apply: { kind: 'write', options: '--index -q,--quiet', operands: 'rev?' },
    branch: { kind: 'write', operands: 'rev rev?' },
    create: { kind: 'write', operands: 'word*' },
    store: { kind: 'write', options: '-m,--message:word -q,--quiet', operands: 'rev' },
    drop: { kind: 'delete', options: '-q,--quiet', operands: 'rev?' },
    clear: { kind: 'delete' },
  },
};

const WORKTREE: Profile = {
  kind: 'read',
  subcommands: {
    list: { kind: 'read', options: '-v,--verbose --porcelain -z' },
    add: {
      kind: 'write',
      options: `-f,--force!delete -b:rev -B:rev!delete -d,--detach --checkout --no-checkout --lock
        --reason:word -q,--quiet --track --no-track --guess-remote --no-guess-remote --orphan`,
      operands: 'output rev?',
    },
    lock: { kind: 'write', options: '--reason:word', operands: 'path' },
    unlock: { kind: 'write', operands: 'path' },
    move: { kind: 'write', options: '-f,--force!delete', operands: 'output*' },
    prune: { kind: 'delete', options: '-n,--dry-run -v,--verbose --expire:word' },
    remove: { kind: 'delete', options: '-f,--force', operands: 'path*' },
    repair: { kind: 'write', operands: 'path*' },
  },
};

const NOTES: Profile = {
  kind: 'read',
  options: '--ref:rev',
  subcommands: {
    list: { kind: 'read', operands: 'rev?' },
    show: { kind: 'read', operands: 'rev?' },
    add: {
      kind: 'write',
      options: '-f,--force!delete -m,--message:word -F,--file:path --allow-empty -C:rev',
      operands: 'rev?',
    },
    append: { kind: 'write', options: '-m,--message:word -F,--file:path', operands: 'rev?' },
    remove: { kind: 'delete', options: '--ignore-missing', operands: 'rev*' },
    prune: { kind: 'delete', options: '-n,--dry-run -v,--verbose' },
  },
};

export const GIT_MORE: Readonly<Record<string, Profile>> = {
  config: CONFIG,
  remote: REMOTE,
  submodule: SUBMODULE,
  bisect: BISECT,
  stash: STASH,
  worktree: WORKTREE,
  notes: NOTES,
  reflog: {
    kind: 'read',
    options: LOG,
    operands: 'rev*',
    subcommands: {
      show: { kind: 'read', options: LOG, operands: 'revpath*' },
      exists: { kind: 'read', operands: 'rev' },
      list: { kind: 'read' },
      expire: { kind: 'delete', operands: 'delete*' },
      delete: { kind: 'delete', operands: 'delete*' },
      drop: { kind: 'delete', operands: 'delete*' },
      write: { kind: 'write', operands: 'write*' },
    },
  },
  archive: {
    kind: 'read',
    options: `--format:word -l,--list -v,--verbose --prefix:word -o,--output:write
      --worktree-attributes --add-file:path --add-virtual-file:word --mtime:word --remote:net
      --exec:exec -NUM`,
    operands: 'revpath*',
  },
  // As with `patch`, which files are overwritten is in the patch.
  apply: {
    kind: 'delete',
    options: `--stat --numstat --summary --check --index --cached --intent-to-add -3,--3way
      --ours --theirs --union --build-fake-ancestor:write -R,--reverse --reject -z
      -p:int -C:int --unidiff-zero --apply --no-add --allow-binary-replacement --binary
      --exclude:word --include:word --ignore-space-change --ignore-whitespace --whitespace:word
      --inaccurate-eof -v,--verbose -q,--quiet --recount --directory:output --unsafe-paths!config
      --allow-empty`,
    operands: 'path*',
  },
  am: {
    kind: 'delete',
    options: `-s,--signoff -k,--keep --keep-non-patch -b -c,--scissors --no-scissors
      -q,--quiet -u,--utf8 --no-utf8 -3,--3way --no-3way --ignore-space-change
      --ignore-whitespace --whitespace:word --directory:output -p:int --patch-format:word
      --reject --continue --skip --abort!delete --quit --show-current-patch?word
      --no-verify!config`,
    operands: 'path*',
  },
  'format-patch': {
    kind: 'write',
    options: `-o,--output-directory:output --output:delete --stdout -k,--keep-subject -n,--numbered
      -N,--no-numbered --start-number:int --numbered-files --subject-prefix:word
      -v,--reroll-count:word --rfc --cover-letter --no-cover-letter --signoff -s --attach?word
      --inline?word --thread?word --no-thread --in-reply-to:word --to:word --cc:word --from?word
      --base:rev --no-stat -q,--quiet ${LOG}`,
    operands: 'rev*',
  },
  'symbolic-ref': {
    kind: 'read',
    options: '-d,--delete!delete -q,--quiet --short --recurse --no-recurse -m:word',
    operands: 'rev write?',
  },
  'update-ref': { kind: 'delete', operands: 'delete*' },
  'update-index': {
    kind: 'write',
    options: `--refresh -q --ignore-submodules --unmerged --ignore-missing --really-refresh --add
      --remove --assume-unchanged --no-assume-unchanged --skip-worktree --no-skip-worktree
      --chmod:word --fsmonitor!exec --index-info --cacheinfo:word -g,--again --verbose`,
    operands: 'path*',
  },
  'read-tree': {
    kind: 'write',
    options:
      '-m --reset!delete -u!delete -i -n,--dry-run -v -q,--quiet --prefix:path --empty!delete',
    operands: 'rev*',
  },
  'write-tree': { kind: 'write', options: '--missing-ok --prefix:path' },
  'commit-tree': {
    kind: 'write',
    options: '-p:rev -m:word -F:path -S,--gpg-sign?word --no-gpg-sign',
    operands: 'rev',
  },
  'hash-object': {
    kind: 'read',
    options: `-t:word -w!write --stdin --stdin-paths --path:path --no-filters --literally`,
    operands: 'path*',
  },
  gc: {
    kind: 'write',
    options: `--aggressive --auto --prune?word!delete --no-prune -q,--quiet --force
      --keep-largest-pack --cruft --no-cruft --detach --no-detach`,
  },
  prune: { kind: 'delete', options: '-n,--dry-run -v,--verbose --progress --expire:word' },
  repack: { kind: 'write', options: '-a -A -d!delete -l -f -F -q,--quiet -n' },
  'pack-refs': { kind: 'write', options: '--all --no-prune --prune' },
  maintenance: {
    kind: 'write',
    subcommands: {
      run: { kind: 'write', options: '--auto --task:word -q,--quiet' },
      start: { kind: 'config' },
      stop: { kind: 'config' },
      register: { kind: 'config', operands: 'config*' },
      unregister: { kind: 'config', operands: 'config*' },
    },
  },
  init: {
    kind: 'write',
    options: `-q,--quiet --bare --template:exec --separate-git-dir:output --object-format:word
      --ref-format:word -b,--initial-branch:rev --shared?word`,
    operands: 'output?',
  },
  bundle: {
    kind: 'write',
    subcommands: {
      create: { kind: 'write', options: '-q,--quiet --progress --all', operands: 'output rev*' },
      verify: { kind: 'read', options: '-q,--quiet', operands: 'path' },
      'list-heads': { kind: 'read', operands: 'path word*' },
      unbundle: { kind: 'write', operands: 'path word*' },
    },
  },
  'sparse-checkout': {
    kind: 'write',
    subcommands: {
      list: { kind: 'read' },
      set: { kind: 'write', options: '--cone --no-cone --sparse-index', operands: 'path*' },
      add: { kind: 'write', operands: 'path*' },
      reapply: { kind: 'write' },
      disable: { kind: 'write' },
      init: { kind: 'write', options: '--cone --no-cone' },
    },
  },
  rerere: {
    kind: 'write',
    subcommands: {
      status: { kind: 'read' },
      diff: { kind: 'read' },
      remaining: { kind: 'read' },
      clear: { kind: 'delete' },
      forget: { kind: 'delete', operands: 'path*' },
      gc: { kind: 'delete' },
    },
  },
  replace: { kind: 'delete', operands: 'delete*' },
  lfs: {
    kind: 'net',
    subcommands: {
      'ls-files': { kind: 'read', options: '-l,--long -s,--size -a,--all -n,--name-only -I:word' },
      status: { kind: 'read', options: '-p,--porcelain -j,--json' },
      env: { kind: 'read' },
      pull: { kind: 'net', options: '-I,--include:word -X,--exclude:word', operands: 'remote?' },
      fetch: { kind: 'net', options: '-I,--include:word -X,--exclude:word', operands: 'remote?' },
      track: { kind: 'config', operands: 'word*' },
    },
  },
  difftool: EXEC,
  mergetool: EXEC,
  'filter-branch': EXEC,
  daemon: EXEC,
  instaweb: EXEC,
  gui: EXEC,
  citool: EXEC,
  gitk: EXEC,
  'fast-import': EXEC,
  'upload-pack': EXEC,
  'receive-pack': EXEC,
  'fast-export': { kind: 'read', options: '--all', operands: 'rev*' },
  svn: { kind: 'net', operands: 'net*', style: 'none' },
  p4: { kind: 'net', operands: 'net*', style: 'none' },
  'send-email': { kind: 'net', operands: 'net*', style: 'none' },
  'request-pull': { kind: 'net', options: '-p', operands: 'rev remote rev?' },
  // Prints and stores passwords.
  credential: { kind: 'config', operands: 'config*', style: 'none' },
  'credential-store': { kind: 'config', operands: 'config*', style: 'none' },
  'credential-cache': { kind: 'config', operands: 'config*', style: 'none' },
};
