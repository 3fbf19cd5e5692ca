// What is known of git: by subcommand, which words run code (`-c`, `--exec`, `--textconv`), throw
// work away, or send something elsewhere.

import type { Profile } from '../profile.ts';
import { GIT_MORE } from './data-git-more.ts';
import { CHOOSE, DIFF, LOG, MERGE, NETWORK } from './data-git-options.ts';

const READ: Readonly<Record<string, Profile>> = {
  status: {
    kind: 'read',
    options: `-s,--short -b,--branch --show-stash --porcelain?word --long -v,--verbose
      -u,--untracked-files?word --ignore-submodules?word --ignored?word -z --column?word
      --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?word`,
    operands: 'path*',
  },
  diff: {
    kind: 'read',
    options: `--cached,--staged --merge-base --no-index!secret -1 -2 -3 --base --ours --theirs
      -0 ${DIFF}`,
    operands: 'revpath*',
  },
  log: { kind: 'read', options: LOG, operands: 'revpath*' },
  show: { kind: 'read', options: LOG, operands: 'revpath*' },
  whatchanged: { kind: 'read', options: LOG, operands: 'revpath*' },
  blame: {
    kind: 'read',
    options: `-b --root --show-stats -L:word -l -t -S:path --reverse --first-parent -p,--porcelain
      --line-porcelain --incremental --encoding:word --contents:path --date:word -M?word -C?word
      --ignore-rev:rev --ignore-revs-file:path --color-lines --color-by-age -c --score-debug
      -f,--show-name -n,--show-number -s -e,--show-email -w --abbrev:int --progress --no-progress
      --since:word --diff-algorithm:word --minimal`,
    operands: 'revpath*',
  },
  grep: {
    kind: 'read',
    options: `--cached --untracked --no-index!secret --exclude-standard --recurse-submodules
      -a,--text --textconv!exec --no-textconv -i,--ignore-case -I --max-depth:int -r,--recursive
      --no-recursive -w,--word-regexp -v,--invert-match -h -H --full-name -E,--extended-regexp
      -G,--basic-regexp -P,--perl-regexp -F,--fixed-strings -n,--line-number --column
      -l,--files-with-matches,--name-only -L,--files-without-match
      -O,--open-files-in-pager?exec!exec -z,--null -o,--only-matching -c,--count --color?word
      --no-color --break --heading
      -p,--show-function -A,--after-context:int -B,--before-context:int -C,--context:int
      -W,--function-context -m,--max-count:int --threads:int -f:path -e:word --and --or --not
      --all-match -q,--quiet -NUM --ext-grep!exec`,
    operands: 'word revpath*',
    operandsWith: { '-e': 'revpath*', '-f': 'revpath*' },
  },
  'rev-parse': {
    kind: 'read',
    options: `--parseopt --sq-quote --keep-dashdash --stop-at-non-option --stuck-long --revs-only
      --no-revs --flags --no-flags --default:rev --prefix:path --verify -q,--quiet --sq --short?int
      --not --abbrev-ref?word --symbolic --symbolic-full-name --output-object-format:word --all
      --branches?word --tags?word --remotes?word --glob:word --exclude:word --exclude-hidden:word
      --disambiguate:word --local-env-vars --path-format:word --git-dir --git-common-dir
      --absolute-git-dir --is-inside-git-dir --is-inside-work-tree --is-bare-repository
      --is-shallow-repository --resolve-git-dir:path --git-path:word --show-cdup --show-prefix
      --show-toplevel --show-superproject-working-tree --shared-index-path --since:word --after:word
      --until:word --before:word --show-object-format?word --show-ref-format`,
    operands: 'revpath*',
  },
  'rev-list': {
    kind: 'read',
    options: `--count --objects --objects-edge --disk-usage?word --filter:word --use-bitmap-index
      --header --timestamp --bisect --bisect-vars --bisect-all --missing:word --unpacked
      --no-object-names --object-names --in-commit-order --no-walk?word ${LOG}`,
    operands: 'revpath*',
  },
  'ls-files': {
    kind: 'read',
    options: `-c,--cached -d,--deleted -m,--modified -o,--others -i,--ignored -s,--stage
      --directory --no-empty-directory -u,--unmerged -k,--killed --resolve-undo -z --deduplicate
      -x,--exclude:word -X,--exclude-from:path --exclude-per-directory:word --exclude-standard
      --error-unmatch --with-tree:rev -t -v -f --full-name --recurse-submodules --abbrev?int
      --debug --eol --sparse --format:word`,
    operands: 'path*',
  },
  'ls-tree': {
    kind: 'read',
    options: `-d -r -t -l,--long -z --name-only --name-status --object-only --abbrev?int --full-name
      --full-tree --format:word`,
    operands: 'rev path*',
  },
  'cat-file': {
    kind: 'read',
    options: `-t -s -e -p --batch?word!secret --batch-check?word --batch-command?word!secret
      --batch-all-objects
      --buffer --unordered --follow-symlinks --allow-unknown-type -z -Z --use-mailmap --mailmap
      --textconv!exec --filters!exec --path:path --filter:word`,
    operands: 'revpath*',
  },
  describe: {
    kind: 'read',
    options: `--dirty?word --broken?word --all --tags --contains --abbrev?int --candidates:int
      --exact-match --debug --long --match:word --exclude:word --always --first-parent`,
    operands: 'rev*',
  },
  shortlog: {
    kind: 'read',
    options: `-n,--numbered -s,--summary -e,--email -w?word -c,--committer --group:word ${LOG}`,
    operands: 'revpath*',
  },
  'name-rev': {
    kind: 'read',
    options: `--tags --refs:word --exclude:word --all --annotate-stdin --stdin --name-only
      --no-undefined --always`,
    operands: 'rev*',
  },
  'merge-base': {
    kind: 'read',
    options: '-a,--all --octopus --independent --is-ancestor --fork-point',
    operands: 'rev*',
  },
  'for-each-ref': {
    kind: 'read',
    options: `--stdin --count:int -s,--shell -p,--perl --python --tcl --sort:word --format:word
      --color?word --points-at:rev --merged?rev --no-merged?rev --contains?rev --no-contains?rev
      --ignore-case --omit-empty --exclude:word --include-root-refs`,
    operands: 'word*',
  },
  'show-ref': {
    kind: 'read',
    options: `--head --heads --branches --tags -d,--dereference -s,--hash?int --verify --exists
      --abbrev?int -q,--quiet --exclude-existing?word`,
    operands: 'word*',
  },
  'show-branch': {
    kind: 'read',
    options: `-r,--remotes -a,--all --current --topo-order --date-order --sparse --more:int --list
      --merge-base --independent --no-name --sha1-name --topics -g,--reflog?word --color?word
      --no-color`,
    operands: 'rev*',
  },
  'range-diff': {
    kind: 'read',
    options: `--no-dual-color --creation-factor:int --left-only --right-only --no-notes
      --notes?word ${DIFF}`,
    operands: 'revpath*',
  },
  'diff-tree': {
    kind: 'read',
    options: `-r -t --root --stdin!secret --no-commit-id --merge-base --pretty?word --always -v
      ${DIFF}`,
    operands: 'revpath*',
  },
  'diff-index': { kind: 'read', options: `--cached --merge-base ${DIFF}`, operands: 'revpath*' },
  'diff-files': { kind: 'read', options: `-0 -1 -2 -3 -q ${DIFF}`, operands: 'revpath*' },
  'count-objects': { kind: 'read', options: '-v,--verbose -H,--human-readable' },
  'check-ignore': {
    kind: 'read',
    options: '-q,--quiet -v,--verbose --stdin -z -n,--non-matching --no-index',
    operands: 'path*',
  },
  'check-attr': {
    kind: 'read',
    options: '-a,--all --cached --stdin -z --source:rev',
    operands: 'word path*',
  },
  'check-ref-format': { kind: 'read', options: '--branch --normalize', operands: 'word*' },
  cherry: { kind: 'read', options: '-v,--verbose --abbrev?int', operands: 'rev*' },
  'verify-commit': { kind: 'read', options: '-v,--verbose --raw', operands: 'rev*' },
  'verify-tag': { kind: 'read', options: '-v,--verbose --raw --format:word', operands: 'rev*' },
  fsck: {
    kind: 'read',
    options: `--unreachable --dangling --no-dangling --root --tags --cache --reflogs --no-reflogs
      --full --no-full --connectivity-only --strict -v,--verbose --lost-found!write --progress
      --no-progress --name-objects`,
    operands: 'rev*',
  },
  // All there is has the settings in it, and tokens with them.
  var: { kind: 'read', options: '-l!secret', operands: 'word?' },
  version: { kind: 'read', options: '--build-options' },
  // `--web` starts a browser, `--man` a pager.
  help: {
    kind: 'read',
    options: '-a,--all -g,--guides -c,--config --no-verbose -w,--web!exec -m,--man -i,--info',
    operands: 'word?',
  },
  'ls-remote': {
    kind: 'net',
    options: `-h,--heads -b,--branches -t,--tags --refs --upload-pack,--exec:exec -q,--quiet
      --exit-code --get-url --sort:word --symref -o,--server-option:word`,
    operands: 'remote? word*',
  },
};

const WORK: Readonly<Record<string, Profile>> = {
  add: {
    kind: 'write',
    options: `-n,--dry-run -v,--verbose -f,--force!secret -i,--interactive -p,--patch -e,--edit!exec
      -u,--update --renormalize!exec -N,--intent-to-add -A,--all,--no-ignore-removal
      --no-all,--ignore-removal --refresh --ignore-errors --ignore-missing --sparse --chmod:word
      --pathspec-from-file:path --pathspec-file-nul`,
    operands: 'path*',
  },
  commit: {
    kind: 'write',
    options: `-m,--message:word -F,--file:path -a,--all -p,--patch -C,--reuse-message:rev
      -c,--reedit-message:rev --fixup:word --squash:rev --reset-author --short --branch --porcelain
      --long -z,--null --author:word --date:word -t,--template:path -s,--signoff --no-signoff
      --trailer:word -n,--no-verify!config --verify --allow-empty --allow-empty-message
      --cleanup:word -e,--edit --no-edit --amend --no-post-rewrite -i,--include -o,--only
      --pathspec-from-file:path --pathspec-file-nul -u,--untracked-files?word -v,--verbose
      -q,--quiet --dry-run --status --no-status -S,--gpg-sign?word --no-gpg-sign`,
    operands: 'path*',
  },
  checkout: {
    kind: 'write',
    options: `-b:rev -B:rev!delete -q,--quiet --progress --no-progress -f,--force!delete
      --ours!delete --theirs!delete -t,--track?word --no-track --guess --no-guess -l -d,--detach
      --orphan:rev --ignore-skip-worktree-bits -m,--merge --conflict:word -p,--patch!delete
      --ignore-other-worktrees --overwrite-ignore --no-overwrite-ignore --recurse-submodules
      --overlay!delete --no-overlay!delete --pathspec-from-file:path!delete`,
    operands: 'branch delete*',
    operandsWith: { '-b': 'rev?', '-B': 'rev?', '--orphan': 'rev?' },
    behindDashes: 'delete',
  },
  switch: {
    kind: 'write',
    options: `-c,--create:rev -C,--force-create:rev!delete -d,--detach --guess --no-guess
      -f,--force!delete --discard-changes!delete -m,--merge --conflict:word -q,--quiet --progress
      --no-progress -t,--track?word --no-track --orphan:rev --ignore-other-worktrees
      --recurse-submodules`,
    operands: 'rev?',
  },
  // What is staged can be staged again; what is in the files is lost.
  restore: {
    kind: 'write',
    options: `-s,--source:rev -p,--patch!delete -W,--worktree!delete -S,--staged -q,--quiet
      --progress --no-progress --ours --theirs -m,--merge --conflict:word --ignore-unmerged
      --overlay --no-overlay --pathspec-from-file:path!delete --pathspec-file-nul`,
    operands: 'delete*',
    operandsWith: { '--worktree': 'delete*', '--staged': 'path*' },
  },
  reset: {
    kind: 'delete',
    options: `--soft --mixed -N --hard --merge --keep -q,--quiet --no-quiet -p,--patch
      --refresh --no-refresh --recurse-submodules --pathspec-from-file:path`,
    operands: 'revpath*',
  },
  clean: {
    kind: 'delete',
    options: '-d -f,--force -i,--interactive -n,--dry-run -q,--quiet -e,--exclude:word -x -X',
    operands: 'path*',
  },
  rm: {
    kind: 'delete',
    options: `-f,--force -n,--dry-run -r --cached --ignore-unmatch --sparse -q,--quiet
      --pathspec-from-file:path --pathspec-file-nul`,
    operands: 'path*',
  },
  mv: {
    kind: 'write',
    options: '-f,--force!delete -k -n,--dry-run -v,--verbose --sparse',
    operands: 'output*',
  },
  branch: {
    kind: 'write',
    bare: 'read',
    options: `-d,--delete!delete -D!delete -f,--force!delete -m,--move!write -M!delete -c,--copy
      -C!delete --create-reflog -i,--ignore-case --omit-empty --color?word --no-color --column?word
      --no-column -r,--remotes -a,--all -l,--list --show-current -v,--verbose -q,--quiet
      --abbrev:int --no-abbrev -t,--track?word --no-track --recurse-submodules
      --set-upstream-to:rev!config -u:rev!config --unset-upstream!config --edit-description!exec
      --contains?rev --no-contains?rev --merged?rev --no-merged?rev --sort:word --points-at:rev
      --format:word`,
    operands: 'rev*',
    operandsWith: { '--list': 'word*', '--contains': 'rev*', '--merged': 'rev*' },
  },
  tag: {
    kind: 'write',
    bare: 'read',
    options: `-a,--annotate -s,--sign --no-sign -u,--local-user:word -f,--force!delete
      -d,--delete!delete -v,--verify -n?int -l,--list --sort:word --color?word -i,--ignore-case
      --omit-empty --column?word --no-column --contains?rev --no-contains?rev --merged?rev
      --no-merged?rev --points-at:rev -m,--message:word -F,--file:path -e,--edit --cleanup:word
      --create-reflog --format:word --trailer:word`,
    operands: 'rev*',
    operandsWith: { '--list': 'word*', '--contains': 'rev*', '--merged': 'rev*' },
  },
  merge: { kind: 'write', options: MERGE, operands: 'rev*' },
  // What `-i` does is in the hands of an editor.
  rebase: {
    kind: 'write',
    options: `--onto:rev --keep-base --continue --skip --abort!delete --quit --edit-todo!exec
      --show-current-patch --apply --empty:word --no-keep-empty --keep-empty -m,--merge
      --reapply-cherry-picks --no-reapply-cherry-picks -q,--quiet -v,--verbose --stat -n,--no-stat
      --no-verify!config --verify -C:int --no-ff,--force-rebase -f --fork-point --no-fork-point
      --ignore-whitespace --whitespace:word --committer-date-is-author-date
      --ignore-date,--reset-author-date --signoff -i,--interactive!exec -r,--rebase-merges?word
      -x,--exec:exec --root --autosquash --no-autosquash --autostash --no-autostash
      --reschedule-failed-exec!exec --update-refs --no-update-refs --allow-empty-message
      -s,--strategy:exec -X,--strategy-option:word -S,--gpg-sign?word --no-gpg-sign
      --rerere-autoupdate --no-rerere-autoupdate`,
    operands: 'rev*',
  },
  'cherry-pick': {
    kind: 'write',
    options: `${CHOOSE} --ff -x --keep-redundant-commits`,
    operands: 'rev*',
  },
  revert: { kind: 'write', options: CHOOSE, operands: 'rev*' },
};

const REMOTE: Readonly<Record<string, Profile>> = {
  fetch: { kind: 'net', options: NETWORK, operands: 'remote? refspec*' },
  pull: {
    kind: 'net',
    options: `${MERGE} -r,--rebase?rebase --no-rebase ${NETWORK}`,
    operands: 'remote? refspec*',
  },
  push: {
    kind: 'net',
    options: `--all!net --branches!net --prune!delete --mirror!delete -n,--dry-run --porcelain
      -d,--delete!delete --tags --follow-tags --no-follow-tags --signed?word --no-signed --atomic
      --no-atomic -o,--push-option:word --receive-pack,--exec:exec --force-with-lease?word!delete
      --force-if-includes --no-force-with-lease --no-force-if-includes -f,--force!delete
      --repo:remote -u,--set-upstream --thin --no-thin -q,--quiet -v,--verbose --progress
      --no-progress --recurse-submodules:word --no-recurse-submodules --verify --no-verify!config
      -4,--ipv4 -6,--ipv6`,
    operands: 'remote? refspec*',
  },
  clone: {
    kind: 'net',
    options: `-l,--local --no-hardlinks -s,--shared --reference:path --reference-if-able:path
      --dissociate -q,--quiet -v,--verbose --progress --server-option:word -n,--no-checkout
      --reject-shallow --bare --sparse --filter:word --mirror -o,--origin:rev -b,--branch:rev
      -u,--upload-pack:exec --template:exec -c,--config:exec --depth:int --shallow-since:word
      --shallow-exclude:rev --single-branch --no-single-branch --tags --no-tags
      --recurse-submodules?word --recursive?word --shallow-submodules --remote-submodules
      -j,--jobs:int --separate-git-dir:output --revision:rev --bundle-uri:url`,
    operands: 'url output?',
  },
};

export const GIT: Readonly<Record<string, Profile>> = {
  git: {
    kind: 'read',
    style: 'first',
    options: `-v,--version -h,--help -C:path -c:config!exec --config-env:config!exec
      --exec-path?exec --html-path --man-path --info-path -p,--paginate -P,--no-pager
      --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice
      --bare!exec --git-dir:exec
      --work-tree:exec --namespace:word --literal-pathspecs --glob-pathspecs --noglob-pathspecs
      --icase-pathspecs --attr-source:rev --list-cmds:word --super-prefix:path`,
    subcommands: { ...READ, ...WORK, ...REMOTE, ...GIT_MORE },
    // Work that is not committed, and what no branch leads to any more.
    deeds: {
      'deleted 3': 'clean --force; filter-branch; filter-repo',
      'deleted 2': 'reset --hard; stash drop; stash clear; reflog expire; worktree remove --force',
      'deleted 1': `checkout --; checkout ** .; checkout --force; switch --discard-changes;
        restore !--staged; restore --worktree; branch -D; branch --delete --force; update-ref -d`,
      'published 3': `push --force; push --force-with-lease; push --mirror; push --delete;
        push --prune; push ** +*; push ** :*`,
      'published 2': 'push ** main; push ** master; push ** *:main; push ** *:master',
      'published 1': 'push; lfs push',
      'sent 2': 'send-email',
      'secret 2': 'credential fill',
    },
  },
};
